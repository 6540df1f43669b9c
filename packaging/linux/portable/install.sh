#!/bin/sh
# install.sh [FOLDER]: puts Spillway into FOLDER, for this user and without root, with an entry in the menu, the commands
# `spillway` and `spillway-cli`, and the server's units for the user's systemd, which are off until they are switched on.
# An older version in FOLDER is replaced, and one in another folder moves. uninstall.sh in FOLDER undoes it.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
data=${XDG_DATA_HOME:-$HOME/.local/share}
commands=$HOME/.local/bin
folder=${1:-$HOME/.local/opt/spillway}

fail() { echo "install: $*" >&2 && exit 1; }
# remove FOLDER: removes the version there; a server that was switched on stays so.
remove() {
    for file in uninstall.sh refresh-desktop.sh; do # of an installation that was broken off
        [ -e "$1/$file" ] || cp "$here/$file" "$1/"
    done
    replaced=yes sh "$1/uninstall.sh" >/dev/null
}

case $folder in
-h | --help) echo "usage: install.sh [FOLDER], else $HOME/.local/opt/spillway" && exit ;;
-*) fail "there is no option $folder" ;;
/*) ;;
*) folder=${USER_PWD:-$PWD}/$folder ;; # where the .run was started, which runs this from elsewhere
esac
case $folder in
*[\"\`\$\\%]* | *"
"*) fail 'a menu entry and a service cannot name a folder with " ` $ \ % or a line break in its name' ;;
esac
"$here/bin/spillway-cli" --version >/dev/null ||
    fail "the programs do not start: they need Linux on x86-64 with glibc 2.36 (Debian 12, Ubuntu 24.04, Fedora 37) or later"
mkdir -p "$folder" 2>/dev/null || fail "cannot make the folder $folder"
folder=$(cd "$folder" && pwd -P)

new=$folder
if [ "$folder" != "$here" ]; then
    new=$folder/.spillway-being-installed
    rm -rf "$new" # of a try that was broken off
    if [ ! -e "$folder/installed" ] && [ -n "$(ls -A "$folder")" ]; then
        fail "$folder holds something else; choose a new folder or an empty one"
    fi
    # An older version goes only once the new one has found room.
    if ! mkdir "$new" || ! cp -R "$here/." "$new/"; then
        rm -rf "$new"
        fail "cannot write to $folder, or it has no room"
    fi
    [ ! -e "$folder/installed" ] || remove "$folder"
fi
# Two copies would share the entry in the menu, the commands and the units, and each would take them along when it goes.
entry=$data/applications/spillway.desktop
other=$(sed -n 's|^Exec="\(.*\)/bin/spillway" %f$|\1|p' "$entry" 2>/dev/null || true)
if [ -n "$other" ] && [ -e "$other/installed" ] && [ "$(cd "$other" && pwd -P)" != "$folder" ]; then
    remove "$other"
    echo "Spillway moves here from $other."
fi
cd "$new"
cp files "$folder/installed" # and nothing that a user has put beside them
if [ "$new" != "$folder" ]; then
    while read -r file; do
        mkdir -p "$folder/${file%/*}"
        mv -f "$file" "$folder/$file"
    done <"$folder/installed"
    cd "$folder" && rm -rf "$new"
fi

# place FILE: makes it of standard input, and writes down for uninstall.sh what lies outside the folder.
place() {
    mkdir -p "$(dirname "$1")"
    cat >"$1"
    echo "$1" >>installed
}
find share/icons share/mime share/man share/metainfo -type f | while read -r file; do
    place "$data/${file#share/}" <"$file"
done
{ grep -v '^Exec=' share/applications/spillway.desktop && echo "Exec=\"$folder/bin/spillway\" %f"; } |
    place "$entry"
# systemd looks for programs in folders of the system only.
units=$data/systemd/user
place "$units/spillway-server.socket" <lib/systemd/user/spillway-server.socket
sed "s|^ExecStart=spillway-cli |ExecStart=\"$(echo "$folder" | sed 's/[&|]/\\&/g')/bin/spillway-cli\" |" \
    lib/systemd/user/spillway-server.service | place "$units/spillway-server.service"
mkdir -p "$commands"
for program in spillway spillway-cli; do
    link=$commands/$program
    [ "$(readlink "$link")" = "$folder/bin/$program" ] || ln -s "$folder/bin/$program" "$link" 2>/dev/null ||
        { echo "$link is there already and stays as it is" && continue; }
    echo "$link" >>installed
done
sh ./refresh-desktop.sh "$data"
if command -v systemctl >/dev/null && systemctl --user daemon-reload 2>/dev/null; then
    systemctl --user try-restart spillway-server.service 2>/dev/null || true # which ran the older version
fi
echo "Spillway is in $folder, its entry in the menu, its commands in $commands. To remove it: $folder/uninstall.sh"
case :$PATH: in
*:"$commands":*) ;;
*) echo "A terminal finds the commands once $commands is in PATH; many systems put it there at the next login." ;;
esac
