#!/bin/sh
# aws-server.sh ministack|moto : a server that speaks the protocols of SQS and DynamoDB, in a virtual environment of its
# own (ministack pins botocore, moto brings a hundred megabytes), made once below .tools. Prints the path of its program,
# and nothing else on standard output.
set -eu
case ${1:-} in
    ministack) package='ministack==1.5.33' program=ministack ;;
    moto) package='moto[server,dynamodb,sqs]==5.2.5' program=moto_server ;;
    *) echo "usage: aws-server.sh ministack|moto" >&2; exit 2 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
folder=$here/../.tools/$1-${package##*==}
if [ ! -e "$folder/.made" ]; then
    python=$("$here/find-python.sh")
    rm -rf "$folder"
    mkdir -p "$here/../.tools"
    "$python" -m venv "$folder" >&2
    "$here/install.sh" "$folder" "$package" >&2
    touch "$folder/.made"
fi
cd "$folder" && echo "$PWD/bin/$program"
