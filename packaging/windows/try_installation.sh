#!/usr/bin/env bash
# try_installation.sh INSTALLER: installs what `./dev package windows` or `windows-cli` just made under Wine in a home
# of its own, uses it and removes it again. Leaves window.png and answer.png in build/windows-package to be looked at.
# It needs wine64 and, for the window, xvfb, xdotool, imagemagick and sqlite3.
set -euo pipefail
export LC_ALL=C.UTF-8 # for names with letters beyond ASCII
installer=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
package=$PWD/build/windows-package
has_window() { [[ -f $package/program/bin/spillway.exe ]]; }

work=$(mktemp -d)
export WINEPREFIX=$work/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
export WINEQT_QUICK_BACKEND=software WINEQT_FORCE_STDERR_LOGGING=1 # Wine keeps variables named QT_* to itself
unset DISPLAY WAYLAND_DISPLAY

servers=()
clean_up() {
    wineserver -k 2>/dev/null || true
    ((${#servers[@]} == 0)) || kill "${servers[@]}" 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
check() { # SENTENCE COMMAND...
    local sentence=$1
    shift
    "$@" && echo "ok: $sentence" || { echo "FAILED: $sentence" && exit 1; }
}
quietly() { "$@" >/dev/null 2>&1; }
exits_with() { local status=0 && quietly "${@:2}" || status=$?; ((status == $1)); }
within() { # SECONDS COMMAND...
    local left
    for ((left = $1 * 5; left > 0; left--)); do
        "${@:2}" && return
        sleep 0.2
    done
    return 1
}

quietly wine wineboot -i
local_data=$WINEPREFIX/drive_c/users/$(id -un)/AppData/Local
menu=$WINEPREFIX/drive_c/users/$(id -un)/"AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Spillway.lnk"
folder=$local_data/Programs/Spillway
uninstall_key='HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\Spillway'
gguf_key='HKCU\Software\Classes\Spillway.gguf'
has_key() { quietly wine reg query "$1"; }
has_no_key() { ! has_key "$1"; }
is_gone() { [[ ! -e $1 ]]; }

# ---- installing ----

quietly wine winecfg /v win7
check "refuses Windows 7" exits_with 2 wine "$installer" /S
check "and then writes nothing" is_gone "$folder"
quietly wine winecfg /v win10

check "installs in silence" exits_with 0 wine "$installer" /S
rm -rf "$work/compared" && cp -r "$folder" "$work/compared" && rm "$work/compared/Uninstall.exe"
check "every file is there, and the same" diff -r "$package/program" "$work/compared"
! has_window || check "the Start menu has it" test -f "$menu"
check "Windows' list of programs has it" has_key "$uninstall_key"
check "no kind of file is taken without being asked" has_no_key "$gguf_key"
check "installs over itself, with .gguf files" exits_with 0 wine "$installer" /S /GGUF
! has_window || check ".gguf files open with it" has_key "$gguf_key"
quietly wine reg add "$uninstall_key" /v DisplayVersion /d 999.0 /f
check "a newer version is not replaced" exits_with 2 wine "$installer" /S
quietly wine reg add "$uninstall_key" /v DisplayVersion /d 0.0.1 /f
check "an older one is" exits_with 0 wine "$installer" /S
rm "$folder/bin/spillway-cli.exe"
check "an installation that was broken off is no other program's" exits_with 0 wine "$installer" /S
check "and is whole again" diff -r -x Uninstall.exe "$package/program" "$folder"

mkdir "$WINEPREFIX/drive_c/another" && echo kept >"$WINEPREFIX/drive_c/another/Uninstall.exe"
check "a folder with another program's uninstaller is refused" exits_with 2 wine "$installer" /S '/D=C:\another'
check "and left as it is" grep -q kept "$WINEPREFIX/drive_c/another/Uninstall.exe"
check "moves to another folder" exits_with 0 wine "$installer" /S '/D=C:\Spillway-ü'
check "and is there" test -f "$WINEPREFIX/drive_c/Spillway-ü/bin/spillway-cli.exe"
check "and not where it was" is_gone "$folder"
check "moves back" exits_with 0 wine "$installer" /S "/D=$(wine winepath -w "$folder" | tr -d '\r')"
check "and is there, the same" diff -r -x Uninstall.exe "$package/program" "$folder"
check "and nowhere else" is_gone "$WINEPREFIX/drive_c/Spillway-ü"

# ---- using ----

cli=$folder/bin/spillway-cli.exe
check "spillway-cli says its version" quietly wine "$cli" --version
wine "$cli" run -m "$folder/share/spillway/guide.gguf" -p "What is Spillway?" --temp 0 -n 40 >"$work/answer" 2>"$work/errors" ||
    { cat "$work/errors" && exit 1; }
check "spillway-cli answers: $(tr -s '\r\n' '  ' <"$work/answer")" grep -q '[[:alpha:]]' "$work/answer"

own=$work/"Modell ü.gguf"
cp "$folder/share/spillway/guide.gguf" "$own"
wine "$cli" inspect --json "$(wine winepath -w "$own" | tr -d '\r')" >"$work/inspected"
check "a file's name may have any letters" grep -q "Modell ü" "$work/inspected"

sleep 15 | quietly wine "$cli" run -m "$folder/share/spillway/guide.gguf" &
servers+=($!)
sleep 3
check "it is not replaced while it runs" exits_with 2 wine "$installer" /S
check "nor removed" exits_with 2 wine "$folder/Uninstall.exe" /S "_?=$(wine winepath -w "$folder" | tr -d '\r')"
check "and is all there" test -f "$folder/LICENSE.txt"
quietly wine taskkill /f /im spillway-cli.exe

if has_window; then
    Xvfb -displayfd 3 -screen 0 1280x800x24 3>"$work/display" >/dev/null 2>&1 &
    servers+=($!)
    within 20 test -s "$work/display"
    export DISPLAY=:$(<"$work/display")
    open_window() { # ARGUMENTS
        wine explorer /desktop=shell,1280x800 "$folder/bin/spillway.exe" "$@" >>"$work/window.log" 2>&1 &
        servers+=($!)
        check "the window is there" within 60 looks_like_one
        sleep 10 # for the model
    }
    looks_like_one() {
        import -window root "$package/window.png"
        (($(identify -format %k "$package/window.png") > 500)) # colours: text has many
    }
    close_window() { quietly wine taskkill /f /im spillway.exe && sleep 1; }
    database=$local_data/spillway/spillway.sqlite
    answered() {
        sqlite3 "$database" "SELECT text FROM messages WHERE role = 'assistant' AND status = 'complete'" 2>/dev/null |
            grep -q '[[:alpha:]]'
    }

    open_window --temp 0 --language en
    check "it keeps its data where Windows wants it" test -d "$local_data/spillway"
    xdotool mousemove 640 740 click 1 sleep 1 type --delay 60 "What is a KV cache?"
    xdotool key Return
    check "it answers a typed question" within 60 answered
    sleep 1
    import -window root "$package/answer.png"
    close_window
    open_window --language en
    close_window
    unset DISPLAY
fi

# ---- removing ----

mkdir -p "$local_data/spillway" && echo kept >"$local_data/spillway/of-the-user"
echo kept >"$folder/bin/of-the-user"
only_of_the_user() { [[ $(find "$folder" -type f) == "$folder/bin/of-the-user" ]]; }
quietly wine "$folder/Uninstall.exe" /S # comes back before it is done
check "removes itself, and no other file" within 20 only_of_the_user
check "and its menu entry" is_gone "$menu"
check "and its place in the list of programs" has_no_key "$uninstall_key"
check "and what it said of .gguf files" has_no_key "$gguf_key"
check "the user's data stay" grep -q kept "$local_data/spillway/of-the-user"
