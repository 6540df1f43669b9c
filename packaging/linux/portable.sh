#!/usr/bin/env bash
# portable.sh BUILD FOLDER: installs what was built into FOLDER, with all of Qt that it opens and every library but
# the C library; beside it FOLDER.tar.xz, and FOLDER.run, which unpacks and installs itself with nothing but sh, tar and
# gzip. FOLDER works wherever it lies.
#
# lib/             Qt and what is made for this very Qt, which are always used.
# lib/if-missing/  everything else, which is used only where the host has no such library: the host's graphics driver may
#                  load the same library, and must not find an older one than it was made for.
# The C library, the driver of the graphics card and CUDA's are always the host's.
set -euo pipefail
export LC_ALL=C
build=$1 folder=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
newest_glibc=2.36 # Debian 12's: a library that asked for more would shut out distributions that the README names

# Qt's plug-ins that are opened by name while the program runs.
plugins=(
    platforms/lib{qxcb,qwayland-generic,qwayland-egl,qoffscreen}.so
    xcbglintegrations/lib{qxcb-egl-integration,qxcb-glx-integration}.so
    wayland-shell-integration/libxdg-shell.so
    wayland-decoration-client/libbradient.so
    wayland-graphics-integration-client/libqt-plugin-wayland-egl.so
    platforminputcontexts/lib{composeplatforminputcontextplugin,ibusplatforminputcontextplugin}.so
    iconengines/libqsvgicon.so
    imageformats/libqsvg.so
    sqldrivers/libqsqlite.so
)
of_the_host='^(ld-linux.*|lib(c|m|dl|pthread|rt|resolv|util|anl))\.so'

fail() { echo "portable: $*" >&2 && exit 1; }
programs() { find "$folder" -type f \( -name '*.so*' -o -path '*/bin/*' -o -path '*/libexec/*' \) ! -name '*.conf' | sort; }

ask_qt() { qtpaths6 --query "$1"; }
qt_plugins=$(ask_qt QT_INSTALL_PLUGINS) qt_qml=$(ask_qt QT_INSTALL_QML) qt_translations=$(ask_qt QT_INSTALL_TRANSLATIONS)
qt_tools=$(ask_qt QT_INSTALL_LIBEXECS)

# ---- the programs and what of Qt they open ----

rm -rf "$folder"
cmake --install "$build" --prefix "$folder" --strip >/dev/null
for plugin in "${plugins[@]}"; do
    install -Dm 644 "$qt_plugins/$plugin" "$folder/lib/qt6/plugins/$plugin"
done
# The QML of Qt's modules is in their libraries: of a module's folder only qmldir and these are needed. Of the styles
# the program uses only Basic.
"$qt_tools/qmlimportscanner" -rootPath "$root/ui" -importPath "$qt_qml" |
    sed -nE 's/.*"relativePath": "([^"]*)".*/\1/p' | grep -vE 'Controls/(Fusion|Imagine|Material|Universal)' |
    sort -u - <(printf '%s\n' QtQuick/Dialogs/quickimpl Qt/labs/folderlistmodel QtQuick/Controls/Basic/impl) |
    while read -r module; do
        for file in "$qt_qml/$module/qmldir" "$qt_qml/$module"/*.so; do
            [[ ! -f $file ]] || install -Dm 644 "$file" "$folder/lib/qt6/qml/$module/${file##*/}"
        done
    done
install -Dm 644 -t "$folder/lib/qt6/translations" "$qt_translations"/qtbase_*.qm "$qt_translations"/qtdeclarative_*.qm
printf '[Paths]\nPrefix = ..\nPlugins = lib/qt6/plugins\nQmlImports = lib/qt6/qml\nTranslations = lib/qt6/translations\n' \
    >"$folder/bin/qt.conf"

# ---- their libraries ----

licences=$folder/share/doc/spillway/libraries
mkdir -p "$folder/lib/if-missing" "$licences"
programs | xargs ldd 2>/dev/null | sed -nE 's/^\s+(\S+) => (\/\S+) .*/\1 \2/p' | sort -u | while read -r name file; do
    [[ $file != "$folder"/* && ! $name =~ $of_the_host ]] || continue
    case $name in
    libQt5* | *Qt5.so*) fail "$file is of Qt 5" ;;
    libQt6* | libQCustomPlot*) install -m 644 "$file" "$folder/lib/$name" ;;
    *) install -m 644 "$file" "$folder/lib/if-missing/$name" ;;
    esac
    file=$(readlink -f "$file") # which dpkg may know by its name from before /lib became /usr/lib
    (dpkg -S "$file" || dpkg -S "${file#/usr}") 2>/dev/null | cut -d: -f1
done | sort -u >"$licences/packages"
! programs | xargs ldd | grep 'not found' || fail "a library is missing here"

programs | while read -r file; do
    lib=\$ORIGIN/$(realpath --relative-to="$(dirname "$file")" "$folder/lib")
    patchelf --set-rpath "$lib:/usr/lib/x86_64-linux-gnu:/usr/lib64:/usr/lib:$lib/if-missing" "$file"
done

# ---- what belongs to the libraries: whose they are, and from which sources they were built ----

while read -r package; do
    cp "/usr/share/doc/$package/copyright" "$licences/$package.copyright"
    dpkg-query -W -f '${source:Package} ${source:Version}\n' "$package"
done <"$licences/packages" | sort -u >"$licences/SOURCES"
rm "$licences/packages"

install -m 755 "$root"/packaging/linux/portable/*.sh "$folder/"
install -m 644 "$root/packaging/linux/portable/README" "$root/LICENSE" "$folder/"

# What belongs to the package, for its installer: users put files of their own beside it.
(cd "$folder" && find . ! -type d | sort >files)

needs=$(programs | xargs objdump -p 2>/dev/null | grep -oE '\bGLIBC_[0-9.]+' | sort -uV | tail -1)
[[ $(printf 'GLIBC_%s\n%s\n' "$newest_glibc" "$needs" | sort -V | tail -1) == "GLIBC_$newest_glibc" ]] ||
    fail "a library needs $needs"

# ---- the two archives: the same bytes from the same files ----

: "${SOURCE_DATE_EPOCH:=$(git -C "$root" log -1 --format=%ct)}"
same="--sort=name --mtime=@$SOURCE_DATE_EPOCH --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX"
cd "$(dirname "$folder")"
name=${folder##*/}
tar $same -cf - "$name" | xz -T2 >"$name.tar.xz" # xz gives the same for any number of threads but one
# GZIP: without the time of the file that makeself compresses.
GZIP=-n makeself --quiet --nox11 --sha256 --packaging-date "$(date -u -d "@$SOURCE_DATE_EPOCH")" --tar-extra "$same" \
    "$name" "$name.run" "Spillway" ./install.sh
du -m "$name" "$name.tar.xz" "$name.run" --max-depth=0 >&2
echo "needs $needs" >&2
