#!/bin/sh
# Checks and measures Spillway on a machine with an NVIDIA GPU. Needs a C library, the driver, and nothing else.
#
#   ./run.sh             what shows in ten minutes whether it is right and how fast it is, in that order; then report.md
#   ./run.sh all         that, and all that is measured besides
#   ./run.sh STEP...     these steps, whether they have a result or not; a pattern such as 'pressure-1b-*' is several
#   ./run.sh report      the report again, from the results that are there
#   ./run.sh list        the steps, with the seconds that each may take
#
# Each step has a time limit of its own and writes its result as it ends: STEP.json (or .txt), what it said in STEP.log,
# and a line in summary.md. So a run may be cut off at any point, and the next one goes on. Ten minutes are never exceeded:
# a step for which too little is left gets what is left, or is left out where that is less than half of its limit, and the
# next run does it.
#
# OUT       folder of the results (default: ./results)
# DEVICE    cuda, cuda:1, ... (default: cuda)
# SECONDS_LEFT  what all may take together (default: 600; no limit for `all` and for steps that are named)
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
end_s=10          # for the report, and for a step that does not end at once
: "${LIMIT:=100}" # of the step, where this is one
q8="--ctk q8_0 --ctv q8_0"
shape="--shape $seven --device $device $q8"

# Prints the steps of the ten minutes as lines of STEP LIMIT_S SUFFIX COMMAND... The first ones say what the machine is,
# the next ones whether the results of the rest can be trusted. Those with `-do` have several commands: see below. The
# limits are more than ten minutes together; steps take as long as that on slow cards alone.
first_steps() {
    cat <<LIST
devices 20 json $cli devices --json
driver 10 csv nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total,clocks.max.sm,clocks.max.memory,power.limit --format=csv,noheader
libraries 10 txt -do libraries
selftest 90 json $cli selftest --device $device $goldens --json
sanitizers 105 txt -do sanitizers
odd-heads 40 txt -do odd_heads
guide 20 txt -do guide
prefill-before-512 25 json $cli bench $shape -p 4096 -n 0 -r 1 -b 512 --json
prefill-before-2048 25 json $cli bench $shape -p 4096 -n 0 -r 1 -b 2048 --json
calibrate 60 json $cli calibrate --device $device --json
decode 45 json $cli bench $shape -p 0 -n 128 -d 0,4096 -r 2 --json
ncu 60 csv -do kernels
prefill-after-512 25 json $cli bench $shape -p 4096 -n 0 -r 1 -b 512 --json
prefill-after-2048 25 json $cli bench $shape -p 4096 -n 0 -r 1 -b 2048 --json
answer 60 json -do answer
pressure-merge-cut 30 json $cli bench --pressure $shape --vram-budget fit:2048 --kv-policy merge -c 6144 -d 6144 --every 2048 -n 16 --json
pressure-merge-flags 30 json $cli bench --pressure $shape --vram-budget fit:2048 --kv-policy merge -c 6144 -d 6144 --every 2048 -n 16 --calibrated --json
pressure-stream 30 json $cli bench --pressure $shape --vram-budget fit:2048 --kv-policy stream -c 6144 -d 6144 --every 2048 -n 16 --json
LIST
}

further_steps() {
    cat <<LIST
prefill-1b 90 json $cli bench --shape $one --device $device $q8 -p 4096 -n 0 -r 5 --json
decode-1b 90 json $cli bench --shape $one --device $device $q8 -p 0 -n 128 -r 5 --json
deep-7b 240 json $cli bench $shape -p 0 -n 64 -d 4096,8192,16384,32000 -r 3 --json
deep-1b 180 json $cli bench --shape $one --device $device $q8 -p 0 -n 64 -d 4096,8192,16384,32000 -r 3 --json
LIST
    for policy in auto stream merge resident cpu-decode; do
        echo "pressure-7b-$policy 300 json $cli bench --pressure $shape" \
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

# ---- steps of several commands: each in a process of its own, which its time limit ends, LIMIT seconds ----

# Prints where cuBLAS lies that the program would find.
do_libraries() {
    ldconfig -p 2>/dev/null | grep -E 'lib(cuda|cublas|cublasLt)\.so' || echo "no libcuda or libcublas is on the loader's path"
}

# Runs three tools at a time, for 100 s each where there is time, and reports what they have found by then.
do_sanitizers() {
    command -v compute-sanitizer >/dev/null || { echo "skipped: there is no compute-sanitizer here" && return; }
    seconds=$((LIMIT - 5))
    for tool in memcheck racecheck synccheck; do
        (
            timeout -k 2 $seconds compute-sanitizer --tool $tool --print-limit 30 --error-exitcode 9 \
                "$cli" selftest --device "$device" >"$out/$tool.txt" 2>&1
            code=$?
            [ $code = 124 ] && [ "$(grep -c '^=========' "$out/$tool.txt")" -le 1 ] && code="nothing in $seconds s"
            [ "$code" = 0 ] && code="nothing"
            echo "$tool: $code"
        ) &
    done
    wait
    ! grep -h '^========= .*\(Invalid\|Misaligned\|Error:\|hazard\|Barrier error\|Program hit\)' "$out/memcheck.txt" "$out/racecheck.txt" "$out/synccheck.txt" | sort | uniq -c | sort -rn | head -n 20 | grep .
}

# Runs a model with 9 heads over 3 heads of keys: a head's part of what the host attends does not lie at a multiple of
# 16 bytes by itself. The same text must have the same perplexity on CPU and GPU, except for rounding.
do_odd_heads() {
    small="--shape smollm2-135m:q8_0 -f README.md --chunks 1 -c 512 --json"
    # shellcheck disable=SC2086 # words
    "$cli" perplexity $small --device cpu >"$out/odd-cpu.json" || return 1
    # shellcheck disable=SC2086 # words
    "$cli" perplexity $small --device "$device" --kv-policy merge --vram-budget fit:256 >"$out/odd-cuda.json" || return 1
    on_cpu=$(number "$out/odd-cpu.json" perplexity)
    here=$(number "$out/odd-cuda.json" perplexity)
    echo "9 heads over 3: perplexity $on_cpu on the CPU, $here with half of the KV on the host"
    awk -v a="$on_cpu" -v b="$here" 'BEGIN { exit !(a > 0 && b > 0 && (a - b) / a < 0.01 && (b - a) / a < 0.01) }'
}

# Compares what the guide model answers, token by token.
do_guide() {
    for on in cpu "$device"; do
        "$cli" run -m guide.gguf --device "$on" -p Hello -n 48 --temp 0 --json --tokens >"$out/guide-$on.json" || return 1
        grep -o '"token_ids":\[[0-9,]*\]' "$out/guide-$on.json" | tr -c '0-9\n' ' ' >"$out/guide-$on.txt"
    done
    cat "$out/guide-cpu.txt"
    ids=$(wc -w <"$out/guide-cpu.txt")
    [ "$ids" -gt 0 ] && cmp "$out/guide-cpu.txt" "$out/guide-$device.txt" && echo "the same $((ids)) ids on CPU and GPU"
}

# Measures all kernels of a decode step, in some of its layers. The launches that are skipped belong to the prompt.
do_kernels() {
    command -v ncu >/dev/null || { echo "skipped: there is no ncu here" && return; }
    metrics=gpu__time_duration.sum,dram__bytes_read.sum,launch__registers_per_thread,sm__warps_active.avg.pct_of_peak_sustained_active
    kernels='regex:^(add|attend_[0-9]|embed|gated_matvec|matvec|merge|norm|prepare|quantize|rank|rms|rope|scale|soft_cap|store)'
    # shellcheck disable=SC2086 # words
    ncu --clock-control none --graph-profiling node --csv --metrics $metrics -k "$kernels" --launch-skip 1000 --launch-count 500 \
        "$cli" bench $shape -p 0 -n 8 -d 1024 -r 1
}

# Writes a long answer and records the device's memory meanwhile, which shows whether it grows. Where it would take too
# long, it is stopped as by Ctrl+C, and says how far it came.
do_answer() {
    (while nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits; do sleep 1; done) >"$out/answer-memory.txt" 2>/dev/null &
    watcher=$!
    # shellcheck disable=SC2086 # words
    timeout -s INT -k 5 $((LIMIT - 10)) "$cli" run $shape --raw -p "Once" -n 4000 -c 8192 --temp 0.8 --seed 1 --json --tokens \
        >"$out/answer-turn.json"
    code=$?
    kill $watcher 2>/dev/null
    cat "$out/answer-turn.json"
    [ $code != 124 ] || [ ! -s "$out/answer-turn.json" ] || code=0
    return $code
}

# ---- the report ----

# number FILE KEY [N]: the N-th number of that name in a JSON file, or nothing
number() {
    grep -o "\"$2\": *-\{0,1\}[0-9][0-9.eE+-]*" "$1" 2>/dev/null | sed -n "${3:-1}s/.*: *//p"
}

# expected COLUMN: what the model of tests/bench/gpu_model expects of this card, or nothing
expected() {
    awk -F '\t' -v card="$card" -v column="$1" '
        /^#/ { next }
        !n { for (i = 1; i <= NF; ++i) if ($i == column) n = i; next }
        index(tolower(card), tolower($1)) { print $n; exit }' expected.tsv 2>/dev/null
}

percent() {
    awk -v share="${1:-0}" 'BEGIN { print 100 * share }'
}

# row WHAT MEASURED EXPECTED: a line of the table, with the ratio
row() {
    awk -v what="$1" -v measured="$2" -v model="$3" 'BEGIN {
        printf "| %s | %s | %s | %s |\n", what, measured == "" ? "-" : sprintf("%.4g", measured),
            model == "" ? "-" : model, measured == "" || model == "" ? "-" : sprintf("%.2f", measured / model) }'
}

# rate KEY: what calibrate has measured of the device, or nothing
rate() {
    sed -n '/"devices"/,$p' "$out/calibrate.json" 2>/dev/null | number - "$1"
}

# rate_row WHAT KEY [COPY]: a line of the table of rates, with the share of a copy
rate_row() {
    awk -v what="$1" -v measured="$(rate "$2")" -v copy="${3:-}" 'BEGIN {
        printf "| %s | %s | %s |\n", what, measured == "" ? "-" : sprintf("%.4g", measured / 1e9),
            measured == "" || copy == "" ? "" : sprintf("%.0f %%", 100 * measured / copy) }'
}

# scaled KEY FACTOR: the rate times a factor, or a dash
scaled() {
    awk -v measured="$(rate "$1")" -v factor="$2" 'BEGIN { print measured == "" ? "-" : sprintf("%.4g", measured * factor) }'
}

rates() {
    copied=$(rate copy_bytes_per_s)
    echo "| by calibrate | GB/s | of a copy |"
    echo "| --- | --- | --- |"
    rate_row "copy within its memory, read and written" copy_bytes_per_s "$copied"
    rate_row "weights of a decode step" weights_bytes_per_s "$copied"
    rate_row "attention over f16 KV" attention_bytes_per_s "$copied"
    rate_row "attention over q8_0 KV" attention_q8_0_bytes_per_s "$copied"
    rate_row "link to the device" to_device_bytes_per_s
    rate_row "the same from memory that is not page-locked" unlocked_to_device_bytes_per_s
    rate_row "KV streamed to the device" stream_bytes_per_s
    rate_row "link to the host" to_host_bytes_per_s
    echo
    echo "Products of many tokens: $(scaled matmul_ops_per_s 1e-12) Tops/s, by cuBLAS $(scaled blas_ops_per_s 1e-12)." \
        "A layer's small kernels: $(scaled small_kernels_s 1e6) us. To the host and back: $(scaled hand_off_s 1e6) us," \
        "within a graph $(scaled flag_hand_off_s 1e6)."
}

# Prints for every 256 tokens of the long answer the median of their times, and the longest one with the token it was of.
spikes_table() {
    echo "| tokens | median, ms | longest, ms | longest / median | at token |"
    echo "| --- | --- | --- | --- | --- |"
    sed -n 's/.*"token_ms":\[\([0-9.,e+-]*\)\].*/\1/p' "$out/answer.json" 2>/dev/null | tr ',' '\n' | awk '
        function print_row(    i, j, ms, median) {
            for (i = 2; i <= n; ++i) {
                ms = sorted[i]
                for (j = i - 1; j > 0 && sorted[j] > ms; --j) sorted[j + 1] = sorted[j]
                sorted[j + 1] = ms
            }
            median = sorted[int((n + 1) / 2)]
            printf "| %d to %d | %.2f | %.2f | %.1f | %d |\n", first, NR + 1, median, sorted[n], median ? sorted[n] / median : 0, at
            n = 0
        }
        n == 0 { first = NR + 1; longest = -1 }
        {
            sorted[++n] = $1 + 0
            if ($1 + 0 > longest) { longest = $1 + 0; at = NR + 1 }
            if (n == 256) print_row()
        }
        END { if (n > 0) print_row() }'
}

# Prints the means of ncu's values for each kernel and shape of grid, those that take most time first.
kernels_table() {
    echo "| kernel | grid | launches | us each | GB/s from DRAM | registers | warps |"
    echo "| --- | --- | --- | --- | --- | --- | --- |"
    awk -F '","' '
        /^"[0-9]/ {
            value = $NF; gsub(/[",]/, "", value)
            name = $5; sub(/\(.*/, "", name)
            key = name " | " $9
            if ($13 ~ /time_duration/) { ++n[key]; ns[key] += value }
            if ($13 ~ /bytes_read/) bytes[key] += value
            if ($13 ~ /registers/) registers[key] = value
            if ($13 ~ /warps_active/) warps[key] += value
        }
        END {
            for (key in n)
                printf "%012.0f\t| %s | %d | %.2f | %.0f | %d | %.0f %% |\n", ns[key], key, n[key], ns[key] / n[key] / 1e3,
                    ns[key] ? bytes[key] / ns[key] : 0, registers[key], warps[key] / n[key]
        }' "$out/ncu.csv" | sort -rn | cut -f 2 | head -n 25
}

pressure_rows() {
    for way in merge-cut merge-flags stream; do
        for n in 1 2 3; do
            tokens=$(number "$out/pressure-$way.json" context_tokens $n)
            [ -z "$tokens" ] || printf '| %s | %s | %.1f | %s |\n' "$way" "$tokens" \
                "$(number "$out/pressure-$way.json" tok_s $n)" "$(number "$out/pressure-$way.json" blocks_host $n)"
        done
    done
}

report() {
    card=$(head -n 1 "$out/driver.csv" 2>/dev/null)
    copy=$(number "$out/decode.json" device_copy_gb_s)
    echo "# Spillway $(cat VERSION 2>/dev/null) on ${card:-an unknown card}"
    echo
    echo "Model: expected.tsv, made by tests/bench/gpu_model; a dash where it has no such card, or nothing was measured."
    echo
    echo "| Mistral 7B shape, Q4_K_M, q8_0 KV | measured | model | measured / model |"
    echo "| --- | --- | --- | --- |"
    row "copy within its memory, read and written, GB/s" "$copy" "$(expected copy_gb_s)"
    row "decode, empty, tok/s" "$(number "$out/decode.json" tok_s_median 1)" "$(expected decode_0)"
    row "decode at 4,096, tok/s" "$(number "$out/decode.json" tok_s_median 2)" "$(expected decode_4096)"
    for chunk in 512 2048; do
        row "prefill of 4,096 in chunks of $chunk, own kernels, tok/s" \
            "$(number "$out/prefill-before-$chunk.json" tok_s_median)" "$(expected prefill_own)"
        row "the same after calibrate" "$(number "$out/prefill-after-$chunk.json" tok_s_median)" "$(expected prefill_blas)"
    done
    echo
    printf 'Of what a copy reads and writes, a decode step reads %.0f %% when empty and %.0f %% at 4,096.\n' \
        "$(percent "$(number "$out/decode.json" bandwidth_share 1)")" "$(percent "$(number "$out/decode.json" bandwidth_share 2)")"
    echo
    rates
    echo
    echo "## Right?"
    echo
    echo "- self-test: $(number "$out/selftest.json" passed) passed, $(number "$out/selftest.json" failed) failed"
    grep -B 1 '"outcome": "FAILED"' "$out/selftest.json" 2>/dev/null | sed -n 's/.*"name": "\(.*\)".*/    - \1/p' | head -n 10
    sed 's/^/- /' "$out/sanitizers.txt" "$out/odd-heads.txt" 2>/dev/null
    echo "- guide: $(tail -n 1 "$out/guide.txt" 2>/dev/null)"
    sed 's/^[[:space:]]*/- /' "$out/libraries.txt" 2>/dev/null
    echo
    echo "## A long answer"
    echo
    echo "$(number "$out/answer.json" generated_tokens) tokens; a token $(number "$out/answer.json" p50) ms at the median," \
        "$(number "$out/answer.json" p99) ms at 99 %. MiB of the device, first, most and last:" \
        "$(awk '$1 > most { most = $1 } NR == 3 { first = $1 } { last = $1 } END { print first, most, last }' "$out/answer-memory.txt" 2>/dev/null)."
    echo
    spikes_table
    echo
    echo "## KV beyond the device's memory (room for 2,048 tokens)"
    echo
    echo "| policy | tokens | tok/s | blocks on the host |"
    echo "| --- | --- | --- | --- |"
    pressure_rows
    echo
    echo "## Kernels of a decode step"
    echo
    if grep -q '^"[0-9]' "$out/ncu.csv" 2>/dev/null; then kernels_table; else echo "not measured: $(head -n 1 "$out/ncu.csv" 2>/dev/null)"; fi
    echo
    echo "## Steps"
    echo
    cat "$out/summary.md" 2>/dev/null
}

# ---- running ----

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
    asked=$limit
    if [ -n "${SECONDS_LEFT:-}" ]; then
        left=$((SECONDS_LEFT - end_s - $(date +%s) + started))
        [ $left -gt 0 ] || left=0
        if [ $((2 * left)) -lt "$limit" ]; then
            note "$step" "left out: it may take $limit s, and $left are left" 0
            left_out="$left_out $step"
            return 0
        fi
        [ $left -ge "$limit" ] || limit=$left
    fi
    begun=$(date +%s)
    if [ "$1" = -do ]; then
        set -- ./run.sh "$@"
    elif ! command -v "$1" >/dev/null; then
        note "$step" "skipped: there is no $1 here" 0
        return 0
    fi
    OUT="$out" LIMIT="$limit" timeout -k 5 "$limit" "$@" >"$out/$step.part" 2>"$out/$step.log" </dev/null
    code=$?
    took=$(($(date +%s) - begun))
    if [ "$limit" -lt "$asked" ] && { [ $code = 124 ] || [ $code = 137 ]; }; then
        note "$step" "cut off after $limit s, all that were left of its $asked" "$took"
        left_out="$left_out $step"
        return 0
    fi
    mv "$out/$step.part" "$out/$step.$suffix"
    case $code in
    0) note "$step" "$(sed -n '1{/^skipped: /p}' "$out/$step.$suffix" | grep . || echo ok)" "$took" ;;
    124 | 137) failed=$((failed + 1)) && note "$step" "cut off after $limit s" "$took" ;;
    *) failed=$((failed + 1)) && note "$step" "FAILED ($code): $(tail -n 1 "$out/$step.log")" "$took" ;;
    esac
}

# Says that there is no GPU, and checks what can be checked on the CPU.
without_gpu() {
    say "There is no CUDA device here that can be used: $(timeout 60 "$cli" selftest --device "$device" 2>&1 >/dev/null | tail -n 1)"
    say "The CPU is checked in its place."
    failed=0
    # shellcheck disable=SC2086 # two words, or none
    run_step cpu-selftest 120 json "$cli" selftest $goldens --json
    run_step cpu-guide 60 json "$cli" run -m guide.gguf -p Hello -n 24 --temp 0 --json
    run_step cpu-shape 60 json "$cli" bench --shape tiny-llama:q4_k_m -p 64 -n 16 -r 1 --json
    [ "$failed" = 0 ]
}

case ${1:-} in
-do)
    "do_$2"
    exit
    ;;
list)
    { first_steps && echo "- - all:" && further_steps; } | while read -r step limit rest; do
        printf '%5s s  %s\n' "$limit" "$step"
    done | sed 's/ *- s  -/all:/'
    exit 0
    ;;
report)
    report | tee "$out/report.md"
    exit 0
    ;;
esac

[ $# != 0 ] || : "${SECONDS_LEFT:=600}"
left_out=
if ! timeout 20 "$cli" devices --json 2>/dev/null | grep -q '"id": "cuda:'; then
    without_gpu
    exit
fi

failed=0
first_steps >"$out/steps"
[ $# = 0 ] || further_steps >>"$out/steps"
while read -r step limit suffix command; do
    wanted=no
    for pattern in "$@"; do
        # shellcheck disable=SC2254 # the pattern is meant to be one
        case $step in $pattern) wanted=yes ;; esac
    done
    case ${1:-all} in all) [ ! -e "$out/$step.$suffix" ] && wanted=yes ;; esac
    # shellcheck disable=SC2086 # no word of a command holds a space
    [ $wanted = yes ] && run_step "$step" "$limit" "$suffix" $command
done <"$out/steps"
rm -f "$out/steps"
report | tee "$out/report.md"
[ -z "$left_out" ] || say "left for the next ./run.sh, since the time was over:$left_out"
say "report: $out/report.md; all results: $out"
[ "$failed" = 0 ]
