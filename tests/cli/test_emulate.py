# SPDX-License-Identifier: MIT
"""scripts/emulate without the emulator, which a machine for tests has not: what is missing is said, and the library it puts in
place of ROCm's compiles, is found, and says what it cannot do."""
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys

import harness

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "scripts/emulate"


def emulate(*arguments, **environment):
    env = {key: value for key, value in os.environ.items() if key not in ("TINYGRAD", "ROCJITSU")} | environment
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, env=env, check=False)


def usage(home):
    for arguments, environment, code, text in (
            (["--help"], {}, 0, "Usage: scripts/emulate"),
            (["gfx942", "gemm_naive", "--help"], {}, 0, "Usage: scripts/emulate"),
            ([], {}, 2, "which target?"),
            (["gfx906"], {}, 2, "gfx906 is not emulated"),
            (["--nonsense", "gfx942"], {}, 2, "unknown option --nonsense"),
            (["--log"], {}, 2, "--log needs a file"),
            (["gfx942"], {}, 2, "TINYGRAD is not set"),
            (["gfx942"], {"TINYGRAD": str(home)}, 2, "must be a checkout of tinygrad")):
        done = emulate(*arguments, **environment)
        harness.check(done.returncode == code and text in done.stdout + done.stderr, f"emulate {arguments}: {done.returncode} {done.stderr}")
    record = [sys.executable, ROOT / "scripts/emulator/record.py", home / "none.json", home / "none.log", home / "out.csv", "clang"]
    done = subprocess.run(record, capture_output=True, text=True, check=False)
    harness.check(done.returncode == 1 and done.stderr == "the check wrote no result: nothing is recorded\n", done.stderr)


def amds(home):
    """AMD's emulator is given the target's configuration and the whole command; what it cannot do is ours."""
    for name in ("bin/rocjitsu", "configs/gfx942_cdna3.json", "configs/gfx942_cdna3_kmd.json", "configs/gfx950_cdna4_kmd_2gpu.json"):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text('#!/bin/sh\ntouch "$ROCJITSU_RUNTIME_DIR/config_path" && echo "$@"\nexit ${ENDS:-0}\n')
    (home / "bin/rocjitsu").chmod(0o755)
    ran = f"--config {home}/configs/gfx942_cdna3_kmd.json -- {harness.PROGRAM} check --run --device hip:0 gemm_naive --set n=8\n"
    for environment in ({"ROCJITSU": str(home)}, {"ROCJITSU": f"{home}/bin/rocjitsu"}, {"PATH": f"{home}/bin:{os.environ['PATH']}"}):
        done = emulate("--rooftile", harness.PROGRAM, "gfx942", "gemm_naive", "--set", "n=8", **environment)
        harness.check(done.returncode == 0 and done.stdout == ran, f"{environment}: {done}")
    (home / "other/bin").mkdir(parents=True)
    (home / "other/bin/mirage").symlink_to(home / "bin/rocjitsu")
    done = emulate("--rooftile", harness.PROGRAM, "gfx942", "gemm_naive", "--set", "n=8", PATH=f"{home}/other/bin:{os.environ['PATH']}")
    harness.check(done.returncode == 0 and done.stdout == ran, f"mirage: {done}")
    done = emulate("--rooftile", harness.PROGRAM, "gfx942", ROCJITSU=str(home), ROCJITSU_CONFIG=str(home / "configs/gfx942_cdna3.json"), ENDS="3", TMPDIR=str(home / "configs"))
    harness.check(done.returncode == 3 and "cdna3.json" in done.stdout, f"a configuration of one's own, and its exit code: {done}")
    harness.check(not list((home / "configs").glob("tmp*")), "the emulator's folder is left behind")
    for arguments, more, text in ((["gfx90a"], str(home), "has no configuration of gfx90a"), (["--record", "gfx942"], str(home), "TINYGRAD is not set"),
                                  (["gfx942"], "/nowhere", "ROCJITSU=/nowhere is no program")):
        done = emulate(*arguments, ROCJITSU=more)
        harness.check(done.returncode == 2 and text in done.stderr, f"{arguments}: {done}")


def library(home):
    compiler = next((name for name in ("gcc", "clang", "cc") if shutil.which(name)), None)
    if not compiler:
        print("skipped: no C compiler")
        return
    made = home / "libamdhip64.so"
    done = subprocess.run([compiler, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden", "-I", ROOT / "include",
                           *(ROOT / "scripts/emulator").glob("hip*.c"), "-o", made, "-ldl", "-lpthread"], capture_output=True, text=True, check=False)
    harness.check(done.returncode == 0, done.stderr)
    devices = harness.run("devices", home=home, ROOFTILE_HIP_LIBRARY=made, EMULATOR_ARCH="gfx1100")
    harness.check(devices.returncode == 0 and "emulated gfx1100" in devices.stdout, devices.stdout + devices.stderr)
    hip, memory, number = ctypes.CDLL(str(made)), ctypes.c_void_p(), ctypes.c_uint()
    kind = lambda address: (hip.hipPointerGetAttributes(ctypes.byref(number), ctypes.c_void_p(address)), number.value)
    harness.check(hip.hipMallocAsync(ctypes.byref(memory), ctypes.c_size_t(1000), None) == 0 and kind(memory.value + 999) == (0, 2) and kind(memory.value + 1000) == (1, 0),
                  "memory of the device, and what is not")
    rows = (ctypes.c_uint8 * 12)(*range(12))
    hip.hipMemcpy2D(memory, ctypes.c_size_t(3), rows, ctypes.c_size_t(4), ctypes.c_size_t(3), ctypes.c_size_t(3), 1)
    harness.check(ctypes.string_at(memory, 10) == bytes([0, 1, 2, 4, 5, 6, 8, 9, 10, 0xCD]), "rows without their gaps, into memory that held garbage")
    harness.check(hip.hipLaunchKernel(memory, *[ctypes.c_uint64(1 << 32 | 1), 1] * 2, None, ctypes.c_size_t(0), None) == 98, "a kernel that nobody registered")


IMAGES = """
import ctypes, struct, launch
def entry(target, offset, code):
    return struct.pack("<QQQ", offset, len(code), len(target)) + target.encode()
def image(name):  # an ELF file with a note of metadata for each kernel
    note = lambda kernel: struct.pack("<III", 7, 27, 32) + b"AMDGPU\\0\\0" + b"\\x81\\xaeamdhsa.kernels\\x91\\x81\\xa5.name\\xa2" + kernel + b"\\0"
    notes = note(name + b"1") + note(name + b"2")
    elf = bytearray(b"\\x7fELF" + bytes(60)) + b"".join(struct.pack("<IIQQQQQQ", kind, 0, 176, 0, 0, len(notes), len(notes), 4) for kind in (1, 4)) + notes
    elf[32:40], elf[40:48], elf[48], elf[56:58] = struct.pack("<Q", 64), struct.pack("<Q", len(elf)), 0x4C, struct.pack("<H", 2)
    return bytes(elf)
a, b = image(b"a"), image(b"b")
bundle = launch.BUNDLE + struct.pack("<Q", 2) + entry("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", 512, a) + entry("hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", 1024, b)
bundle = bundle.ljust(512, b"\\0") + a.ljust(512, b"\\0") + b
zstd, packed = ctypes.CDLL("libzstd.so.1"), ctypes.create_string_buffer(4096)
size = zstd.ZSTD_compress(packed, 4096, bundle, len(bundle), 3)
old = b"CCOB" + struct.pack("<HHIIQ", 2, 1, size + 24, len(bundle), 0) + packed.raw[:size]
new = b"CCOB" + struct.pack("<HHQQQ", 3, 1, size + 32, len(bundle), 0) + packed.raw[:size]
for data in (b, bundle, old, new):
    kept = ctypes.create_string_buffer(data + b"more")
    assert launch.image_at(ctypes.addressof(kept)) == data, data[:8]
    assert sorted(launch.Code(f"at:{ctypes.addressof(kept):#x}", "gfx942").kernels) == ["b1", "b2"], data[:8]
    if data != b:
        assert launch.unbundle(data, "gfx90a") == launch.unbundle(data) == a
for data, said in ((old[:40] + b"x" + old[41:], "damaged"), (b"CCOB\\1" + bytes(64), "version 1"), (b"nothing", "neither")):
    try:
        launch.unbundle(data, "gfx942")
    except launch.Problem as problem:
        assert said in str(problem), problem
    else:
        raise AssertionError(said)
"""


def images(home):
    """Code objects in memory: where they end, which of a bundle is the target's, compressed ones, several notes of metadata."""
    calculate(IMAGES, home)


EIGHT_BITS = """
import numpy as np, matrix
for arch, kind, largest, over in (("gfx942", "fp8", 240, 0x80), ("gfx942", "bf8", 57344, 0x80), ("gfx950", "fp8", 448, 0x7f), ("gfx950", "bf8", 57344, 0x7c)):
    table = matrix.fp8(kind, arch)
    codes = np.flatnonzero(np.isfinite(table))
    assert table[codes].max() == largest, (arch, kind, table[codes].max())
    same = table[matrix.fp8_codes(table[codes], kind, arch)]
    assert (same == table[codes]).all() and (np.signbit(same) == np.signbit(table[codes])).all(), (arch, kind)
    between = (table[0:126] + table[1:127]) / 2
    assert (matrix.fp8_codes(between[np.isfinite(between)], kind, arch) % 2 == 0).all(), (arch, kind, "ties")
    assert list(matrix.fp8_codes(np.array([1e9, np.nan]), kind, arch))[0] == over, (arch, kind)
assert matrix.fp8("fp8", "gfx942")[0x38] == matrix.fp8("fp8", "gfx950")[0x38] / 2
"""


ODD = """
import ctypes, types
import numpy as np
import corrections, wave
from wave import Instruction, Wave, emu
data = (ctypes.c_uint8 * 64)(*range(200, 264 - 8), *range(8))
state = emu.WaveState(64, 64)
it = Wave(state, "cdna", 0, 0)
it.s[wave.EXEC], it.s[wave.EXEC + 1] = 0b1111, 0
at = [ctypes.addressof(data) + k for k in (0, 1, 2, 3)]
it.v[6][:4], it.v[7][:4] = [each & 0xFFFFFFFF for each in at], [each >> 32 for each in at]
for mnemonic, words, wanted in LOADS:
    it.v[8][:5] = 0x11223344
    load = Instruction(mnemonic, "v8, v[6:7], off", b"".join(word.to_bytes(4, "little") for word in words), 0)
    corrections.find_correction(load, "gfx942")(it, load)
    assert list(it.v[8][:5]) == wanted + [0x11223344], (mnemonic, [hex(word) for word in it.v[8][:5]])
"""


HALVES = """
import ctypes
import corrections, wave
from wave import Instruction, Wave, emu
lds = (ctypes.c_uint8 * 64)(*range(0xF0, 0x100), *range(48))
it = Wave(emu.WaveState(64, 64), "cdna", ctypes.addressof(lds), 0)
for name, wanted in (("u16_d16", [0x1122F2F1, 0x1122F4F3]), ("u16_d16_hi", [0xF2F13344, 0xF4F33344]), ("u8_d16", [0x112200F1, 0x112200F3]), ("i8_d16_hi", [0xFFF13344, 0xFFF33344])):
    it.s[wave.EXEC], it.v[4][:3], it.v[8][:3] = 0b11, [0, 2, 4], 0x11223344
    load = Instruction("ds_read_" + name, "v8, v4 offset:1", bytes(8), 0)
    corrections.find_correction(load, "gfx942")(it, load)
    assert list(it.v[8][:3]) == wanted + [0x11223344], (name, [hex(word) for word in it.v[8][:3]])
"""


def halves(home):
    """What LDS gives to one half of a register leaves the other."""
    if not os.environ.get("TINYGRAD"):
        return print("skipped: TINYGRAD is not set")
    return calculate(HALVES, home)


def odd_addresses(home):
    """16 bits are loaded from any address, unsigned, signed, and into half of a register."""
    if not os.environ.get("TINYGRAD"):
        return print("skipped: TINYGRAD is not set")
    words = [200 + k | 201 + k << 8 for k in range(4)]
    loads = [("global_load_ushort", [0xDC488000, 0x087F0006], words), ("global_load_sshort", [0xDC4C8000, 0x087F0006], [0xFFFF0000 | word for word in words]),
             ("global_load_short_d16", [0xDC908000, 0x087F0006], [0x11220000 | word for word in words]),
             ("global_load_short_d16_hi", [0xDC948000, 0x087F0006], [word << 16 | 0x3344 for word in words])]
    calculate(ODD.replace("LOADS", repr(loads)), home)


BUFFERS = """
import ctypes, types
import numpy as np
import corrections, wave
from launch import Problem
from wave import Instruction, Wave, emu
for arch, family in (("gfx942", "cdna"), ("gfx1201", "rdna4")):
    it = Wave(emu.WaveState(64, 64 if family == "cdna" else 32), family, 0, 0)
    data, lds = (ctypes.c_uint8 * 256)(*range(256)), (ctypes.c_uint8 * 256)()
    it.lds = ctypes.addressof(lds)
    def run(text, size, records, stride=0, structured=True, swizzle=0):
        it.s[wave.EXEC], it.s[wave.EXEC + 1] = 0b1111, 0
        it.v[4][:4], it.v[5][:4], it.v[8][:5] = [0, 1, 2, 9], [1, 1, 2, 3], 0x11223344
        address = ctypes.addressof(data)
        it.s[13] = 4
        it.s[8:12] = address & 0xFFFFFFFF, address >> 32 | stride << 16 | swizzle << 31, records, 0 if structured else 3 << 28
        it.s[wave.M0[family]] = 64
        name, operands = text.split(" ", 1)
        made = Instruction(name, operands, bytes(8), 0)
        corrections.find_correction(made, arch)(it, made)
        return [int(word) for word in it.v[8][:5]]
    kept = 0x11223344
    for text, size, records, stride, wanted in (
            ("buffer_load_u8 v8, v4, s[8:11], 0 idxen offset:3", 1, 9, 12, [3, 15, 27, 0]), ("buffer_load_u8 v8, v4, s[8:11], 0 offen offset:3", 1, 12, 12, [3, 4, 5, 0]),
            ("buffer_load_u8 v8, v[4:5], s[8:11], 4 idxen offen", 1, 100, 8, [5, 13, 22, 79]), ("buffer_load_i8 v8, off, s[8:11], 0 offset:200", 1, 256, 0, [0xFFFFFFC8] * 4),
            ("buffer_load_d16_hi_b16 v8, v4, s[8:11], 0 offen", 2, 256, 0, [0x01003344, 0x02013344, 0x03023344, 0x0A093344])):
        old = text.replace("_d16_hi_b16", "_short_d16_hi").replace("_u8", "_ubyte").replace("_i8", "_sbyte")
        assert run(old if family == "cdna" else text, size, records, stride) == wanted + [kept], (arch, text, [hex(word) for word in it.v[8][:5]])
    dword = "buffer_load_dword" if family == "cdna" else "buffer_load_b32"
    counts = run(f"{dword} v8, v4, s[8:11], s13 offen", 4, 8, 0)
    assert counts == [0x07060504] + ([0, 0] if family == "cdna" else [0x08070605, 0x09080706]) + [0, kept], (arch, "soffset", [hex(word) for word in counts])
    if family != "cdna":
        assert run(f"{dword} v8, v4, s[8:11], 0 idxen", 4, 9, 12, False)[:3] == [0x03020100, 0, 0], "records in bytes"
    else:
        run("buffer_load_dword v4, s[8:11], 0 idxen offset:8 lds", 4, 9, 12)
        assert bytes(lds[72:88]) == bytes([8, 9, 10, 11, 20, 21, 22, 23, 32, 33, 34, 35, 0, 0, 0, 0]), bytes(lds)
    try:
        run(f"{dword} v8, v4, s[8:11], 0 idxen", 4, 9, 12, swizzle=1)
    except Problem as problem:
        assert "swizzled" in str(problem)
    else:
        raise AssertionError("a swizzled buffer")
    run((dword + " v8, v4, s[8:11], 0 idxen").replace("load", "store"), 4, 3, 12)
    assert bytes(data[0:4]) == bytes(data[12:16]) == bytes(data[24:28]) == bytes.fromhex("44332211") and data[108] == 108
"""


def buffers(home):
    """Index, offset and stride of a buffer's descriptor, what lies outside, narrow loads, and those into LDS."""
    if not os.environ.get("TINYGRAD"):
        return print("skipped: TINYGRAD is not set")
    return calculate(BUFFERS, home)


def calculate(program, home):
    """By the first Python that has numpy."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "scripts/emulator"), "PYTHONDONTWRITEBYTECODE": "1"}
    for python in (sys.executable, "/usr/bin/python3"):
        done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False, cwd=home, env=environment)
        if "No module named 'numpy'" not in done.stderr:
            return harness.check(done.returncode == 0, done.stderr)
    return print("skipped: no numpy")


def numbers(home):
    """The codes of 8-bit floats: OCP's, and FNUZ's on gfx942, rounded to the nearest."""
    calculate(EIGHT_BITS, home)


if __name__ == "__main__":
    harness.main(usage, amds, library, images, numbers, odd_addresses, halves, buffers)
