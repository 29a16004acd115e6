#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes memory.txt: every memory instruction of AMD's that LLVM's assembler knows, with the bytes that it moves.

    tests/data/isa/memory.py libLLVM.so llvm-mc >tests/data/isa/memory.txt

Names come from the strings of LLVM's library. Of each, forms with operands of all sizes are given to llvm-mc; the one
that it accepts says how many registers hold the data, four bytes each. What is smaller than a register (bytes, halves,
packed formats) and what goes past the registers into LDS is in the name alone."""
import re
import subprocess
import sys

TARGETS = "gfx906 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201 gfx1250".split()
PREFIXES = "ds|t?buffer|global|flat|scratch|cluster|s_(?:buffer_|scratch_)?(?:load|store|atomic)"
FORMS = {
    "ds": ["{D}, v40", "v40, {D}", "v40, {D}, {D}", "{D}, v40, {D}", "{D}, v40, {D}, {D}", "v40",
           "{P}, v40, {D}, {D}"],
    "buffer": ["{D}, off, s[40:43], s3", "off, s[40:43], s3 lds", "off, s[40:43], s3"],
    "tbuffer": ["{D}, off, s[40:43], s3"],
    "global": ["{D}, v[40:41], off", "v[40:41], {D}, off", "v[40:41], off", "v30, v[40:41], off", "v40, off",
               "v[40:41], v30, off"],
    "flat": ["{D}, v[40:41]", "v[40:41], {D}"],
    "scratch": ["{D}, v40, off", "v40, {D}, off", "v40, off"],
    "cluster": ["{D}, v[40:41], off", "v30, v[40:41], off"],
    "s": ["{S}, s[40:41], 0x0", "{S}, s[40:43], 0x0"],
}
SMALL = {"byte": 1, "ubyte": 1, "sbyte": 1, "u8": 1, "i8": 1, "b8": 1,
         "short": 2, "ushort": 2, "sshort": 2, "u16": 2, "i16": 2, "b16": 2}
NO_BYTES = r"ds_(bpermute|permute|swizzle|gws|nop|bvh|param|direct)|_(prefetch|wb|inv)|_block$"


def registers(file, count):
    return f"{file}[0:{count - 1}]" if count > 1 else f"{file}0"


def fits(name, form):
    """Is what a form calls data the data of this name?"""
    first = form.startswith("{")
    if "v30" in form:
        return "lds" in name
    if re.search(r"lds|addtid|src2|append|consume", name):
        return "{" not in form
    if not re.match("ds|global|flat|scratch", name):
        return True
    if re.search(r"load|read|rtn|swizzle|permute", name):
        return first
    return not first


def bytes_of(name, form, count):
    words = name.split("_")
    small = [SMALL[word] for word in words if word in SMALL]
    if re.search(NO_BYTES, name):
        return 0
    if "format" in words and "d16" in words:
        return 2 * len(words[-1])
    if "{" not in form:
        size = re.search(r"_[bufi](\d+)$", name), re.search(r"dwordx(\d)", name), re.search(r"_(xy*z*w*)$", name)
        return (int(size[0][1]) // 8 if size[0] else 4 * int(size[1][1]) if size[1] else
                4 * len(size[2][1]) if size[2] else small[0] if small else 4)
    if small and not any(word.startswith("tr") for word in words):
        return small[0]
    if re.search(r"write2|wrxchg2|store_2addr|storexchg_2addr", name):
        return 8 * count
    return 4 * count // (2 if "cmpswap" in name and not name.startswith("ds") else 1)


def main(library, assembler):
    strings = open(library, "rb").read().decode("latin-1")
    names = sorted(set(re.findall(rf"(?:{PREFIXES})_[a-z0-9_]+", strings)))
    rows = {}
    for target in TARGETS:
        tries = []
        for name in names:
            for form in (form for form in FORMS[re.match(r"[a-z]+", name)[0]] if fits(name, form)):
                for count in (1, 2, 3, 4, 6, 8, 16, 32) if "{" in form else (1,):
                    operands = {"D": registers("v", count), "P": registers("v", 2 * count), "S": registers("s", count)}
                    line = f"{name} {form.format(**operands)}"
                    tries.append((line, name, form, count))
        done = subprocess.run([assembler, "-triple=amdgcn", f"-mcpu={target}", "-filetype=null"], text=True,
                              input="\n".join(line for line, *_ in tries), capture_output=True, check=False)
        wrong = {int(number) for number in re.findall(r"<stdin>:(\d+):\d+: error", done.stderr)}
        for number, (line, name, form, count) in enumerate(tries, 1):
            if number not in wrong:
                rows.setdefault((line, bytes_of(name, form, count)), []).append(target)
    print("# By memory.py beside it and llvm-mc 22: an instruction; bytes per lane (scalar: per wave); targets.")
    for (line, size), targets in sorted(rows.items()):
        print(f"{line}; {size}; {' '.join(targets)}")


main(*sys.argv[1:])
