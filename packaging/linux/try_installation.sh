#!/usr/bin/env bash
# try_installation.sh PACKAGE SUITE FOLDER: installs PACKAGE (.deb, .run, .tar.xz) into a fresh Debian, as a user would;
# there the programs start, without a network, answer a prompt, and are removed again. What was seen lies in FOLDER: log,
# window.png, wayland.png, and the root itself, for a closer look. SUITE: bookworm, trixie..., or the folder of a root to
# copy. Needs root, debootstrap, Xvfb, xdotool, sqlite3 and ImageMagick; and weston to start the window under Wayland.
set -euo pipefail
export LC_ALL=C
[[ ${in_namespace:-} ]] || in_namespace=yes exec unshare --mount "$0" "$@" # what is mounted is gone when this ends
package=$(realpath "$1") suite=$2
mkdir -p "$3"
folder=$(realpath "$3")
root=$folder/root
exec > >(tee "$folder/log") 2>&1

say() { printf '== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" && exit 1; }

# The X server picks a free display, and names it as soon as it takes connections.
Xvfb -displayfd 3 -screen 0 1280x800x24 3>"$folder/display" >"$folder/xvfb.log" 2>&1 &
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
for _ in {1..600}; do [[ ! -s $folder/display ]] || break; sleep 0.1; done
[[ -s $folder/display ]] || fail "no X server: $(<"$folder/xvfb.log")"
display=:$(<"$folder/display")

offline=(unshare --net chroot "$root" setpriv --reuid 1000 --regid 1000 --clear-groups
    env -i HOME=/home/user PATH=/usr/bin:/bin DISPLAY="$display" LANG=C.UTF-8)
inside() { chroot "$root" "$@"; }
# Lists all files but those that an installation may leave behind: apt's and dpkg's own notes, and the user's data.
files() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/log \
        -o -path ./var/cache -o -path ./home/user/.local/share/spillway -o -path ./home/user/.local/state/spillway \
        -o -path ./home/user/.config/spillway -o -path ./home/user/.cache \) -prune -o -not -type d -print | sort)
}
apt() { DEBIAN_FRONTEND=noninteractive inside apt-get "$@" -y -qq --no-install-recommends >>"$folder/apt" 2>&1; }

say "a fresh $suite"
if [[ -d $suite ]]; then
    cp -ax "$suite" "$root"
else
    debootstrap --variant=minbase "$suite" "$root" http://deb.debian.org/debian >/dev/null
fi
inside useradd -m -u 1000 -s /bin/sh user
cp /etc/resolv.conf "$root/etc/"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mkdir -p "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t devpts devpts "$root/dev/pts"
inside apt-get update -qq
[[ $package != *.tar.xz ]] || apt install xz-utils
files >"$folder/before"

say "installs ${package##*/}"
install -m 644 "$package" "$root/tmp/"
case $package in
*.deb)
    programs=/usr/bin
    apt install "/tmp/${package##*/}"
    remove() { # without keeping what another package would merely like
        apt purge --autoremove -o APT::AutoRemove::RecommendsImportant=0 -o APT::AutoRemove::SuggestsImportant=0 spillway
    }
    ;;
*.run)
    programs="/home/user/My programs/Spillway/bin"
    "${offline[@]}" sh "/tmp/${package##*/}" --quiet -- "${programs%/bin}"
    remove() { "${offline[@]}" "${programs%/bin}/uninstall.sh"; }
    ;;
*.tar.xz)
    programs=/home/user/.local/opt/spillway/bin
    "${offline[@]}" sh -c "cd /tmp && tar -xf ${package##*/} && spillway-*/install.sh"
    remove() { "${offline[@]}" "${programs%/bin}/uninstall.sh"; }
    ;;
*) fail "what is $package?" ;;
esac
files | comm -13 "$folder/before" - >"$folder/installed"
size=$(cd "$root" && tr '\n' '\0' <"$folder/installed" | du -c --files0-from=- -BM | tail -1 | cut -f1)
say "installed: $size in $(wc -l <"$folder/installed") files"

say "systemd is told of the server"
unit=$(sed -n 's|^\.\(/.*/systemd/user/spillway-server\.service\)$|\1|p' "$folder/installed" | tail -1)
started=$(sed -n 's/^ExecStart="\{0,1\}\([^"]*spillway-cli\)"\{0,1\} serve .*/\1/p' "$root$unit")
[[ $started == spillway-cli || $started == "$programs/spillway-cli" ]] || fail "the service starts '$started'"
[[ -e $root${unit%.service}.socket ]] || fail "there is no socket for it"

say "spillway-cli answers"
guide=$(sed -n 's|^\.\(/.*guide\.gguf\)$|\1|p' "$folder/installed")
"${offline[@]}" "$programs/spillway-cli" --version
"${offline[@]}" "$programs/spillway-cli" run -m "$guide" --temp 0 -n 24 -p "What is a KV cache?" | tee "$folder/answer"
[[ $(wc -c <"$folder/answer") -gt 20 ]] || fail "it said nothing"

say "the window answers"
mkdir -p "$root/tmp/.X11-unix"
mount --bind /tmp/.X11-unix "$root/tmp/.X11-unix"
touch "$folder/window.log"
"${offline[@]}" "$programs/spillway" --measure-start --temp 0 --theme light --language en >"$folder/window.log" 2>&1 &
for _ in {1..300}; do ! grep -q '^model' "$folder/window.log" || break; sleep 0.2; done
cat "$folder/window.log"
grep -q '^model' "$folder/window.log" || fail "no window, or no model in it"
export DISPLAY=$display
sleep 2
xdotool mousemove 640 700 click 1 sleep 0.5 type --delay 20 "What is a KV cache?"
xdotool key Return
answer() {
    sqlite3 "$root/home/user/.local/share/spillway/spillway.sqlite" \
        "SELECT text FROM messages WHERE role = 'assistant' AND status = 'complete'" 2>/dev/null
}
for _ in {1..100}; do [[ -z $(answer) ]] || break; sleep 0.2; done
sleep 1
import -window root "$folder/window.png"
answer | grep . || fail "the window did not answer"
kill %2 && wait %2 || true

starts() { # NAME=VALUE... of its environment
    { "${offline[@]}" env "$@" timeout 10 "$programs/spillway" --measure-start 2>/dev/null || true; } >"$folder/start"
    grep -E '^(window|model)' "$folder/start" || fail "it does not"
}
say "the window starts again"
starts
say "without a graphics driver"
starts __GLX_VENDOR_LIBRARY_NAME=none __EGL_VENDOR_LIBRARY_DIRS=/none
wayland_plugin=$(find "$root/usr/lib" "$root/home/user" -path '*platforms/libqwayland-generic.so' -print -quit)
if [[ $wayland_plugin ]] && command -v weston >/dev/null; then
    say "under Wayland"
    keyboards=/usr/share/X11/xkb # which come with every compositor; without them Qt ends
    mkdir -p "$root$keyboards"
    mount --bind "$keyboards" "$root$keyboards"
    install -d -m 700 "$root/tmp/runtime"
    XDG_RUNTIME_DIR=$root/tmp/runtime weston --backend=x11-backend.so --use-pixman --socket=wayland-1 >"$folder/weston.log" 2>&1 &
    for _ in {1..50}; do [[ ! -S $root/tmp/runtime/wayland-1 ]] || break; sleep 0.1; done
    chown -R 1000:1000 "$root/tmp/runtime"
    (sleep 6 && import -window root "$folder/wayland.png") &
    starts -u DISPLAY XDG_RUNTIME_DIR=/tmp/runtime WAYLAND_DISPLAY=wayland-1 QT_QPA_PLATFORM=wayland
    wait %+
    umount "$root$keyboards"
fi

say "is removed"
remove
files | comm -13 "$folder/before" - >"$folder/left"
[[ ! -s $folder/left ]] || { cat "$folder/left" && fail "this was left"; }
[[ -s $root/home/user/.local/share/spillway/spillway.sqlite ]] || fail "the conversations are gone"
say "nothing is left but the user's data; all is well"
