# SPDX-License-Identifier: MIT
"""Code that others compiled: the chapter "Bring your own kernel" of kernels/README.md step by step, manifests that do not fit their
code, bundles, and what a result records. Without a GPU: on a stand-in for libamdhip64, or as far as a plan."""
import json
import pathlib
import re
import subprocess

from harness import CLANG, DOUBLES, ROOT, bundle, check, check_run, code_object, finish, load, newest, run, scratch

STORE = {"name": "store", "summary": "to = 42", "params": {"n": 64}, "code": {"image": "store.co", "symbol": "store"},
         "buffers": {"to": {"type": "u32", "count": "n", "role": "out"}},
         "launch": {"grid": ["n / 16"], "block": [16], "args": ["to", {"value": "42", "type": "u32"}]},
         "work": {"write": "4*n"}, "check": {"expect": {"to": "42"}}}
QUICK = ["--min-time", "1us", "--max-time", "1ms", "-q"]

# The same kernel as the README's, for a target with other mnemonics and waves of 32.
GFX1100 = """    .amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
    .text
    .globl scale
    .p2align 8
    .type scale,@function
scale:
    s_load_b128 s[4:7], s[0:1], 0x0
    s_load_b64 s[8:9], s[0:1], 0x10
    s_lshl_b32 s2, s15, 8
    v_add_nc_u32 v0, s2, v0
    s_waitcnt lgkmcnt(0)
    v_cmp_gt_u32 vcc_lo, s9, v0
    s_and_saveexec_b32 s10, vcc_lo
    s_cbranch_execz .Ldone
    v_lshlrev_b32 v0, 2, v0
    global_load_b32 v1, v0, s[6:7]
    s_waitcnt vmcnt(0)
    v_mul_f32 v1, s8, v1
    global_store_b32 v0, v1, s[4:5]
.Ldone:
    s_endpgm
"""


def blocks():
    """The files that the README shows: an indented block behind a line `name`."""
    text = (ROOT / "kernels/README.md").read_text()
    found = re.findall(r"^ *`([\w.]+)`\n\n((?:    .*\n|\n)+)", text, re.M)
    return {name: re.sub(r"^    ", "", block, flags=re.M).rstrip("\n") + "\n" for name, block in found}


def assembler():
    path = newest("clang")
    if not path:
        print("SKIPPED: no clang is installed, assembly kernels are not built")
    return path


def for_gfx1100(source):
    """The README's source with other instructions: descriptor and metadata differ in the target and the wave."""
    rest = source[source.index("    .rodata"):].replace("gfx942", "gfx1100").replace("        .amdhsa_accum_offset 4\n", "")
    rest = rest.replace(".wavefront_size: 64", ".wavefront_size: 32").replace("    .agpr_count: 0\n", "")
    rest = rest.replace("        .amdhsa_kernarg_size 24\n", "        .amdhsa_kernarg_size 24\n        .amdhsa_user_sgpr_count 15\n")
    return GFX1100 + ".Lend:\n    .size scale, .Lend - scale\n\n" + rest


def assemble(home, arch, source):
    (home / f"{arch}.s").write_text(source)
    command = [assembler(), "--target=amdgcn-amd-amdhsa", f"-mcpu={arch}", f"{arch}.s", "-o", f"{arch}.hsaco"]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True)
    check(done.returncode == 0, f"{' '.join(command)}: {done.stderr}")
    return home / f"{arch}.hsaco"


def readme_steps(home):
    """As the chapter says, for its target; then `inspect` and `check` for another one."""
    shown = blocks()
    check({"scale.s", "scale.json"} <= shown.keys(), f"the README shows an assembly kernel: {sorted(shown)}")
    (home / "scale.json").write_text(shown["scale.json"])
    for arch, source in (("gfx942", shown["scale.s"]), ("gfx1100", for_gfx1100(shown["scale.s"]))):
        assemble(home, arch, source).replace(home / "scale.hsaco")
        check_run(run("inspect", "scale.hsaco", home=home), 0, f"inspect, {arch}", stdout=["kernel scale", arch, "by_value factor"])
        check_run(run("check", "scale", "--kernels", ".", "--arch", arch, home=home, **CLANG), 0, f"check, {arch}",
                  stdout=f"1 kernel compared with code for {arch}, images as they are: none differs")
    check_run(run("check", "scale", "--kernels", ".", "--arch", "gfx942", home=home, **CLANG), 0, "check for another target than the image's",
              stdout="none differs")
    done = run("run", "scale", "--kernels", ".", "--device", "cpu", home=home)
    check("scale.hsaco is for gfx1100, this device is the CPU" in done.stdout, f"on the CPU: {done.stdout}{done.stderr}")
    check_run(run("plan", "scale", "--kernels", ".", "--device", "sim:rx7900xtx", home=home), 0, "planned like any other", stdout="1 case (1 ready)")
    for command in ("plan", "run"):
        check_run(run(command, "scale", "--kernels", ".", "--device", "sim:mi300x", home=home), 3, f"{command} for another target",
                  stdout="scale.hsaco is for gfx1100, this device is gfx942")


TTIR = """module {
  tt.func public @my_kernel(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("q"(#loc)), %out: !tt.ptr<bf16> loc("out"(#loc)),
                            %n: i32 {tt.divisibility = 16 : i32} loc("n"(#loc))) attributes {noinline = false} {
    %0 = tt.get_program_id x : i32
"""


def triton(home):
    """The README's Triton example as it stands, and the manifest that is made of what Triton writes."""
    (home / "k").mkdir()
    (home / "k/flash.json").write_text(blocks()["flash.json"])
    facts = {"name": "my_kernel", "num_warps": 4, "shared": 65536, "target": {"backend": "hip", "arch": "gfx942", "warp_size": 64},
             "global_scratch_size": 0, "profile_scratch_size": 0}
    for depth in (64, 128):
        code = code_object("gfx942", "my_kernel", "pointer", "pointer", 4, "pointer", "pointer", **{".max_flat_workgroup_size": 256})
        (home / f"k/flash_{depth}.hsaco").write_bytes(code)
        (home / f"k/flash_{depth}.json").write_text(json.dumps(facts))
        (home / f"k/flash_{depth}.ttir").write_text(TTIR)
    check_run(run("check", "flash", "--kernels", "k", "--arch", "gfx942", home=home, **CLANG), 0, "check flash",
              stdout=["0 broken", "1 kernel compared with code for gfx942, images as they are: none differs"])
    check_run(run("plan", "flash", "--kernels", "k", "--set", "D=64,128", "--device", "sim:mi300x", home=home), 0, "plan flash", stdout="2 ready")
    (home / "k/store.co").write_bytes(code_object("gfx942", "store", "pointer", 4, **{".max_flat_workgroup_size": 64}))
    (home / "k/store.json").write_text(json.dumps({key: value for key, value in STORE.items() if key != "check"}))
    check_run(run_fake(home, "libfake_hip.so"), 0, "an image that nothing verifies")
    case = load(home / "r.json")["cases"][0]
    check((case["status"], case["verification"]["reason"]) == ("ok", "the manifest has nothing to check"), f"{case['status']} {case['verification']}")
    made = home / "k/made.json"
    check_run(run("inspect", "k/flash_64.hsaco", "--manifest", "-o", str(made), home=home), 0, "inspect --manifest", stderr="rooftile run")
    manifest = load(made)
    types = {name: buffer["type"] for name, buffer in manifest["buffers"].items()}
    check(manifest["code"] == {"image": "flash_64.hsaco", "symbol": "my_kernel"} and types == {"q": "f16", "out": "bf16"} and
          manifest["launch"]["shared"] == 65536 and manifest["params"]["block"] == 256, f"made: {manifest}")
    check(manifest["launch"]["args"] == ["q", "out", {"value": "n", "type": "i32"}, None, None], f"made: {manifest['launch']['args']}")
    for sizes, scratch_args in (((0, 96), [None, "profile_scratch"]), ((4096, 96), ["global_scratch", "profile_scratch"])):
        (home / "k/flash_64.json").write_text(json.dumps(facts | dict(zip(("global_scratch_size", "profile_scratch_size"), sizes))))
        check_run(run("inspect", "k/flash_64.hsaco", "--manifest", "-o", str(made), "--force", home=home), 0, f"scratch of {sizes}")
        manifest = load(made)
        check(manifest["launch"]["args"][3:] == scratch_args, f"scratch of {sizes}: {manifest['launch']['args']}")
        for size, name in zip(sizes, scratch_args):
            buffer = manifest["buffers"].get(name, {})
            check(not size or (buffer["type"], buffer["count"], buffer["role"]) == ("u8", f"{size} * {manifest['launch']['grid'][0]}", "temp"), f"{name}: {buffer}")
        check_run(run("plan", "k/made.json", "--device", "sim:mi300x", home=home), 0, f"plan with scratch of {sizes}")


def objects_on_the_command_line(home):
    """A code object is what the one manifest beside it says; else what to write, which can be planned as it stands."""
    (home / "big.hsaco").write_bytes(code_object("gfx942", "big", "pointer", 8, 4, **{".max_flat_workgroup_size": 64}))
    (home / "two.hsaco").write_bytes(code_object("gfx942", "a", "pointer"))
    check_run(run("run", "big.hsaco", "--device", "sim:mi300x", home=home), 2, "without a manifest", stderr="'rooftile inspect big.hsaco --manifest -o NAME.json'")
    written = run("inspect", "big.hsaco", "--manifest", home=home)
    (home / "mine.json").write_text(written.stdout)
    for words in (["mine.json"], ["big.hsaco"], ["./big.hsaco"], [str(home / "big.hsaco")]):
        check_run(run("plan", *words, "--device", "sim:mi300x", home=home), 0, f"plan {words}", stdout="1 case (1 ready)", stderr="mine.json: times are of guesses in 6 places that its comments ask to fill in, first: of what type?")
    check_run(run("check", "big", "--kernels", ".", "--arch", "gfx942", home=home, **CLANG), 0, "the arguments fit", stdout="none differs")
    filled = "\n".join(line for line in written.stdout.splitlines() if '"//": "to fill in: ' not in line)
    (home / "mine.json").write_text(filled)
    done = run("plan", "mine.json", "--device", "sim:mi300x", home=home)
    check(done.returncode == 0 and "fill in" not in done.stderr, f"filled in: {done.stderr}")
    (home / "other.json").write_text(written.stdout.replace('"big"', '"other"'))
    check_run(run("run", "big.hsaco", home=home), 2, "two manifests", stderr="2 manifests in . have big.hsaco as their image: name one of them")
    check_run(run("inspect", "gemm_buffered", "--manifest", home=home), 2, "of the catalog", stderr="have their manifests")
    check_run(run("inspect", "mine.json", "--manifest", home=home), 2, "no code", stderr="is for one FILE")
    check_run(run("inspect", "two.hsaco", "--manifest", "--filter", "b", home=home), 2, "no such kernel", stderr="has no kernel that --filter matches")


def launch(**more):
    return STORE | {"launch": STORE["launch"] | more}


def wrong_manifests(home):
    """What is passed and what is taken, in plain words."""
    (home / "k").mkdir()
    (home / "k/store.co").write_bytes(code_object("gfx942", "store", "pointer", 4, **{".max_flat_workgroup_size": 64}))
    value = {"value": "42", "type": "u32"}
    for what, manifest, wanted in (
            ("right", STORE, None),
            ("too short", launch(args=["to", {"value": "42", "type": "u8"}]),
             "argument 2 '42': the manifest passes 1 byte (u8), the kernel takes 4 (by value)"),
            ("too long", launch(args=["to", {"value": "n", "type": "u64"}]),
             "argument 2 'n': the manifest passes 8 bytes (u64), the kernel takes 4 (by value)"),
            ("swapped", launch(args=[value, "to"]), "argument 2 'to': the manifest passes a pointer to a buffer, the kernel takes 4 bytes (by value)"),
            ("too few", launch(args=["to"]), "the manifest passes 1 argument, the kernel takes 2: argument 2, 4 bytes (by value) is missing"),
            ("too many", launch(args=["to", value, value]), "the manifest passes 3 arguments, the kernel takes 2: argument 3 '42' is too many"),
            ("block", launch(block=[128], grid=["ceil_div(n, 128)"]),
             "the block has 128 work-items, the kernel was compiled for at most 64 (launch bounds)"),
            ("lds", launch(shared="65540"), None),
            ("symbol", STORE | {"code": {"image": "store.co", "symbol": "stor"}}, "has no kernel 'stor': it has 'store'"),
            ("missing", STORE | {"code": {"image": "gone.co", "symbol": "store"}}, "gone.co: No such file or directory"),
            ("garbage", STORE | {"code": {"image": "store.json", "symbol": "store"}}, "not a code object: it looks like JSON")):
        (home / "k/store.json").write_text(json.dumps(manifest))
        done = run("check", "store", "--kernels", "k", "--arch", "gfx942", home=home, **CLANG)
        check_run(done, 2 if wanted else 0, f"check: {what}", stdout=wanted)
        unusable = what in ("symbol", "missing", "garbage")
        for command in (("plan",), ("run",), ("run", "--device", "hip:0"))[:wanted and 2 + unusable or 0]:
            check_run(run(*command, *([] if "--device" in command else ["--device", "sim:mi300x"]), "store", "--kernels", "k", home=home,
                          ROOFTILE_HIP_LIBRARY=str(DOUBLES / "libfake_hip.so"), **CLANG), 2, f"{command[0]}: {what}", stderr=wanted)
        if not wanted or unusable:
            continue
        done = run_fake(home, "libfake_hip.so")
        result = load(home / "r.json")["cases"][0]
        check(result["status"] == "failed" and wanted in result["status_reason"], f"run: {what}: {result['status']}: {result['status_reason']}")


def run_fake(home, library):
    return run("run", "store", "--kernels", "k", "--device", "hip:0", "-o", "r.json", *QUICK, home=home,
               ROOFTILE_HIP_LIBRARY=str(DOUBLES / library), **CLANG)


def facts_in_results(home):
    """The right entry of a bundle for each device, parameters in the image's name, and the code's facts in the result."""
    (home / "k").mkdir()
    (home / "k/store.json").write_text(json.dumps(STORE | {"params": {"n": 64, "D": 3}, "code": {"image": "store_{D}.co", "symbol": "store"}}))
    entries = [(b"host-x86_64-unknown-linux--", b"")]
    entries += [(b"hipv4-amdgcn-amd-amdhsa--" + arch.encode(), code_object(arch, "store", "pointer", 4, **{".sgpr_count": count}))
                for arch, count in (("gfx90a", 11), ("gfx942", 22))]
    (home / "k/store_3.co").write_bytes(bundle(entries))
    for library, sgprs in (("libfake_hip_bare.so", 11), ("libfake_hip.so", 22)):
        check_run(run_fake(home, library), 0, f"a bundle on {library}")
        case = load(home / "r.json")["cases"][0]
        facts = case["code"]["compiled"]
        check(facts["sgpr"] == sgprs and facts["wave"] == 64 and facts["kernarg_bytes"] == 12, f"facts: {case['code']}")
    (home / "k/store_3.co").write_bytes(code_object("gfx1100", "store", "pointer", 4))
    run_fake(home, "libfake_hip.so")
    case = load(home / "r.json")["cases"][0]
    check(case["status"] == "skipped" and case["status_reason"].endswith("store_3.co is for gfx1100, this device is gfx942"), f"{case['status_reason']}")


def shipped_kernels(home):
    """All of ours pass what they take."""
    done = run("check", home=home, **CLANG)
    check(done.returncode == 0 and ("none differs" in done.stdout), f"the shipped kernels: {done.stdout}")


if __name__ == "__main__":
    for test in (wrong_manifests, facts_in_results, triton, objects_on_the_command_line, shipped_kernels) + ((readme_steps,) if assembler() else ()):
        with scratch() as folder:
            test(pathlib.Path(folder))
    finish()
