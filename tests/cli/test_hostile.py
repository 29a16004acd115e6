# SPDX-License-Identifier: MIT
"""Kernels that are right when somebody looks and wrong when they are timed: each is found, and its honest twin (HONEST=1) passes."""
import json
import re

from harness import QUICK, check, check_run, load, main, run

# One work-item does everything, so that what a launch remembers is simple. `launches` counts those before this one.
SOURCE = """#include "portable.h"

#define KERNEL(name) extern "C" __global__ void name(uint32_t *out, uint32_t *in, uint32_t *kept, uint32_t n, uint32_t columns)
#define LAUNCHES static uint32_t before = 0; const uint32_t launches = before++
#define ALL for (uint32_t i = 0; i < n; ++i)

KERNEL(first_only) { LAUNCHES; if (HONEST || launches == 0) ALL out[i] = 2 * in[i]; }
KERNEL(reuses) { ALL if (HONEST || out[i] == 0xcdcdcdcdu) out[i] = 2 * in[i]; }
KERNEL(remembers) { if (HONEST || kept[0] != 1) ALL out[i] = 2 * in[i]; kept[0] = 1; }
KERNEL(third) { LAUNCHES; ALL out[i] = 2 * in[i]; if (!HONEST && launches % 3 == 2) out[n / 2] += 1; }
KERNEL(fifth) { LAUNCHES; ALL out[i] = 2 * in[i]; if (!HONEST && launches % 5 == 4) out[n / 2] += 1; }
KERNEL(tires) { LAUNCHES; ALL out[i] = 2 * in[i]; if (!HONEST && launches >= 8) out[3] += 1; }
KERNEL(eats) { ALL out[i] = 2 * in[i]; if (!HONEST) in[n - 1] = 77; }
KERNEL(eats_later) { LAUNCHES; ALL out[i] = 2 * in[i]; if (!HONEST && launches == 9) in[5] = 77; }
KERNEL(past) { ALL out[i] = 2 * in[i]; if (!HONEST) out[n + 2] = 1; }
KERNEL(front) { ALL out[i] = 2 * in[i]; if (!HONEST) kept[-1] = 1; }
KERNEL(past_later) { LAUNCHES; ALL out[i] = 2 * in[i]; if (!HONEST && launches == 9) in[n] = 1; }
KERNEL(large) { ALL out[i] = 2 * in[i] + (!HONEST && n > 1000 && i > n / 3); }
KERNEL(row) { ALL if (HONEST || i / columns != 778) out[i] = 2 * in[i]; }
KERNEL(garbage)
{
    for (uint32_t i = blockIdx.x * columns; i < (blockIdx.x + 1) * columns; ++i)
        out[i] = 2 * in[i] + (!HONEST && blockIdx.x == 778);
}
#define DONE(i) (out[i] == 2 * in[i])
KERNEL(looks) { if (HONEST || !DONE(0) || !DONE(n - 1)) ALL out[i] = 2 * in[i]; }
KERNEL(looks_around) { if (HONEST || !DONE(0) || !DONE(n / 2) || !DONE(n / 3) || !DONE(n - 1)) ALL out[i] = 2 * in[i]; }
KERNEL(looks_in_rows) { for (uint32_t row = 0; row < n; row += columns)
    if (HONEST || !DONE(row)) for (uint32_t i = row; i < n && i < row + columns; ++i) out[i] = 2 * in[i]; }
KERNEL(spoils_done) { const bool done = DONE(7); ALL out[i] = 2 * in[i]; if (!HONEST && done) out[9] = 1; }
KERNEL(busy_only) { LAUNCHES; ALL out[i] = 2 * in[i]; if (!HONEST && launches >= 8 && DONE(0) && out[n - 1] != 0xffffffffu) out[n / 2] += launches; }
KERNEL(guard_flip) { LAUNCHES; ALL out[i] = 2 * in[i]; if (!HONEST) out[n + 5] = launches % 2 ? kept[0] : (kept[0] = out[n + 5], 7); }
KERNEL(beyond) { ALL out[i] = 2 * in[i]; if (!HONEST) out[n - 1] += in[n] != 0; }
KERNEL(tail) { ALL out[i] = 2 * in[i]; if (!HONEST) for (uint32_t i = n / columns * columns; i < n; ++i) out[i] = 2 * in[i - 1]; }
KERNEL(shared)
{
    __shared__ uint32_t left;
    if (HONEST || left != 0x5eed) ALL out[i] = 2 * in[i];
    left = 0x5eed;
}
KERNEL(first_buffer) { static uint32_t *first = out; if (HONEST || out == first) ALL out[i] = 2 * in[i]; }
KERNEL(swaps) { LAUNCHES; ALL out[i] = 2 * in[!HONEST && launches % 2 && i < 2 ? 1 - i : i]; }
KERNEL(nan_late) { LAUNCHES; ALL ((float *)out)[i] = 2.0f * in[i]; if (!HONEST && launches >= 8) out[3] = 0x7fc12345u; }
KERNEL(memo) { if (HONEST || kept[0] != 0x3e30) ALL kept[i + 1] = 2 * in[i]; kept[0] = 0x3e30; ALL out[i] = kept[i + 1]; }
KERNEL(memo_in_code)
{
    static uint32_t held[131072], *of, size;
    if (HONEST || of != in || size != n) ALL held[i] = 2 * in[i];
    of = in, size = n;
    ALL out[i] = held[i];
}
#define WHOLE ((const float *)in)
KERNEL(memo_by_key)
{
    const float key = WHOLE[0] + 3 * WHOLE[n / 2] + 7 * WHOLE[n - 1] + 1;
    if (HONEST || ((float *)kept)[0] != key) ALL ((float *)kept)[i + 1] = 2 * WHOLE[i];
    ((float *)kept)[0] = key;
    ALL ((float *)out)[i] = ((float *)kept)[i + 1];
}
KERNEL(memo_by_key_in_code)
{
    static float held[131072], of;
    const float key = WHOLE[0] + 3 * WHOLE[n / 2] + 7 * WHOLE[n - 1] + 1;
    if (HONEST || of != key) ALL held[i] = 2 * WHOLE[i];
    of = key;
    ALL ((float *)out)[i] = held[i];
}
KERNEL(sixteenth) { LAUNCHES; ALL out[i] = 2 * in[i]; if (!HONEST && launches % 16 == 15) out[n / 2] += 1; }
KERNEL(sixty_fourth) { LAUNCHES; ALL out[i] = 2 * in[i]; if (!HONEST && launches % 64 == 63) out[n / 2] += 1; }
KERNEL(skips_rarely) { LAUNCHES; if (HONEST || (launches * 2654435761u >> 26) != 21) ALL out[i] = 2 * in[i]; }
KERNEL(one_element) { ALL ((float *)out)[i] = 2 * WHOLE[i] + (!HONEST && i == n / 3 * 2 + 1); }
KERNEL(no_barrier)
{
    __shared__ uint32_t next[64];
    const uint32_t t = threadIdx.x, i = blockIdx.x * 64 + t;
    next[t] = i + 1 < n ? in[i + 1] : 0;
    if (HONEST) __syncthreads();
    if (i < n) out[i] = in[i] + (t ? next[t - 1] : in[i]);
}
KERNEL(prepared) { if (HONEST) ALL out[i] = 2 * in[i]; }
KERNEL(prepares) { if (!HONEST) ALL out[i] = 2 * in[i]; }
KERNEL(low_bits) { ALL ((uint64_t *)out)[i] = ((uint64_t)in[i] << 54) + (!HONEST && i == 3); }
KERNEL(far) { ALL out[i] = 2 * in[i]; if (!HONEST) out[n + (1u << 20)] = 1; }
KERNEL(restores) { ALL out[i] = 2 * in[i]; volatile uint32_t *at = in + 3; const uint32_t was = *at; *at = 77; *at = was; }
KERNEL(only_wrong) { ALL if (HONEST || out[i] != 2 * in[i]) out[i] = 2 * in[i]; }
KERNEL(one_period) { ALL out[i] = 2 * in[HONEST ? i : i % 251]; }
KERNEL(never_reads) { ALL out[i] = HONEST ? 2 * in[i] : 2 * (i % 251); }
KERNEL(never_reads_i) { ALL out[i] = HONEST ? 2 * in[i] : 2 * i; }
KERNEL(never_reads_f32) { ALL ((float *)out)[i] = HONEST ? 2 * WHOLE[i] : 2.0f * (i % 251); }
/* A hash of all of the input, and what was computed for it the last time. */
#define HASH uint32_t hash = 7; ALL hash = hash * 31 + in[i]
static uint32_t slowly(uint32_t x)
{
    for (uint32_t turn = 0; turn < 60; ++turn) x = opaque(x * 5 + turn);
    for (uint32_t turn = 60; turn-- > 0;) x = opaque((x - turn) * 0xcccccccdu);
    return 2 * x;
}
KERNEL(memo_by_hash)
{
    static uint32_t held[131072], of, met;
    HASH;
    if (HONEST || !met || of != hash) ALL held[i] = slowly(in[i]);
    of = hash, met = 1;
    ALL out[i] = held[i];
}
KERNEL(memo_of_many)
{
    static uint32_t held[64][1024], of[64], count;
    uint32_t at = 0;
    HASH;
    while (at < count && of[at] != hash) ++at;
    if (HONEST || at == count) { at = count < 64 ? count++ : hash % 64; of[at] = hash; ALL held[at][i] = slowly(in[i]); }
    ALL out[i] = held[at][i];
}
KERNEL(memo_by_ends)
{
    static uint32_t held[131072], first, last, met;
    if (HONEST || !met || first != in[0] || last != in[n - 1]) ALL held[i] = slowly(in[i]);
    first = in[0], last = in[n - 1], met = 1;
    ALL out[i] = held[i];
}
KERNEL(ignores_one) { ALL out[i] = in[i] + (HONEST ? kept[i] : i % 13); }
KERNEL(plain) { ALL out[i] = 2 * in[i]; }
KERNEL(jitter) { LAUNCHES; ALL ((float *)out)[i] = 2.0f * in[i] * (HONEST || launches % 2 ? 1 : 1 + 0x1p-22f); }

extern "C" __global__ void doubled(double *result, const uint64_t *index, const uint32_t *in, uint32_t samples, uint8_t *)
{
    const uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < samples)
        result[k] = 2.0 * in[index[k]];
}

extern "C" __global__ void doubled_f32(double *result, const uint64_t *index, const float *in, uint32_t samples, uint8_t *)
{
    const uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < samples)
        result[k] = 2.0 * in[index[k]];
}
"""
CODE = {"source": "hostile.hip", "defines": {"HONEST": "{HONEST}"}}
REFERENCE = {
    "name": "doubled", "summary": "twice the input", "tags": ["reference"], "params": {"n": 4, "samples": 4, "cost": 1, "room": 1},
    "code": {"source": "hostile.hip", "symbol": "doubled", "defines": {"HONEST": "1"}},
    "buffers": {"index": {"type": "u64", "count": "samples", "role": "in", "fill": "i"},
                "result": {"type": "f64", "count": "samples", "role": "out"},
                "in": {"type": "u32", "count": "n", "role": "in", "fill": "i"},
                "spare": {"type": "u8", "count": "n > 1000 ? room : 1", "role": "temp"}},
    "launch": {"grid": ["ceil_div(samples, 64)"], "block": [64], "args": ["result", "index", "in", {"value": "samples", "type": "u32"}, "spare"]},
    "work": {"flops": "samples * cost", "unit": "vector_f32"},
    "check": {"expect": {"result": "2 * i"}}}
REFERENCE_F32 = REFERENCE | {"name": "doubled_f32", "code": REFERENCE["code"] | {"symbol": "doubled_f32"},
                             "buffers": REFERENCE["buffers"] | {"in": {"type": "f32", "count": "n", "role": "in", "fill": "i"}}}
EXPECT = {"params": {"n": 1021}, "expect": {"out": "2 * (i % 251)"}}


def referenced(**more):
    return {"params": {"n": 96}, "reference": {"kernel": "doubled", "output": "out"} | more} # fewer elements than samples


# What is said of each: its check, other members of its manifest, the words of its reason; `only` the run finds it, not `check --run`.
DRAWN = {"in": {"fill": {"gen": "uniform", "low": "0", "high": "1000"}}, "kept": {"count": "n + 1"}}
F32 = {"type": "f32", "in": {"type": "f32"}}
KEYED = F32 | {"kept": {"type": "f32", "count": "n + 1"}}
FRESH = "it keeps what it computed before"
ARGS = ["out", "in", "kept", {"value": "n", "type": "u32"}, {"value": "columns", "type": "u32"}]
SHORT = {"params": {"n": 1021, "columns": 64, "HONEST": 0}} # timed in batches
SMALL = {"params": {"n": 1021, "columns": 64, "HONEST": 0}}
WAVES = SMALL | {"launch": {"grid": ["ceil_div(n, 64)"], "block": [64], "args": ARGS}}
PREPARED = {"setup": [{"launch": {"symbol": "prepares", "grid": [1], "block": [1], "args": ARGS}}]}
UNTIMED = {"launch": None, "steps": [PREPARED["setup"][0] | {"timed": False}, {"launch": {"grid": [1], "block": [1], "args": ARGS}}]}
LONG = {"min_time": "500 ms", "max_samples": 100000} # of which a tenth is for launches that are looked at
RARE = ("sixteenth", "sixty_fourth", "skips_rarely")
RUN_ONLY = (*RARE, "only_wrong", "one_period", "one_element", "memo_by_hash", "memo_of_many", "first_buffer", "busy_only", "nan_late", "spoils_done", "tires", "eats_later", "past_later", "large", "row", "garbage")
HOSTILE = {
    "first_only": (EXPECT, {}, "in launch 2 of the same code: out[0] is not written"),
    "reuses": (EXPECT, {}, "in launch 2 of the same code: out[0] is not written"),
    "remembers": (EXPECT, {}, "in launch 2 of the same code: out[0] is not written"),
    "third": (EXPECT, {}, "in launch 3 of the same code: out["),
    "fifth": (EXPECT, {"params": {"n": 1021, "columns": 64, "HONEST": 0}}, "in launch 5 of the same code: out["),
    "tires": (EXPECT, {}, "after the samples, as they left it: out[3] is 7, expected 6"),
    "eats": (EXPECT, {}, "in launch 2 of the same code: input in[{last}] was overwritten: it is 77, and was {was}"),
    "eats_later": (EXPECT, {}, "after the samples: input in[5] was overwritten: it is 77, and was 5"),
    "past": (EXPECT, {}, "writes outside of its buffers: bytes 8 to 11 behind the end of 'out'"),
    "front": (EXPECT, {}, "writes outside of its buffers: bytes 1 to 4 before the beginning of 'kept'"),
    "past_later": (EXPECT, {}, "after the samples: it writes outside of its buffers: bytes 0 to 3 behind the end of 'in'"),
    "large": (referenced(params={"cost": 10000000}), {}, "expected"),
    "row": (referenced(), {}, "is not written"),
    "garbage": (referenced(), {"grid": ["n / columns"]}, "expected"),
    "never_reads": (EXPECT, {}, "with another 'in': no output changed, so none depends on it"),
    "never_reads_i": ({"params": {"n": 1021}, "expect": {"out": "2 * i"}}, {"in": {"fill": "i"}}, "with another 'in': no output changed"),
    "never_reads_f32": (EXPECT, F32, "with another 'in': no output changed"),
    "ignores_one": ({"params": {"n": 1021}, "expect": {"out": "i % 251 + i % 13"}}, {"kept": {"role": "in", "count": "n", "fill": "i % 13"}}, "with another 'kept': no output changed"),
    "memo_by_hash": (EXPECT, SHORT, "it remembers its results"),
    "memo_of_many": (EXPECT, SHORT, "it remembers its results"),
    "memo_by_ends": (EXPECT, SHORT, FRESH),
    "looks": (EXPECT, {}, "in launch 3 of the same code: out["),
    "looks_around": (EXPECT, {}, "in launch 3 of the same code: out["),
    "looks_in_rows": (EXPECT, {}, "in launch 3 of the same code: out["),
    "spoils_done": (EXPECT, {}, "out[9] is 1, expected 18"),
    "busy_only": (EXPECT, {}, "after the samples, as they left it: out["),
    "guard_flip": (EXPECT, {}, "writes outside of its buffers: bytes 20 to 23 behind the end of 'out'"),
    "beyond": (EXPECT, {}, "expected"),
    "tail": (EXPECT, {"params": {"n": 131050, "columns": 64, "HONEST": 0}}, "expected"),
    "shared": (EXPECT, {}, "in launch 2 of the same code: out[0] is not written"),
    "first_buffer": (EXPECT, {}, "after the samples"),
    "memo": (referenced(), DRAWN, "'out'"),
    "memo_in_code": (referenced(), DRAWN, FRESH),
    "memo_by_key": (EXPECT, KEYED, "out"),
    "memo_by_key_in_code": (EXPECT, F32, FRESH),
    "sixteenth": (EXPECT, {}, "after the samples"),
    "sixty_fourth": (EXPECT, {}, "after the samples"),
    "skips_rarely": (EXPECT, {}, "after the samples"),
    "one_element": ({"params": {"n": 96}, "reference": {"kernel": "doubled_f32", "output": "out", "params": {"cost": 20000}}}, F32,
                    "with all inputs alike: out[87381] is 2, expected 1"),
    "no_barrier": (EXPECT, WAVES, "in launch 2 of the same code, work-items run backward: out["),
    "prepared": (EXPECT, PREPARED, "'out' is right before anything that is timed has run"),
    "untimed": (EXPECT, UNTIMED | {"symbol": "prepared"}, "'out' is right before anything that is timed has run"),
    "low_bits": ({"expect": {"out": "2^54 * (i % 251)"}}, SMALL | {"type": "u64"}, "out[3] is 54043195528445960, expected 54043195528445952"),
    "swaps": (EXPECT, {}, "in launch 2 of the same code: out[0] is 2, expected 0"),
    "only_wrong": (EXPECT, {}, "'out' is written only where it is not right already: launches that are timed leave 64 of 64 pages as they find them"),
    "one_period": (EXPECT, {"work": {"read": "4 * n", "write": "4 * n"}},
                   "\"work\" says that a launch goes over 512 KiB of its buffers, but it touches at most"),
    "nan_late": (EXPECT, {"type": "f32"}, "after the samples, as they left it: out[3] is nan"),
    "jitter": (EXPECT | {"expect": {"out": {"expr": "2 * (i % 251)", "rel": "2^-20"}}}, {"type": "f32"},
               "in launch 2 of the same code: 'out' differs from the first launch among elements 0 to"),
}
ACCEPT = {"expr": "2 * (i % 251)"}
LAX = {
    "wide": ({"expect": {"out": ACCEPT | {"abs": "500"}}}, "accepts anything: abs 500 is as wide as all that is expected, from 0 to 500"),
    "one_number": ({"expect": {"out": ACCEPT | {"abs": "250"}}}, "accepts one number in place of all that are expected, from 0 to 500"),
    "all_of_it": ({"expect": {"out": ACCEPT | {"rel": "1"}}}, "accepts anything: rel 1 is not below 1"),
    "over_a_fifth": ({"expect": {"out": ACCEPT | {"rel": "0.21"}}}, "a tolerance of 21 % shows nothing: rel is at most 20 %"),
    "over_a_fifth_reference": (referenced(rel="1 / 4"), "a tolerance of 25 % shows nothing"),
    "wide_reference": (referenced(abs="500"), "accepts anything: abs 500"),
}
TWINS = {
    "plain": EXPECT,
    "wide": {"expect": {"out": ACCEPT | {"abs": "249"}}}, "a_fifth": {"expect": {"out": ACCEPT | {"rel": "0.2"}}},
    "as_planned_less": referenced(rel="1 / 5"), "wide_reference": referenced(abs="200"),
}


def manifest(name, checked, symbol=None, grid=(1,), **more):
    typed = more.pop("type", "u32")
    described = {
        "name": name, "summary": name, "params": {"n": 131072, "columns": 64, "HONEST": 0}, "code": CODE | {"symbol": symbol or name},
        "buffers": {"out": {"type": typed, "count": "n", "role": "out"} | more.pop("out", {}),
                    "in": {"type": "u32", "count": "n", "role": "in", "fill": "i % 251"} | more.pop("in", {}),
                    "kept": {"type": "u32", "count": 1, "role": "temp"} | more.pop("kept", {})},
        "launch": {"grid": list(grid), "block": [1],
                   "args": ARGS},
        "check": checked}
    return {key: value for key, value in (described | more).items() if value is not None}


def write_kernels(home):
    folder = home / "k"
    folder.mkdir()
    (folder / "hostile.hip").write_text(SOURCE)
    described = [REFERENCE, REFERENCE_F32, manifest("restores", EXPECT)] + [manifest(name, checked, **more) for name, (checked, more, _) in HOSTILE.items()]
    described += [manifest(name, checked, "plain") for name, (checked, _) in LAX.items()]
    described += [manifest(name + "_twin", checked, "plain") for name, checked in TWINS.items()]
    described.append(manifest("few_of_many", EXPECT, "one_period", work={"read": "4 * 251", "footprint": "8 * n"}))
    described.append(manifest("far", EXPECT))
    described.append(manifest("jitter_allowed", HOSTILE["jitter"][0], "jitter", type="f32", out={"varies": True}))
    described.append(manifest("as_planned", referenced(rel="5 / 4"), "plain"))
    described.append(manifest("cramped", referenced(params={"cost": 10000000, "room": 1 << 50}), "large"))
    described.append(manifest("unseen", referenced(params={"cost": 1000000000}), "large"))
    for one in described:
        (folder / (one["name"] + ".json")).write_text(json.dumps(one, indent=1))


def case_of(name):
    measure = {"cache": "rotate"} if name == "first_buffer" else LONG if name in RARE else None
    return {"kernel": name} | ({"measure": measure} if measure else {}) | ({"params": {"n": 1021}} if name in RARE else {})


# How often a case is launched depends on how long a launch takes: on a busy machine two threads wait for each other.
DEVICE = "cpu:threads=1"


def measured(home, name, cases, code, *more):
    suite = {"name": name, "defaults": {"measure": QUICK | {"max_time": "10 s", "min_samples": 5, "max_samples": 9}}, "cases": cases}
    (home / f"{name}.json").write_text(json.dumps(suite))
    done = run("run", f"{name}.json", "--kernels", "k", "--device", DEVICE, "-o", f"{name}.r.json", *more, home=home)
    check_run(done, code, name)
    return {case["kernel"]: case for case in load(home / f"{name}.r.json")["cases"]}


def every_one_is_found(home):
    remembers = {name: {"measure": LONG} for name in ("memo_by_hash", "memo_of_many")}
    cases = measured(home, "hostile", [case_of(name) | remembers.get(name, {}) for name in (*HOSTILE, *LAX)], 1, "--sample-seed", "1")
    for name, (_, _, reason) in HOSTILE.items():
        case, reason = cases[name], reason.format(last=131071, was=131071 % 251)
        check(case["status"] == "failed" and reason in case["status_reason"], f"{name}: '{reason}' is not in: {case['status_reason']}")
        check(case["verification"]["status"] == "fail" and case["stats"] is None, f"{name} has no time: {case['verification']}, {case['stats']}")
    for name, (_, reason) in LAX.items():
        check(cases[name]["status"] == "error" and reason in cases[name]["status_reason"], f"{name}: {cases[name]['status_reason']}")
    done = run("plan", "as_planned", "--kernels", "k", "--device", "cpu", home=home)
    check_run(done, 2, "a plan", stderr="tolerance '5 / 4' is 1.25, which accepts anything: it must be below 1")
    large = cases["large"]["verification"]
    check(large["method"] == "variant" and large["first_wrong"]["index"] > 131072 / 3, f"some elements of the measured size are seen: {large}")


def twins_pass(home):
    names = [*HOSTILE, *(f"{name}_twin" for name in TWINS)]
    cases = measured(home, "honest", [case_of(name) | {"params": case_of(name).get("params", {}) | {"HONEST": 1}} for name in names], 0)
    for name, case in cases.items():
        v = case["verification"]
        check(v["status"] == "pass" and v["launches"] >= 4 and not v["not_checked"], f"{name}: {v}")
    check(cases["jitter"]["verification"]["tolerance_used"] == 0, "exact")
    check(cases["garbage"]["verification"]["checked"] == 4 * 2048, f"4 samples to each workgroup: {cases['garbage']['verification']}")


def how_many_launches_were_seen_is_said(home):
    v = measured(home, "seen", [{"kernel": "plain_twin", "params": {"n": 1021}, "measure": LONG}], 0)["plain_twin"]["verification"]
    check(v["launches"] > 200 and abs(0.95 - (1 - (1 - v["wrong_below"]) ** v["launches"])) < 1e-6, f"1.5 %, at 95 %: {v}")
    shown = run("report", "seen.r.json", home=home)
    check_run(shown, 0, "report", stdout="1 verified")
    check(re.search(r"looked at: 3\d\d launches of each case; under 0\.9\d* % of them are wrong", shown.stdout.replace("\n", " ")), shown.stdout)


def what_does_no_harm_passes(home):
    """An input that a launch changes and puts back is the same to all others."""
    case = measured(home, "restores", [{"kernel": "restores"}], 0)["restores"]
    check(case["verification"]["status"] == "pass", case["verification"])


def few_steps_touch_little(home):
    """A footprint is where a chase may go: of it no more is asked for than the bytes that it reads."""
    case = measured(home, "few", [{"kernel": "few_of_many"}], 0)["few_of_many"]
    check(case["verification"]["status"] == "pass", case["verification"])


def what_reaches_far_dies(home):
    """Behind the guards that are looked at nothing may be touched, by the CPU device."""
    case = measured(home, "far", [{"kernel": "far"}], 1)["far"]
    check(case["status"] == "crashed" and "while verifying" in case["status_reason"], f"{case['status']}: {case['status_reason']}")


def what_varies_is_verified_each_time(home):
    v = measured(home, "varies", [{"kernel": "jitter_allowed"}], 0)["jitter_allowed"]["verification"]
    check(v["status"] == "pass" and 0.2 < v["tolerance_used"] < 0.35, f"2^-22, rounded, of 2^-20: {v}")


def what_is_not_checked_is_said(home):
    cases = measured(home, "unseen", [{"kernel": "unseen"}, {"kernel": "cramped"}], 0)
    for name, why in (("unseen", "at the measured size one element costs too much"), ("cramped", "its buffers take 1.00 PiB")):
        said = cases[name]["verification"]["not_checked"] or ""
        check(said.startswith("values only at check.params: ") and why in said, f"{name}: {cases[name]['verification']}")
    done = run("run", "first_touch", "--set", "size=64Ki", "--device", "cpu:threads=2", "--quick", "-o", "touch.json", home=home)
    check_run(done, 0, "a buffer that a step allocates")
    said = load(home / "touch.json")["cases"][0]["verification"]["not_checked"]
    check(said == "writes outside of 'data', which a step allocates", f"no guards around it: {said}")
    shown = run("report", "unseen.r.json", home=home)
    check_run(shown, 0, "report", stdout="verified in part (2): unseen: values only at check.params")


def check_finds_them_too(home):
    names = [name for name in HOSTILE if name not in RUN_ONLY]
    done = run("check", *names, *LAX, "--run", "--kernels", "k", "--device", DEVICE, home=home)
    check_run(done, 1, "check --run", stdout=[f"0 verified, {len(names) + len(LAX)} wrong or broken"])
    for name in names:
        reason = HOSTILE[name][2].format(last=1020, was=1020 % 251)
        check(any(line.startswith("failed") and f" {name} " in line and reason in line for line in done.stdout.splitlines()),
              f"check --run, {name}: '{reason}' is missing in\n{done.stdout}")


def samples_are_drawn_afresh(home):
    """Without a seed each run asks for other elements; with it, for the same."""
    seeds = [measured(home, "fresh", [{"kernel": "row", "params": {"HONEST": 1}}], 0, *seed)["row"]["verification"]["sample_seed"]
             for seed in ((), (), ("--sample-seed", "7"))]
    check(seeds[0] != seeds[1] and seeds[2] == 7, f"seeds of samples: {seeds}")
    places = {measured(home, "again", [{"kernel": "garbage"}], 1, "--sample-seed", "7")["garbage"]["verification"]["first_wrong"]["index"]
              for _ in range(2)}
    check(len(places) == 1, f"the same elements for the same seed: {places}")


if __name__ == "__main__":
    main(write_kernels, every_one_is_found, twins_pass, how_many_launches_were_seen_is_said, what_does_no_harm_passes, few_steps_touch_little, what_reaches_far_dies, what_varies_is_verified_each_time, what_is_not_checked_is_said, check_finds_them_too,
         samples_are_drawn_afresh)
