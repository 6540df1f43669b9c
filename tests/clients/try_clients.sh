#!/usr/bin/env bash
# try_clients.sh SPILLWAY_CLI MODEL [--fetch]: asks spillway-cli serve with the official clients of OpenAI, Anthropic and Ollama:
# those of the folder SPILLWAY_CLIENTS, where `npm install` has put what package.json names, or else, with --fetch, from npm, in a
# folder for temporary files. 77: there is no node, or there are no clients, and nothing was tried.
set -euo pipefail
cli=$(realpath "$1") model=$(realpath "$2") here=$(realpath "$(dirname "$0")")
command -v node >/dev/null && command -v npm >/dev/null || { echo "skipped: there is no node" && exit 77; }
folder=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT
cp "$here"/check.mjs "$here"/package.json "$folder"
if [[ -d ${SPILLWAY_CLIENTS:-}/node_modules ]]; then
    ln -s "$(realpath "$SPILLWAY_CLIENTS")/node_modules" "$folder"
elif [[ ${3:-} == --fetch ]]; then
    (cd "$folder" && npm install --no-audit --no-fund --ignore-scripts --silent >npm.log 2>&1) || { cat "$folder/npm.log"; echo "skipped: npm does not fetch the clients" && exit 77; }
else
    echo "skipped: SPILLWAY_CLIENTS names no folder with them" && exit 77
fi
"$cli" serve -m "$model" --port 0 >"$folder/url" 2>"$folder/errors" &
server=$!
for _ in $(seq 300); do
    grep -q "listening on" "$folder/url" && break
    kill -0 "$server" 2>/dev/null || { cat "$folder/errors" && exit 1; }
    sleep 0.1
done
(cd "$folder" && node check.mjs "$(sed 's/^listening on //' url)")
