#!/usr/bin/env bash
# deploy.sh FOLDER: puts beside the installed programs in FOLDER/bin what they need of Qt, QCustomPlot and the compiler:
# DLLs, plug-ins, QML modules, translations. Qt for Windows is built with what the window uses and no more, so all of its
# QML modules are taken.
set -euo pipefail
to=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
qt=$PWD/build/qt-windows
mingw=/usr/x86_64-w64-mingw32/lib
runtime=$(dirname "$(x86_64-w64-mingw32-g++-posix -print-file-name=libstdc++-6.dll)")
dll_folders=("$qt/bin" "$PWD/build/window-deps/prefix/bin" "$runtime" "$mingw")

plugins=(platforms/qwindows styles/qwindowsvistastyle iconengines/qsvgicon imageformats/qsvg imageformats/qjpeg
    sqldrivers/qsqlite)
for plugin in "${plugins[@]}"; do
    install -D -m 644 "$qt/plugins/$plugin.dll" "$to/plugins/$plugin.dll"
done

# The modules carry their QML files inside.
(cd "$qt/qml" && find . \( -name qmldir -o -name '*.dll' \) -print) | while read -r file; do
    install -D -m 644 "$qt/qml/$file" "$to/qml/$file"
done

# Translations of Qt's own sentences, from the Qt that is installed here, for the languages the program speaks.
translations=$(qmake6 -query QT_INSTALL_TRANSLATIONS)
for file in resources/translations/spillway_*.ts; do
    language=${file##*_}
    file=$translations/qtbase_${language%.ts}.qm
    [[ ! -f $file ]] || install -D -m 644 "$file" "$to/translations/${file##*/}"
done
cat >"$to/bin/qt.conf" <<'INI'
[Paths]
Prefix=..
Plugins=plugins
QmlImports=qml
Translations=translations

[Platforms]
; 2: title bar and menus follow Windows' dark mode, too
WindowsArguments=darkmode=2
INI

# Brings a DLL that is ours, with what it needs. All others must be Windows' own: those that mingw-w64 can link with,
# and what Windows calls its API sets.
bring() { # DLL
    local folder found
    [[ -f $to/bin/$1 || $1 == api-ms-win-* ]] && return
    for folder in "${dll_folders[@]}"; do
        [[ -f $folder/$1 ]] || continue
        install -m 644 "$folder/$1" "$to/bin/$1"
        bring_needs_of "$to/bin/$1"
        return
    done
    found=$(find "$mingw" -maxdepth 1 \( -iname "lib${1%.*}.a" -o -iname "lib$1.a" \) -print -quit)
    [[ -n $found ]] || { echo "deploy: $1 is needed and neither ours nor one of Windows" >&2 && exit 1; }
}

bring_needs_of() { # PROGRAM_OR_DLL
    local dll
    for dll in $(x86_64-w64-mingw32-objdump -p "$1" | sed -n 's/^\s*DLL Name: //p'); do
        bring "$dll"
    done
}

find "$to" \( -name '*.exe' -o -name '*.dll' \) -print >"$to/.programs"
while read -r file; do
    bring_needs_of "$file"
done <"$to/.programs"
rm "$to/.programs"
find "$to" \( -name '*.exe' -o -name '*.dll' \) -exec x86_64-w64-mingw32-strip {} +
