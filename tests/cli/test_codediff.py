# SPDX-License-Identifier: MIT
"""What changed between two builds: planted regressions, each of which must be found with its cause, and kernels that nobody
touched, which must give no finding. Compiled for one target; no device."""
import json
import shutil
import subprocess

import harness
from harness import CLANG, ROOT, bundle, check, check_run, closed, load, main, skip

ARCH = ["--arch", "gfx942"]


def run(*args, home):
    return harness.run(*args, home=home, **CLANG)


CLANGXX = next((name for name in (f"clang++-{version}" for version in range(25, 16, -1)) if shutil.which(name)), None)

# Kernels by name: a source with @WORDS@, and what they are in A and in B.
LIVE = """extern "C" __global__ void @BOUNDS@ NAME(float *y, const float *x, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float s[@LIVE@];
    for (int k = 0; k < @LIVE@; k++)
        s[k] = x[i + k * n];
    for (uint32_t r = 0; r < n; r++)
#pragma unroll
        for (int k = 0; k < @LIVE@; k++)
            s[k] = s[k] * x[r * 64 + threadIdx.x % 64] + x[r + k];
    float sum = 0;
    for (int k = 0; k < @LIVE@; k++)
        sum = sum * 1.5f + s[k];
    y[i] = sum + s[@INDEX@];
}
"""
DOT = """extern "C" __global__ void __launch_bounds__(256) NAME(float *y, const float *__restrict x, const float *__restrict w, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
@PRAGMA@
    for (uint32_t r = 0; r < n; r++)
        s += x[r * 4096 + i] @OP@ w[r * 4096 + i];
    y[i] = s;
}
"""
ROWS = """extern "C" __global__ void __launch_bounds__(256) NAME(float *@R@ y, const float *@R@ x, const float *@R@ c, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const float *weight = @CAST@;
    for (uint32_t r = 0; r < n; r++) {
        float s = 0;
        for (int k = 0; k < 8; k++)
            s += weight[k] * x[(r * 8 + k) * 4096 + i];
        y[r * 4096 + i] = s;
    }
}
"""
CALL = """static __device__ @INLINE@ float step(float a, float b, const float *x, uint32_t r)
{
    for (int k = 0; k < 6; k++)
        a = a * b + x[r + k * 64];
    return a;
}
extern "C" __global__ void __launch_bounds__(256) NAME(float *y, const float *x, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = x[i];
    for (uint32_t r = 0; r < n; r++)
        s = step(s, s, x, r + i);
    y[i] = s;
}
"""
TILE = """extern "C" __global__ void __launch_bounds__(256) NAME(float *y, const float *x, uint32_t n)
{
    __shared__ float tile[@SIZE@];
    const uint32_t t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float s = 0;
    for (uint32_t r = 0; r < n; r++) {
        tile[t * (@SIZE@ / 256)] = x[r * 4096 + i];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            s += tile[((t + k) % 256) * (@SIZE@ / 256)];
        __syncthreads();
    }
    y[i] = s;
}
"""
MOVE = """extern "C" __global__ void __launch_bounds__(256) NAME(float *@R@ y, const float *@R@ x, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (uint32_t r = 0; r < n; r++) {
        y[r * 8192 + i] = 2 * x[r * 8192 + i];
        y[r * 8192 + 4096 + i] = 2 * x[r * 8192 + 4096 + i];
    }
}
"""
COPY = """typedef float NAME_quad __attribute__((ext_vector_type(4)));
extern "C" __global__ void __launch_bounds__(256) NAME(float *__restrict y, const float *__restrict x, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    for (uint32_t r = i; r < n * 16384 / sizeof(@TYPE@); r += 1024)
        ((@TYPE@ *)y)[r] = ((const @TYPE@ *)x)[r] * 2.0f;
}
"""
SUMS = """extern "C" __global__ void __launch_bounds__(256) NAME(float *__restrict y, const float *__restrict x, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float s[16] = {0};
    for (uint32_t r = 0; r < n; r++)
#pragma unroll
        for (int k = 0; k < 16; k++)
            s[@INDEX@] += x[(r * 16 + k) * 4096 + i];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        sum = sum * 1.5f + s[k];
    y[i] = sum;
}
"""
STEP = """extern "C" __global__ void __launch_bounds__(256) NAME(float *__restrict y, const float *__restrict x, uint32_t n)
{
    __shared__ float tile[2048];
    const uint32_t t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    for (int k = 0; k < 8; k++)
        tile[t + 256 * k] = x[t + 256 * k];
    __syncthreads();
    const float *from = @FROM@;
    unsigned *words = (unsigned *)y;
#pragma unroll 1
    for (uint32_t r = 0; r < n; r++) {
        const float v = from[(t * 3 + r * 5) % 2048];
        @STORE@;
    }
}
"""
STEPS = {"FROM": "tile", "STORE": "y[r * 4096 + i] = v * 0.3f + v * v * 1.7f"}
SERIES = """extern "C" __global__ void __launch_bounds__(256) NAME(unsigned *y, const unsigned *x, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    @TYPE@ s = i;
    for (uint32_t r = 0; r < n; r++)
        s = s * 1664525u + x[r * 8192 + i];
    y[i] = (unsigned)(s >> 7);
}
"""
DIVIDED = "words[r * 4096 + i] = __builtin_bit_cast(unsigned, v) / "
ADDED = "__hip_atomic_fetch_add(words + i % 64, __builtin_bit_cast(unsigned, v), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)"
SWAPPED = """unsigned old = words[i % 64];
        while (!__hip_atomic_compare_exchange_weak(words + i % 64, &old, old + __builtin_bit_cast(unsigned, v), __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {
        }"""
PRODUCT = """extern "C" __global__ void __launch_bounds__(256) NAME(float *__restrict y, const float *__restrict x, uint32_t n)
{
    __shared__ float a[16][68], b[16][68];
    const uint32_t t = threadIdx.x, tx = t % 16, ty = t / 16;
    float sum[4][4] = {};
    for (uint32_t k = 0; k < n; k++) {
        for (int q = 0; q < 4; q++) {
            a[tx][ty + q * 16] = x[(blockIdx.x * 64 + ty + q * 16) * n + k * 16 + tx];
            b[t / 64 + q * 4][t % 64] = x[(k + t / 64 + q * 4) * n + t % 64];
        }
        __syncthreads();
        for (int e = 0; e < 16; e++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += a[e][ty * 4 + i] * b[e][tx * 4 + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            y[(blockIdx.x * 64 + ty * 4 + i) * n + tx * 4 + j] = sum[i][j];
}
"""
LARGEST = """extern "C" __global__ void __launch_bounds__(256) NAME(float *__restrict y, const float *__restrict x, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float best[6];
@PRAGMA@
    for (int k = 0; k < 6; k++)
        best[k] = -1e30f;
    for (uint32_t r = 0; r < n; r++) {
        float v = x[r * 4096 + i];
@PRAGMA@
        for (int k = 0; k < 6; k++)
            if (v > best[k]) {
                const float last = best[k];
                best[k] = v;
                v = last;
            }
    }
@PRAGMA@
    for (int k = 0; k < 6; k++)
        y[k * 4096 + i] = best[k];
}
"""
BUTTERFLIES = """extern "C" __global__ void @BOUNDS@ NAME(float *__restrict y, const float *__restrict x, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    constexpr float turn[8] = {1, .9238795f, .7071068f, .3826834f, 0, -.3826834f, -.7071068f, -.9238795f};
    for (uint32_t r = 0; r < n; r++) {
        float re[16], im[16];
        for (int k = 0; k < 16; k++) {
            re[k] = x[(r * 32 + k) * 4096 + i];
            im[k] = x[(r * 32 + 16 + k) * 4096 + i];
        }
        for (int half = 1; half < 16; half *= 2)
            for (int k = 0; k < 8; k++) {
                const int a = (k / half) * 2 * half + k % half, b = a + half, t = (k % half) * (8 / half);
                const float tr = re[b] * turn[t] - im[b] * turn[7 - t], ti = re[b] * turn[7 - t] + im[b] * turn[t];
                re[b] = re[a] - tr;
                im[b] = im[a] - ti;
                re[a] += tr;
                im[a] += ti;
            }
        for (int k = 0; k < 16; k++) {
            y[(r * 32 + k) * 4096 + i] = re[k];
            y[(r * 32 + 16 + k) * 4096 + i] = im[k];
        }
    }
}
"""
NARROW = """extern "C" __global__ void __launch_bounds__(256) NAME(float *__restrict y, const float *__restrict x, const float *__restrict up, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float s[16];
    for (int r = 0; r < 16; r++)
        s[r] = x[r * 4096 + i];
    for (uint32_t k = 0; k < n; k++) {
        float sum = y[k * 4096 + i];
        for (int r = 0; r < 16; r++)
            sum += s[r] * up[k * 16 + r];
        y[k * 4096 + i] = sum;
    }
}
"""
ADD = """extern "C" __global__ void __launch_bounds__(256) NAME(int *@R@ y, const int *@R@ x, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < @COUNT@; k++)
        y[i] += x[k];
}
"""
SCALE = """extern "C" __global__ void __launch_bounds__(256) NAME(float *@R@ y, const float *@R@ x, const float *@R@ c, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 4
    for (uint32_t r = 0; r < n; r++)
        y[r * 4096 + i] = c[0] * x[r * 4096 + i] + c[1];
}
"""
FOUR = """extern "C" __global__ void __launch_bounds__(256) NAME(float *__restrict y, const float *__restrict x, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
#pragma unroll 1
    for (uint32_t r = 0; r < n; r++) {
        float v[4];
        for (int k = 0; k < 4; k++) {
            v[k] = x[(r * 4 + k) * 4096 + i];
            @HOLD@
        }
        s += v[0] * 2 + v[1] * 3 + v[2] * 5 + v[3] * 7;
    }
    y[i] = s;
}
"""
STREAM = """extern "C" __global__ void __launch_bounds__(256) NAME(float *__restrict y, const float *__restrict x, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = @LOAD@ * 2;
}
"""
SHARED = """extern "C" __global__ void __launch_bounds__(256) NAME(float *__restrict y, const float *__restrict x, const float *__restrict c, uint32_t n)
{
    __shared__ float tile[256];
    const uint32_t t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float s = 0;
    for (uint32_t r = 0; r < n; r++) {
        tile[t] = c[r * 256 + t];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++)
            s += x[(r * 16 + k) * 4096 + i] * @FROM@;
        __syncthreads();
    }
    y[i] = s;
}
"""
PREFETCH = """extern "C" __global__ void __launch_bounds__(256) NAME(float *__restrict y, const float *__restrict x, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0, v = x[i];
#pragma unroll 1
    for (uint32_t r = 1; r < n; r++) {
        @FIRST@ x[r * 4096 + i];
        for (int k = 0; k < 24; k++)
            s = s * v + 0.5f;
        @LAST@
    }
    y[i] = s * v;
}
"""
TURNED = """extern "C" __global__ void __launch_bounds__(256) NAME(float *__restrict y, const float *__restrict x, uint32_t n)
{
    __shared__ float tile[32 * @ROW@];
    const uint32_t tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    for (uint32_t r = 0; r < n; r++) {
        for (int k = 0; k < 32; k += 8)
            tile[(ty + k) * @ROW@ + tx] = x[(r * 32 + ty + k) * 2048 + tx];
        __syncthreads();
        for (int k = 0; k < 32; k += 8)
            y[(r * 32 + ty + k) * 2048 + tx] = tile[tx * @ROW@ + ty + k];
        __syncthreads();
    }
}
"""
BOUNDS = {"BOUNDS": "__launch_bounds__(256)", "INDEX": "7"}
PLAIN = {"PRAGMA": "", "OP": "*"}
NEAR = {"R": "__restrict", "CAST": "c"}
PLANTED = {
    "few_registers": (LIVE, BOUNDS | {"LIVE": "96"}, {"BOUNDS": "__launch_bounds__(256, 8)"}, "register limit"),
    "no_bounds": (LIVE, BOUNDS | {"LIVE": "180"}, {"BOUNDS": ""}, "launch bounds: compiled for workgroups of up to 1024 threads, before 256"),
    "array": (LIVE, BOUNDS | {"LIVE": "64"}, {"INDEX": "n % 64"}, "an array or variable in scratch"),
    "rolled": (DOT, PLAIN | {"PRAGMA": "#pragma unroll 8"}, {"PRAGMA": "#pragma unroll 1"}, "unrolling: a pass of the loop does 0.125 times the work"),
    "unrolled": (DOT, PLAIN | {"PRAGMA": "#pragma unroll 4"}, {"PRAGMA": "#pragma unroll 64"}, "unrolling: a pass of the loop does 16 times the work"),
    "loops_again": (LARGEST, {"PRAGMA": "#pragma unroll"}, {"PRAGMA": "#pragma unroll 1"}, "unrolling: a loop that was unrolled whole is one again: loops 1 to 4"),
    "division": (DOT, PLAIN, {"OP": "/"}, "arithmetic: division"),
    "may_alias": (ROWS, NEAR, {"R": ""}, "memory accesses repeated (alias analysis: a pointer may overlap what is stored): "),
    "cast": (ROWS, NEAR, {"CAST": "(const float *)(y + 64)"}, "memory accesses repeated (alias analysis"),
    "called": (CALL, {"INLINE": "inline"}, {"INLINE": "__attribute__((noinline))"}, "inlining: 1 call to functions that were inlined before"),
    "tile": (TILE, {"SIZE": "2048"}, {"SIZE": "12288"}, "LDS: LDS bytes 8192 to 49152"),
    "adds": (ADD, NEAR | {"COUNT": "20"}, {"R": ""}, "memory accesses repeated (alias analysis"),
    "adds_in_loop": (ADD, NEAR | {"COUNT": "n"}, {"R": ""}, "memory accesses repeated (alias analysis"),
    "scaled": (SCALE, NEAR, {"R": ""}, "memory accesses repeated (alias analysis"),
    "one_at_a_time": (FOUR, {"HOLD": ""}, {"HOLD": '__asm__ volatile("" : "+v"(v[k]) :: "memory");'}, "scheduling (the same instructions in another order): fewer loads at a time"),
    "streamed": (STREAM, {"LOAD": "x[i]"}, {"LOAD": "__builtin_nontemporal_load(x + i)"}, "cache policy: 1 load nt; all else is the same"),
    "not_shared": (SHARED, {"FROM": "tile[(k * 16 + t / 16) % 256]"}, {"FROM": "c[r * 256 + (k * 16 + t / 16) % 256]"}, "LDS reuse lost"),
    "serial": (MOVE, NEAR, {"R": ""}, "loads that stay behind stores (alias analysis"),
    "narrow": (COPY, {"TYPE": "NAME_quad"}, {"TYPE": "float"}, "narrower loads: 16 to 4 bytes, narrower stores: 16 to 4 bytes"),
    "indexed": (SUMS, {"INDEX": "k"}, {"INDEX": "(k + n) % 16"}, "selects and indexed moves"),
    "flat": (STEP, STEPS, {"FROM": "n == 77777 ? x : tile"}, "address space (flat accesses"),
    "in_double": (STEP, STEPS, {"STORE": "y[r * 4096 + i] = v * 0.3 + v * v * 1.7"}, "arithmetic in f64"),
    "fence": (STEP, STEPS, {"STORE": STEPS["STORE"] + ';\n__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent")'}, "fences"),
    "divided": (STEP, STEPS | {"STORE": DIVIDED + "48u"}, {"STORE": DIVIDED + "n"}, "arithmetic: division of integers"),
    "in_volatile": (STEP, STEPS | {"STORE": STEPS["STORE"] + " + x[r]"}, {"STORE": STEPS["STORE"] + " + *(const volatile float *)(x + r)"}, "cache policy: 1 load sc0 sc1"),
    "swapped": (STEP, STEPS | {"STORE": ADDED}, {"STORE": SWAPPED}, "compare and swap in a loop"),
    "made_atomic": (STEP, STEPS | {"STORE": "words[i % 64] += __builtin_bit_cast(unsigned, v)"}, {"STORE": SWAPPED}, "compare and swap in a loop"),
    "wide_sum": (SERIES, {"TYPE": "unsigned"}, {"TYPE": "unsigned long"}, "64-bit arithmetic"),
    "limited_loops": (BUTTERFLIES, BOUNDS, {"BOUNDS": "__launch_bounds__(256, 8)"}, "register limit"),
    "ahead": (PREFETCH, {"FIRST": "const float next =", "LAST": "v = next;"}, {"FIRST": "v =", "LAST": ""}, "prefetch lost"),
    "padded": (TURNED, {"ROW": "33"}, {"ROW": "32"}, "bank conflicts of LDS (rows without padding)"),
    "old_values": (STEP, STEPS | {"STORE": ADDED}, {"STORE": "y[r * 4096 + i] = " + ADDED}, "atomics return their old values"),
    "narrow_product": (NARROW, {}, {}, None),
    "product": (PRODUCT, {}, {}, None),
    "untouched": (DOT, PLAIN, {}, None),
    "moved": (DOT + "/* a comment, and another line number */\n", PLAIN, {}, None),
}
OTHER_WAY = {"hurt": "helped", "helped": "hurt"}
# One kernel with what a flag does to it.
FLAGS = (("-mllvm -enable-misched=0 -mllvm -enable-post-misched=0", "rolled", "scheduling", 1), ("-mllvm -stress-regalloc=16", "few_registers", "register limit", 1),
         ("-ffp-contract=off", "may_alias", "arithmetic: fused multiply-adds are split", 1), ("-fno-unroll-loops", "may_alias", "unrolling: a loop that was unrolled whole is one again", 1),
         ("-mllvm -enable-misched=0", "serial", "scheduling", 1), ("-mllvm -enable-misched=0", "product", "scheduling", 1), ("-mllvm -vgpr-regalloc=basic", "product", "register allocation: VGPRs", 1),
         ("-mllvm -join-liveintervals=0", "product", "register allocation", 1), ("-mllvm -join-liveintervals=0", "narrow_product", "register allocation: 1", 1), ("-mllvm -vgpr-regalloc=fast", "rolled", "register", 1), ("-mllvm -vgpr-regalloc=fast", "serial", "register allocation", 1), ("-O3", "rolled", None, 0),
         ("-mllvm -amdgpu-waitcnt-forcezero=1", "serial", "waits (all else in the loop is the same)", 1))


def call(home, *words):
    done = subprocess.run(words, cwd=home, capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{' '.join(words)}: {done.stderr[-500:]}")


def arguments(source):
    """The parameters, and the buffers that they are."""
    listed = source[source.index("NAME(") + 5:].split(")\n{")[0].split(", ")
    names = [text.split("*")[-1].split()[-1].strip("@R") for text in listed]
    buffers = {name: {"type": "f32", "count": "524288 * n", "role": "inout" if name == "y" else "in", "fill": "i % 7"}
               for name, text in zip(names, listed) if "*" in text}
    return buffers, [name if name in buffers else {"value": "n", "type": "u32"} for name in names]


# Sources of their own; the others share one, which is compiled once. Flags compile what they change anew.
OWN = {"few_registers": "few_registers", "rolled": "rolled", "untouched": "untouched", "may_alias": "rows", "serial": "rows", "product": "product", "narrow_product": "narrow"}


def source_of(name):
    return OWN.get(name, "planted") + ".hip"


def write_sides(home):
    for side in ("a", "b"):
        (home / side).mkdir()
        for name in PLANTED:
            (home / side / source_of(name)).write_text('#include "portable.h"\n')
        for name, (source, before, after, _) in PLANTED.items():
            buffers, args = arguments(source)
            text = source
            for word, value in (before if side == "a" else before | after).items():
                text = text.replace(f"@{word}@", value)
            with (home / side / source_of(name)).open("a") as file:
                file.write(text.replace("NAME", name).replace("step", f"step_{name}"))
            (home / side / f"{name}.json").write_text(json.dumps({
                "name": name, "summary": name, "params": {"n": 64}, "code": {"source": source_of(name), "symbol": name}, "buffers": buffers,
                "launch": {"grid": [4], "block": [256], "args": args}, "work": {"items": "n"}, "check": {"expect": {"y": "i"}}}))


def follows_schema(kind, path):
    try:
        import jsonschema
    except ImportError:
        return
    schema = closed(load(ROOT / f"configs/schema/{kind}.schema.json"))
    found = [error.message[:200] for error in jsonschema.Draft202012Validator(schema).iter_errors(load(path))]
    check(not found, f"{kind}.schema.json: {found[:3]}")


def planted(home):
    done = run("codediff", "a", "b", *PLANTED, *ARCH, "--json", "d.json", home=home)
    check_run(done, 1, "planted regressions")
    follows_schema("codediff", home / "d.json")
    kernels = {kernel["kernel"]: kernel for kernel in load(home / "d.json")["kernels"]}
    check(kernels.keys() == PLANTED.keys(), f"every kernel is compared: {sorted(kernels)} {done.stdout[-1500:]}{done.stderr}")
    for name, (_, _, _, cause) in PLANTED.items():
        kernel = kernels.get(name, {"verdict": None, "cause": None})
        if cause:
            # What unrolling is worth differs between compilers; spills may be worth the waves that they make room for.
            wanted = {"streamed": ["changed"], "unrolled": ["hurt", "helped"], "no_bounds": ["hurt", "mixed"]}.get(name, ["hurt"])
            check(kernel["verdict"] in wanted and (kernel["cause"] or "").startswith(cause), f"{name}: {kernel['verdict']}: {kernel['cause']}, not {cause}")
        else:
            check(kernel["verdict"] == "same" and not kernel["cause"], f"{name}: {kernel['verdict']}: {kernel['cause']}")
    for name in ("may_alias", "cast", "serial"):
        check("no longer known to be read or written alone" in (kernels[name]["cause"] or ""), f"{name}, by the metadata: {kernels[name]['cause']}")
    run("codediff", "b", "a", *PLANTED, *ARCH, "--json", "m.json", home=home)
    for mirrored in load(home / "m.json")["kernels"]:
        kernel = kernels[mirrored["kernel"]]
        was, back = ((of["verdict"], of["cause_code"], bool(of["why"]), bool(of["better"])) for of in (kernel, mirrored))
        check(back == (OTHER_WAY.get(was[0], was[0]), was[1], was[3], was[2]), f"{kernel['kernel']}: {was} is the other way {back}")
    metrics = {row["metric"]: row for row in load(home / "d.json")["metrics"]}
    spills = metrics["vgpr_spills"]
    check((spills["hurt"], spills["helped"], spills["hurt"] + spills["same"]) == (3, 0, len(PLANTED)), f"spills: {spills}")
    shown = run("codediff", "a", "b", "few_registers", "untouched", *ARCH, "--isa", home=home)
    check_run(shown, 1, "for people", stdout=["few_registers", "worst of", "helped  hurt  same", "scratch_store_dword", "2 kernels: 1 hurt, 0 helped, 0 changed, 1 same"])
    check_run(run("codediff", "a", "a", "few_registers", "untouched", *ARCH, home=home), 0, "nothing changed", stdout="0 hurt, 0 helped, 0 changed, 2 same")
    check_run(run("codediff", "b", "a", "few_registers", "tile", *ARCH, home=home), 0, "the other way", stdout="2 helped")


def flags(home):
    for words, kernel, cause, code in FLAGS:
        done = run("codediff", CLANGXX, f"{CLANGXX} {words}", kernel, "--kernels", "a", *ARCH, "--json", "f.json", home=home)
        check_run(done, code, words)
        found = load(home / "f.json")["kernels"][0]
        check((found["cause"] or "").startswith(cause) if cause else found["verdict"] == "same", f"{words}: {found['verdict']}: {found['cause']}, not {cause}")
    for words in ("-enable-misched=0", "-enable-post-misched=0"):
        done = run("codediff", CLANGXX, f"{CLANGXX} -mllvm {words}", "stream_triad", "softmax_row", "--arch", "gfx1201", "--json", "f.json", home=home)
        causes = [kernel["cause"] for kernel in load(home / "f.json")["kernels"] if kernel["verdict"] != "same"]
        check(causes and all(cause.startswith("scheduling") for cause in causes), f"{words}, which pairs other instructions for dual issue: {causes} {done.stderr}")
    for words, cause in (("-mllvm -enable-misched=0", ("scheduling",)),
                         ("-D__restrict=", ("loads that stay behind stores (alias analysis", "alias analysis"))):  # LLVM before 22 says it so
        done = run("codediff", CLANGXX, f"{CLANGXX} {words}", "layernorm", "--arch", "gfx942", "--json", "f.json", home=home)
        found = load(home / "f.json")["kernels"][0]["cause"]
        check(found.startswith(cause), f"{words}, which both leave loads behind stores: {found} {done.stderr}")
    done = run("codediff", CLANGXX, f"{CLANGXX} -mcumode", "stream_triad", "--arch", "gfx1201", "--json", "f.json", home=home)
    found = load(home / "f.json")["kernels"][0]
    check((found["verdict"], found["cause"][:7]) == ("changed", "CU mode"), f"another mode, the same instructions: {found}")
    (home / "fails").write_text(f'#!/bin/sh\ncase "$*" in *--version*|*empty.*) exec {CLANGXX} "$@";; esac\necho error: no >&2\nexit 1\n')
    (home / "fails").chmod(0o755)
    check_run(run("run", "stream_triad", "--device", "sim:mi300x", "--ab", "./fails", CLANGXX, home=home), 0, "predicted without code",
              stderr="fails does not compile stream.hip, so times are of the stated work, not of code: error: no")
    check_run(run("codediff", f"{CLANGXX} -fplugin=x.so", CLANGXX, "rolled", "--kernels", "a", *ARCH, home=home), 2, "a plugin", stderr="--allow-flags")
    check_run(run("codediff", "clang++-0", CLANGXX, "rolled", home=home), 2, "no compiler", stderr="codediff: there is no folder, compiler or code object 'clang++-0'")
    check_run(run("codediff", "a", CLANGXX, "rolled", home=home), 2, "not of a kind", stderr="give two of a kind")
    check_run(run("codediff", "a -O1", "b", "rolled", home=home), 2, "a folder with flags", stderr="only a compiler takes flags")


def objects(home):
    """The same of code objects, and of libraries with several kernels; what one side lacks is said."""
    made = {}
    for side in ("a", "b"):
        for name in ("few_registers", "rolled", "untouched", "adds", "adds_in_loop"):
            done = run("inspect", name, "--kernels", side, *ARCH, "--json", "-", home=home)
            made[side, name] = json.loads(done.stdout)["files"][0]["path"]
            shutil.copy(made[side, name], home / f"{side}_{name}.co")
        several = [(b"hipv4-amdgcn-amd-amdhsa--gfx942", (home / f"{side}_{name}.co").read_bytes())
                   for name in (("few_registers", "rolled") if side == "a" else ("rolled", "untouched"))]
        (home / f"{side}.hipfb").write_bytes(bundle(several))
    check_run(run("codediff", "a_few_registers.co", "b_few_registers.co", home=home), 1, "two objects", stdout=["few_registers", "register limit"])
    for name in ("few_registers", "rolled", "adds", "adds_in_loop"):  # in a launch that is made up
        check_run(run("codediff", f"a_{name}.co", f"b_{name}.co", name, home=home), 1, f"objects: {name}", stdout=["hurt", "a made-up launch"])
        check_run(run("codediff", f"b_{name}.co", f"a_{name}.co", name, home=home), 0, f"objects the other way: {name}", stdout="1 helped")
    check_run(run("codediff", "a_untouched.co", "b_untouched.co", home=home), 0, "equal objects", stdout="1 same")
    check_run(run("codediff", "a.hipfb", "b.hipfb", home=home), 1, "two libraries",
              stdout=["unrolling", "only in a.hipfb: few_registers", "only in b.hipfb: untouched", "1 kernel: 1 hurt"])
    check_run(run("codediff", "a.hipfb", "b.hipfb", "rol*", home=home), 1, "a filter", stdout="1 kernel: 1 hurt")
    check_run(run("codediff", "a_few_registers.co", "b_rolled.co", home=home), 2, "nothing in common", stderr="no kernel is in both")
    check_run(run("codediff", "a/rolled.json", "b_rolled.co", home=home), 2, "no code", stderr="is the manifest of a kernel, where compiled code is wanted")


LTO_MAIN = """extern __attribute__((device, visibility("hidden"))) float step(float a, float b, const float *x, unsigned r);
extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256))) void linked(float *y, const float *x, unsigned n)
{
    const unsigned i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
    float s[24];
    for (int k = 0; k < 24; k++)
        s[k] = x[i + k * n];
    for (unsigned r = 0; r < n; r++)
#pragma unroll
        for (int k = 0; k < 24; k++)
            s[k] = step(s[k], x[r + k], x, r + i);
    float sum = 0;
    for (int k = 0; k < 24; k++)
        sum += s[k];
    y[i] = sum;
}
"""
LTO_STEP = """__attribute__((device@WHERE@)) float step(float a, float b, const float *x, unsigned r)
{
    for (int k = 0; k < 6; k++)
        a = a * b + x[r + k * 64];
    return a;
}
"""


def linked(home):
    """Two sources, linked with and without link-time optimization. Calls between them go to the function, or through a table, where
    they cannot be followed and say nothing of the loop's time."""
    linker = CLANGXX.replace("clang++", "ld.lld")
    if not shutil.which(linker):
        print(f"skipped: no {linker}")
        return
    code = ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-nogpulib", "-O3", "-c"]
    for name, text in (("main", LTO_MAIN), ("step", LTO_STEP.replace("@WHERE@", ', visibility("hidden")')), ("far", LTO_MAIN.replace('"hidden"', '"default"')),
                       ("far_step", LTO_STEP.replace("@WHERE@", ', visibility("default")'))):
        (home / f"{name}.hip").write_text(text)
        call(home, CLANGXX, "-x", "hip", "--offload-device-only", "--offload-arch=gfx942", "-fgpu-rdc", "-nogpulib", "-nogpuinc", "-O3", "-emit-llvm", "-c",
             f"{name}.hip", "-o", f"{name}.bc")
        call(home, CLANGXX, *code, "-x", "ir", f"{name}.bc", "-o", f"{name}.o")
    call(home, linker, "-shared", "main.o", "step.o", "-o", "near.co")
    call(home, linker, "-shared", "far.o", "far_step.o", "-o", "far.co")
    call(home, linker, "-shared", "--lto-O3", "-plugin-opt=mcpu=gfx942", "main.bc", "step.bc", "-o", "lto.co")
    for code_object in ("near.co", "far.co"):
        check_run(run("codediff", "lto.co", code_object, home=home), 1, f"{code_object} without LTO",
                  stdout="inlining: 24 calls to functions that were inlined before (link-time optimization")
        check_run(run("codediff", code_object, "lto.co", home=home), 0, f"{code_object} to LTO", stdout="inlining: 24 calls to functions are inlined now")


def pins(home):
    """Accepted figures: what they allow is no finding, what is beyond them is."""
    pin = ["--pin", "pins.json"]
    check_run(run("codediff", "a", "b", "few_registers", "tile", *ARCH, *pin, home=home), 0, "written", stdout="2 accepted by pins.json")
    check_run(run("codediff", "a", "b", "few_registers", "tile", *ARCH, *pin, home=home), 0, "accepted", stdout="2 accepted by pins.json")
    follows_schema("pins", home / "pins.json")
    accepted = load(home / "pins.json")
    accepted["kernels"][0]["figures"] |= {"vgpr_spills": 0, "scratch_bytes": 0}
    (home / "pins.json").write_text(json.dumps(accepted))
    check_run(run("codediff", "a", "b", "few_registers", "tile", *ARCH, *pin, home=home), 1, "beyond", stdout=["beyond what is accepted", "1 accepted"])
    check_run(run("codediff", "b", "b", "few_registers", *ARCH, *pin, home=home), 1, "beyond, without a change", stdout="beyond what is accepted")
    check_run(run("codediff", "a", "b", "few_registers", *ARCH, *pin, "--force", home=home), 0, "anew", stdout="1 accepted")
    for text, said in (("[]", "must be an object"), ("{", "pins.json:1"), ('{"schema": "x", "kernels": []}', "is no file of accepted figures")):
        (home / "pins.json").write_text(text)
        check_run(run("codediff", "a", "b", "tile", *ARCH, *pin, home=home), 2, f"pins {text}", stderr=said)


if __name__ == "__main__":
    if not CLANGXX:
        skip("there is no clang++ that knows gfx942")
    main(write_sides, planted, flags, objects, linked, pins)
