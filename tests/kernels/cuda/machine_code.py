#!/usr/bin/env python3
"""Holds the machine code of the CUDA kernels to what makes them fast, on machines without a card.

    machine_code.py --fatbins FILE...                    what a build has made
    machine_code.py --compile 75,86,89,90,120 --nvcc NVCC --cubins FOLDER
                    --update     write the table's columns of these architectures anew
                    --faults     see that a kernel with all faults is found out, in place of the program's

The rules are: no kernel keeps anything in local memory; kernels of a decode step leave a multiprocessor room for 24
warps, and the lanes of a warp do not part in their inner loops; what a product's inner loop reads, and what is copied
to shared memory for it, comes in loads of 128 bits, three quarters of it; and the loads of products and of a decode
step's attention name global memory, where a generic one has to find out which memory is meant.
machine_code_exceptions.tsv has those that may do otherwise, how far, and why.

machine_code.tsv is the table of all kernels: what a change has done to them is seen in its differences."""

import argparse
import fnmatch
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import cubin

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent.parent
TABLE = HERE / "machine_code.tsv"
EXCEPTIONS = HERE / "machine_code_exceptions.tsv"
NVCC_OF_TABLE = "13.0"
FLAGS = ["-std=c++20", "-O3", "--expt-relaxed-constexpr", f"-I{ROOT}"]

# Of a decode step, and with products: what reads weights.
ATTENTION = ["attend_*"]
DECODE = ["matvec*", "gated_matvec*", *ATTENTION]
NOT_DECODE = ["attend_many*"]
PRODUCTS = ["matvec*", "gated_matvec*", "matmul*"]
LEAST_WARPS = 24
LEAST_WIDE = 75  # % of the bytes

# Of a multiprocessor: warps, thread blocks, bytes of shared memory. All have 65,536 registers.
LIMITS = {
    75: (32, 16, 64 << 10), 80: (64, 32, 164 << 10), 86: (48, 16, 100 << 10), 87: (48, 16, 164 << 10),
    89: (48, 24, 100 << 10), 90: (64, 32, 228 << 10), 100: (64, 32, 228 << 10), 103: (64, 32, 228 << 10),
    120: (48, 24, 100 << 10), 121: (48, 24, 100 << 10),
}  # fmt: skip


def any_of(name, patterns):
    return any(fnmatch.fnmatchcase(name, p) for p in patterns)


def warps(kernel, architecture):
    """How many warps a multiprocessor has room for; shared memory that a launch asks for is not counted."""
    most_warps, most_blocks, most_shared = LIMITS[architecture]
    of_block = (kernel.threads + 31) // 32
    registers = (kernel.registers * 32 + 255) // 256 * 256
    blocks = min(most_blocks, most_warps // of_block, 65536 // registers // of_block)
    if kernel.shared_bytes:
        blocks = min(blocks, most_shared // kernel.shared_bytes)
    return blocks * of_block


class Findings:
    """What the table has of one kernel on one architecture."""

    def __init__(self, kernel, architecture):
        loop = kernel.hot_loop()
        self.name, self.architecture = kernel.name, architecture
        self.registers, self.shared = kernel.registers, kernel.shared_bytes
        self.local = max(kernel.stack_bytes, 4 * kernel.local_accesses())
        self.warps = warps(kernel, architecture)
        self.instructions = len(loop.instructions) if loop else 0
        self.divergences = loop.divergences() if loop else 0
        self.loads = loop.loads() if loop else {}
        self.copies = kernel.copies()
        read = [(bits, count) for loads in (self.loads, self.copies) for (_, bits), count in loads.items()]
        in_all = sum(bits * count for bits, count in read)
        self.wide = 100 * sum(bits * count for bits, count in read if bits >= 128) // in_all if in_all else 100
        self.generic = sum(count for l in kernel.loops for (memory, _), count in l.loads().items() if memory)

    def __str__(self):
        def words(loads):
            return " ".join(f"{bits}{'g' if memory else ''}x{count}" for (memory, bits), count in sorted(loads.items()))

        copies = f" +{words(self.copies)}" if self.copies else ""
        return (f"{self.registers}r {self.local}l {self.shared}s {self.warps}w "
                f"{self.instructions}i {self.divergences}d {words(self.loads) or '-'}{copies}")

    def faults(self):
        """(rule, value, words) of each rule that the kernel breaks."""
        if self.local:
            yield "local", self.local, f"keeps {self.local} bytes in local memory"
        if any_of(self.name, DECODE) and not any_of(self.name, NOT_DECODE):
            if self.warps < LEAST_WARPS:
                yield "warps", self.warps, (f"has room for {self.warps} warps a multiprocessor with its "
                                            f"{self.registers} registers, and {LEAST_WARPS} are wanted")
            if self.divergences:
                yield "diverges", self.divergences, (f"has {self.divergences} places in its inner loop where lanes "
                                                     "may part")
        if any_of(self.name, PRODUCTS) and self.wide < LEAST_WIDE:
            yield "wide", self.wide, (f"reads {self.wide} % of its bytes in loads of 128 bits, and {LEAST_WIDE} "
                                      "are wanted")
        if any_of(self.name, PRODUCTS + ATTENTION) and self.generic:
            yield "generic", self.generic, f"has {self.generic} loads in inner loops that name no memory"


class Exceptions:
    """Rows of patterns of kernels, rule, architectures, the worst that is let pass, and the reason."""

    def __init__(self, path):
        self.rows = []
        for line in path.read_text().splitlines():
            if line and not line.startswith("#"):
                kernels, rule, architectures, limit, reason = line.split("\t")
                assert reason, line
                self.rows.append((kernels.split(), rule, architectures.split(","), int(limit)))
        self.used = [False] * len(self.rows)

    def pass_(self, found, rule, value):
        for n, (kernels, of_rule, architectures, limit) in enumerate(self.rows):
            good_enough = value >= limit if rule in ("warps", "wide") else value <= limit
            if (rule == of_rule and good_enough and any_of(found.name, kernels)
                    and any_of(str(found.architecture), architectures)):
                self.used[n] = True
                return True
        return False


# ---- the table ----

def read_table():
    rows = {}
    if TABLE.exists():
        lines = [l for l in TABLE.read_text().splitlines() if l and not l.startswith("#")]
        columns = [int(c) for c in lines[0].split("\t")[1:]]
        for line in lines[1:]:
            name, *fields = line.split("\t")
            rows[name] = dict(zip(columns, fields))
    return rows


def write_table(rows, columns):
    lines = [
        f"# The kernels' machine code, as nvcc {NVCC_OF_TABLE} makes it for each compute capability: registers (r), bytes",
        "# in local (l) and in shared memory (s), warps a multiprocessor (w); of the inner loop that multiplies or reads",
        "# most: its instructions (i), places where lanes may part (d), loads by their bits, generic ones with a g, and",
        "# behind a + the copies to shared memory in all of the kernel.",
        "# Written by `machine_code.py --compile 75,86,89,90,120 --update`; the rules and what is excepted from them are",
        "# not here.",
        "\t".join(["kernel", *map(str, columns)]),
    ]
    for name in sorted(rows):
        lines.append("\t".join([name, *(rows[name].get(c, "?") for c in columns)]))
    TABLE.write_text("\n".join(lines) + "\n")


# ---- what is looked at ----

def is_current(made, depends):
    """Whether it is newer than all that the compiler read for it."""
    if not made.exists() or not depends.exists():
        return False
    names = depends.read_text().replace("\\\n", " ").split(": ", 1)[1].split()
    ours = [pathlib.Path(n) for n in names if n.startswith(str(ROOT))]
    return all(p.exists() and p.stat().st_mtime < made.stat().st_mtime for p in ours)


def compile_all(nvcc, sources, architectures, folder, jobs):
    folder.mkdir(parents=True, exist_ok=True)

    def one(source, architecture):
        to = folder / f"{source.stem}.{architecture}.cubin"
        depends = to.with_suffix(".d")
        if not is_current(to, depends):
            subprocess.run([nvcc, "-cubin", *FLAGS, f"-arch=sm_{architecture}", "-MD", "-MF", depends, "-o", to, source],
                           check=True)
        return to

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda pair: one(*pair), [(s, a) for s in sources for a in architectures]))


def findings_of(paths):
    for path in paths:
        for architecture, elf in cubin.cubins(path.read_bytes()):
            if architecture in LIMITS:
                for kernel in cubin.Cubin(elf).kernels():
                    yield Findings(kernel, architecture)


def release(nvcc):
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    return said.split("release ")[1].split(",")[0]


def skip(why):
    print(f"SKIP   : machine_code {why}")
    sys.exit(0)


def check(all_findings, exceptions):
    table = read_table()
    broken = 0
    changed = []
    for found in all_findings:
        for rule, value, words in found.faults():
            if not exceptions.pass_(found, rule, value):
                broken += 1
                print(f"{found.name} on {found.architecture} {words} ({rule})")
        before = table.get(found.name, {}).get(found.architecture, "?")
        if before not in ("?", str(found)):
            changed.append(f"{found.name} on {found.architecture}: {before} -> {found}")
    print(f"{len(all_findings)} kernels looked at, {broken} faults, {len(changed)} otherwise than in the table")
    for line in changed[:20]:
        print(f"  {line}")
    if changed:
        print("  (no fault; `machine_code.py --compile 75,86,89,90,120 --update` writes the table anew)")
    return broken


def find_the_faults(nvcc, architecture):
    """Every rule is broken by a kernel that is made for it."""
    with tempfile.TemporaryDirectory() as folder:
        to = pathlib.Path(folder) / "faults.cubin"
        subprocess.run([nvcc, "-cubin", *FLAGS, f"-arch=sm_{architecture}", "-o", to, HERE / "machine_code_faults.cu"],
                       check=True)
        found = {f.name: f for f in findings_of([to])}
    broken = {name: {rule for rule, _, _ in f.faults()} for name, f in found.items()}
    wanted = {
        "matvec_without_fault": set(),
        "matvec_local": {"local"},
        "matvec_greedy": {"warps"},
        "matvec_narrow": {"wide"},
        "matvec_generic": {"generic"},
        "attend_generic": {"generic"},
        "attend_diverging": {"diverges"},
    }
    for name, rules in wanted.items():
        if broken.get(name) != rules:
            print(f"{name}: {sorted(rules)} expected, {sorted(broken.get(name, []))} found: {found.get(name)}")
    return broken != wanted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fatbins", nargs="*", type=pathlib.Path, default=[])
    parser.add_argument("--compile", default="")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--cubins", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "spillway-cubins")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--faults", action="store_true")
    given = parser.parse_args()
    try:
        if release(given.nvcc) != NVCC_OF_TABLE:
            skip(f"nvcc is {release(given.nvcc)}, and rules and table are of {NVCC_OF_TABLE}")
    except OSError:
        skip("there is no nvcc")
    if given.faults:
        sys.exit(find_the_faults(given.nvcc, 90))

    architectures = [int(a) for a in given.compile.split(",") if a]
    paths = given.fatbins
    if architectures:
        sources = sorted((ROOT / "kernels/cuda").glob("*.cu"))
        paths = compile_all(given.nvcc, sources, architectures, given.cubins, given.jobs)
    try:
        found = list(findings_of(paths))
    except cubin.NotReadable as problem:
        skip(str(problem))
    if not found:
        sys.exit("no kernels were found")
    exceptions = Exceptions(EXCEPTIONS)
    broken = check(found, exceptions)
    if given.update:
        rows = read_table()
        names = {f.name for f in found}
        columns = sorted({f.architecture for f in found} | {c for r in rows.values() for c in r})
        for f in found:
            rows.setdefault(f.name, {})[f.architecture] = str(f)
        write_table({name: row for name, row in rows.items() if name in names}, columns)
        for row, used in zip(exceptions.rows, exceptions.used):
            if not used:
                print(f"nothing needs this exception: {row}")
    sys.exit(broken > 0)


if __name__ == "__main__":
    main()
