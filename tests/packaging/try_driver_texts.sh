#!/bin/sh
# try_driver_texts.sh FOLDER [NVCC]: whether all texts name the same lowest driver as the sentence that a user with an
# older one sees. That follows from the major version of CUDA's compiler: NVCC's, or without one that which
# packaging/README.md names.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$1" && mkdir -p "$1"

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# named FILE: all drivers that a text asks for, each once; line breaks count as spaces
named() {
    tr -s '\n ' '  ' <"$1" | grep -oE '[0-9]{3} (or newer|oder neuer)|Treibers? ab [0-9]{3}' | grep -oE '[0-9]{3}' | sort -u | tr '\n' ' '
}

if [ -n "${2:-}" ]; then
    cuda=$("$2" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
else
    cuda=$(tr -s '\n ' '  ' <"$root/packaging/README.md" | sed -n 's/.*a compiler of CUDA \([0-9]*\) made.*/\1/p')
fi
[ -n "$cuda" ] || fail "there is no version of CUDA's compiler to be found"
driver=$(grep -oE "major == $cuda \? \"driver [0-9]+" "$root/kernels/cuda/driver.cpp" | grep -oE '[0-9]+$') ||
    fail "kernels/cuda/driver.cpp names no driver for kernels that CUDA $cuda has compiled"

# The guide model learned its answers from the last two.
for text in README.md packaging/README.md packaging/linux/portable/README packaging/linux/deb.cmake \
    packaging/linux/spillway-cli.1 packaging/gpu-bundle/README.md \
    resources/guide-model/corpus/devices.txt resources/guide-model/corpus/de/devices.txt; do
    [ "$(named "$root/$text")" = "$driver " ] || fail "$text asks for driver $(named "$root/$text")and not for $driver"
done

# What is wrong is seen, also across lines.
printf 'the driver 525\nor newer, and mit Treiber 580 oder neuer\n' >"$1/wrong"
[ "$(named "$1/wrong")" = "525 580 " ] || fail "a wrong driver went unnoticed"
echo "passed: driver $driver, for CUDA $cuda"
