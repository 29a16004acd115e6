# SPDX-License-Identifier: MIT
"""Links and collectives of a node on stand-ins for libamdhip64, libcuda, RCCL and NCCL, of three and of eight devices: verified, a slow
link in its place in the matrix, queues that serialise, a wrong element, a device that reaches nobody."""
import json
import re
import subprocess
import time

from harness import DOUBLES, PATIENCE_S, PROGRAM, QUICK, ROOT, check, check_run, environment, load, main, run

COLLECTIVES = ("all_reduce", "all_reduce_in_place", "all_gather", "all_gather_in_place", "reduce_scatter", "reduce_scatter_in_place",
               "broadcast", "all_to_all", "send_recv")
COPIES = ("copy_all_to_all", "copy_ring", "copy_one_to_all")


def vendor(backend, devices, **fake):
    name = backend.upper()
    return {f"ROOFTILE_{name}_LIBRARY": str(DOUBLES / f"libfake_{backend}.so"), f"FAKE_{name}_DEVICES": str(devices),
            "ROOFTILE_RCCL": str(DOUBLES / "libfake_ccl.so"), "ROOFTILE_NCCL": str(DOUBLES / "libfake_ccl.so"),
            "ROOFTILE_HIPBLASLT": str(DOUBLES / "libfake_hipblaslt.so"), "ROOFTILE_CUBLASLT": str(DOUBLES / "libfake_cublaslt.so"),
            "ROOFTILE_NVML_LIBRARY": "/nonexistent.so"} | {f"FAKE_{name}_{key}": str(value) for key, value in fake.items()}


def verified(home):
    for backend, devices in (("hip", 8), ("cuda", 3)):
        done = run("check", "--run", *COLLECTIVES, *COPIES, "gemm_all_reduce", "--device", f"{backend}:0", home=home, **vendor(backend, devices))
        check_run(done, 0, f"collectives of {devices} devices")
        check(f"{len(COLLECTIVES) + len(COPIES) + 1} verified" in done.stdout, done.stdout)
    done = run("check", "--inject-faults", "all_to_all", "copy_ring", "--device", "hip:0", home=home, **vendor("hip", 3))
    check_run(done, 0, "injected faults")
    done = run("check", "--run", "reduce_scatter", "--device", "hip:0", home=home, FAKE_CCL_WRONG="1", **vendor("hip", 3))
    check_run(done, 1, "a wrong element")
    check("wrong result: out of device 2[" in done.stdout, done.stdout)


def skipped(home):
    for devices, fake, why in ((1, {}, "the device has no peer"), (2, {"NO_PEER": 1}, "cannot reach the memory of hip:1")):
        done = run("check", "--run", "all_gather", "copy_ring", "--device", "hip:0", home=home, **vendor("hip", devices, **fake))
        check_run(done, 3, why)
        check(why in done.stdout, done.stdout)
    done = run("check", "--run", "all_gather", "--device", "hip:1", home=home, **vendor("hip", 2))
    check_run(done, 3, "from device 1")
    check("what devices do together is started from device 0" in done.stdout, done.stdout)
    done = run("check", "--run", "all_gather", "--set", "devices=9", "--device", "hip:0", home=home, **vendor("hip", 2))
    check(done.returncode in (2, 3), f"nine of two devices: {done.returncode}")


def overlap(home):
    """A library's product and an all-reduce on two streams: each verified, both libraries named, set against each alone."""
    collectives = json.loads((ROOT / "configs/collectives.json").read_text())
    cases = [case for case in collectives["cases"] if case["kernel"] in ("gemm_library", "gemm_all_reduce", "all_reduce")]
    for case in cases:
        case["params"] |= {"m": 16, "n": 16, "k": 16} if "m" in case["params"] else {}
        case["sweep"] = {"size": [1 << 10]} if "sweep" in case else {}  # launched hundreds of times
    derive = [derive for derive in collectives["derive"] if derive["method"] == "overlap"]
    (home / "overlap.json").write_text(json.dumps({"name": "overlap", "defaults": {"measure": QUICK}, "cases": cases, "derive": derive}))
    done = run("run", "./overlap.json", "--device", "hip:0", "-o", "overlap.r.json", cwd=home, home=home, **vendor("hip", 3))
    check_run(done, 0, "an overlap")
    result = load(home / "overlap.r.json")
    point, = result["derived"][0]["value"]["points"]
    alone = [case["stats"]["median_ns"] for case in result["cases"] if case["kernel"] != "gemm_all_reduce"]
    check(len(alone) == 2 and abs(point["sum_ns"] / sum(alone) - 1) < 1e-9 and point["longest_ns"] == max(alone), f"{point} {alone}")
    both = next(case for case in result["cases"] if case["kernel"] == "gemm_all_reduce")
    check(both["verification"]["status"] == "pass" and "rccl " in both["code"]["library"] and "hipblaslt " in both["code"]["library"], f"{both['code']}")
    check(len({case["code"]["object_sha256"] for case in result["cases"]}) == 3, "the hash of two files is that of neither")
    for form in ("table", "markdown"):
        done = run("report", "overlap.r.json", "--format", form, cwd=home, home=home)
        check("one after the other: speedup " in " ".join(done.stdout.split()), done.stdout)
    done = run("check", "--run", "gemm_all_reduce", "--device", "hip:0", home=home, FAKE_CCL_FAIL="ncclAllReduce:1:5", **vendor("hip", 3))
    check_run(done, 1, "a collective that fails")
    check("ncclAllReduce: invalid usage (5)" in done.stdout, done.stdout)


def far_memory(home):
    """Host memory of the farthest NUMA node: this host's node 0, as the device says that it is near to another."""
    done = run("check", "--run", "copy_to_device", "--set", "from=pinned_far", "--device", "hip:0", home=home, ROOFTILE_SYSFS=str(home / "sys"), **vendor("hip", 1))
    check("the device has no pinned_far memory" in done.stdout, done.stdout)
    card = "bus/pci/devices/ffff:00:00.0"
    for file, text in ((f"{card}/device", "0x74a1"), (f"{card}/numa_node", "1"), ("devices/system/node/node1/distance", "21 10"), ("devices/system/node/node0/cpulist", "0-3")):
        (home / "sys" / file).parent.mkdir(parents=True, exist_ok=True)
        (home / "sys" / file).write_text(text + "\n")
    for kernel, name in (("copy_to_device", "from"), ("copy_to_host", "to")):
        done = run("check", "--run", kernel, "--set", f"{name}=pinned_far", "--device", "hip:0", home=home, ROOFTILE_SYSFS=str(home / "sys"), **vendor("hip", 1))
        check("1 verified" in done.stdout or "no memory of NUMA node 0 can be had: " in done.stdout, done.stdout)


def write_suite(home, name, *kernels, **params):
    """These, measured as shortly as can be."""
    cases = [{"kernel": kernel, "params": params} for kernel in kernels]
    (home / f"{name}.json").write_text(json.dumps({"name": name, "defaults": {"measure": QUICK}, "cases": cases}))
    return f"{name}.json"


def suite(home):
    """The suite's copies, smaller, without those of our kernels, which the stand-ins do not know."""
    links = json.loads((ROOT / "configs/links.json").read_text())
    links["cases"] = [case for case in links["cases"] if case["kernel"] != "kernel_copy_peer"]
    for case in links["cases"]:
        case["params"]["size"] = 1 << 20
    links["defaults"]["measure"] = QUICK
    links["derive"] = [derive for derive in links["derive"] if derive["kernel"] != "kernel_copy_peer"]
    (home / "links.json").write_text(json.dumps(links))


def measured(home, code, **fake):
    done = run("run", "links.json", "--device", "hip:0", "-o", "r.json", cwd=home, home=home, **vendor("hip", 3, **fake))
    check_run(done, code, f"links {fake}")
    result = load(home / "r.json")
    return {derived["name"]: derived for derived in result["derived"]}, done.stdout


def links(home):
    suite(home)
    found, text = measured(home, 0, LINKS="50,1,2,10")
    cells = found["by the driver"]["value"]["cells"]
    check(cells[1][2] < 0.5 * cells[2][1] and cells[0][0] is None, f"the slow link from 1 to 2: {cells}")
    check(all("finding" not in derived for derived in found.values()), f"{found}")
    check(found["all to all"]["value"]["points"][0]["overlap"] > 2, f"{found['all to all']}")
    done = run("report", "r.json", "--format", "markdown", cwd=home, home=home)
    check_run(done, 0, "a report of links")
    check("| together |" not in done.stdout and "no findings\n" in done.stdout and done.stdout.count("finding") == 1, f"no finding: {done.stdout}")
    # Against the link's ceiling, whose source the machine file has; 25 and 100 GB/s of 64.
    one = write_suite(home, "one", "copy_peer", size=1 << 24)
    for links, code, share in (("25", 0, 0.39), ("100", 1, None)):
        done = run("run", one, "--device", "hip:0", "--machine", "mi300x", "-o", "link.json", cwd=home,
                   home=home, **vendor("hip", 2, LINKS=links))
        check_run(done, code, f"a link of {links} GB/s")
        case = load(home / "link.json")["cases"][0]
        check(case["roofline"]["ceiling_name"] == "peer_link" and case["roofline"]["bound"] == "peer_link", f"{case['roofline']}")
        if share:
            check(abs(case["roofline"]["fraction_of_ceiling"] - share) < 0.02, f"{case['roofline']}")
        else:
            check("impossible" in case["flags"] and "peer_link's vendor peak of 64.0 GB/s" in done.stdout, f"{case['flags']} {done.stdout}")
        ceilings = {link["name"]: link["rate"]["vendor"]["source"] for link in load(home / "link.json")["machine"]["links"]}
        check("xGMI" in ceilings["peer_link"], f"where it is from: {ceilings}")
    found, text = measured(home, 1)  # one clock for all streams: nothing overlaps
    check("the queues serialise them" in found["ring"]["finding"] and "the queues serialise them" in " ".join(text.split()), text)
    check("| together |" in run("report", "r.json", "--format", "markdown", cwd=home, home=home).stdout, "the finding in a report")


def start_rank(home, out, rank, world, *kernels, said=2, budget=None, **more):
    """One process of a job, with a GPU of its own."""
    suite = write_suite(home, f"{out}.{rank}", *kernels, size=1 << 16)
    variables = {"SLURM_PROCID": str(rank), "SLURM_NTASKS": str(said if said > world else world), "SLURM_LOCALID": str(rank), "SLURM_JOB_ID": "7",
                 "SLURMD_NODENAME": f"n{rank // 2}"} | more
    return subprocess.Popen([str(PROGRAM), "run", suite, *(["--budget", budget] if budget else []), "--device", "local", "--out-dir", out], cwd=home,
                            env=environment(home, **vendor("hip", 4), **variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True)


def ended(processes):
    said = [process.communicate(timeout=PATIENCE_S)[0] for process in processes]
    return [process.returncode for process in processes], said


def results(home, out):
    """By rank."""
    found = sorted(map(load, (home / out).glob("*.json")), key=lambda result: result["run"]["job"]["rank"])
    return [{case["kernel"]: case for case in result["cases"]} for result in found]


def ranks(home):
    """A process for each GPU, which know of each other by files of a folder; what an earlier run left there is not theirs."""
    (home / "out").mkdir()
    stale = "0123456789abcdef"
    (home / "out/.ranks.call").write_text(f"{stale} 3 6\n")
    (home / "out/.ranks.id").write_text(f"{stale} {'2f' * 128} {stale} {stale}\n")
    (home / "out/.ranks.1").write_text(f"{stale} {stale}\n")
    later = start_rank(home, "out", 2, 3, *COLLECTIVES)  # it meets what is old before rank 0 comes
    answer = home / "out/.ranks.2"
    while not answer.exists() and later.poll() is None:
        time.sleep(0.02)
    codes, said = ended([start_rank(home, "out", 0, 3, *COLLECTIVES), start_rank(home, "out", 1, 3, *COLLECTIVES), later])
    check(codes == [0, 0, 0], f"three processes: {codes} {said}")
    check("has the id of an earlier run (job 6): it is replaced" in said[0], f"that is said: {said[0]}")
    found = results(home, "out")
    check([len(cases) for cases in found] == [len(COLLECTIVES)] * 3, f"all of them: {[sorted(cases) for cases in found]}")
    for name in COLLECTIVES:
        each = [cases[name] for cases in found]
        check(all(case["status"] == "ok" and case["verification"]["status"] == "pass" for case in each), f"{name}: {[case.get('status_reason') for case in each]}")
        check(len({(case["stats"]["median_ns"], case["measurement"]["batch"], case["work"]["items"]) for case in each}) == 1, f"{name} is measured in lockstep")
    check(not list((home / "out").glob(".ranks*")), f"nothing is left: {list((home / 'out').glob('.*'))}")


def wrong_ranks(home):
    """A wrong element, and ranks that run different things: a line each, and no hang."""
    wrong = [start_rank(home, "wrong", rank, 3, "reduce_scatter", FAKE_CCL_WRONG="1") for rank in range(3)]
    other = [start_rank(home, "other", rank, 2, kernel) for rank, kernel in enumerate(("broadcast", "all_gather"))]
    codes, said = ended(wrong)
    reasons = [cases["reduce_scatter"]["status_reason"] for cases in results(home, "wrong")]
    check(codes == [1, 1, 1] and "out of rank 2[" in reasons[2] and all("of another rank of the job" in reason for reason in reasons[:2]), f"{codes} {reasons}")
    codes, said = ended(other)
    check(codes == [3, 3] and all("run different cases at once" in text for text in said), f"{codes} {said}")


absent = []


def begin_absent(home):
    """Two of four ranks, which wait for the others while all else is tested."""
    absent.extend(start_rank(home, "absent", rank, 2, "broadcast", "all_gather", budget="24s", said=4) for rank in range(2))


def end_absent(home):
    """Ranks that do not come: a line, and no hang."""
    codes, said = ended(absent)
    reasons = [{case["status_reason"] for case in cases.values()} for cases in results(home, "absent")]
    check(codes == [3, 3] and len(reasons[0]) == 1 and re.search("of 4 ranks these did not come within 8 s: (1, )?2, 3 ", reasons[0].pop()), f"{codes} {reasons} {said}")
    check(re.search("rank 0 (gave no id|of 4 did not come).* within 8 s", " ".join(reasons[1])), f"{reasons}")


main(begin_absent, verified, skipped, far_memory, overlap, links, ranks, wrong_ranks, end_absent, doubles=["libfake_hip.so", "libfake_cuda.so", "libfake_ccl.so", "libfake_hipblaslt.so", "libfake_cublaslt.so"])
