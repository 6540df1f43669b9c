#!/usr/bin/env bash
# make_installer.sh BUILD FOLDER: puts the installer of the programs built in BUILD into FOLDER. The same programs make
# the same bytes: files and installer have the time of the commit. What is installed stays in build/windows-package.
set -euo pipefail
mkdir -p "$2"
build=$(cd "$1" && pwd) to=$(cd "$2" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
folder=$PWD/build/windows-package
program=$folder/program
name=spillway-$version-windows-x86_64-setup.exe window=(-DWINDOW)
[[ -f $build/app/spillway.exe ]] || name=spillway-cli-$version-windows-x86_64-setup.exe window=()
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

rm -rf "$folder" && mkdir -p "$program"
cmake --install "$build" --prefix "$program" --strip >/dev/null
mkdir -p "$program/share/spillway" && cp resources/guide-model/guide.gguf "$program/share/spillway"
[[ ! -f $program/bin/spillway.exe ]] || packaging/windows/deploy.sh "$program"
sed 's/$/\r/' LICENSE >"$program/LICENSE.txt"
find "$program" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

# Lists what is installed, and what is removed again: folders come after what is in them.
cd "$program"
find . -mindepth 1 -type f -printf '%P\n' | LC_ALL=C sort | while read -r file; do
    backslashed=${file//\//\\}
    parent=${backslashed%\\*}
    [[ $parent != "$backslashed" ]] || parent=
    printf 'SetOutPath "$INSTDIR%s"\nFile "%s"\n' "${parent:+\\$parent}" "$program/$file" >>"$folder/install.nsh"
    printf 'Delete "$INSTDIR\\%s"\n' "$backslashed" >>"$folder/remove.nsh"
done
find . -mindepth 1 -type d -printf '%P\n' | LC_ALL=C sort -r | while read -r inner; do
    printf 'RMDir "$INSTDIR\\%s"\n' "${inner//\//\\}" >>"$folder/remove.nsh"
done
cd - >/dev/null

makensis -V2 -INPUTCHARSET UTF8 -DVERSION="$version" "${window[@]}" -DLISTS="$folder" \
    -DICON="$build/packaging/windows/spillway.ico" -DLICENCE="$program/LICENSE.txt" -DOUTPUT="$to/$name" \
    packaging/windows/spillway.nsi
du -sh --apparent-size "$program" | sed 's/\t.*/ installed/' >&2
