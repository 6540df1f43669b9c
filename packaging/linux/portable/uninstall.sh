#!/bin/sh
# Removes what install.sh placed, and nothing else: conversations, settings and models stay.
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
data=${XDG_DATA_HOME:-$HOME/.local/share}
cd "$folder"
[ -e installed ] || { echo "uninstall: nothing was installed from here; $folder can be deleted" >&2 && exit 1; }
refresh=$(cat refresh-desktop.sh)

# The server is switched off, since its units are about to be removed. Units of a package of the system stay as they
# are.
units=$data/systemd/user
systemctl_user() { ! command -v systemctl >/dev/null || systemctl --user "$@" >/dev/null 2>&1 || true; }
if [ -z "${replaced:-}" ] && grep -qxF "$units/spillway-server.socket" installed; then
    systemctl_user disable --now spillway-server.socket
    systemctl_user stop spillway-server.service
fi

# remove_empty FOLDER: removes it and the folders above it, up to the home folder, where they are empty now.
remove_empty() {
    parent=$1
    while [ "$parent" != "$HOME" ] && rmdir "$parent" 2>/dev/null; do parent=$(dirname "$parent"); done
}
while read -r file; do
    rm -f "$file"
    remove_empty "$(dirname "$file")"
done <installed
rm installed
cd /
rmdir "$folder" 2>/dev/null || echo "$folder holds something else, too, and stays."
rmdir "$HOME/.local/opt" 2>/dev/null || true
sh -c "$refresh" refresh-desktop "$data"
[ -n "${replaced:-}" ] || systemctl_user daemon-reload
echo "Spillway is removed. Conversations and settings stay in $data/spillway and ${XDG_CONFIG_HOME:-$HOME/.config}/spillway."
