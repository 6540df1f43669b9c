#!/bin/sh
# Checks and measures Spillway on a machine with an NVIDIA GPU. Needs a C library, the driver, and nothing else.
#
#   ./run.sh             all steps that have no result yet, in their order
#   ./run.sh STEP...     these steps, whether they have one or not; a pattern such as 'pressure-1b-*' is several
#   ./run.sh list        the steps, with the seconds that each may take
#
# Each step has a time limit of its own and writes its result as it ends: STEP.json (or .txt), what it said in STEP.log,
# and a line in summary.md. So a run may be cut off at any point, and the next one goes on.
#
# OUT       folder of the results (default: ./results)
# DEVICE    cuda, cuda:1, ... (default: cuda)
# SECONDS_LEFT  begin no step that may take longer than what is left of so many seconds (default: no limit)
# TMPDIR    folder for the models that are made on the spot: 5 GB, for one step at a time
set -u
mkdir -p "${OUT:=results}" || exit 1
out=$(cd "$OUT" && pwd)
cd "$(dirname "$0")" || exit 1
cli=./spillway-cli
device=${DEVICE:-cuda}
started=$(date +%s)
export XDG_DATA_HOME="$out/profile" # where calibrate keeps the rates
goldens=
[ -n "$(ls goldens 2>/dev/null)" ] && goldens="--golden goldens"

seven=mistral-7b:q4_k_m
one=llama-3.2-1b:q4_k_m
q8="--ctk q8_0 --ctv q8_0"

# STEP LIMIT_S SUFFIX COMMAND...: all that can be done. The first two say what the machine is, the third whether the
# rest is worth anything.
steps() {
    cat <<LIST
devices 60 json $cli devices --json
driver 60 txt nvidia-smi -q -d MEMORY,CLOCK,PERFORMANCE
selftest 300 json $cli selftest --device $device $goldens --json
guide 60 json $cli run -m guide.gguf --device $device -p Hello -n 48 --temp 0 --json
calibrate 120 json $cli calibrate --device $device --json
prefill-7b 120 json $cli bench --shape $seven --device $device $q8 -p 4096 -n 0 -r 5 --json
decode-7b 120 json $cli bench --shape $seven --device $device $q8 -p 0 -n 128 -r 5 --json
prefill-1b 90 json $cli bench --shape $one --device $device $q8 -p 4096 -n 0 -r 5 --json
decode-1b 90 json $cli bench --shape $one --device $device $q8 -p 0 -n 128 -r 5 --json
deep-7b 240 json $cli bench --shape $seven --device $device $q8 -p 0 -n 64 -d 4096,8192,16384,32000 -r 3 --json
deep-1b 180 json $cli bench --shape $one --device $device $q8 -p 0 -n 64 -d 4096,8192,16384,32000 -r 3 --json
LIST
    for policy in auto stream merge resident cpu-decode; do
        echo "pressure-7b-$policy 300 json $cli bench --pressure --shape $seven --device $device $q8" \
            "--vram-budget fit:4096 --kv-policy $policy -c 32768 -d 32768 --every 1024 -n 32 --json"
        echo "pressure-1b-$policy 240 json $cli bench --pressure --shape $one --device $device $q8" \
            "--vram-budget fit:4096 --kv-policy $policy -c 32768 -d 32768 --every 1024 -n 32 --json"
    done
    cat <<LIST
f16-7b 120 json $cli bench --shape $seven --device $device -p 4096 -n 128 -r 3 --json
q8-1b 90 json $cli bench --shape llama-3.2-1b:q8_0 --device $device -p 4096 -n 128 -r 3 --json
memcheck 600 txt compute-sanitizer --tool memcheck --error-exitcode 9 $cli selftest --device $device
racecheck 600 txt compute-sanitizer --tool racecheck --error-exitcode 9 $cli selftest --device $device
LIST
}

say() {
    echo "$*" >&2
}

# note STEP RESULT SECONDS: a line of the summary
note() {
    [ -f "$out/summary.md" ] || printf '| step | result | s |\n| --- | --- | --- |\n' >"$out/summary.md"
    printf '| %s | %s | %s |\n' "$1" "$2" "$3" >>"$out/summary.md"
    say "$1: $2 ($3 s)"
}

# run_step STEP LIMIT_S SUFFIX COMMAND...
run_step() {
    step=$1 limit=$2 suffix=$3
    shift 3
    if [ -n "${SECONDS_LEFT:-}" ] && [ $(($(date +%s) - started + limit)) -gt "$SECONDS_LEFT" ]; then
        note "$step" "not begun: it may take $limit s" 0
        return 0
    fi
    begun=$(date +%s)
    if ! command -v "$1" >/dev/null; then
        note "$step" "skipped: there is no $1 here" 0
        return 0
    fi
    timeout -k 10 "$limit" "$@" >"$out/$step.part" 2>"$out/$step.log" </dev/null
    code=$?
    mv "$out/$step.part" "$out/$step.$suffix"
    took=$(($(date +%s) - begun))
    case $code in
    0) note "$step" ok "$took" ;;
    124 | 137) failed=$((failed + 1)) && note "$step" "cut off after $limit s" "$took" ;;
    *) failed=$((failed + 1)) && note "$step" "FAILED ($code): $(tail -n 1 "$out/$step.log")" "$took" ;;
    esac
}

# Without a GPU: that is said, and what the CPU can be checked for is.
without_gpu() {
    say "There is no CUDA device here that can be used: $("$cli" selftest --device "$device" 2>&1 >/dev/null | tail -n 1)"
    say "The CPU is checked in its place."
    failed=0
    # shellcheck disable=SC2086 # two words, or none
    run_step cpu-selftest 120 json "$cli" selftest $goldens --json
    run_step cpu-guide 60 json "$cli" run -m guide.gguf -p Hello -n 24 --temp 0 --json
    run_step cpu-shape 60 json "$cli" bench --shape tiny-llama:q4_k_m -p 64 -n 16 -r 1 --json
    [ "$failed" = 0 ]
}

if [ "${1:-}" = list ]; then
    steps | while read -r step limit rest; do
        printf '%5s s  %s\n' "$limit" "$step"
    done
    exit 0
fi

if ! "$cli" devices --json 2>/dev/null | grep -q '"id": "cuda:'; then
    without_gpu
    exit
fi

failed=0
steps >"$out/steps"
while read -r step limit suffix command; do
    wanted=no
    for pattern in "$@"; do
        # shellcheck disable=SC2254 # the pattern is meant to be one
        case $step in $pattern) wanted=yes ;; esac
    done
    [ $# = 0 ] && [ ! -e "$out/$step.$suffix" ] && wanted=yes
    # shellcheck disable=SC2086 # no word of a command holds a space
    [ $wanted = yes ] && run_step "$step" "$limit" "$suffix" $command
done <"$out/steps"
rm -f "$out/steps"
say "results: $out/summary.md"
[ "$failed" = 0 ]
