"""Reads what nvcc makes of a .cu file: fatbins, the ELF files for one architecture in them, and of each kernel what
the driver is told and its machine code, as far as its speed can be read off it. Decoded here, since a machine with the
compiler need not have NVIDIA's disassembler; checked against its output for compute capability 7.5 to 12.0."""

import ctypes
import ctypes.util
import functools
import struct
from dataclasses import dataclass, field

ELF = 2  # kind of a fatbin's entry

# EIATTR numbers in .nv.info sections.
MAX_THREADS, FRAME_SIZE, INDIRECT_TARGETS, REGISTERS = 0x05, 0x11, 0x34, 0x2F
SIZED = 0x04  # format of an attribute: its bytes follow

# The lowest 9 of an instruction's 128 bits say what it does; the next three, where its operands come from.
LOAD_GENERIC, LOAD_GLOBAL, LOAD_LOCAL, LOAD_SHARED = 0x180, 0x181, 0x183, 0x184
STORE_GENERIC, STORE_GLOBAL, STORE_LOCAL, STORE_SHARED = 0x185, 0x186, 0x187, 0x188
COPY_TO_SHARED = 0x1AE  # cp.async
MULTIPLY_BYTES = 0x037  # of tensor cores
BRANCH, BRANCH_INDIRECT, RETURN, EXIT = 0x147, 0x149, 0x150, 0x14D
DIVERGE = 0x145  # BSSY: lanes may part here, and meet again at the BSYNC that it names
ALWAYS = 7  # the predicate that is always true
WIDTHS = (8, 8, 16, 16, 32, 64, 128, 128)  # bits, by the field of loads and stores


class NotReadable(Exception):
    pass


def zstd(data, size):
    name = ctypes.util.find_library("zstd") or "libzstd.so.1"
    try:
        library = ctypes.CDLL(name)
    except OSError as missing:
        raise NotReadable("there is no libzstd") from missing
    library.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(size)
    if library.ZSTD_decompress(out, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data))) != size:
        raise NotReadable("a compressed entry of a fatbin is damaged")
    return out.raw


def cubins(data):
    """Gives (architecture, bytes) of each ELF file in a fatbin, or of the ELF file that `data` is itself."""
    if data[:4] == b"\x7fELF":
        yield Cubin(data).architecture, data
        return
    at = 0
    while at + 16 <= len(data):
        magic, _, header, size = struct.unpack_from("<IHHQ", data, at)
        if magic != 0xBA55ED50:
            raise NotReadable("this is no fatbin")
        entry, end = at + header, at + header + size
        while entry < end:
            kind, _, head, padded, packed = struct.unpack_from("<HHIQQ", data, entry)
            architecture, = struct.unpack_from("<I", data, entry + 28)
            flags, = struct.unpack_from("<Q", data, entry + 40)
            unpacked, = struct.unpack_from("<Q", data, entry + 56)
            body = data[entry + head:entry + head + (packed & 0xFFFFFFFF or padded)]
            if kind == ELF:
                yield architecture, zstd(body, unpacked) if flags & 0x8000 else body
            entry += head + padded
        at = end


@dataclass
class Instruction:
    address: int
    low: int
    high: int
    does: int = 0
    target: int = -1  # of a branch
    width_at: int = 9  # of the upper half

    @property
    def predicated(self):
        return self.low >> 12 & 15 != ALWAYS

    @property
    def width(self):
        return WIDTHS[self.high >> self.width_at & 7]


def count_loads(instructions, kinds):
    found = {}
    for i in instructions:
        if i.does in kinds:
            key = ("generic " if i.does == LOAD_GENERIC else "", i.width)
            found[key] = found.get(key, 0) + 1
    return found


@dataclass
class Loop:
    """The instructions of an innermost loop."""
    instructions: list

    def loads(self):
        """{(memory, bits): how many} of what one turn reads of global memory, copies to shared memory among them."""
        return count_loads(self.instructions, (LOAD_GLOBAL, LOAD_GENERIC, COPY_TO_SHARED))

    def read_bytes(self):
        return sum(bits // 8 * count for (_, bits), count in self.loads().items())

    def divergences(self):
        return sum(i.does == DIVERGE for i in self.instructions)

    def products(self):
        return sum(i.does == MULTIPLY_BYTES for i in self.instructions)


@dataclass
class Kernel:
    name: str
    registers: int
    stack_bytes: int
    shared_bytes: int
    threads: int  # at most, in a block
    code: list = field(repr=False)
    indirect: dict = field(repr=False)

    def local_accesses(self):
        return sum(i.does in (LOAD_LOCAL, STORE_LOCAL) for i in self.code)

    def copies(self):
        """Counts copies from global to shared memory, also outside of loops: they may fetch what a loop works on."""
        return count_loads(self.code, (COPY_TO_SHARED,))

    @functools.cached_property
    def loops(self):
        return innermost_loops(self.code, self.indirect)

    def hot_loop(self):
        """The loop that has most products of bytes on tensor cores a turn; where none has any, the one that reads most;
        of loops that read as much the longest. None where there is no loop."""
        return max(self.loops, key=lambda l: (l.products(), l.read_bytes(), len(l.instructions)), default=None)


class Cubin:
    def __init__(self, data):
        self.data = data
        flags, = struct.unpack_from("<I", data, 0x30)
        # Since CUDA 13 files are of another ABI version, and have the architecture in the second byte.
        self.architecture = flags >> 8 & 0xFF if data[8] >= 8 else flags & 0xFF
        offset, = struct.unpack_from("<Q", data, 0x28)
        entry, count, names = struct.unpack_from("<HHH", data, 0x3A)
        rows = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * entry) for i in range(count)]
        text = rows[names][4]
        self.sections = {self.string(text + row[0]): row for row in rows}

    def string(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode()

    def bytes_of(self, name):
        row = self.sections.get(name)
        return self.data[row[4]:row[4] + row[5]] if row and row[1] != 8 else b""

    def attributes(self, section):
        data, at = self.bytes_of(section), 0
        while at + 4 <= len(data):
            form, which, size = struct.unpack_from("<BBH", data, at)
            at += 4
            if form == SIZED:
                yield which, data[at:at + size]
                at += size

    def symbols(self):
        data = self.bytes_of(".symtab")
        text = self.sections[".strtab"][4]
        return [self.string(text + struct.unpack_from("<I", data, at)[0]) for at in range(0, len(data), 24)]

    def kernels(self):
        symbols = self.symbols()
        registers, stack = {}, {}
        for which, value in self.attributes(".nv.info"):
            if which in (REGISTERS, FRAME_SIZE):
                symbol, number = struct.unpack("<II", value)
                (registers if which == REGISTERS else stack)[symbols[symbol]] = number
        for section, row in self.sections.items():
            if not section.startswith(".text."):
                continue
            name = section[len(".text."):]
            threads, indirect = 1024, {}
            for which, value in self.attributes(".nv.info." + name):
                if which == MAX_THREADS:
                    x, y, z = struct.unpack("<III", value)
                    threads = x * y * z
                elif which == INDIRECT_TARGETS:
                    indirect.update(indirect_targets(value))
            shared = self.sections.get(".nv.shared." + name)
            yield Kernel(name, registers.get(name, row[7] >> 24), stack.get(name, 0), shared[5] if shared else 0,
                         threads, decode(self.bytes_of(section), self.architecture), indirect)


def indirect_targets(value):
    at, all_targets = 0, {}
    while at + 12 <= len(value):
        address, _, _, count = struct.unpack_from("<IHHI", value, at)
        all_targets[address] = list(struct.unpack_from(f"<{count}I", value, at + 12))
        at += 12 + 4 * count
    return all_targets


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def decode(text, architecture):
    code = []
    for address in range(0, len(text), 16):
        low, high = struct.unpack_from("<QQ", text, address)
        i = Instruction(address, low, high, low & 0x1FF)
        if i.does == COPY_TO_SHARED and architecture >= 100:
            i.width_at = 10
        if i.does == BRANCH:
            if architecture >= 90:  # in units of 4 bytes, the lowest 8 bits apart
                offset = 4 * signed(low >> 16 & 0xFF | low >> 34 << 8 | (high & 0x3FFFF) << 38, 56)
            else:
                offset = signed(low >> 32 | (high & 0x3FFFF) << 32, 50)
            i.target = address + 16 + offset
        code.append(i)
    return code


# ---- loops ----

def blocks_of(code, indirect):
    """The basic blocks, as lists of instructions, and for each those that may follow it."""
    place = {i.address: n for n, i in enumerate(code)}
    starts = {0}
    for n, i in enumerate(code):
        if i.does in (BRANCH, BRANCH_INDIRECT, RETURN, EXIT):
            starts.add(n + 1)
            starts.update(place[t] for t in [i.target, *indirect.get(i.address, [])] if t in place)
    order = sorted(s for s in starts if s < len(code))
    blocks = [code[a:b] for a, b in zip(order, order[1:] + [len(code)])]
    block_at = {block[0].address: n for n, block in enumerate(blocks)}
    following = []
    for n, block in enumerate(blocks):
        last = block[-1]
        to = [block_at[t] for t in [last.target, *indirect.get(last.address, [])] if t in block_at]
        ends = last.does in (BRANCH, BRANCH_INDIRECT, RETURN, EXIT) and not conditional(last)
        if not ends and n + 1 < len(blocks):
            to.append(n + 1)
        following.append(to)
    return blocks, following


def conditional(i):
    # A branch may also ask a second predicate, or, in another form, a uniform one.
    second = i.high >> 23 & 15 if i.does == BRANCH else ALWAYS
    return i.predicated or second != ALWAYS or (i.does == BRANCH and i.low >> 9 & 7 != 4)


def dominators(following):
    """For each block the set of those that all ways to it lead through; None where none leads."""
    before = [[] for _ in following]
    for n, to in enumerate(following):
        for t in to:
            before[t].append(n)
    found = [None] * len(following)
    found[0] = {0}
    changed = True
    while changed:
        changed = False
        for n in range(1, len(following)):
            known = [found[b] for b in before[n] if found[b] is not None]
            if not known:
                continue
            new = set.intersection(*known) | {n}
            if new != found[n]:
                found[n], changed = new, True
    return found, before


def innermost_loops(code, indirect):
    blocks, following = blocks_of(code, indirect)
    dominating, before = dominators(following)
    loops = {}  # by their heads
    for n, to in enumerate(following):
        for head in to:
            if dominating[n] is None or head not in dominating[n]:
                continue
            body = loops.setdefault(head, {head})
            ways = [n]
            while ways:
                block = ways.pop()
                if block not in body:
                    body.add(block)
                    ways += [b for b in before[block] if dominating[b] is not None]
    real = [body for head, body in loops.items() if any(i.does != BRANCH for b in body for i in blocks[b])]
    inner = [body for body in real if not any(other < body for other in real)]
    return [Loop([i for b in sorted(body) for i in blocks[b]]) for body in inner]
