#!/usr/bin/env bash
# make.sh PROGRAM FOLDER: puts what a bare machine with a GPU needs into FOLDER, and beside it FOLDER.tar.gz. With
# $SPILLWAY_GOLDEN it also puts some goldens there.
set -euo pipefail
program=$1 folder=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
most_bytes=$((50 << 20))
goldens=(Q4_0 Q8_0 Q4_K_M Q5_K_M Q6_K tiny-qwen3-q8_0)

rm -rf "$folder" "$folder.tar.gz"
mkdir -p "$folder/goldens"
install -m 755 "$program" "$folder/spillway-cli"
strip "$folder/spillway-cli"
install -m 755 "$root/packaging/gpu-bundle/run.sh" "$folder/"
install -m 644 "$root/packaging/gpu-bundle/README.md" "$root/packaging/gpu-bundle/expected.tsv" "$root/LICENSE" "$root/resources/guide-model/guide.gguf" "$folder/"
if [[ -n ${SPILLWAY_GOLDEN:-} ]]; then
    for name in "${goldens[@]}"; do
        for suffix in gguf json f32; do
            [[ ! -f $SPILLWAY_GOLDEN/logits/$name.$suffix ]] || install -m 644 "$SPILLWAY_GOLDEN/logits/$name.$suffix" "$folder/goldens/"
        done
    done
fi
git -C "$root" describe --always --dirty >"$folder/VERSION"

# The program may need only the C library: anything else would be missing on a bare machine.
needs=$(objdump -p "$folder/spillway-cli" | awk '$1 == "NEEDED" { print $2 }')
if others=$(grep -vE '^(libc|libm|libdl|libpthread|ld-linux-x86-64)\.so' <<<"$needs"); then
    echo "gpu-bundle: spillway-cli needs $others" >&2
    exit 1
fi
bytes=$(du -sb "$folder" | cut -f1)
if ((bytes > most_bytes)); then
    echo "gpu-bundle: $bytes bytes are more than the $most_bytes it may have" >&2
    exit 1
fi
tar -C "$(dirname "$folder")" -czf "$folder.tar.gz" "$(basename "$folder")"
echo "$folder.tar.gz: $((bytes >> 20)) MiB unpacked"
