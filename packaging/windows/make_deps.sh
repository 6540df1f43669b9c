#!/usr/bin/env bash
# Makes build/mingw-deps/prefix: what kernels, engine and spillway-cli need from outside to be cross-compiled.
# Header-only libraries come from the installed packages; PCRE2 is cross-built from the distribution's source package.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. packaging/windows/source_package.sh
deps=$PWD/build/mingw-deps prefix=$PWD/build/mingw-deps/prefix
header_only=(libexpected-dev nlohmann-json3-dev libcli11-dev)

# Made again when a version changes, kept otherwise.
key=$(dpkg-query -W -f '${Package} ${Version}\n' "${header_only[@]}" libpcre2-dev g++-mingw-w64-x86-64-posix
    sha256sum packaging/windows/make_deps.sh packaging/windows/source_package.sh packaging/windows/mingw-w64.cmake)
[[ -f $deps/key && $(<"$deps/key") == "$key" ]] && exit 0
rm -rf "$deps"
mkdir -p "$prefix" "$deps/src"

# Copied one by one: the system's include folder as a whole would hide the Windows headers.
copy_header_only() {
    dpkg -L "${header_only[@]}" | while read -r file; do
        [[ -f $file && ($file == /usr/include/* || $file == */cmake/*) ]] || continue
        install -D -m 644 "$file" "$prefix/${file#/usr/}"
    done
}

build_pcre2() {
    cmake -S "$deps"/src/pcre2-*/ -B "$deps/pcre2" -G Ninja \
        -DCMAKE_TOOLCHAIN_FILE="$PWD/packaging/windows/mingw-w64.cmake" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_INSTALL_PREFIX="$prefix" -DBUILD_SHARED_LIBS=OFF -DPCRE2_BUILD_PCRE2_8=ON -DPCRE2_SUPPORT_JIT=ON \
        -DPCRE2_SUPPORT_UNICODE=ON -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF -Wno-dev >/dev/null
    cmake --build "$deps/pcre2" --target install >/dev/null
}

copy_header_only
source_package "$deps/src" pcre2 "$(dpkg-query -W -f '${source:Version}' libpcre2-dev)"
build_pcre2
echo "$key" >"$deps/key"
