# SPDX-License-Identifier: MIT
"""`inspect` on cubins. Against what ptxas says of the same kernels, where there is an nvcc (registers, stack, spills, barriers,
shared memory); with stand-ins for nvdisasm and cuobjdump, and without any. Occupancy follows cuda_occupancy.h in unit tests."""
import json
import os
import re
import shutil
import subprocess

from harness import ROOT, check, check_run, load, main, run

CUBINS = ROOT / "tests" / "data" / "cubin"
TARGETS = ["sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"]
LISTING = """
//--------------------- .text.spilled          --------------------------
\t.section\t.text.spilled,"ax",@progbits
spilled:
.text.spilled:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/                   LDL R4, [R1+0x8] ;
        /*0020*/                   FFMA R4, R4, R4, R5 ;
        /*0030*/                   STL [R1+0x8], R4 ;
        /*0040*/               @P0 BRA `(.L_x_0) ;
        /*0050*/                   EXIT ;
.L_x_1:
        /*0060*/                   BRA `(.L_x_1);
        /*0070*/                   NOP;
"""


def find_nvcc():
    home = os.environ.get("CUDA_HOME")
    for name in ([f"{home}/bin/nvcc"] if home else []) + ["nvcc", "/usr/local/cuda/bin/nvcc"]:
        if shutil.which(name):
            return name
    return None


def kernels_of(home, *words, **extra):
    done = run("inspect", *words, "--json", "-", home=home, **extra)
    check_run(done, 0, f"inspect {words}")
    files = json.loads(done.stdout)["files"] if done.returncode == 0 else []
    return {kernel["name"]: kernel for file in files for found in file["objects"] for kernel in found["kernels"]}


def said_by_ptxas(text):
    """{kernel: (registers, barriers, shared, stack, spill stores, spill loads)}"""
    found, name, stack = {}, None, (0, 0, 0)
    for line in text.splitlines():
        entry = re.search(r"Compiling entry function '(\w+)'", line)
        name = entry.group(1) if entry else name
        sizes = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        stack = tuple(map(int, sizes.groups())) if sizes else stack
        used = re.search(r"Used (\d+) registers, used (\d+) barriers", line)
        if used:
            shared = re.search(r"(\d+) bytes smem", line)
            found[name] = (int(used.group(1)), int(used.group(2)), int(shared.group(1)) if shared else 0, *stack)
    return found


def check_against_ptxas(home):
    nvcc = find_nvcc()
    if not nvcc:
        print("SKIPPED: there is no nvcc to compare with")
        return
    seen = 0
    for target in TARGETS:
        path = home / f"{target}.cubin"
        done = subprocess.run([nvcc, "-D__CUDA_RUNTIME_H__", "-Xptxas", "-v", "-cubin", "-std=c++17", f"-arch={target}", "-o", path,
                               CUBINS / "kernels.cu"], capture_output=True, text=True)
        if done.returncode:
            print(f"SKIPPED: {nvcc} does not know {target}")
            continue
        for name, kernel in kernels_of(home, path).items():
            registers = kernel["registers"]
            said = said_by_ptxas(done.stderr)[name]
            known = registers["spill_store_bytes"] is not None
            got = (registers["vgprs"], kernel["barriers"], kernel["lds_bytes"], kernel["scratch_bytes"],
                   registers["spill_store_bytes"] if known else said[4], registers["spill_load_bytes"] if known else said[5])
            check(got == said, f"{target} {name}: ptxas says {said}, inspect {got}")
            check(kernel["occupancy"] and kernel["occupancy"]["unit"] == "SM", f"{target} {name}: {kernel['occupancy_problem']}")
            seen += 1
    check(seen >= 4, f"{seen} kernels compared with ptxas")


def check_text(home):
    path = CUBINS / "sm_90a.cubin"
    done = run("inspect", path, "--filter", "on_stack", "--block", "512", home=home, ROOFTILE_NVDISASM="/nonexistent/nvdisasm")
    check_run(done, 0, "a cubin's text", [
        "no disassembly: ROOFTILE_NVDISASM: no program /nonexistent/nvdisasm", "38 per thread, none spilled",
        "stack 160 bytes per thread (arrays or calls, no spills)", "48 of 64 warps per SM, limited by registers", "3 blocks of 16 warps",
        "6 registers fewer gives 64 warps per SM instead of 48"])
    done = run("inspect", path, "--filter", "spilled", home=home)
    check_run(done, 0, "spills of a cubin", ["24 per thread; spilled: 240 bytes stored, 240 loaded", "registers are spilled"])
    table = run("inspect", *[CUBINS / f"{name}.cubin" for name in ("sm_80", "sm_90a")], home=home)
    check_run(table, 0, "a table of cubins", ["registers  shared B  stack B  spill B", "warps", "on_stack"])


def stand_in(home, name, listing, *words, code=0):
    """A disassembler that insists on its arguments."""
    path, text = home / name, home / f"{name}.txt"
    text.write_text(listing)
    path.write_text(f'#!/bin/sh\n[ "$1" = {words[0]} ] && [ -s "$2" ] && [ $# = 2 ] || {{ echo "wrong: $*" >&2; exit 9; }}\n'
                    f'cat {text}\n[ {code} = 0 ] || echo "{name} fatal: unknown" >&2\nexit {code}\n')
    path.chmod(0o755)
    return path


def check_disassembly(home):
    cubin = CUBINS / "sm_90a.cubin"
    offsets = LISTING.replace("`(.L_x_0)", "0x10").replace("`(.L_x_1)", "0x60")
    dump = re.sub(r"(?m)^\.\S*:$|^spilled:$", "", offsets).replace("//---", "\t\tFunction : spilled\n#", 1)
    for name, listing, word in (("nvdisasm", LISTING, "--print-code"), ("cuobjdump", dump, "--dump-sass")):
        tool = stand_in(home, name, listing, word)
        kernel = kernels_of(home, cubin, "--filter", "spilled", ROOFTILE_NVDISASM=tool)["spilled"]
        code = kernel["code"]
        check(code and code["mix"]["instructions"] == 6 and code["mix"]["flops_per_lane"] == 2, f"{name}: {code}")
        check(code and len(code["loops"]) == 1 and code["loops"][0]["own"]["counts"]["scratch_load"] == 1, f"{name}: {code}")
        check([finding["code"] for finding in kernel["findings"]] == ["scratch-in-loop"], f"{name}: {kernel['findings']}")
        done = run("inspect", cubin, "--filter", "spilled", "--isa", home=home, ROOFTILE_NVDISASM=tool)
        check_run(done, 0, f"{name} --isa", ["scratch load", "loop 1", "@P0 BRA -> 10", "a warp is a wave"])
    missing = run("inspect", cubin, "--filter", "on_stack", home=home, ROOFTILE_NVDISASM=home / "nvdisasm")
    check_run(missing, 0, "a kernel that the listing lacks", "no disassembly: on_stack: ")
    broken = stand_in(home, "broken", LISTING, "--print-code", code=3)
    done = run("inspect", cubin, "--filter", "spilled", home=home, ROOFTILE_NVDISASM=broken)
    check_run(done, 0, "a disassembler that fails", ["no disassembly", "exit code 3: broken fatal: unknown", "24 per thread"])


def check_finding_tools(home):
    """CUDA_HOME, then PATH, nvdisasm before cuobjdump."""
    cubin, cuda = CUBINS / "sm_90a.cubin", home / "cuda" / "bin"
    cuda.mkdir(parents=True)
    shutil.copy(stand_in(home, "nvdisasm", LISTING, "--print-code"), cuda / "nvdisasm")
    done = run("inspect", cubin, "--filter", "spilled", "--json", "-", home=home, CUDA_HOME=str(home / "cuda"))
    check_run(done, 0, "CUDA_HOME")
    check(json.loads(done.stdout)["files"][0]["objects"][0]["disassembler"] == str(cuda / "nvdisasm"), "CUDA_HOME: its nvdisasm is used")
    if not any(shutil.which(name) for tool in ("nvdisasm", "cuobjdump") for name in (tool, f"/usr/local/cuda/bin/{tool}")):
        done = run("inspect", cubin, "--filter", "spilled", home=home)
        check_run(done, 0, "no tool", "no nvdisasm and no cuobjdump in CUDA_HOME, on PATH or in /usr/local/cuda/bin")
        check("\n  instructions " not in done.stdout, "no tool: no numbers of instructions")


def check_schema(home):
    try:
        import jsonschema
    except ImportError:
        print("SKIPPED: the schema (python3-jsonschema is not installed)")
        return
    schema = json.loads(run("schema", "inspect", home=home).stdout)
    check_run(run("inspect", CUBINS / "sm_80.cubin", "--json", "out.json", home=home), 0, "inspect --json FILE")
    found = [error.message[:200] for error in jsonschema.Draft202012Validator(schema).iter_errors(load(home / "out.json"))]
    check(not found, f"schema: {found[:3]}")


MANIFEST = """{ "name": "planned", "summary": "is never built", "tags": [], "class": "memory", "params": { "block": 32 },
  "variants": [ { "backend": "cuda", "params": { "block": 96 } }, { "backend": "hip", "params": { "block": 160 } } ],
  "code": { "source": "planned.hip", "symbol": "planned" }, "buffers": { "a": { "type": "f32", "count": "1", "role": "out" } },
  "require": [ { "expr": "block == 0", "reason": "the device has no use for {device.lds_bytes} bytes and blocks of {block}" } ],
  "launch": { "grid": ["1"], "block": ["block"], "args": ["a"] }, "work": { "write": "4" },
  "check": { "params": {}, "expect": { "a": "1" } } }"""


def check_plans(home):
    """A target without a device is planned as what it is: its backend, and the most shared memory that a workgroup can have."""
    (home / "k").mkdir()
    (home / "k" / "planned.json").write_text(MANIFEST)
    (home / "k" / "planned.hip").write_text('#include "portable.h"\n')
    for target, said in (("sm_90a", "232448 bytes and blocks of 96"), ("sm_120a", "101376 bytes and blocks of 96"),
                         ("gfx942", "65536 bytes and blocks of 160"), ("gfx950", "163840 bytes and blocks of 160")):
        done = run("inspect", "planned", "--kernels", home / "k", "--arch", target, home=home)
        check_run(done, 3, f"{target} is planned", stderr=said)


if __name__ == "__main__":
    main(check_against_ptxas, check_text, check_disassembly, check_finding_tools, check_schema, check_plans)
