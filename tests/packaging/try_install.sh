#!/bin/sh
# try_install.sh FOLDER: what install.sh of the portable archive does where there is no room, and where a version is there
# already. With a made-up package, and a home folder in FOLDER.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$1" && mkdir -p "$1/bin" && cd "$1"
here=$PWD

fail() {
    echo "FAIL: $*" >&2
    cat "$here/log" >&2
    exit 1
}
if command -v shellcheck >/dev/null; then
    shellcheck "$root"/packaging/linux/portable/*.sh
fi

# The real desktop and systemd are not told.
for program in systemctl update-desktop-database update-mime-database; do
    printf '#!/bin/sh\n' >"bin/$program"
    chmod +x "bin/$program"
done
export PATH="$here/bin:$PATH" HOME="$here/home"
unset XDG_DATA_HOME XDG_CONFIG_HOME USER_PWD
mkdir home

mkdir -p package/bin package/share/applications package/share/icons package/share/mime/packages package/share/man/man1 \
    package/share/metainfo package/lib/systemd/user
cp "$root"/packaging/linux/portable/* package/
cp "$root/packaging/linux/spillway.desktop" package/share/applications/
cp "$root/packaging/linux/spillway-mime.xml" package/share/mime/packages/spillway.xml
cp "$root"/packaging/linux/spillway-server.* package/lib/systemd/user/
for file in share/icons/spillway.svg share/man/man1/spillway.1 share/metainfo/spillway.xml; do
    echo "$file" >"package/$file"
done
version() { # NUMBER: makes the package one of that version
    printf '#!/bin/sh\necho %s\n' "$1" | tee package/bin/spillway >package/bin/spillway-cli
    chmod +x package/bin/*
}
list() { (cd package && find . ! -type d | sort >files); }
install() { list && sh package/install.sh "$@" >log 2>&1; }
# With files of 20 KiB at most; those of the package are smaller, but for one.
install_without_room() { list && (trap '' XFSZ && ulimit -f 40 && sh package/install.sh "$@" >log 2>&1); }
is_version() { [ "$("$2/bin/spillway-cli")" = "$1" ]; } # NUMBER FOLDER
entry=$HOME/.local/share/applications/spillway.desktop
unit=$HOME/.local/share/systemd/user/spillway-server.service
first=$HOME/.local/opt/spillway

version 1
head -c 40000 /dev/zero >package/lib/large
! install_without_room || fail "it passes where there is no room"
grep -q "has no room" log || fail "it does not say that there is no room"
install || fail "what found no room cannot be installed once there is some"
is_version 1 "$first" || fail "it is not there"
grep -qF "Exec=\"$first/bin/spillway\" %f" "$entry" || fail "the menu does not start it"
grep -qF "once $HOME/.local/bin is in PATH" log || fail "it does not say why a terminal does not find the commands"

# What the user adds stays, whatever comes and goes.
echo kept >"$first/bin/of-the-user"
version 2
! install_without_room || fail "it passes where there is no room for a newer version"
is_version 1 "$first" || fail "the older version is gone, and the newer one has no room"
[ ! -e "$first/.spillway-being-installed" ] || fail "a part of the newer version stays"
mkdir "$first/.spillway-being-installed" # as of a machine that was switched off
echo gone >package/lib/only-in-version-2
install || fail "a newer version cannot be installed"
is_version 2 "$first" || fail "the newer version is not there"
[ ! -e "$first/.spillway-being-installed" ] || fail "what was broken off stays"
rm package/lib/only-in-version-2
version 3
(PATH="$HOME/.local/bin:$PATH" && install) || fail "it cannot be installed once more"
! grep -q "is in PATH" log || fail "it speaks of PATH where the commands are found"
[ ! -e "$first/lib/only-in-version-2" ] || fail "a file of the older version stays"

# Another folder: it moves, and what is outside of the folder with it.
second="$HOME/my apps/sw"
install "$second" || fail "it cannot be installed in another folder"
grep -qF "moves here from $first" log || fail "it is not said that it moves"
is_version 3 "$second" || fail "it is not in the other folder"
[ "$(find "$first" -type f)" = "$first/bin/of-the-user" ] || fail "it is still where it was"
grep -qF "Exec=\"$second/bin/spillway\" %f" "$entry" || fail "the menu starts the one that is gone"
grep -qF "ExecStart=\"$second/bin/spillway-cli\" serve" "$unit" || fail "the service is of the one that is gone"
[ "$(readlink "$HOME/.local/bin/spillway")" = "$second/bin/spillway" ] || fail "the command is that of the one that is gone"

# The same folder by another name is no other one.
ln -s "my apps" "$HOME/apps"
install "$HOME/apps/sw" || fail "it cannot be installed over itself"
is_version 3 "$second" || fail "it has removed itself"
echo kept >"$second/bin/of-the-user"
sh "$second/install.sh" "$second" >log 2>&1 || fail "it cannot be installed where it lies"
is_version 3 "$second" || fail "it has removed itself from where it lies"
install "$second" || fail "what was installed where it lay cannot be replaced"
[ -e "$second/bin/of-the-user" ] || fail "a file of the user's went with the version before"

mkdir "$HOME/other" && echo kept >"$HOME/other/file"
! install "$HOME/other" || fail "a folder with something else in it is taken"
grep -q kept "$HOME/other/file" || fail "something else was touched"
is_version 3 "$second" || fail "what could not move is gone"

sh "$second/uninstall.sh" >log 2>&1 || fail "it cannot be removed"
find "$HOME" -type f -o -type l | sort >left
printf '%s\n' "$HOME/.local/opt/spillway/bin/of-the-user" "$HOME/apps" "$second/bin/of-the-user" "$HOME/other/file" |
    cmp -s - left ||
    fail "this is left, and no more: $(cat left)"
echo "passed"
