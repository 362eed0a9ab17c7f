#!/bin/sh
# ministack.sh [FOLDER] : a local SQS and DynamoDB in a virtual environment of its own (it pins botocore), made once.
# Prints the path of its program, and nothing else on standard output.
set -eu
version=1.5.33
folder=${1:-$(dirname "$0")/../.tools}/ministack-$version
if [ ! -e "$folder/.made" ]; then
    python=$("$(dirname "$0")/find-python.sh")
    rm -rf "$folder"
    mkdir -p "$(dirname "$folder")"
    "$python" -m venv "$folder" >&2
    "$(dirname "$0")/install.sh" "$folder" "ministack==$version" >&2
    touch "$folder/.made"
fi
cd "$folder" && echo "$PWD/bin/ministack"
