#!/bin/sh
# Prints the first Python that is new enough and can make a virtual environment.
for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    # A command may exist and yet not run (a version manager's shim), so each is tried.
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        command -v "$python"
        exit 0
    fi
done
echo "langgraph-prefetch needs Python 3.11 or newer with its venv module (on Debian: apt-get install python3-venv)." >&2
echo "None of these will do: ${PYTHON:-python3, python3.14, python3.13, python3.12, python3.11}. Name one: make PYTHON=/path/to/python3.12" >&2
exit 1
