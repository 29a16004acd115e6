# SPDX-License-Identifier: MIT
"""Instructions that tinygrad's emulator lacks or has wrong, as the instruction set documents have them. Each is registered by a
pattern of llvm-objdump's mnemonics; the function gets the instruction and the target and returns what executes it, or None where the
emulator is right."""
import ctypes
import re

import numpy as np

import matrix
from launch import NOT_SUPPORTED, Problem
from matrix import INLINE, registers
from wave import EXEC, FAMILY, M0, PC, compile_bytes, emu

CORRECTIONS = []


def corrects(pattern):
    def register(function):
        CORRECTIONS.append((re.compile(pattern), function))
        return function
    return register


def find_correction(instruction, arch):
    found = (find(instruction, arch) for pattern, find in CORRECTIONS if pattern.fullmatch(instruction.mnemonic))
    return next((function for function in found if function), None)


# ---- operands ----

ALL = slice(None)


def scalar_number(text):
    """In the register file of scalars, where constants have numbers of their own."""
    return {"vcc": 106, "vcc_lo": 106, "vcc_hi": 107, "exec": 126, "exec_lo": 126, "exec_hi": 127, "m0": 124, "null": 124}.get(text)


def source(wave, text, offset=0):
    """32 bits per lane of a register, a scalar or a constant. offset: of the register in a range."""
    sign = 0
    if text.startswith("-") and text[1:2] in ("v", "s", "a", "|"):
        sign, text = 0x80000000, text[1:]
    magnitude, text = text.startswith("|"), text.strip("|")
    found = registers(text)
    if found and found[0] != "s":
        words = getattr(wave, found[0])[found[1] + offset]
    elif found:
        words = np.full(wave.lanes, wave.s[found[1] + offset])
    elif scalar_number(text) is not None:
        words = np.full(wave.lanes, wave.s[scalar_number(text) + offset])
    else:
        value = np.float32(INLINE[text]).view(np.uint32) if text in INLINE else int(text, 0) & 0xFFFFFFFF
        words = np.full(wave.lanes, value, np.uint32)
    words = words & 0x7FFFFFFF if magnitude else words
    return words ^ np.uint32(sign) if sign else words


def put(wave, text, words, offset=0, lanes=None):
    """Into the active lanes, or those told."""
    file, first, _ = registers(text)
    where = wave.active() if lanes is None else lanes
    getattr(wave, file)[first + offset][where] = words[where] if np.ndim(words) else words


def scalar_put(wave, text, value, count):
    file, first, _ = registers(text)
    assert file == "s"
    for k in range(count):
        wave.s[first + k] = value >> 32 * k & 0xFFFFFFFF


def f32(words):
    return words.view(np.float32)


def u32(values):
    return np.ascontiguousarray(values, np.float32).view(np.uint32)


def halves(words):
    return np.ascontiguousarray(words).view(np.float16).reshape(-1, 2)


def by_lane(function):
    """What executes D = function(S0, S1, ..., instruction), each lane for itself."""
    def execute(wave, instruction):
        put(wave, instruction.operands[0], function(*[source(wave, text) for text in instruction.operands[1:]]))
    return execute


# ---- what does nothing here: one wave runs at a time, and its memory has no caches ----


def nothing(wave, instruction):
    del wave, instruction


@corrects(r"s_(endpgm|endpgm_saved|barrier\w*|nop|wait\w*|sleep|setprio|clause|delay_alu|sendmsg|set_inst_prefetch_distance|inst_prefetch)|"
          r"s_(dcache|icache|gl1)_\w+|(buffer|global)_(gl[01]_inv|wbl2|inv|wb|wbinv|wbinvl1|wbinvl1_vol)")
def does_nothing(instruction, arch):
    return nothing


# ---- clocks: they grow from one reading to the next ----

ticks = 0


def read_clock(wave, instruction):
    global ticks
    ticks += 16
    file, first, count = registers(instruction.operands[0])
    assert file == "s"
    for k in range(count):
        wave.s[first + k] = ticks >> 32 * k


@corrects(r"s_memtime|s_memrealtime|s_getreg_b32|s_sendmsg_rtn_b(32|64)")
def reads_clock(instruction, arch):
    """Of hardware registers, SHADER_CYCLES; of messages, GET_REALTIME."""
    if instruction.mnemonic == "s_getreg_b32" and "SHADER_CYCLES" not in instruction.text:
        return None
    return read_clock


# ---- atomics return the old value where sc0 (gfx940) or th:TH_ATOMIC_RETURN (gfx12) says so ----

own_attribute = emu._iattr


def attribute(inst, name, default=0):
    if name == "glc" and not hasattr(inst, "glc"):
        return int(getattr(inst, "sc0", 0) or 0) or int(getattr(inst, "th", 0) or 0) & 1
    return own_attribute(inst, name, default)


emu._iattr = attribute

# ---- matrix instructions ----


@corrects(r"v_(mfma|smfmac|wmma|swmmac)_\w+")
def multiplies_matrices(instruction, arch):
    return matrix.find(instruction, arch)



# ---- instructions of the emulator's in place of others ----

HALF = re.compile(r"v_\w*[fbiu]16\w*")


class Replacement:
    """An instruction of the emulator's that is executed in place of another. It reads its operands where the PC points to."""

    def __init__(self, words, family):
        data = b"".join(word.to_bytes(4, "little") for word in words) + bytes(8)
        self.code, self.compiled = ctypes.create_string_buffer(data, len(data) + 64), compile_bytes(data, family)

    def execute(self, wave, lanes=None):
        """For all lanes of EXEC, or those told."""
        places = [PC, PC + 1] if lanes is None else [PC, PC + 1, EXEC, EXEC + 1]
        kept, at = wave.s[places], ctypes.addressof(self.code)
        if lanes is not None:
            mask = sum(1 << int(lane) for lane in np.flatnonzero(lanes))
            wave.s[EXEC] = mask & 0xFFFFFFFF
            if wave.lanes == 64:
                wave.s[EXEC + 1] = mask >> 32
        wave.s[PC], wave.s[PC + 1] = at & 0xFFFFFFFF, at >> 32
        wave.execute(self.compiled)
        wave.s[places] = kept


class Renamed(Replacement):
    """A VOP1, VOP2 or VOPC of 16 bits on CDNA. The emulator takes v128 and up for upper halves, as they are in RDNA 3: lower registers
    take their places meanwhile."""

    def __init__(self, words):
        first, *rest = words
        is_one, is_compare = first >> 25 == 0x3F, first >> 25 == 0x3E
        numbers = {at: first >> at & 0xFF for at in [0] * (first >> 8 & 1) + [9] * (not is_one) + [17] * (not is_compare)}
        spare = iter(k for k in range(128) if k not in numbers.values())
        self.low = {number: next(spare) for number in sorted(set(numbers.values())) if number >= 128}
        for at, number in numbers.items():
            first ^= (number ^ self.low.get(number, number)) << at
        super().__init__([first, *rest], "cdna")

    def execute(self, wave, lanes=None):
        high, low = list(self.low), list(self.low.values())
        kept, wave.v[low] = wave.v[low], wave.v[high]
        super().execute(wave, lanes)
        wave.v[high], wave.v[low] = wave.v[low], kept


def words_of(data):
    return [int.from_bytes(data[k:k + 4], "little") for k in range(0, len(data), 4)]


@corrects(HALF.pattern + "_e32")
def has_whole_registers(instruction, arch):
    """All of CDNA's 256 registers can be operands of 16 bits."""
    plain = Renamed(words_of(instruction.data)) if arch.startswith("gfx9") else None
    return plain and plain.low and (lambda wave, _: plain.execute(wave))


@corrects(r"ds_write\w*")
def stores_accumulators(instruction, arch):
    """The data of a DS instruction may be in AGPRs; the emulator takes VGPRs of these numbers. They have the AGPRs' values meanwhile."""
    address, *data = [registers(text) for text in instruction.operands]
    if not data or data[0][0] != "a":
        return None
    first, second = words_of(instruction.data)
    start, places = 0 if address[1] >= 8 else 8, []  # at most two operands of four registers
    for at, (_, number, count) in zip((8, 16), data):
        second = second & ~(0xFF << at) | start + len(places) << at
        places += range(number, number + count)
    spare = list(range(start, start + len(places)))
    plain = Replacement([first & ~(1 << 25), second], "cdna")

    def execute(wave, _):
        kept = wave.v[spare].copy()
        wave.v[spare] = wave.a[places]
        plain.execute(wave)
        wave.v[spare] = kept
    return execute


# ---- memory takes any address ----


@corrects(r"global_load_([us]short|[ui]16|short_d16|short_d16_hi|d16_b16|d16_hi_b16)")
def loads_from_odd_addresses(instruction, arch):
    """The emulator takes 16 bits from the even address below."""
    plain = Replacement(words_of(instruction.data), FAMILY[arch])
    half = re.search("_d16(_hi)?", instruction.mnemonic)
    extend = np.int16 if re.search("_(sshort|i16)", instruction.mnemonic) else np.uint16

    def execute(wave, instruction):
        destination, address, base = instruction.operands
        at = source(wave, address).astype(np.int64)
        at |= source(wave, address, 1).astype(np.int64) << 32 if base == "off" else 0
        at += (int(source(wave, base, 1)[0]) << 32 | int(source(wave, base)[0])) if base != "off" else 0
        at += instruction.option("offset")
        before = source(wave, destination).copy()
        plain.execute(wave)
        for lane in np.flatnonzero(wave.active() & (at & 1 == 1)):
            read = np.frombuffer(ctypes.string_at(int(at[lane]), 2), extend).astype(np.uint32)[0]
            kept = int(before[lane])
            word = read if not half else read << 16 | kept & 0xFFFF if half[1] else kept & 0xFFFF0000 | read
            wave.v[registers(destination)[1]][lane] = word
    return execute


@corrects(r"ds_(read|load)_[ui](8|16)_d16(_hi)?")
def reads_half_a_register(instruction, arch):
    """The other half is kept."""
    del arch
    kind = re.search(r"_([ui])(8|16)_d16(_hi)?", instruction.mnemonic)
    size, is_signed, is_high = int(kind[2]) // 8, kind[1] == "i", bool(kind[3])

    def execute(wave, instruction):
        destination, address = instruction.operands[:2]
        at, kept, filled = source(wave, address), source(wave, destination), source(wave, destination).copy()
        for lane in np.flatnonzero(wave.active()):
            read = int.from_bytes(ctypes.string_at(wave.lds + int(at[lane]) + instruction.option("offset"), size), "little", signed=is_signed) & 0xFFFF
            filled[lane] = read << 16 | int(kept[lane]) & 0xFFFF if is_high else int(kept[lane]) & 0xFFFF0000 | read
        put(wave, destination, filled.astype(np.uint32))
    return execute


WIDTHS = {"dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16, "b32": 4, "b64": 8, "b96": 12, "b128": 16, "ubyte": 1, "sbyte": 1, "byte": 1, "u8": 1, "i8": 1,
          "b8": 1, "ushort": 2, "sshort": 2, "short": 2, "u16": 2, "i16": 2, "b16": 2}


def buffer_lanes(wave, instruction, size):
    """(address, is it inside?) of each lane: base + soffset + offset + index * stride. Buffers that swizzle are no such sum. On CDNA
    soffset counts towards the end, which rocBLAS' kernels rely on."""
    address, resource, extra = instruction.operands[-3:]
    words = [int(source(wave, resource, k)[0]) for k in range(4)]
    stride, is_rdna = words[1] >> 16 & 0x3FFF, wave.family != "cdna"
    if words[1] >> (30 if is_rdna else 31):
        raise Problem(NOT_SUPPORTED, f"{instruction.mnemonic} from a buffer that is swizzled")
    has_index, has_offset = instruction.option("idxen"), instruction.option("offen")
    index = source(wave, address).astype(np.uint64) if has_index else np.zeros(wave.lanes, np.uint64)
    index = index + np.arange(wave.lanes, dtype=np.uint64) if words[3] >> 23 & 1 else index  # ADD_TID_ENABLE
    offset = np.uint64(instruction.option("offset")) + (source(wave, address, has_index).astype(np.uint64) if has_offset else np.uint64(0))
    check, beyond = words[3] >> 28 & 3, source(wave, extra).astype(np.uint64)  # OOB_SELECT, soffset
    if stride and (check < 2 if is_rdna else has_index):
        inside = (index < words[2]) & ((offset + np.uint64(size) <= stride) | (not is_rdna or check == 1))
    else:
        end = offset + index * np.uint64(stride) + np.uint64(size) + (np.uint64(0) if is_rdna else beyond)
        inside = (end <= words[2]) | (is_rdna and check == 2 and words[2] > 0)
    at = offset + index * np.uint64(stride) + np.uint64(words[0] | (words[1] & 0xFFFF) << 32) + beyond
    return at, inside & wave.active()


@corrects(r"buffer_(load|store)_(d16_(hi_)?)?(dword(x[234])?|[us]?byte|[us]?short|[bui]\d+)(_d16(_hi)?)?")
def reads_buffers(instruction, arch):
    """The emulator has none on RDNA; on CDNA it takes the stride from another word and a byte as four. Beyond a buffer loads give 0."""
    name = instruction.mnemonic
    kind = next(word for word in name.split("_")[2:] if word in WIDTHS)
    size, is_half, is_high = WIDTHS[kind], "d16" in name, "_hi" in name
    is_signed, to_lds = kind in ("sbyte", "sshort", "i8", "i16"), "load" in name and instruction.option("lds")

    def write(wave, instruction):
        at, inside = buffer_lanes(wave, instruction, size)
        words = [source(wave, instruction.operands[0], k) for k in range((size + 3) // 4)]
        for lane in np.flatnonzero(inside):
            data = b"".join(int(word[lane] >> (16 if is_high else 0)).to_bytes(4, "little") for word in words)
            ctypes.memmove(int(at[lane]), data, size)

    def read(wave, instruction):
        at, inside = buffer_lanes(wave, instruction, size)
        rows = np.zeros((wave.lanes, max(size, 4)), np.uint8)
        for lane in np.flatnonzero(inside):
            value = int.from_bytes(ctypes.string_at(int(at[lane]), size), "little", signed=is_signed)
            rows[lane] = np.frombuffer(value.to_bytes(max(size, 4), "little", signed=is_signed), np.uint8)
        if to_lds:  # lane by lane behind M0 and the offset
            first = wave.lds + (int(wave.s[M0[wave.family]]) & 0x3FFFF) + instruction.option("offset")
            for lane in np.flatnonzero(wave.active()):
                ctypes.memmove(first + int(lane) * rows.shape[1], rows[lane].tobytes(), rows.shape[1])
            return
        for k, words in enumerate(rows.view(np.uint32).T):
            kept = source(wave, instruction.operands[0], k)
            words = words & 0xFFFF if is_half else words
            words = words << 16 | kept & 0xFFFF if is_high else words | kept & 0xFFFF0000 if is_half else words
            put(wave, instruction.operands[0], words.astype(np.uint32), offset=k)

    return write if "store" in name else read


# ---- lanes: every lane reads what was there before any lane wrote ----


def dpp_lanes(instruction, count):
    """(the lane that each lane reads, whether it has one, whether row_mask and bank_mask enable it): "DPP: Data Parallel Primitives"."""
    lane = np.arange(count)
    row, at = lane // 16 * 16, lane % 16
    found = re.search(r"\b(quad_perm|row_\w+?|wave_\w+?|dpp8)(?::(\[[\d,]+\]|\d+))?(?=\s|$)", instruction.text.replace("row_mask", "mask"))
    name, value = found.group(1), found.group(2)
    places = [int(word) for word in value.strip("[]").split(",")] if value else [0]
    by = places[0]
    valid = np.ones(count, bool)
    if name == "quad_perm":
        read = lane // 4 * 4 + np.array(places)[lane % 4]
    elif name == "dpp8":
        read = lane // 8 * 8 + np.array(places)[lane % 8]
    elif name in ("row_shl", "row_shr"):
        to = at + by if name == "row_shl" else at - by
        read, valid = row + to, (to >= 0) & (to < 16)
    elif name in ("wave_shl", "wave_shr"):
        read = lane + by if name == "wave_shl" else lane - by
        valid = (read >= 0) & (read < count)
    elif name == "row_bcast":  # the last lane of the row, or of the half, before
        read = row - 1 if by == 15 else lane // 32 * 32 - 1
        valid = (read >= 0) & (lane // 16 % 2 == 1 if by == 15 else True)
    else:
        shapes = {"row_ror": row + (at - by) % 16, "row_mirror": row + 15 - at, "row_half_mirror": row + (at ^ 7), "row_newbcast": row + by,
                  "row_share": row + by, "row_xmask": row + (at ^ by), "wave_rol": (lane + by) % count, "wave_ror": (lane - by) % count}
        if name not in shapes:
            raise Problem(NOT_SUPPORTED, f"no DPP control {name}")
        read = shapes[name]
    rows, banks = instruction.option("row_mask", 15), instruction.option("bank_mask", 15)
    return np.where(valid, read, 0), valid, (rows >> lane // 16 & 1 == 1) & (banks >> at // 4 & 1 == 1)


def without_dpp(data):
    """The same instruction with a plain S0: (bytes, the register DPP names, its modifiers, S1's)."""
    words = words_of(data)
    control = words.pop()
    where = 0 if words[0] >> 31 == 0 else 1  # VOP1, VOP2 and VOPC have S0 in the first word, VOP3 in the second
    words[where] &= ~0x1FF
    return words, where, control & 0xFF, control >> 20 & 3, control >> 22 & 3


@corrects(r"v_\w+_dpp8?")
def moves_lanes(instruction, arch):
    """S0 comes from another lane. A register takes its place meanwhile, so that the emulator's own instruction does the rest. Lanes that
    are not enabled, or read none (unless bound_ctrl gives them 0), keep what they have."""
    words, where, register, first, second = without_dpp(instruction.data)
    family = "cdna" if arch.startswith("gfx9") else "rdna3" if arch.startswith("gfx11") else "rdna4"
    if second:
        raise Problem(NOT_SUPPORTED, f"no {instruction.mnemonic} with a modifier of its second operand")
    taken = {number for text in instruction.operands for number in [registers(text.strip("-|"))] if number}
    used = {k for file, first_, count in taken if file == "v" for k in range(first_, first_ + count)} | {register}
    spare = next(k for k in range(127, 0, -1) if k not in used)
    words[where] |= 256 + spare
    plain = Renamed(words) if family == "cdna" and HALF.match(instruction.mnemonic) else Replacement(words, family)
    is_bounded = bool(instruction.option("bound_ctrl"))
    places = dpp_lanes(instruction, 64 if family == "cdna" else 32)
    fetches_inactive = bool(instruction.option("fi"))

    def execute(wave, _):
        read, valid, enabled = places
        active = wave.active()
        moved, kept = wave.v[register][read], wave.v[spare].copy()
        has_source = valid & (active[read] | fetches_inactive)
        moved = np.where(has_source, moved, np.uint32(0))
        moved = moved & 0x7FFFFFFF if first & 2 else moved
        wave.v[spare] = moved ^ np.uint32(0x80000000) if first & 1 else moved
        writes = active & enabled & (has_source | is_bounded)
        plain.execute(wave, writes)
        wave.v[spare] = kept

    return execute


@corrects(r"ds_swizzle_b32")
def swizzles(instruction, arch):
    """offset[15] = 1: quad permutation; 0: lane = ((lane & and) | or) ^ xor in groups of 32. Inactive lanes give 0."""
    bits = instruction.option("offset") if "swizzle(" not in instruction.text else None
    bits = int.from_bytes(instruction.data[:2], "little") if bits is None else bits

    def execute(wave, instruction):
        lane = np.arange(wave.lanes)
        if bits & 0x8000:
            read = lane // 4 * 4 + (bits >> 2 * (lane % 4) & 3)
        else:
            read = lane // 32 * 32 + ((lane % 32 & bits & 31 | bits >> 5 & 31) ^ (bits >> 10 & 31))
        values = np.where(wave.active()[read], source(wave, instruction.operands[1])[read], np.uint32(0))
        put(wave, instruction.operands[0], values)
    return execute


@corrects(r"v_permlane(x?)16_b32(_e64)?")
def permutes_rows(instruction, arch):
    """Lane k of a row reads lane S[k] of its row, x: of the other row of its half, with S the 16 nibbles of S2:S1."""
    crosses = "permlanex" in instruction.mnemonic

    def execute(wave, instruction):
        lane = np.arange(wave.lanes)
        low, high = (int(source(wave, text)[0]) for text in instruction.operands[2:4])
        nibbles = np.array([(low | high << 32) >> 4 * k & 15 for k in range(16)])
        read = (lane // 16 ^ crosses) * 16 + nibbles[lane % 16]
        values, active = source(wave, instruction.operands[1])[read], wave.active()
        options = instruction.option("op_sel", (0, 0, 0))
        has_source = active[read] | bool(options[0])  # fetch inactive
        put(wave, instruction.operands[0], np.where(has_source, values, np.uint32(0)), lanes=active & (has_source | bool(options[1])))
    return execute


@corrects(r"v_permlane(16|32)_swap_b32(_e32|_e64)?")
def swaps_rows(instruction, arch):
    """The odd rows (of 16, or halves of 32) of D and the even ones of S change places."""
    size = 16 if "16" in instruction.mnemonic else 32

    def execute(wave, instruction):
        lane = np.arange(wave.lanes)
        d, s = (source(wave, text).copy() for text in instruction.operands[:2])
        odd = lane // size % 2 == 1
        put(wave, instruction.operands[0], np.where(odd, s[lane - size], d))
        put(wave, instruction.operands[1], np.where(odd, s, d[(lane + size) % wave.lanes]))
    return execute


# ---- arithmetic ----


@corrects(r"v_(mac|fmac)_f32_e(32|64)")
def multiplies_and_adds(instruction, arch):
    """D = S0 * S1 + D. On gfx90a the opcode of v_mac_f32 is another instruction to the emulator."""
    if not instruction.mnemonic.startswith("v_mac"):
        return None

    def execute(wave, instruction):
        d, a, b = (f32(source(wave, text)) for text in instruction.operands)
        put(wave, instruction.operands[0], u32(a.astype(float) * b + d))
    return execute


@corrects(r"v_mad_(u32_u24|i32_i24)")
def multiplies_24_bits(instruction, arch):
    """D = S0[23:0] * S1[23:0] + S2."""
    shift = 8 if "i24" in instruction.mnemonic else 0

    def low(words):
        return (words.astype(np.int64) << 40 >> 40) if shift else words.astype(np.int64) & 0xFFFFFF

    return by_lane(lambda a, b, c: (low(a) * low(b) + c & 0xFFFFFFFF).astype(np.uint32))


@corrects(r"v_pk_mov_b32")
def moves_two(instruction, arch):
    """D[0] = S0[op_sel[0]], D[1] = S1[op_sel[1]]."""
    def execute(wave, instruction):
        choice = instruction.option("op_sel", (0, 0))
        d, *sources = instruction.operands
        words = [source(wave, text, choice[k] if (registers(text) or (0, 0, 1))[2] > 1 else 0).copy() for k, text in enumerate(sources)]
        for k in range(2):
            put(wave, d, words[k], offset=k)
    return execute


@corrects(r"v_cvt_(pk_)?f32_(fp8|bf8)(_e32|_e64|_sdwa)?")
def decodes_8_bits(instruction, arch):
    """Byte 0 of S0, or that of src0_sel or byte_sel; pk: the lower word, or that of src0_sel or op_sel. FNUZ on gfx942."""
    kind, count = "bf8" if "bf8" in instruction.mnemonic else "fp8", 2 if "_pk_" in instruction.mnemonic else 1
    selected = re.search(r"src0_sel:(?:BYTE|WORD)_(\d)", instruction.text)
    first = count * (int(selected[1]) if selected else instruction.option("byte_sel") or instruction.option("op_sel", (0,))[0])

    def execute(wave, instruction):
        words = source(wave, instruction.operands[1])
        for k in range(count):
            put(wave, instruction.operands[0], u32(matrix.fp8(kind, arch)[words >> np.uint32(8 * (first + k)) & 0xFF]), offset=k)
    return execute


@corrects(r"v_cvt_pk_(fp8|bf8)_f32(_e64)?")
def encodes_8_bits(instruction, arch):
    """D[15:0] = codes of S1 and S0, with op_sel D[31:16]; the other half stays. FNUZ on gfx942."""
    kind, shift = instruction.mnemonic[9:12], 16 if instruction.option("op_sel", (0, 0, 0))[2] else 0

    def execute(wave, instruction):
        low, high = (matrix.fp8_codes(f32(source(wave, text)).astype(float), kind, arch) for text in instruction.operands[1:3])
        kept = source(wave, instruction.operands[0]) & np.uint32(0xFFFF << 16 - shift)
        put(wave, instruction.operands[0], (low | high << np.uint32(8)) << np.uint32(shift) | kept)
    return execute
