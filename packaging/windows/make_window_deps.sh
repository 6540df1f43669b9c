#!/usr/bin/env bash
# Makes build/window-deps/prefix: what the window needs from outside to be cross-compiled, besides Qt (build_qt.sh) and
# what the engine needs (make_deps.sh). spdlog and fmt come from the installed packages, as headers; md4c and QCustomPlot
# are cross-built from the distribution's source packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. packaging/windows/source_package.sh
deps=$PWD/build/window-deps prefix=$PWD/build/window-deps/prefix
header_only=(libspdlog-dev libfmt-dev)

# Made again when a version changes, kept otherwise.
key=$(dpkg-query -W -f '${Package} ${Version}\n' "${header_only[@]}" libmd4c-dev libqcustomplot-dev g++-mingw-w64-x86-64-posix
    readlink build/qt-windows
    sha256sum packaging/windows/{make_window_deps,source_package}.sh packaging/windows/{,qt-}mingw-w64.cmake)
[[ -f $deps/key && $(<"$deps/key") == "$key" ]] && exit 0
rm -rf "$deps"
mkdir -p "$prefix" "$deps/src"

# The packages' own CMake files ask for the libraries that they also have; the headers are enough.
copy_header_only() {
    dpkg -L "${header_only[@]}" | while read -r file; do
        [[ -f $file && $file == /usr/include/* ]] || continue
        install -D -m 644 "$file" "$prefix/${file#/usr/}"
    done
    mkdir -p "$prefix/lib/cmake/spdlog"
    cat >"$prefix/lib/cmake/spdlog/spdlogConfig.cmake" <<'CMAKE'
foreach(name spdlog spdlog_header_only)
    add_library(spdlog::${name} INTERFACE IMPORTED)
    set_target_properties(spdlog::${name} PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/../../../include"
        INTERFACE_COMPILE_DEFINITIONS "SPDLOG_FMT_EXTERNAL;FMT_HEADER_ONLY")
endforeach()
CMAKE
}

# cross_build NAME BINARY_PACKAGE OPTIONS...: its source package, built and installed into the prefix.
cross_build() {
    local name=$1 version
    version=$(dpkg-query -W -f '${source:Version}' "$2")
    shift 2
    source_package "$deps/src" "$name" "$version"
    cmake -S "$deps/src/$name"-*/ -B "$deps/$name" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
        -DCMAKE_TOOLCHAIN_FILE="$PWD/packaging/windows/qt-mingw-w64.cmake" -Wno-dev "$@" >/dev/null
    cmake --build "$deps/$name" --target install >/dev/null
}

copy_header_only
cross_build md4c libmd4c-dev -DBUILD_SHARED_LIBS=OFF
cross_build qcustomplot libqcustomplot-dev -DUSE_QT_VERSION=6
echo "$key" >"$deps/key"
