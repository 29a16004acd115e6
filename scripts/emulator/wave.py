# SPDX-License-Identifier: MIT
"""Executes waves. Most instructions are compiled by tinygrad's emulator (test/mockgpu/amd/emu.py in the checkout that TINYGRAD
names); those of corrections.py are executed here instead, because that emulator lacks them or has them wrong. Which instruction lies
where, and its operands, come from llvm-objdump, so that every target's own opcodes are understood."""
import ctypes
import functools
import mmap
import os
import re
import sys

import numpy as np

from launch import ILLEGAL_ADDRESS, ILLEGAL_INSTRUCTION, NOT_SUPPORTED, Problem

FAMILY = {"gfx90a": "cdna", "gfx942": "cdna", "gfx950": "cdna", "gfx1100": "rdna3", "gfx1101": "rdna3", "gfx1102": "rdna3",
          "gfx1151": "rdna3", "gfx1200": "rdna4", "gfx1201": "rdna4"}
MOST_INSTRUCTIONS = 5_000_000  # of one wave: more is a loop that waits for what never comes
SLICE = 5000  # instructions of a wave before it is another's turn, so that waves can wait for each other
PC, SCRATCH_STRIDE, EXEC, VCC, M0 = 256, 259, 126, 106, {"cdna": 124, "rdna3": 125, "rdna4": 125}
DENORMALS_OF_F32 = 3 << 16  # COMPUTE_PGM_RSRC1.FLOAT_DENORM_MODE_32: all other modes flush


def load_emulator():
    folder = os.getcwd()
    sys.path.insert(0, os.environ["TINYGRAD"])
    os.chdir(os.environ["TINYGRAD"])
    try:
        from test.mockgpu.amd import emu as loaded
    finally:
        os.chdir(folder)
    return loaded


emu = load_emulator()


class Wave:
    """The registers of a wave: v and a[register, lane], s[register]; 128 to 255 of s are constants, as in encodings."""

    def __init__(self, state, family, lds, scratch):
        self.state, self.family, self.lanes = state, family, state.wave_size
        self.v = np.frombuffer(state._vgpr_mv, np.uint32).reshape(256, self.lanes)
        self.s = np.frombuffer(state._sgpr_mv, np.uint32)
        self.a = np.frombuffer(state.accvgpr_buf.as_memoryview(force_zero_copy=True).cast("I"), np.uint32).reshape(256, self.lanes)
        self.lds, self.executed, self.is_done = lds, 0, False
        addresses = state.sgpr_buf._buf.va_addr, state.vgpr_buf._buf.va_addr, 0, lds, scratch, state.accvgpr_buf._buf.va_addr
        self.buffers = [ctypes.c_uint64(address) for address in addresses]
        self.scratch = scratch

    def active(self):
        """Which lanes EXEC has."""
        mask = int(self.s[EXEC]) | (int(self.s[EXEC + 1]) << 32 if self.lanes == 64 else 0)
        return np.array([mask >> lane & 1 for lane in range(self.lanes)], bool)

    def execute(self, compiled):
        function, buffers = compiled
        function(*[self.buffers[number] for number in buffers])


class Instruction:
    def __init__(self, mnemonic, operands, data, address):
        self.mnemonic, self.text, self.data, self.address = mnemonic, operands, data, address
        parts = re.split(r",(?![^\[]*\])", operands)  # options follow the last operand
        self.operands = [part.split()[0] for part in parts if part.split()]
        self.compiled = self.correct = None
        self.is_barrier, self.is_end = mnemonic in ("s_barrier", "s_barrier_wait"), mnemonic in ("s_endpgm", "s_endpgm_saved")

    def option(self, name, default=0):
        """The number behind "name:", 1 for a bare name; lists as tuples."""
        found = re.search(rf"(?:^|\s){name}(?::(\[[^\]]*\]|\S+))?(?=\s|$)", self.text)
        if not found:
            return default
        value = found.group(1)
        if value is None:
            return 1
        return tuple(int(word, 0) for word in value[1:-1].split(",")) if value.startswith("[") else int(value, 0)


def compile_bytes(data, family):
    """The emulator's code for an instruction, and which of a wave's buffers it takes."""
    program, runtime = emu._get_runner(data, family)
    return runtime.fxn, program.arg.globals


class Program:
    """The instructions of a code object, made ready as waves reach them."""

    def __init__(self, code):
        self.code, self.family = code, FAMILY.get(code.arch)
        self.listing = code.disassemble()
        self.ready = {}
        if not self.family:
            raise Problem(NOT_SUPPORTED, f"no emulation of {code.arch}")

    def at(self, pc):
        from corrections import find_correction

        if pc - self.code.base not in self.listing:
            raise Problem(ILLEGAL_ADDRESS, f"the wave runs into {pc - self.code.base:#x}, where no instruction begins")
        instruction = Instruction(*self.listing[pc - self.code.base], pc)
        instruction.correct = find_correction(instruction, self.code.arch)
        if not instruction.correct:
            try:
                instruction.compiled = compile_bytes(instruction.data + bytes(8), self.family)
            except Exception as error:
                raise Problem(NOT_SUPPORTED, f"no {instruction.mnemonic} {instruction.text} ({str(error)[:200]})") from error
        self.ready[pc] = instruction
        return instruction


def run_slice(wave, program):
    """Until a barrier, the end, or another's turn; True: it is at a barrier."""
    pcs, ready, size = wave.state._sgpr_mv, program.ready, SLICE
    for count in range(1, size + 1):
        pc = pcs[PC] | pcs[PC + 1] << 32
        instruction = ready.get(pc) or program.at(pc)
        if instruction.correct:
            instruction.correct(wave, instruction)
            if not instruction.is_end and pcs[PC] == pc & 0xFFFFFFFF:
                pcs[PC], pcs[PC + 1] = pc + len(instruction.data) & 0xFFFFFFFF, pc + len(instruction.data) >> 32
        else:
            function, buffers = instruction.compiled
            arguments = wave.buffers
            function(*[arguments[number] for number in buffers])
        if instruction.is_end or instruction.is_barrier:
            break
    wave.executed += count
    wave.is_done = instruction.is_end
    if wave.executed > MOST_INSTRUCTIONS:
        raise Problem(NOT_SUPPORTED, f"a wave that executed {wave.executed} instructions and is not at its end")
    return instruction.is_barrier


def reserve_lds():
    """The emulator reads LDS for inactive lanes, too, at whatever address they hold: all that 32 bits reach can be read."""
    return mmap.mmap(-1, (1 << 32) + 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE


class Group:
    """A workgroup: its waves and its LDS, which holds garbage at first, as on hardware."""

    def __init__(self, kernel, family, index, block, lds_bytes, words, lds):
        lds[:lds_bytes] = b"\xcd" * lds_bytes
        self.lds = ctypes.addressof(ctypes.c_char.from_buffer(lds))
        count, size = block[0] * block[1] * block[2], kernel.wave_size
        self.scratch = [ctypes.create_string_buffer(kernel.scratch_bytes * size + 64) for _ in range(0, count, size)]
        self.waves = [self.wave(kernel, family, index, block, words, first) for first in range(0, count, size)]
        self.waiting = set()

    def wave(self, kernel, family, index, block, words, first):
        scratch = ctypes.addressof(self.scratch[first // kernel.wave_size])
        bases = iter([scratch & 0xFFFFFFFF, scratch >> 32] * 2)
        user = [next(bases) if word is None else word for word in words]
        count = block[0] * block[1] * block[2]
        state = emu._init_wave(kernel.entry, first, count, *block, 0, kernel.rsrc2, kernel.scratch_bytes, family, *index, user or [0], kernel.wave_size)
        return Wave(state, family, self.lds, scratch)

    def step(self, program):
        """A slice of each wave that is not at a barrier."""
        for wave in self.waves:
            if not wave.is_done and wave not in self.waiting and run_slice(wave, program):
                self.waiting.add(wave)
        if all(wave.is_done or wave in self.waiting for wave in self.waves):
            self.waiting.clear()
        return any(not wave.is_done for wave in self.waves)


@functools.lru_cache(maxsize=None)
def lds_of(number):
    """That of the workgroup which is resident as this number."""
    del number
    return reserve_lds()


def run_grid(kernel, grid, block, lds_bytes, words, together):
    """Instructions executed by each wave, in the order of workgroups (x first) and of waves in them."""
    family = FAMILY.get(kernel.code.arch)
    kernel.code.program = program = kernel.code.program or Program(kernel.code)
    if kernel.wave_size != (64 if family == "cdna" else 32):
        raise Problem(NOT_SUPPORTED, f"{kernel.name} has waves of {kernel.wave_size}: RDNA is emulated with waves of 32")
    counts = []
    indices = [(x, y, z) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0])]
    with FloatMode(kernel.rsrc1 & DENORMALS_OF_F32 != DENORMALS_OF_F32), np.errstate(all="ignore"):
        while indices:
            resident = [Group(kernel, family, index, block, lds_bytes, words, lds_of(k)) for k, index in enumerate(indices if together else indices[:1])]
            del indices[:len(resident)]
            running = resident
            while running:
                running = [group for group in running if group.step(program)]
            counts += [wave.executed for group in resident for wave in group.waves]
    return counts


class FloatMode:
    """The processor flushes denormals while a kernel that asks for that runs."""

    def __init__(self, flushes):
        self.context = emu._MXCSRContext() if flushes else None

    def __enter__(self):
        if self.context:
            self.context.__enter__()

    def __exit__(self, *problem):
        if self.context:
            self.context.__exit__(*problem)
