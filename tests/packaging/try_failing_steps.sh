#!/usr/bin/env bash
# try_failing_steps.sh FOLDER: a command that fails, wherever it stands in a step of .ci/run or `./dev lint`, makes them
# fail. Without building anything: programs in place of the real ones do nothing, or fail when they are asked for FAILING.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rm -rf "$1" && mkdir -p "$1"/{bin,ci/.ci,ci/packaging/windows,lint} && cd "$1"
here=$PWD

fail() { printf 'FAIL: %s\n' "$*" >&2 && cat log >&2 && exit 1; }
# pretend FILE: a program that fails where its name and arguments hold $FAILING.
pretend() {
    printf '#!/bin/sh\ncase "$0 $*" in *"${FAILING:-nothing of it}"*) exit 3 ;; esac\n' >"$1"
    chmod +x "$1"
}
for program in cmake ninja wine apt-get dpkg-query clang-format-14 clang-tidy-14; do pretend "bin/$program"; done
printf 'echo installed\n' >>bin/dpkg-query
export PATH=$here/bin:$PATH CI=true

cp "$root/.ci/run" ci/.ci/
pretend ci/dev
pretend ci/packaging/windows/make_deps.sh
mkdir -p ci/build/no-qt
ci() { FAILING=$1 ci/.ci/run >log 2>&1; }
ci "" || fail ".ci/run fails where nothing does"
grep -q ' s  build without Qt$' log || fail "no time is shown for the last step"
for failing in "dev packages" "dev test" "dev lint" make_deps.sh "preset mingw" "build build/mingw-check" wine \
    "preset release" "ninja -C build/no-qt"; do
    ! ci "$failing" || fail ".ci/run passes where this fails: $failing"
    grep -q ' s  in all$' log || fail "no time is shown where this fails: $failing"
done

cd lint
cp "$root/dev" .
git init -q && touch file.cpp && git add . && git -c user.name=x -c user.email=x@x commit -q -m x
mkdir -p build/dev build/lint/alone && touch build/dev/build.ninja
printf '"file": "%s/file.cpp"\n' "$PWD" >build/lint/alone/compile_commands.json
lint() { FAILING=$1 ./dev lint --all >../log 2>&1; }
lint "" || { cd .. && fail "./dev lint fails where nothing does"; }
for failing in clang-format-14 "build build/dev" "preset dev" clang-tidy-14; do
    ! lint "$failing" || { cd .. && fail "./dev lint passes where this fails: $failing"; }
done
rm build/lint/alone/compile_commands.json
! lint "" || { cd .. && fail "./dev lint passes where it is not known how files are compiled"; }
echo "passed"
