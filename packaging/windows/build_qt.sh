#!/usr/bin/env bash
# Cross-builds what the window needs of Qt and links build/qt-windows to it. It takes an hour or two, so the result is
# kept in a cache folder, keyed by this script, the toolchain and the versions. What is there is not built again, and
# what was interrupted goes on.
#
#   packaging/windows/build_qt.sh [SOURCES]
#
# The sources are the distribution's source packages. What its mirror does not have, or all of it, may lie unpacked in
# the folder SOURCES, as it comes from there or from Qt: qt6-base* or qtbase*, and so on; only the version is asked for.
# SPILLWAY_QT_CACHE: the cache folder, else ~/.cache/spillway/qt-windows.
set -euo pipefail
sources=${1:+$(cd "$1" && pwd)}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=$PWD/packaging/windows
. "$here/source_package.sh"
jobs=${SPILLWAY_JOBS:-$(nproc)}
export SOURCE_DATE_EPOCH=1 QT_HASH_SEED=0 # the same sources give the same bytes

stop() { echo "build_qt: $*" >&2 && exit 1; }

# Qt for Windows is built with the tools of the Qt that is installed here: both must be of one version.
version=$(qmake6 -query QT_VERSION 2>/dev/null) || stop "qmake6 is missing; ./dev packages windows-qt installs what is needed."
for package in qt6-base-dev-tools qt6-declarative-dev-tools qt6-shader-baker; do
    [[ $(dpkg-query -W -f '${Version}' $package 2>/dev/null) == "$version"* ]] ||
        stop "$package must be installed, in version $version."
done

compiler=$(dpkg-query -W -f '${Version}' g++-mingw-w64-x86-64-posix)
key=$version-$(grep -hv '^ *#' "$here"/{build_qt.sh,mingw-w64.cmake,qt-mingw-w64.cmake} | cat - <(echo "$compiler") |
    sha256sum | head -c 12)
cache=${SPILLWAY_QT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/spillway/qt-windows}/$key
prefix=$cache/prefix

link() {
    mkdir -p build && ln -sfn "$prefix" build/qt-windows
    echo "Qt $version for Windows: $prefix"
}
[[ -f $cache/done ]] && link && exit 0

# ---- sources ----

version_of() { sed -n 's/^set(QT_REPO_MODULE_VERSION "\(.*\)")/\1/p' "$1/.cmake.conf"; }

# unpack MODULE PACKAGE BINARY_PACKAGE: puts the sources into $cache/src/MODULE.
unpack() {
    local to=$cache/src/$1 given
    [[ -d $to ]] && return
    mkdir -p "$cache/src/packages"
    for given in ${sources:+"$sources/$1"*/ "$sources/$2"*/}; do
        [[ -d $given ]] && cp -r "$given" "$to.part" && mv "$to.part" "$to" && return
    done
    source_package "$cache/src/packages" "$2" "$(dpkg-query -W -f '${source:Version}' "$3")" ||
        stop "Name a folder that holds the sources of $1 $version."
    mv "$cache/src/packages/$2"-*/ "$to"
}

unpack_qt() {
    unpack "$@"
    [[ $(version_of "$cache/src/$1") == "$version" ]] || stop "the sources of $1 are not those of $version"
}

# The distribution's qtbase comes without SQLite.
add_sqlite() {
    local to=$cache/src/qtbase/src/3rdparty/sqlite
    [[ -f $to/sqlite3.c ]] && return
    unpack sqlite3 sqlite3 libsqlite3-0
    (cd "$cache/src/sqlite3" && ./configure --disable-tcl --disable-readline && make sqlite3.c sqlite3.h) >"$cache/sqlite3.log" 2>&1 ||
        stop "SQLite could not be put into one file: $cache/sqlite3.log"
    mkdir -p "$to" && cp "$cache"/src/sqlite3/sqlite3.[ch] "$to"
}

# Takes out what the window does not use and no option leaves out: other styles, tools, tests.
slim_declarative() {
    without() { sed -i -E "/add_subdirectory\(($2)\)/d" "$cache/src/qtdeclarative/$1/CMakeLists.txt"; }
    without src 'qmllocalstorage|qmltest|quicktestutils|quickcontrolstestutils|quickwidgets|quicknativestyle'
    without src/plugins qmllint
    without src/labs 'settings|models|animation|platform|wavefrontmesh|sharedimage'
    without src/quickcontrols2 'fusion|imagine|material|universal|windows'
    sed -i '/"qml\/+/d' "$cache/src/qtdeclarative/src/quickdialogs2/quickdialogs2quickimpl/CMakeLists.txt"
    : >"$cache/src/qtdeclarative/tools/CMakeLists.txt"
}

# ---- building ----

# build MODULE OPTIONS...: configures, builds and installs.
build() {
    local module=$1 folder=$cache/build/$1 toolchain=$cache/toolchain/qt-mingw-w64.cmake
    shift
    [[ $module == qtbase ]] || toolchain=$prefix/lib/cmake/Qt6/qt.toolchain.cmake # which reads the same one
    [[ -f $cache/$module.done ]] && return
    [[ -f $folder/build.ninja ]] ||
        cmake -S "$cache/src/$module" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
            -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DQT_BUILD_EXAMPLES=OFF -DQT_BUILD_TESTS=OFF "$@" >"$cache/$module.log" 2>&1 ||
        { tail -n 20 "$cache/$module.log" >&2 && rm -f "$folder/build.ninja" && stop "$module cannot be configured"; }
    echo "building $module: $cache/$module.log"
    cmake --build "$folder" -j "$jobs" --target install >>"$cache/$module.log" 2>&1 ||
        { tail -n 20 "$cache/$module.log" >&2 && stop "$module cannot be built"; }
    touch "$cache/$module.done"
}

# Direct2D stays on: without it Gui has no DirectWrite fonts, which PrintSupport needs, which QCustomPlot needs.
qtbase=(-DFEATURE_testlib=OFF -DFEATURE_concurrent=OFF -DFEATURE_androiddeployqt=OFF -DFEATURE_sql_odbc=OFF
    -DINPUT_opengl=dynamic -DFEATURE_vulkan=OFF -DFEATURE_dbus=OFF -DFEATURE_openssl=OFF -DFEATURE_schannel=ON
    -DFEATURE_icu=OFF -DFEATURE_glib=OFF -DFEATURE_zstd=OFF -DFEATURE_brotli=OFF -DFEATURE_pkg_config=OFF
    -DINPUT_pcre=qt -DINPUT_libpng=qt -DINPUT_libjpeg=qt -DINPUT_freetype=qt -DINPUT_harfbuzz=qt
    -DINPUT_doubleconversion=qt -DFEATURE_system_zlib=OFF -DFEATURE_sql=ON -DFEATURE_sql_sqlite=ON
    -DFEATURE_system_sqlite=OFF -DFEATURE_direct2d=ON -DFEATURE_direct2d1_1=OFF -DFEATURE_tabletevent=OFF)
qtdeclarative=(-DFEATURE_qml_debug=OFF -DFEATURE_qml_profiler=OFF -DFEATURE_qml_preview=OFF -DFEATURE_qml_devtools=OFF
    -DFEATURE_quick_particles=OFF -DFEATURE_qml_xmllistmodel=OFF -DFEATURE_quick_designer=OFF
    -DCMAKE_DISABLE_FIND_PACKAGE_Qt6LanguageServerPrivate=ON)

mkdir -p "$cache/toolchain"
cp "$here"/{mingw-w64,qt-mingw-w64}.cmake "$cache/toolchain"
unpack_qt qtbase qt6-base libqt6core6
unpack_qt qtdeclarative qt6-declarative libqt6qml6
unpack_qt qtsvg qt6-svg libqt6svg6
add_sqlite
slim_declarative
build qtbase "${qtbase[@]}"
build qtdeclarative "${qtdeclarative[@]}"
build qtsvg
rm -rf "$cache/src" "$cache/build"
touch "$cache/done"
link
