#!/bin/sh
# test-wheel.sh WHEEL: installs the wheel without extras into an empty environment, and uses it outside the checkout.
set -eu
wheel=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT

"$("$here/find-python.sh")" -m venv "$room/venv"
"$here/install.sh" "$room/venv" "$wheel"
cp "$here/bare_install.py" "$here/smoke.py" "$room"
cd "$room"
unset PYTHONPATH
export LANGSMITH_TRACING=false
# -I: neither the current folder nor the user's own packages can stand in for what the wheel lacks.
venv/bin/python -I -W error::DeprecationWarning:langgraph_prefetch bare_install.py
venv/bin/langgraph-prefetch --help >/dev/null
venv/bin/python -I smoke.py
