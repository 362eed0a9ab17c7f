#!/bin/sh
# install.sh VENV ARGUMENT... : installs into VENV with uv, ten times as fast, or with pip where uv cannot
# (uv does not read pip's configuration, so a mirror set up for pip alone is out of its reach).
set -eu
venv=$1
shift
export VIRTUAL_ENV="$venv"
if "$venv/bin/python" -m uv --version >/dev/null 2>&1 || "$venv/bin/python" -m pip install --quiet uv 2>/dev/null; then
    "$venv/bin/python" -m uv pip install --quiet "$@" && exit 0
    echo "uv could not install; trying pip" >&2
fi
# --group came with pip 25.1.
"$venv/bin/python" -m pip install --quiet --upgrade "pip>=25.1"
exec "$venv/bin/python" -m pip install --quiet "$@"
