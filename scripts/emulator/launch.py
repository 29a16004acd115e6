# SPDX-License-Identifier: MIT
"""What a HIP runtime does around a kernel: reads code objects, lays out arguments, starts waves. hip.c calls these functions; the
instructions themselves are wave.py's."""
import ctypes
import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

NOT_FOUND, ILLEGAL_ADDRESS, ILLEGAL_INSTRUCTION, NOT_SUPPORTED, INVALID_IMAGE, NO_BINARY = 500, 700, 715, 801, 200, 209
EF_AMDGPU_MACH = {0x3F: "gfx90a", 0x4C: "gfx942", 0x4F: "gfx950", 0x41: "gfx1100", 0x46: "gfx1101", 0x47: "gfx1102",
                  0x4A: "gfx1151", 0x48: "gfx1200", 0x4E: "gfx1201"}  # LLVM's AMDGPUUsage, "ELF header"


class Problem(Exception):
    """What the caller is told, with HIP's number of the error."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


# ---- code objects ----


def unpack(data, at=0):
    """(value, end) of MessagePack, as far as AMDGPU metadata use it."""
    kind = data[at]
    at += 1

    def items(count, is_map, at):
        values = []
        for _ in range(count * (2 if is_map else 1)):
            value, at = unpack(data, at)
            values.append(value)
        return (dict(zip(values[::2], values[1::2])) if is_map else values), at

    def number(size, signed=False):
        return int.from_bytes(data[at:at + size], "big", signed=signed), at + size

    if kind < 0x80 or kind >= 0xE0:
        return kind - (256 if kind >= 0xE0 else 0), at
    if kind < 0xA0:
        return items(kind & 15, kind < 0x90, at)
    if kind < 0xC0:
        return data[at:at + (kind & 31)].decode(), at + (kind & 31)
    if kind in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[kind], at
    if 0xCC <= kind <= 0xD3:
        return number(1 << (kind & 3), kind >= 0xD0)
    if 0xD9 <= kind <= 0xDF:
        size, at = number(1 << (kind - 0xD9) if kind < 0xDC else 2 << (kind & 1))
        return (data[at:at + size].decode(), at + size) if kind < 0xDC else items(size, kind >= 0xDE, at)
    raise ValueError(f"MessagePack byte {kind:#x}")


BUNDLE, COMPRESSED, ELF = b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", b"\x7fELF"


def bundle_entries(data):
    """[(target, offset, size)]"""
    at, entries = len(BUNDLE) + 8, []
    for _ in range(struct.unpack_from("<Q", data, len(BUNDLE))[0]):
        offset, size, length = struct.unpack_from("<QQQ", data, at)
        entries.append((data[at + 24:at + 24 + length].decode(), offset, size))
        at += 24 + length
    return entries


def compressed_sizes(data):
    """(of the whole, of what it was, of the header) of a compressed bundle."""
    version = struct.unpack_from("<H", data, 4)[0]
    if version not in (2, 3):
        raise Problem(INVALID_IMAGE, f"a compressed bundle of version {version}")
    whole, plain = struct.unpack_from("<II" if version == 2 else "<QQ", data, 8)
    return whole, plain, 24 if version == 2 else 32


def image_at(address):
    """What a program has in its memory, whose size is said nowhere but in itself."""
    head = ctypes.string_at(address, 64)
    if head.startswith(COMPRESSED):
        size = compressed_sizes(head)[0]
    elif head.startswith(ELF):  # sections are the last
        size = struct.unpack_from("<Q", head, 40)[0] + 64 * struct.unpack_from("<H", head, 60)[0]
    else:
        size = max((offset + size for _, offset, size in bundle_entries(ctypes.string_at(address, 4096))), default=0) if head.startswith(BUNDLE) else 0
    return ctypes.string_at(address, size)


def decompress(data):
    whole, plain, header = compressed_sizes(data)
    zstd, filled = ctypes.CDLL("libzstd.so.1"), ctypes.create_string_buffer(plain)
    zstd.ZSTD_decompress.restype, zstd.ZSTD_decompress.argtypes = ctypes.c_size_t, [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    if zstd.ZSTD_decompress(filled, plain, data[header:whole], whole - header) != plain:
        raise Problem(INVALID_IMAGE, "a compressed bundle that is not zstd's, or damaged")
    return filled.raw


def unbundle(data, arch=None):
    """An ELF as it is, or the code object for the target in an offload bundle, else the first."""
    if data.startswith(COMPRESSED):
        data = decompress(data)
    if data.startswith(ELF):
        return data
    if not data.startswith(BUNDLE):
        raise Problem(INVALID_IMAGE, "neither an ELF file nor an offload bundle")
    found = {name.rpartition("--")[2].partition(":")[0]: (offset, size) for name, offset, size in bundle_entries(data) if "amdgcn" in name and size and "xnack+" not in name}
    if not found:
        raise Problem(INVALID_IMAGE, "a bundle without code for an AMD GPU")
    offset, size = found.get(arch, next(iter(found.values())))
    return data[offset:offset + size]


def sections_of(elf):
    shoff, shnum = struct.unpack_from("<Q", elf, 40)[0], struct.unpack_from("<H", elf, 60)[0]
    return [struct.unpack_from("<IIQQQQIIQQ", elf, shoff + 64 * k) for k in range(shnum)]


def code_sha256(elf):
    """Of what a GPU is given, which does not depend on the name of a compiler that made the same."""
    digest = hashlib.sha256()
    for _, kind, flags, address, offset, size, _, _, _, _ in sections_of(elf):
        if flags & 2 and kind != 8:  # SHF_ALLOC, SHT_NOBITS
            digest.update(struct.pack("<QQ", address, size) + elf[offset:offset + size])
    return digest.hexdigest()[:32]


class Code:
    """A code object in memory: its segments, kernels, and its instructions as llvm-objdump writes them."""

    def __init__(self, path, arch):
        if path.startswith("at:"):  # hipModuleLoadData
            data = image_at(int(path[3:], 16))
        else:
            with open(path, "rb") as file:
                data = file.read()
        self.elf = elf = unbundle(data, arch)
        self.arch = EF_AMDGPU_MACH.get(elf[48], f"a target with number {elf[48]:#x}")
        if self.arch != arch:
            raise Problem(NO_BINARY, f"code for {self.arch}, not for {arch}")
        self.sha256 = hashlib.sha256(data).hexdigest()
        self.code_sha256 = code_sha256(elf)
        self.load()
        self.read_symbols()
        self.program = None  # wave.py's: address: instruction, as they are reached

    def load(self):
        phoff, phnum = struct.unpack_from("<Q", self.elf, 32)[0], struct.unpack_from("<H", self.elf, 56)[0]
        headers = [struct.unpack_from("<IIQQQQQQ", self.elf, phoff + 56 * k) for k in range(phnum)]
        self.sections = sections_of(self.elf)
        loaded = [header for header in headers if header[0] == 1]
        self.memory = ctypes.create_string_buffer(max(address + size for _, _, _, address, _, _, size, _ in loaded) + 8192)
        self.base = (ctypes.addressof(self.memory) + 4095) & ~4095
        for _, _, offset, address, _, size, _, _ in loaded:
            ctypes.memmove(self.base + address, self.elf[offset:offset + size], size)
        self.kernels = {}
        for header in headers:
            at, end = header[2], header[2] + header[5]
            while header[0] == 4 and at < end:
                names, size, kind = struct.unpack_from("<III", self.elf, at)
                at += 12 + (names + 3) // 4 * 4
                if kind == 32:  # linked objects keep a note each
                    self.kernels.update((kernel[".name"], kernel) for kernel in unpack(self.elf, at)[0]["amdhsa.kernels"])
                at += (size + 3) // 4 * 4

    def read_symbols(self):
        self.symbols = {}
        for section in self.sections:
            if section[1] == 11:  # SHT_DYNSYM
                strings = self.sections[section[6]][4]
                for at in range(section[4], section[4] + section[5], 24):
                    name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", self.elf, at)
                    self.symbols[self.elf[strings + name:self.elf.index(b"\0", strings + name)].decode()] = value

    def disassemble(self):
        """{address in the file: (mnemonic, operands, bytes)}"""
        with tempfile.NamedTemporaryFile(suffix=".elf") as file:
            file.write(self.elf)
            file.flush()
            text = subprocess.run([os.environ["EMULATOR_OBJDUMP"], "-d", file.name], capture_output=True, text=True, check=True).stdout
        found = {}
        for line in re.finditer(r"^\s+(\S+)[ \t]*(.*?)\s*// ([0-9A-F]+): ([0-9A-F ]+)", text, re.M):
            mnemonic, operands, address, words = line.groups()
            found[int(address, 16)] = mnemonic, operands, b"".join(int(word, 16).to_bytes(4, "little") for word in words.split())
        return found


# ---- launches ----

HIDDEN = {"hidden_block_count": "grid", "hidden_group_size": "block"}


def hidden_argument(kind, grid, block, lds_bytes):
    """What the compiler has appended to the arguments."""
    name, _, axis = kind.rpartition("_")
    if name in HIDDEN:
        return (grid if HIDDEN[name] == "grid" else block)["xyz".index(axis)]
    return {"hidden_grid_dims": 3, "hidden_dynamic_lds_size": lds_bytes}.get(kind, 0)


class Kernel:
    """One kernel and what its descriptor asks for (AMDGPUUsage, "Kernel Descriptor")."""

    def __init__(self, code, name):
        if name not in code.kernels or name + ".kd" not in code.symbols:
            raise Problem(NOT_FOUND, f"no kernel {name} in the code object")
        self.code, self.name, self.meta = code, name, code.kernels[name]
        self.descriptor = code.base + code.symbols[name + ".kd"]
        self.lds_bytes, self.scratch_bytes, self.kernarg_bytes = struct.unpack("<III", ctypes.string_at(self.descriptor, 12))
        self.entry = self.descriptor + struct.unpack("<q", ctypes.string_at(self.descriptor + 16, 8))[0]
        self.rsrc1, self.rsrc2, self.properties = struct.unpack("<IIH", ctypes.string_at(self.descriptor + 48, 10))
        self.kernarg_bytes = max(self.kernarg_bytes, self.meta[".kernarg_segment_size"])
        self.wave_size = self.meta.get(".wavefront_size", 64)

    def arguments(self):
        return [arg for arg in self.meta.get(".args", []) if not arg[".value_kind"].startswith("hidden_")]

    def kernarg(self, explicit, grid, block, lds_bytes):
        """The block that s[kernarg] points to."""
        filled = ctypes.create_string_buffer(explicit, max(len(explicit), self.kernarg_bytes) + 256)
        for arg in self.meta.get(".args", []):
            kind, offset, size = arg[".value_kind"], arg[".offset"], arg[".size"]
            if kind.startswith("hidden_"):
                filled[offset:offset + size] = hidden_argument(kind, grid, block, lds_bytes).to_bytes(size, "little")
        return filled

    def user_sgprs(self, kernarg, packet):
        """In the order of the descriptor's bits; None stands for the base of this wave's scratch."""
        words = []
        for bit, value in ((1, [None, None, 0xFFFFFFFF, 0x00E00000]), (2, packet), (4, 0), (8, kernarg), (16, 0), (32, [None, None])):
            if self.properties & bit:
                words += value if isinstance(value, list) else [value & 0xFFFFFFFF, value >> 32]
        return words + ([self.scratch_bytes] if self.properties & 64 else [])


def packet(kernel, grid, block, lds_bytes, kernarg):
    """hsa_kernel_dispatch_packet_t, which kernels read their sizes from."""
    filled = ctypes.create_string_buffer(64)
    struct.pack_into("<HHHHHHIIIII", filled, 0, 0, 3, *block, 0, *(g * b for g, b in zip(grid, block)), kernel.scratch_bytes, lds_bytes)
    struct.pack_into("<QQ", filled, 32, kernel.descriptor, ctypes.addressof(kernarg))
    return filled


# ---- what is recorded: a line of JSON for each launch, appended to $EMULATOR_LOG ----


def note(kernel, grid, block, lds_bytes, counts):
    path = os.environ.get("EMULATOR_LOG")
    if path:
        line = {"sha256": kernel.code.sha256, "code_sha256": kernel.code.code_sha256, "symbol": kernel.name, "grid": grid, "block": block, "lds_bytes": lds_bytes, "instructions": counts}
        with open(path, "a", encoding="ascii") as log:
            log.write(json.dumps(line, separators=(",", ":")) + "\n")


# ---- the table that hip.c calls through; the structures are its own ----

MAX_ARGS = 256


class Argument(ctypes.Structure):
    _fields_ = [("offset", ctypes.c_uint32), ("size", ctypes.c_uint32)]


class Function(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("code", "number", "arg_count", "max_block", "lds_bytes", "kernarg_bytes")] + \
               [("args", Argument * MAX_ARGS)]


class Shape(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3), ("lds_bytes", ctypes.c_uint32), ("together", ctypes.c_uint32)]


LOAD = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.POINTER(ctypes.c_uint32), ctypes.c_char_p)
UNLOAD = ctypes.CFUNCTYPE(None, ctypes.c_uint32)
FIND = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.POINTER(Function), ctypes.c_uint32, ctypes.c_char_p)
LAUNCH = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.POINTER(Function), ctypes.POINTER(Shape), ctypes.c_void_p)


class Emulator(ctypes.Structure):
    _fields_ = [("load", LOAD), ("unload", UNLOAD), ("find", FIND), ("launch", LAUNCH), ("problem", ctypes.c_char * 512)]


class Runtime:
    def __init__(self, emulator, arch):
        self.emulator, self.arch = emulator, arch
        self.codes, self.kernels = {}, []

    def guard(self, function):
        """The function, whose exceptions become HIP's numbers and a text for the user."""
        def guarded(*arguments):
            try:
                function(*arguments)
                return 0
            except Problem as problem:
                text, code = str(problem), problem.code
            except Exception as error:  # pylint: disable=broad-except
                text, code = f"{type(error).__name__}: {error}", ILLEGAL_INSTRUCTION
                if os.environ.get("EMULATOR_TRACE"):
                    sys.excepthook(*sys.exc_info())
            self.emulator.problem = f"emulator: {text}".encode()[:511]
            return code
        return guarded

    def load(self, number, path):
        number[0] = len(self.codes) + 1
        self.codes[number[0]] = Code(path.decode(), self.arch)

    def find(self, function, code, name):
        kernel = Kernel(self.codes[code], name.decode())
        args = kernel.arguments()
        if len(args) > MAX_ARGS:
            raise Problem(NOT_SUPPORTED, f"{len(args)} arguments")
        filled = function.contents
        filled.code, filled.number, filled.arg_count = code, len(self.kernels), len(args)
        filled.max_block = kernel.meta[".max_flat_workgroup_size"]
        filled.lds_bytes, filled.kernarg_bytes = kernel.lds_bytes, kernel.kernarg_bytes
        for k, arg in enumerate(args):
            filled.args[k] = Argument(arg[".offset"], arg[".size"])
        self.kernels.append(kernel)

    def launch(self, function, shape, explicit):
        from wave import run_grid  # the emulator is loaded with the first launch: that takes a second

        kernel, shape = self.kernels[function.contents.number], shape.contents
        grid, block, lds_bytes = list(shape.grid), list(shape.block), kernel.lds_bytes + shape.lds_bytes
        kernarg = kernel.kernarg(ctypes.string_at(explicit, kernel.kernarg_bytes), grid, block, shape.lds_bytes)
        dispatch = packet(kernel, grid, block, lds_bytes, kernarg)
        words = kernel.user_sgprs(ctypes.addressof(kernarg), ctypes.addressof(dispatch))
        note(kernel, grid, block, lds_bytes, run_grid(kernel, grid, block, lds_bytes, words, shape.together))


_kept = []  # callbacks live as long as the process


def serve(address, arch):
    emulator = Emulator.from_address(address)
    runtime = Runtime(emulator, arch)
    emulator.load, emulator.find = LOAD(runtime.guard(runtime.load)), FIND(runtime.guard(runtime.find))
    emulator.unload = UNLOAD(lambda code: runtime.codes.pop(code, None))
    emulator.launch = LAUNCH(runtime.guard(runtime.launch))
    _kept.extend([emulator, runtime, emulator.load, emulator.find, emulator.unload, emulator.launch])
