#!/bin/sh
# try_gpu_bundle.sh FOLDER: what run.sh of the GPU bundle makes of a machine, with programs in place of spillway-cli and
# NVIDIA's that answer as those would. Without a card; that the numbers are right is not looked at here.
set -eu
bundle=$(cd "$(dirname "$0")/../../packaging/gpu-bundle" && pwd)
rm -rf "$1" && mkdir -p "$1/bin" && cd "$1"

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
says() {
    grep -qF "$2" "$1" || fail "$1 does not say: $2
$(cat "$1")"
}

if command -v shellcheck >/dev/null; then
    shellcheck "$bundle/run.sh" "$bundle/make.sh"
fi

# ncu looks at the kernels that are there, and leaves out none of a dense layer's.
kernels=$(sed -n "s/^ *kernels='regex:\(.*\)'$/\1/p" "$bundle/run.sh")
for word in $(echo "$kernels" | sed 's/^^(//; s/)$//' | tr '|' ' '); do
    grep -qE "[ ,]$word" "$bundle/../../kernels/cuda/kernel_names.h" || fail "no kernel's name begins with $word"
done
for kernel in rms_norm matvec_q4_k matvec_q4_k_q6_k prepare_heads attend_4_128 merge_partials gated_matvec_q4_k quantize_q8; do
    echo "$kernel" | grep -qE "$kernels" || fail "ncu leaves out $kernel"
done

cp "$bundle/run.sh" "$bundle/README.md" .
printf 'card\tdecode_0\tdecode_4096\tprefill_own\tprefill_blas\tcopy_gb_s\nRTX 9999\t200\t100\t8000\t10000\t500\n' >expected.tsv
cat >spillway-cli <<'CLI'
#!/bin/sh
case "$*" in
devices*) [ -e no-card ] && echo '[]' || echo '[ { "id": "cuda:0" } ]' ;;
*"-p 4096"*) [ -e profile-made ] && n=9000 || n=4000; echo "{ \"rows\": [ { \"tok_s_median\": $n.5 } ] }" ;;
calibrate*)
    touch profile-made
    printf '{\n "stream_bytes_per_s": 1e9,\n "devices": {\n  "cuda:0": {\n   "copy_bytes_per_s": 450000000000.0,\n'
    printf '   "weights_bytes_per_s": 4.05e11,\n   "attention_bytes_per_s": null,\n   "stream_bytes_per_s": 2.5e10,\n'
    printf '   "hand_off_s": 2.5e-05,\n   "matmul_ops_per_s": 9.1e13\n } }\n}\n'
    ;;
*"-d 0,4096"*)
    printf '{\n"device_copy_gb_s": 450,\n"rows": [\n{ "tok_s_median": 150, "bandwidth_share": 0.75 },\n{ "tok_s_median": 90, "bandwidth_share": 0.5 } ] }\n'
    ;;
*--pressure*stream*) echo "a lost device" >&2; exit 1 ;;
*--pressure*) printf '{ "rows": [\n{ "context_tokens": 2048,\n"tok_s": 77.04,\n"blocks_host": 3 } ] }\n' ;;
perplexity*cpu) echo '{"perplexity":1000.0}' ;;
perplexity*) [ -e odd-heads-wrong ] && echo '{"perplexity":1500.0}' || echo '{"perplexity":1001.0}' ;;
run*guide*cpu*) echo '{"text":"He said \\"no\\"","x":1,"token_ids":[1,22,3],"token_ms":[4.5,5]}' ;;
run*guide*) # the text is the same: only the ids tell
    [ -e guide-wrong ] && ids=1,22,4 || ids=1,22,3
    echo "{\"text\":\"He said \\\"no\\\"\",\"y\":2,\"token_ids\":[$ids],\"token_ms\":[7,8]}"
    ;;
run*)
    times=$(awk 'BEGIN { for (i = 1; i <= 600; ++i) printf("%s%s", i > 1 ? "," : "", i == 300 ? 12.5 : i % 2 ? 2 : 2.5) }')
    echo "{\"generated_tokens\":4000,\"tpot_ms\":{\"mean\":5,\"p50\":4.5,\"p99\":6.5},\"token_ms\":[$times]}"
    ;;
selftest*)
    printf '{\n"passed": 11,\n"failed": 1,\n"checks": [ {\n"name": "cuda:0 rope",\n"outcome": "FAILED" } ] }\n'
    exit 0
    ;;
*) exit 3 ;;
esac
CLI
cat >bin/nvidia-smi <<'SMI'
#!/bin/sh
case "$*" in *memory.used*) echo 4321 ;; *) echo "NVIDIA GeForce RTX 9999 Ti, 580.1, 12.0" ;; esac
SMI
cat >bin/compute-sanitizer <<'TOOL'
#!/bin/sh
echo "========= COMPUTE-SANITIZER"
case "$*" in *racecheck*) [ ! -e race ] || { echo "========= Error: Race reported between Write access and Read access" && exit 9; } ;; esac
TOOL
cat >bin/ncu <<'NCU'
#!/bin/sh
launch() { echo "\"$1\",\"1\",\"cli\",\"h\",\"$2\",\"2\",\"23\",\"(128, 1, 1)\",\"(1,024, 1, 1)\",\"0\",\"9.0\",\"c\",\"$3\",\"u\",\"$4\""; }
launch 0 matvec_q4_k gpu__time_duration.sum 10,000
launch 0 matvec_q4_k dram__bytes_read.sum 20,000,000
launch 0 matvec_q4_k launch__registers_per_thread 64
launch 1 matvec_q4_k gpu__time_duration.sum 30,000
launch 1 matvec_q4_k dram__bytes_read.sum 20,000,000
NCU
chmod +x spillway-cli bin/*
export PATH="$PWD/bin:$PATH"

# All of it, in order; one step fails, and the others go on.
if OUT=first ./run.sh >printed 2>log; then fail "a failed step went unnoticed"; fi
cmp -s printed first/report.md || fail "the report that is kept is another one"
says first/report.md "NVIDIA GeForce RTX 9999 Ti, 580.1"
says first/report.md "| decode, empty, tok/s | 150 | 200 | 0.75 |"
says first/report.md "| decode at 4,096, tok/s | 90 | 100 | 0.90 |"
says first/report.md "| prefill of 4,096 in chunks of 512, own kernels, tok/s | 4000 | 8000 | 0.50 |"
says first/report.md "| the same after calibrate | 9000 | 10000 | 0.90 |"
says first/report.md "| copy within its memory, read and written, GB/s | 450 | 500 | 0.90 |"
says first/report.md "reads 75 % when empty and 50 % at 4,096"
says first/report.md "self-test: 11 passed, 1 failed"
says first/report.md "    - cuda:0 rope"
says first/report.md "memcheck: nothing"
says first/report.md "9 heads over 3: perplexity 1000.0 on the CPU, 1001.0"
says first/report.md "guide: the same 3 ids on CPU and GPU"
says first/report.md "| copy within its memory, read and written | 450 | 100 % |"
says first/report.md "| weights of a decode step | 405 | 90 % |"
says first/report.md "| attention over f16 KV | - |  |"
says first/report.md "| KV streamed to the device | 25 |  |"
says first/report.md "Products of many tokens: 91 Tops/s, by cuBLAS -."
says first/report.md "To the host and back: 25 us,"
says first/report.md "| 2 to 257 | 2.00 | 2.50 | 1.2 | 3 |"
says first/report.md "| 258 to 513 | 2.00 | 12.50 | 6.2 | 301 |"
says first/report.md "| 514 to 601 | 2.00 | 2.50 | 1.2 | 515 |"
says first/report.md "4000 tokens; a token 4.5 ms at the median, 6.5 ms at 99 %"
says first/report.md "| merge-flags | 2048 | 77.0 | 3 |"
says first/report.md "| matvec_q4_k | (1,024, 1, 1) | 2 | 20.00 | 1000 | 64 |"
says first/report.md "| pressure-stream | FAILED (1): a lost device |"

# What has a result is not done again, what failed may be asked for by name.
OUT=first ./run.sh >again 2>log
[ "$(grep -c '| decode | ok' again)" = 1 ] || fail "a step was done twice"
if OUT=first ./run.sh 'pressure-s*' >again 2>log; then fail "a failed step went unnoticed"; fi
[ "$(grep -c '| pressure-stream | FAILED' again)" = 2 ] || fail "a step was not done again"

# What is wrong is seen.
touch race odd-heads-wrong guide-wrong
if OUT=second ./run.sh sanitizers odd-heads guide >printed 2>log; then fail "what is wrong went unnoticed"; fi
says second/report.md "Error: Race reported"
says second/report.md "| sanitizers | FAILED"
says second/report.md "| odd-heads | FAILED"
says second/report.md "| guide | FAILED"

# Too little time, and no card.
OUT=third SECONDS_LEFT=25 ./run.sh driver selftest >printed 2>log
says third/report.md "| driver | ok |"
says third/report.md "| selftest | left out: it may take 90 s, and "

# Where every step takes all that it may, the ten minutes are over in time all the same: later steps are shortened, then
# left out, by name. The clock is one that only steps move.
mkdir slow-bin
cat >slow-bin/date <<'DATE'
#!/bin/sh
cat "$CLOCK"
DATE
cat >slow-bin/timeout <<'TIMEOUT'
#!/bin/sh
case "$*" in "20 ./spillway-cli devices"*) echo '[ { "id": "cuda:0" } ]' && exit 0 ;; esac
while [ "${1#-}" != "$1" ]; do shift 2; done
echo $(($(cat "$CLOCK") + $1)) >"$CLOCK"
exit 124
TIMEOUT
chmod +x slow-bin/*
export CLOCK="$PWD/clock"
slowly() {
    echo 1000 >clock
    OUT=slow-results PATH="$PWD/slow-bin:$PATH" ./run.sh "$@" >printed 2>log || true
}
slowly
[ "$(cat clock)" -gt 1500 ] || fail "the steps did not take their time"
[ "$(cat clock)" -le 1590 ] || fail "the steps took $(($(cat clock) - 1000)) s of ten minutes, and the report takes some, too"
says printed "| selftest | cut off after 90 s |"
says printed "| answer | cut off after 30 s, all that were left of its 60 |"
says printed "| pressure-stream | left out: it may take 30 s, and 0 are left |"
says log "left for the next ./run.sh, since the time was over: answer pressure-merge-cut pressure-merge-flags pressure-stream"
slowly
[ "$(grep -c '| selftest |' printed)" = 1 ] || fail "a step was done twice"
says printed "| answer | cut off after 60 s |"
says printed "| pressure-stream | cut off after 30 s |"
slowly all # has no limit
[ "$(cat clock)" -gt 3000 ] || fail "all that is measured was cut short"

# A long answer that is stopped since it takes too long says how far it came.
mkdir stopping-bin
cat >stopping-bin/timeout <<TIMEOUT
#!/bin/sh
[ "\$1 \$2" = "-s INT" ] || exec $(command -v timeout) "\$@"
shift 5
[ -e stopped-at-once ] || "\$@"
exit 124
TIMEOUT
chmod +x stopping-bin/timeout
OUT=stopped PATH="$PWD/stopping-bin:$PATH" ./run.sh answer >printed 2>log || fail "an answer that was stopped counts as none"
says printed "| answer | ok |"
says printed "4000 tokens; a token 4.5 ms"
touch stopped-at-once
if OUT=stopped PATH="$PWD/stopping-bin:$PATH" ./run.sh answer >printed 2>log; then fail "no answer counts as one"; fi

touch no-card
OUT=fourth ./run.sh >printed 2>log || true
says log "There is no CUDA device here that can be used"
echo "passed"
