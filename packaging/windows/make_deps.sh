#!/usr/bin/env bash
# Makes build/mingw-deps/prefix: what kernels, engine and spillway-cli need from outside to be cross-compiled.
# Header-only libraries come from the installed packages; PCRE2 is cross-built from the distribution's source package.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
deps=$PWD/build/mingw-deps prefix=$PWD/build/mingw-deps/prefix
header_only=(libexpected-dev nlohmann-json3-dev libcli11-dev)

# Made again when a version changes, kept otherwise.
key=$(dpkg-query -W -f '${Package} ${Version}\n' "${header_only[@]}" libpcre2-dev g++-mingw-w64-x86-64-posix
    sha256sum packaging/windows/make_deps.sh packaging/windows/mingw-w64.cmake)
[[ -f $deps/key && $(<"$deps/key") == "$key" ]] && exit 0
rm -rf "$deps"
mkdir -p "$prefix"

# Copied one by one: the system's include folder as a whole would hide the Windows headers.
copy_header_only() {
    dpkg -L "${header_only[@]}" | while read -r file; do
        [[ -f $file && ($file == /usr/include/* || $file == */cmake/*) ]] || continue
        install -D -m 644 "$file" "$prefix/${file#/usr/}"
    done
}

# A private package index: the machine's own sources, asked for source packages.
private_apt=(-qq -o "Dir::Etc::sourcelist=$deps/apt/sources.list" -o "Dir::Etc::sourceparts=$deps/apt/parts"
    -o "Dir::State::lists=$deps/apt/lists" -o "Dir::Cache=$deps/apt/cache" -o APT::Sandbox::User=root)

fetch_pcre2() {
    mkdir -p "$deps"/apt/{parts,lists/partial,cache/archives/partial}
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        sed -n 's/^deb /deb-src /p' >"$deps/apt/sources.list" || true
    local file
    for file in /etc/apt/sources.list.d/*.sources; do
        [[ -f $file ]] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$deps/apt/parts/${file##*/}"
    done
    apt-get "${private_apt[@]}" update || true # an index without sources is no reason to stop

    # The version that is installed, else what a mirror that lags behind still has.
    local version
    for version in $(dpkg-query -W -f '${source:Version}' libpcre2-dev) \
        $(apt-cache "${private_apt[@]}" showsrc pcre2 | sed -n 's/^Version: //p'); do
        rm -rf "$deps/src" && mkdir "$deps/src"
        (cd "$deps/src" && apt-get "${private_apt[@]}" source "pcre2=$version") >"$deps/log" 2>&1 && return
    done
    cat "$deps/log" >&2
    echo "make_deps: the source package of pcre2 cannot be had" >&2
    return 1
}

build_pcre2() {
    cmake -S "$deps"/src/pcre2-*/ -B "$deps/pcre2" -G Ninja \
        -DCMAKE_TOOLCHAIN_FILE="$PWD/packaging/windows/mingw-w64.cmake" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_INSTALL_PREFIX="$prefix" -DBUILD_SHARED_LIBS=OFF -DPCRE2_BUILD_PCRE2_8=ON -DPCRE2_SUPPORT_JIT=ON \
        -DPCRE2_SUPPORT_UNICODE=ON -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF -Wno-dev >/dev/null
    cmake --build "$deps/pcre2" --target install >/dev/null
}

copy_header_only
fetch_pcre2
build_pcre2
echo "$key" >"$deps/key"
