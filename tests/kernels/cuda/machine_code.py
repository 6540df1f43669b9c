#!/usr/bin/env python3
"""Holds the machine code of the CUDA kernels to what makes them fast, on machines without a card.

    machine_code.py --fatbins FILE...                    what a build has made
    machine_code.py --compile 75,86,89,90,120 --nvcc NVCC --cubins FOLDER
                    --only FILES the kernels of these .cu files alone (attend,matvec8)
                    --update     write the table's rows of these kernels and architectures anew
                    --faults     see that a kernel with all faults is found out, in place of the program's

The rules are: no kernel keeps anything in local memory; kernels of a decode step leave a multiprocessor room for 24
warps, and the lanes of a warp do not part in their inner loops; what a product's inner loop reads, and what is copied
to shared memory for it, comes in loads of 128 bits, three quarters of it; and the loads of products and of a decode
step's attention name global memory, where a generic one has to find out which memory is meant.
machine_code_exceptions.tsv has those that may do otherwise, how far, and why.

machine_code.tsv is the table of all kernels. A kernel that is otherwise than there is a fault, too, where the compiler
is the one that made the table: so a change shows in the table's differences what it has done to the machine code."""

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
RELEASE = "13.0"  # of nvcc, that the rules are for
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

class Table:
    """The words of all kernels on all architectures, and which compiler made them."""

    def __init__(self, path):
        self.version, self.columns, self.rows = "", [], {}
        lines = path.read_text().splitlines() if path.exists() else []
        for line in lines:
            name, *fields = line.split("\t")
            if line.startswith("#"):
                self.version = self.version or line.partition("as nvcc ")[2].partition(" ")[0]
            elif not self.columns:
                self.columns = [int(f) for f in fields]
            else:
                self.rows[name] = dict(zip(self.columns, fields))

    def difference(self, found):
        """How a kernel is otherwise than here, in words; None where it is not, or its architecture is not here."""
        before = self.rows.get(found.name, {}).get(found.architecture, "nothing")
        if found.architecture in self.columns and before != str(found):
            return f"{found.name} on {found.architecture}: {before} -> {found}"
        return None

    def update(self, all_findings, version, of_all_files):
        """Takes over what was found. of_all_files: kernels that were not found are no more"""
        self.version = version
        self.columns = sorted({f.architecture for f in all_findings} | set(self.columns))
        names = {f.name for f in all_findings}
        self.rows = {name: row for name, row in self.rows.items() if name in names or not of_all_files}
        for f in all_findings:
            self.rows.setdefault(f.name, {})[f.architecture] = str(f)

    def write(self, path):
        lines = [
            f"# The kernels' machine code, as nvcc {self.version} makes it for each compute capability: registers (r),",
            "# bytes in local (l) and in shared memory (s), warps a multiprocessor (w); of the inner loop that",
            "# multiplies or reads most: its instructions (i), places where lanes may part (d), loads by their bits,",
            "# generic ones with a g, and behind a + the copies to shared memory in all of the kernel.",
            "# Written by `machine_code.py --compile 75,86,89,90,120 --update`; the rules and what is excepted from",
            "# them are not here.",
            "\t".join(["kernel", *map(str, self.columns)]),
        ]
        for name in sorted(self.rows):
            lines.append("\t".join([name, *(self.rows[name].get(c, "?") for c in self.columns)]))
        path.write_text("\n".join(lines) + "\n")


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


def version_of(nvcc):
    """In full, as 13.0.88: the code generator is another from one version to the next."""
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    return said.split("release ")[1].split(", V")[1].split()[0]


def skip(why):
    print(f"SKIP   : machine_code {why}")
    sys.exit(0)


def check_rules(all_findings, exceptions):
    """How often the kernels break a rule without an exception; each time is printed."""
    broken = 0
    for found in all_findings:
        for rule, value, words in found.faults():
            if not exceptions.pass_(found, rule, value):
                broken += 1
                print(f"{found.name} on {found.architecture} {words} ({rule})")
    print(f"{len(all_findings)} kernels looked at, {broken} faults")
    return broken


def check_table(all_findings, table, version):
    """How many kernels are otherwise than in the table, which is printed; 0 if they are another compiler's."""
    changed = [d for d in map(table.difference, all_findings) if d]
    for line in changed[:20]:
        print(f"  {line}")
    if len(changed) > 20:
        print(f"  and {len(changed) - 20} more")
    if not changed:
        return 0
    print(f"{len(changed)} kernels are otherwise than in machine_code.tsv.")
    if version != table.version:
        print(f"That is no fault: they are of nvcc {version}, and the table is of {table.version}.")
        return 0
    print("Where that is meant, `machine_code.py --compile 75,86,89,90,120 --update` writes the table anew; with")
    print("--only FILE,FILE it does so for the kernels of these .cu files.")
    return len(changed)


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
    return broken != wanted or not table_tells(list(found.values()))


def table_tells(all_findings):
    """Whether one kernel that is otherwise than in a table is found out, and is a fault with the table's compiler."""
    table = Table(HERE / "no table")
    table.update(all_findings, "13.0.1", of_all_files=True)
    same = check_table(all_findings, table, "13.0.1")
    table.rows[all_findings[0].name] = {}
    other, of_other_compiler = (check_table(all_findings, table, version) for version in ("13.0.1", "13.0.2"))
    if (same, other, of_other_compiler) == (0, 1, 0):
        return True
    print(f"differences from a table: 0, 1 and 0 expected, {same}, {other} and {of_other_compiler} found")
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fatbins", nargs="*", type=pathlib.Path, default=[])
    parser.add_argument("--compile", default="")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--cubins", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "spillway-cubins")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--faults", action="store_true")
    given = parser.parse_args()
    try:
        version = version_of(given.nvcc)
    except OSError:
        skip("there is no nvcc")
    if not version.startswith(RELEASE + "."):
        skip(f"nvcc is {version}, and the rules are for {RELEASE}")
    if given.faults:
        sys.exit(find_the_faults(given.nvcc, 90))

    architectures = [int(a) for a in given.compile.split(",") if a]
    paths = given.fatbins
    if architectures:
        only = [name for name in given.only.split(",") if name]
        sources = sorted(s for s in (ROOT / "kernels/cuda").glob("*.cu") if not only or s.stem in only)
        paths = compile_all(given.nvcc, sources, architectures, given.cubins, given.jobs)
    try:
        found = list(findings_of(paths))
    except cubin.NotReadable as problem:
        skip(str(problem))
    if not found:
        sys.exit("no kernels were found")
    exceptions = Exceptions(EXCEPTIONS)
    broken = check_rules(found, exceptions)
    table = Table(TABLE)
    if given.update:
        updated = {f.architecture for f in found}
        if version != table.version and (given.only or not updated.issuperset(table.columns)):
            sys.exit(f"the table is of nvcc {table.version}, and can only as a whole become one of {version}")
        table.update(found, version, of_all_files=architectures and not given.only)
        table.write(TABLE)
        for row, used in zip(exceptions.rows, exceptions.used):
            if not used and not given.only:
                print(f"nothing needs this exception: {row}")
    changed = check_table(found, table, version)
    sys.exit(broken + changed > 0)


if __name__ == "__main__":
    main()
