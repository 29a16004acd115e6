# SPDX-License-Identifier: MIT
"""`inspect` on code objects that clang makes here: what it says must be what llvm-readelf and llvm-objdump say, whatever file
the kernels are wrapped in. The numbers depend on the compiler, so they are compared, not written down."""
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import harness
from harness import CLANG, ROOT, check, check_run, closed, finish, load, run, scratch

KERNELS = """
#include "portable.h"
extern "C" __global__ void scale(float *a, const float *b, float s, int n)
{
    for (int i = 0; i < n; i++)
        a[threadIdx.x + i * 64] = s * b[threadIdx.x + i * 64];
}
extern "C" __global__ void tile(float *a)
{
    __shared__ float t[5632];
    t[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = t[5631 - threadIdx.x];
}
extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256), amdgpu_waves_per_eu(2, 2))) void few(float *a) { a[threadIdx.x] = 1; }
extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64), amdgpu_num_vgpr(24))) void spilled(float *a)
{
    float x[64];
    for (int i = 0; i < 64; i++)
        x[i] = a[i * 64 + threadIdx.x];
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 64; i++)
            x[i] = x[(i * 7 + 3) % 64] * x[i] + 1;
    for (int i = 0; i < 64; i++)
        a[i * 64 + threadIdx.x] = x[i];
}
"""
# As the compiler moves an array of the stack into LDS: one for each thread, no barrier.
STACKED = """
#include "portable.h"
extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256))) void stacked(float *out, const float *nodes, int n)
{
    __shared__ float array[256][16];
    for (int i = 0; i < n; i++)
        array[threadIdx.x][i & 15] = nodes[i];
    out[threadIdx.x] = array[threadIdx.x][n & 15];
}
"""
PROGRAM_SOURCE = """
struct dim { unsigned x, y, z; };
extern "C" int hipLaunchKernel(const void *, dim, dim, void **, unsigned long, void *) { return 0; }
extern "C" int __hipPushCallConfiguration(dim, dim, unsigned long, void *) { return 0; }
extern "C" int __hipPopCallConfiguration(dim *, dim *, unsigned long *, void **) { return 0; }
extern "C" void **__hipRegisterFatBinary(void *data) { return (void **)data; }
extern "C" void __hipUnregisterFatBinary(void **) {}
extern "C" int __hipRegisterFunction(void **, const void *, char *, const char *, int, void *, void *, void *, void *, int *) { return 0; }
extern "C" __attribute__((global)) void scale(float *a) { a[__builtin_amdgcn_workitem_id_x()] *= 2; }
int main() { return 0; }
"""
FROM_NOTES = {"vgpr_count": ("registers", "vgprs"), "sgpr_count": ("registers", "sgprs"), "vgpr_spill_count": ("registers", "vgpr_spills"),
              "sgpr_spill_count": ("registers", "sgpr_spills"), "agpr_count": ("registers", "agprs"), "wavefront_size": ("wave",),
              "group_segment_fixed_size": ("lds_bytes",), "private_segment_fixed_size": ("scratch_bytes",),
              "kernarg_segment_size": ("kernarg_bytes",), "max_flat_workgroup_size": ("max_block",)}
TARGETS = ["gfx90a", "gfx1100"]

# As people write it by hand: kernels without sizes, labels that are symbols, a jump that is too far for a branch, words that are
# no instruction; and a device function as compilers make it, which one of the kernels calls.
ASSEMBLY = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.macro describe name
.rodata
.amdhsa_kernel \\name
.amdhsa_next_free_vgpr 8
.amdhsa_next_free_sgpr 40
.amdhsa_accum_offset 8
.end_amdhsa_kernel
.text
.globl \\name
.protected \\name
.type \\name,@function
.p2align 8
.endm
.text
describe first
describe second
.type helper,@function
.p2align 8
helper:
  v_mfma_f32_4x4x4f16 a[0:3], v[0:1], v[2:3], a[0:3]
  s_setpc_b64 s[30:31]
  .size helper, .-helper
.p2align 8
first:
  s_cbranch_scc1 label_tail
  s_endpgm
label_tail:
  v_mfma_f32_4x4x4f16 a[0:3], v[0:1], v[2:3], a[0:3]
label_loop:
  v_mfma_f32_4x4x4f16 a[0:3], v[0:1], v[2:3], a[0:3]
  s_cbranch_scc0 label_loop
  .long 0xd3ffffff, 0xffffffff, 0xd3ffffff
  s_endpgm
.p2align 8
second:
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, helper@rel32@lo+4
  s_addc_u32 s5, s5, helper@rel32@hi+12
  s_swappc_b64 s[30:31], s[4:5]
  s_swappc_b64 s[30:31], s[6:7]
label_end:
  s_endpgm
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx90a
amdhsa.kernels:
KERNELS
.end_amdgpu_metadata
"""
METADATA = """  - .name: NAME
    .symbol: NAME.kd
    .kernarg_segment_size: 0
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 4
    .wavefront_size: 64
    .sgpr_count: 40
    .vgpr_count: 12
    .agpr_count: 4
    .max_flat_workgroup_size: 256
"""


def find_tool(name, least=17):
    for version in range(25, least - 1, -1):
        if shutil.which(f"{name}-{version}"):
            return f"{name}-{version}"
    return None


CLANG, READELF, OBJDUMP = find_tool("clang++"), find_tool("llvm-readelf"), find_tool("llvm-objdump")


def tool(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def compile_hip(source, output, *flags):
    tool(CLANG, "-x", "hip", "-nogpulib", "-nogpuinc", "-std=c++17", "-O2", *flags, f"-I{ROOT}/kernels/include", source, "-o", output)


def device_only(source, output, target, *flags):
    compile_hip(source, output, "--cuda-device-only", "--no-gpu-bundle-output", f"--offload-arch={target}", *flags)


def inspect(home, *args):
    done = run("inspect", *args, "--json", "-", home=home)
    check_run(done, 0, f"inspect {args}")
    return json.loads(done.stdout)["files"] if done.returncode == 0 else []


def kernels_of(files):
    return {(found["target"], kernel["name"]): kernel for file in files for found in file["objects"] for kernel in found["kernels"]}


def dig(value, keys):
    for key in keys:
        value = value[key]
    return value


def check_metadata(home, path):
    """Every number against the notes as llvm-readelf prints them."""
    kernels = {kernel["name"]: kernel for kernel in kernels_of(inspect(home, path)).values()}
    blocks = re.split(r"^  - ", tool(READELF, "--notes", path), flags=re.M)[1:]
    seen = 0
    for block in blocks:
        facts = dict(re.findall(r"^ {4}\.(\w+): +(\S+)$", "    " + block, flags=re.M))
        if facts.get("name") not in kernels:
            continue
        seen += 1
        for key, keys in FROM_NOTES.items():
            if key in facts:
                got = dig(kernels[facts["name"]], keys)
                check(got == int(facts[key]), f"{path.name} {facts['name']}: {key} is {facts[key]}, inspect says {got}")
    check(seen == len(kernels) == 4, f"{path.name}: {seen} kernels in the notes, {len(kernels)} inspected")


def check_instructions(home, path):
    """Counts against greps in llvm-objdump's text."""
    text = tool(OBJDUMP, "-d", path)
    for (_, name), kernel in kernels_of(inspect(home, path)).items():
        body = re.search(rf"^[0-9a-f]+ <{name}>:\n(.*?)(?=^\n|\Z)", text, flags=re.M | re.S).group(1)
        lines = re.findall(r"^\t([a-z]\w+)", body, flags=re.M)
        last = max(i for i, word in enumerate(lines) if word == "s_endpgm")
        lines, mix = lines[:last + 1], kernel["code"]["mix"]
        check(mix["instructions"] == len(lines), f"{path.name} {name}: {mix['instructions']} instructions, objdump has {len(lines)}")
        check(sum(mix["counts"].values()) == mix["instructions"], f"{path.name} {name}: the kinds do not add up")
        for kind, pattern in (("load", r"(global|flat|buffer|scratch)_load"), ("store", r"(global|flat|buffer|scratch)_store"), ("lds_read", r"ds_(read|load)"),
                              ("barrier", r"s_barrier$"), ("branch", r"s_c?branch")):
            wanted = sum(bool(re.match(pattern, line)) for line in lines)
            got = mix["counts"][kind] + mix["counts"].get(f"scratch_{kind}", 0)  # gfx9 spills through buffer instructions
            check(got == wanted, f"{path.name} {name}: {got} x {kind}, objdump has {wanted}")


def check_assembly(home):
    """Every instruction of hand-written code, whatever its symbols say."""
    source, more, path = home / "hand.s", home / "more.s", home / "hand.co"
    source.write_text(ASSEMBLY.replace("KERNELS\n", "".join(METADATA.replace("NAME", name) for name in ("first", "second"))))
    start = ASSEMBLY.split("describe first")[0] + "describe third\nthird:\n  s_endpgm\n.amdgpu_metadata"
    more.write_text(start + ASSEMBLY.split(".amdgpu_metadata")[1].replace("KERNELS\n", METADATA.replace("NAME", "third").replace(
        ".vgpr_count: 12", ".vgpr_count: 500").replace("size: 256", "size: 1024")))
    tool(CLANG, "-x", "assembler", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", source, more, "-o", path)
    found = inspect(home, path)[0]["objects"][0]
    kernels = {kernel["name"]: kernel["code"] for kernel in found["kernels"]}
    check(list(kernels) == ["first", "second", "third"], f"an object with a note for each of its sources: {list(kernels)}")
    first, second = kernels["first"], kernels["second"]
    third, block = found["kernels"][2], found["kernels"][2]["occupancy"]
    check((block["block"], block["block_source"], third["max_block"]) == (256, "the most that fit", 1024) and not third["findings"],
          f"nobody asked for a block of 1024: {block}, {third['findings']}")
    check([f["code"] for f in inspect(home, path, "--block", "1024")[0]["objects"][0]["kernels"][2]["findings"]] == ["does-not-fit"],
          "a block of 1024 was asked for")
    check(first["mix"]["counts"]["matrix"] == 2 and len(first["loops"]) == 1, f"behind a label: {first}")
    check(first["unknown_words"] == 3 and [(word["word"], word["count"]) for word in first["unknown"]] == [(".long 0xd3ffffff", 2), (".long 0xffffffff", 1)],
          f"words that are no instruction: {first['unknown']}")
    check([f["name"] for f in second["functions"]] == ["helper"] and second["mix"]["instructions"] == 8 and second["not_followed"] == 1,
          f"one call is followed, one is not: {second}")
    check(second["mix"]["counts"]["matrix"] == 1 and not first["functions"], "a function counts where it is called")
    words = re.findall(r"^\t([a-z]\w+)", tool(OBJDUMP, "-d", path), flags=re.M)
    check(found["instructions"] == sum(word != "s_nop" for word in words), f"{found['instructions']} of {len(words)} instructions")
    check(found["matrix_instructions"] == sum(word.startswith("v_mfma") for word in words) == 3, "each matrix instruction once")
    done = run("inspect", path, home=home)
    check_run(done, 0, "inspect hand.co", ["helper, 2 instructions", "1 call or jump through registers not followed", "2 of .long 0xd3ffffff"])


def check_overloads(home):
    """Parameters stand where they tell names apart; functions have their names of the source; a finding of many loops is said a few times."""
    source, path = home / "overloads.hip", home / "overloads.co"
    loops = "".join(f"    for (int i = 0; i < n; i++)\n        a[i] = a[i + {k}] / b[i];\n" for k in range(9))
    kernels = ("template <class T> __attribute__((device, noinline)) T helped(T x) { return x * x + 1; }\n"
               "__attribute__((global)) void same(float *a) { *a = helped(*a); }\n__attribute__((global)) void same(int *a) { *a = helped(*a); }\n"
               f"__attribute__((global)) void divides(int *a, const int *b, int n)\n{{\n{loops}}}\n")
    source.write_text(kernels + "".join(f"__attribute__((global)) void other_{k}(int *a) {{ *a = {k}; }}\n" for k in range(3)))
    device_only(source, path, "gfx90a")
    check_run(run("inspect", path, home=home), 0, "overloads", ["  same(float*) ", "  same(int*) ", "  other_2(int*) "])
    check_run(run("inspect", path, "--filter", "same(float*)", home=home), 0, "a function", "with what it calls: float helped<float>(float), ")
    done = run("inspect", path, "--filter", "divides*", home=home)
    said = done.stdout.count("could take 16")
    check(said == 4 and "5 more of this kind: --json has all" in done.stdout, f"the hot loop's and three more: {done.stdout}")
    found = [kernel for kernel in kernels_of(inspect(home, path)).values() if "divides" in kernel["name"]][0]["findings"]
    check(sum("could take 16" in f["what"] for f in found) == 9, f"all are data: {found}")


def with_debug_line(whole, change):
    """An ELF file of 64 bits with another header and content of .debug_line."""
    data = bytearray(whole)
    sections, = struct.unpack_from("<Q", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3C)
    offset_of_names, = struct.unpack_from("<Q", data, sections + 64 * names + 24)
    for at in range(sections, sections + 64 * count, 64):
        name, = struct.unpack_from("<I", data, at)
        if data[offset_of_names + name:].startswith(b".debug_line\0"):
            first, size = struct.unpack_from("<QQ", data, at + 24)
            data[at:at + 64], data[first:first + size] = change(bytes(data[at:at + 64]), bytes(data[first:first + size]))
    return data


def check_names(home):
    """Names as the source has them, in the filter too; lines where the object has them; damaged DWARF costs no more than these."""
    source, path = home / "names.hip", home / "names.co"
    kernel = "template <class T> __attribute__((global)) void tiled_product_of(T *a, int n)\n{\n    for (int i = 0; i < n; i++)\n        a[i] *= a[i + 1];\n}\n"
    uses = "".join(f"template __attribute__((global)) void tiled_product_of<{name}>({name} *, int);\n" for name in ("float", "double", "int", "char", "long"))
    source.write_text(kernel + uses)
    device_only(source, path, "gfx90a", "-g")
    kernels = {kernel["demangled"]: kernel for kernel in kernels_of(inspect(home, path)).values()}
    check("void tiled_product_of<float>(float*, int)" in kernels and len(kernels) == 5, f"demangled: {list(kernels)}")
    for kernel in kernels.values():
        check(kernel["name"].startswith("_Z") and kernel["symbol"] == kernel["name"] + ".kd", f"the name to load it by: {kernel['name']}")
        loops = kernel["code"]["loops"]
        check(loops and all(loop["file"].endswith("names.hip") and 3 <= loop["first_line"] <= loop["last_line"] <= 4 for loop in loops), f"lines: {loops}")
    one = inspect(home, path, "--filter", "*<double>*")[0]["objects"][0]
    check([kernel["demangled"] for kernel in one["kernels"]] == ["void tiled_product_of<double>(double*, int)"], "--filter on the demangled name")
    check_run(run("inspect", path, home=home), 0, "many names", ["all names begin with void tiled_product_of<", "  float> "])
    check_run(run("inspect", path, "--filter", "*<int>*", "--isa", home=home), 0, "--isa", ["; names.hip:4", ", names.hip:3"])
    check_run(run("inspect", path, home=home, ROOFTILE_CXXFILT="/nonexistent/cxxfilt"), 0, "without llvm-cxxfilt", "_Z16tiled_product_")
    whole, count = path.read_bytes(), 0
    at = whole.index(b"names.hip")
    for step in range(0, 4000, 400):
        damaged = bytearray(whole)
        damaged[at - step:at - step + 24] = b"\xff" * 24
        (home / "damaged.co").write_bytes(damaged)
        done = run("inspect", home / "damaged.co", "-v", home=home)
        count += done.returncode in (0, 2)
    check(count == 10, f"damaged debug information: {count} of 10 ended well")
    (home / "damaged.co").write_bytes(with_debug_line(whole, lambda header, table: (header, b"\xff\xff\xff\x7f" + table[4:])))
    check_run(run("inspect", home / "damaged.co", "-v", home=home), 0, "a damaged table of lines", "no source lines: the object's DWARF is damaged")
    done = run("inspect", home / "damaged.co", home=home)
    check_run(done, 0, "a line for each kernel", "float> ")
    check("source lines" not in done.stdout + done.stderr, f"lines are not read where none is shown: {done.stdout}")
    (home / "huge.co").write_bytes(with_debug_line(whole, lambda header, table: (
        header[:8] + struct.pack("<Q", 0x800) + header[16:], struct.pack("<IIQQ", 1, 0, 1 << 40, 1) + table[24:])))
    check_run(run("inspect", home / "huge.co", "-v", home=home), 0, "lines that unpack to a terabyte", "no source lines: the object's DWARF is larger than 1 GiB")
    if not harness.SANITIZED:  # whose shadow counts as data
        check_memory(home, path)


def check_memory(home, path):
    """A table of two million lines in a program of 2 MB: 180 MB of libdw's. What it may have is less here than it allows itself."""
    code = bytes((1, 1, 1, 0xFB, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)) + b"\0a.hip\0\0\0\0\0"
    table = struct.pack("<HI", 4, len(code)) + code + b"\0\x09\x02" + struct.pack("<Q", 4096) + b"\x12" * 2000000 + b"\0\x01\x01"
    table = struct.pack("<I", len(table)) + table
    whole = path.read_bytes()
    (home / "huge.co").write_bytes(with_debug_line(whole, lambda header, old: (
        header[:24] + struct.pack("<QQ", len(whole), len(table)) + header[40:], old)) + table)
    limited = ["bash", "-c", 'ulimit -d 120000 && exec "$@"', "-", harness.PROGRAM, "inspect", home / "huge.co", "-v"]
    done = subprocess.run(limited, cwd=home, env=harness.environment(home), capture_output=True, text=True, check=False)
    check_run(done, 0, "lines that take much memory", "no source lines: reading the object's DWARF takes more than 768 MiB")


def check_text(home, path):
    """What people read, on a kernel of each sort."""
    done = run("inspect", path, "--filter", "tile", "--block", "256", home=home)
    check_run(done, 0, "inspect --filter", ["kernel tile", "LDS 22528 bytes", "limited by", "bytes of LDS less gives", "global_buffer", "LDS limits occupancy"])
    check("kernel scale" not in done.stdout, "inspect --filter shows what was asked for alone")
    check_run(run("inspect", path, "--filter", "few", home=home), 0, "inspect few", "allocated: by launch bounds, not by need")
    check_run(run("inspect", path, "--filter", "spilled", home=home), 0, "inspect spilled", ["spilled: ", "scratch", "smaller __launch_bounds__"])
    check_run(run("inspect", path, "--filter", "scale", "--isa", home=home), 0, "inspect --isa", ["s_endpgm", "loop 1"])
    check_run(run("inspect", path, "--filter", "scale", "--block", "96", home=home), 0, "inspect --block", "96 threads (--block)")


def check_occupancy(home, path):
    kernels = kernels_of(inspect(home, path))
    few = kernels["gfx90a", "few"]
    check(few["registers"]["vgprs_allocated"] > 100 > few["registers"]["vgprs"] and few["occupancy"]["waves_by_vgprs"] == 2,
          f"two waves were asked for: {few['registers']}, {few['occupancy']['waves_by_vgprs']}")
    tile = kernels_of(inspect(home, path, "--block", "256"))["gfx90a", "tile"]["occupancy"]
    check(tile["workgroups"] == 2 and tile["limited_by"] == ["lds"] and tile["raise"]["lds_bytes_less"] == 1024 and tile["raise"]["workgroups"] == 3,
          f"22 KiB of LDS: {tile}")
    codes = {finding["code"] for finding in kernels["gfx90a", "spilled"]["findings"]}
    check(codes & {"scratch", "scratch-in-loop"}, f"spills are found: {codes}")


def check_stacked(home):
    source, path = home / "stacked.hip", home / "stacked.co"
    source.write_text(STACKED)
    device_only(source, path, "gfx90a")
    check_run(run("inspect", path, "--block", "64", home=home), 0, "an array of the stack in LDS",
              ["LDS has 64 bytes for each of 256 threads", "a block of 64 uses 4096 of its 16384"])


def check_wrapped(home, source, plain):
    """The same kernels in a bundle and in a compressed bundle."""
    flags = ["--cuda-device-only", "--gpu-bundle-output", *(f"--offload-arch={target}" for target in TARGETS)]
    wanted = {**kernels_of(inspect(home, plain["gfx90a"])), **kernels_of(inspect(home, plain["gfx1100"]))}
    for name, more, container in (("bundle", [], "offload bundle"), ("compressed", ["--offload-compress"], "compressed offload bundle")):
        path = home / f"{name}.hipfb"
        compile_hip(source, path, *flags, *more)
        files = inspect(home, path)
        check(files and files[0]["container"] == container, f"{name}: {files and files[0]['container']}")
        check(kernels_of(files) == wanted, f"{name}: other kernels than in the plain code objects")
        one = kernels_of(inspect(home, path, "--arch", "gfx1100"))
        check({target for target, _ in one} == {"gfx1100"}, f"{name} --arch: {list(one)}")
        check_run(run("inspect", path, "--arch", "gfx906", home=home), 2, f"{name}: an --arch that is not there", stderr=TARGETS)
    table = run("inspect", home / "bundle.hipfb", home=home)
    check_run(table, 0, "many kernels", ["VGPRs  AGPRs", "tile", "limited by", "-v"])
    check("kernel tile" not in table.stdout, "many kernels: a table alone")
    check_run(run("inspect", home / "bundle.hipfb", "-v", home=home), 0, "many kernels -v", ["kernel tile", "kernel few"])


def check_executable(home):
    source, path = home / "program.hip", home / "program"
    source.write_text(PROGRAM_SOURCE)
    try:
        compile_hip(source, path, *(f"--offload-arch={target}" for target in TARGETS), "--no-offload-new-driver", "-nostdlib++", "-nogpuinc",
                    "--hip-link", "-no-hip-rt")
    except subprocess.CalledProcessError as error:
        print(f"SKIPPED: a HIP program cannot be linked here: {error.stderr[-300:]}")
        return
    files = inspect(home, path)
    check(files[0]["container"] == "executable" and set(kernels_of(files)) == {(target, "scale") for target in TARGETS},
          f"an executable: {files[0]['container']} {list(kernels_of(files))}")


def check_without_disassembler(home, path):
    """A target that no disassembler at hand knows, and no disassembler at all: the rest is still said."""
    newer = home / "newer.co"
    image = bytearray(path.read_bytes().replace(b"gfx90a", b"gfx950"))
    image[48] = 0x4f  # EF_AMDGPU_MACH_AMDGCN_GFX950 in e_flags
    newer.write_bytes(image)
    known = int(OBJDUMP.rsplit("-", 1)[1]) >= 20 or pathlib.Path("/opt/rocm/llvm/bin/llvm-objdump").exists()
    for what, file, extra in (("gfx950", newer, {}), ("no objdump", path, {"ROOFTILE_OBJDUMP": "/nonexistent/objdump"})):
        done = run("inspect", file, "--filter", "tile", home=home, **extra)
        check_run(done, 0, what, ["no disassembly", "registers", "of 8 waves per SIMD"] if not (known and file == newer) else [])
        if file == newer and not known:
            check("LLVM 20" in done.stdout, f"{what}: the LLVM needed is named: {done.stdout}")


def check_lost_code(home, path):
    """A kernel whose descriptor is not there, or says that the code is where the file has none: said with the address."""
    whole = path.read_bytes()
    names = [line.split() for line in tool(READELF, "--dyn-syms", "--wide", path).splitlines()]
    address, name = next((int(words[1], 16), words[7]) for words in names if len(words) > 7 and words[7].endswith(".kd"))
    symbol = next(at for at in range(0, len(whole) - 24, 4) if whole[at + 8:at + 16] == address.to_bytes(8, "little") and whole[at + 4] & 15 == 1)
    table = [line.split() for line in tool(READELF, "--segments", "--wide", path).splitlines()]
    offset = next(address - int(words[2], 16) + int(words[1], 16) for words in table
                  if words and words[0] == "LOAD" and 0 <= address - int(words[2], 16) < int(words[4], 16))
    for at, value, said in ((symbol + 8, 1 << 40, "its descriptor at 0x10000000000 lies outside of the file's segments"),
                            (offset + 16, (1 << 40) - address, "its descriptor says that it begins at 0x10000000000, where the file has no code")):
        (home / "lost.co").write_bytes(whole[:at] + value.to_bytes(8, "little") + whole[at + 8:])
        done = run("inspect", home / "lost.co", "--filter", name[:-3], home=home)
        check_run(done, 0, said, stdout=f"no disassembly: {name[:-3]}: {said}")


def check_refused(home, path):
    whole = path.read_bytes()
    wrong = {"text.co": b"hello\n", "empty.co": b"", "cut.co": whole[:len(whole) // 2], "host.o": pathlib.Path(sys.executable).resolve().read_bytes()[:4096]}
    for name, data in wrong.items():
        (home / name).write_bytes(data)
        done = run("inspect", home / name, home=home)
        check_run(done, 2, f"inspect {name}", stderr=name)
        check(done.stdout == "", f"inspect {name}: nothing on standard output")
    check_run(run("inspect", home / "missing.co", home=home), 2, "a missing file", stderr="missing.co")
    check_run(run("inspect", "no_such_kernel_here", "--arch", "gfx90a", home=home), 2, "a name that is nothing", stderr="no_such_kernel_here")
    check_run(run("inspect", path, "--ir", home=home), 2, "--ir of a file", stderr="--ir")
    check_run(run("inspect", path, "--filter", "nothing*", home=home), 2, "--filter without a match", stderr="nothing*")
    check_run(run("inspect", home=home), 2, "without arguments")


def check_catalog(home):
    files = inspect(home, "stream_triad", "--arch", "gfx90a,gfx1100")
    kernels = kernels_of(files)
    check(set(kernels) == {(target, "stream_triad") for target in TARGETS}, f"a kernel for two targets: {list(kernels)}")
    for kernel in kernels.values():
        check(kernel["occupancy"]["block_source"] == "the launch", f"the manifest's launch: {kernel['occupancy']}")
    check_run(run("inspect", "stream_triad", "--arch", "gfx90a", home=home), 0, "a kernel's text", ["stream_triad for gfx90a", "global_buffer a"])
    check_run(run("inspect", "stream_triad", "--arch", "gfx90a", "--ir", home=home), 0, "--ir", ["define", "amdgpu_kernel", "target triple"])
    wide = kernels_of(inspect(home, "stream_triad", "--arch", "gfx90a", "--set", "dtype=f64"))
    check(wide["gfx90a", "stream_triad"]["code_sha256"] != kernels["gfx90a", "stream_triad"]["code_sha256"], "--set changes the code")
    # Of several, those that can be inspected are.
    both = run("inspect", "stream_triad", "gemm_library", "--arch", "gfx90a", home=home)
    check_run(both, 0, "beside a library's kernel", stdout="stream_triad for gfx90a", stderr="gemm_library: it calls the library")
    check_run(run("inspect", "gemm_library", "--arch", "gfx90a", home=home), 3, "a library's kernel", stderr="it calls the library")
    (home / "broken.hip").write_text('extern "C" __global__ void broken(float *y) { nonsense; }\n')
    (home / "broken.json").write_text(json.dumps({
        "name": "broken", "summary": "s", "code": {"source": "broken.hip", "symbol": "broken"}, "launch": {"grid": [1], "block": [64], "args": ["y"]},
        "buffers": {"y": {"role": "out", "type": "f32", "count": 64}}, "work": {"items": 64}, "check": {"expect": {"y": "i"}}}))
    check_run(run("inspect", "stream_triad", "broken", "--arch", "gfx90a", "--kernels", ".", home=home), 3, "beside one that does not compile",
              stdout="stream_triad for gfx90a", stderr="broken: does not compile for gfx90a")
    turns = {}
    for iterations in (24, 48):
        files = inspect(home, "fma_peak", "--arch", "gfx90a", "--set", f"iterations={iterations}")
        kernel, = kernels_of(files).values()
        turns[iterations] = kernel["code"]["hot_loop"]["turns"]
    check(turns[24] > 0 and turns[48] == 2 * turns[24], f"turns of a wave in the launch: {turns}")
    check_run(run("inspect", "fma_peak", "--arch", "gfx90a", "--set", "iterations=24", home=home), 0, "turns",
              [f"hot loop ({turns[24]} turns of a wave in this launch)"])
    check_run(run("inspect", files[0]["path"], "-v", home=home), 0, "without a launch", ["hot loop (a guess)"])


def check_schema(home, paths):
    try:
        import jsonschema
    except ImportError:
        print("SKIPPED: the schema (python3-jsonschema is not installed)")
        return
    schema = json.loads(run("schema", "inspect", home=home).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(closed(schema))
    for words in (*([path] for path in paths), ["stream_triad", "--arch", "gfx90a", "--ir"]):
        check_run(run("inspect", *words, "--json", "out.json", home=home), 0, f"inspect {words} --json FILE")
        found = [f"/{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(load(home / "out.json"))]
        check(not found, f"{words}: {found[:3]}")
    broken = load(home / "out.json")
    broken["files"][0]["objects"][0]["kernels"][0]["registers"]["vgprs"] = -1
    check(list(validator.iter_errors(broken)), "a wrong document does not pass")


def main():
    if not (CLANG and READELF and OBJDUMP):
        print("clang, llvm-readelf or llvm-objdump is not installed")
        sys.exit(77)
    with scratch() as folder:
        home = pathlib.Path(folder)
        source = home / "kernels.hip"
        source.write_text(KERNELS)
        plain = {target: home / f"{target}.co" for target in TARGETS}
        for target, path in plain.items():
            device_only(source, path, target)
            check_metadata(home, path)
            check_instructions(home, path)
        check_assembly(home)
        check_names(home)
        check_overloads(home)
        check_text(home, plain["gfx90a"])
        check_occupancy(home, plain["gfx90a"])
        check_stacked(home)
        check_wrapped(home, source, plain)
        check_executable(home)
        check_without_disassembler(home, plain["gfx90a"])
        check_lost_code(home, plain["gfx90a"])
        check_refused(home, plain["gfx90a"])
        check_catalog(home)
        check_schema(home, [*plain.values(), home / "bundle.hipfb", home / "newer.co", home / "hand.co", home / "names.co"])
    finish()


if __name__ == "__main__":
    main()
