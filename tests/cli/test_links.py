# SPDX-License-Identifier: MIT
"""Links and collectives of a node on stand-ins for libamdhip64, libcuda, RCCL and NCCL, of three and of eight devices: verified, a slow
link in its place in the matrix, queues that serialise, a wrong element, a device that reaches nobody."""
import json

from harness import DOUBLES, ROOT, check, check_run, load, main, run

COLLECTIVES = ("all_reduce", "all_reduce_in_place", "all_gather", "all_gather_in_place", "reduce_scatter", "reduce_scatter_in_place",
               "broadcast", "all_to_all", "send_recv")
COPIES = ("copy_all_to_all", "copy_ring", "copy_one_to_all")


def vendor(backend, devices, **fake):
    name = backend.upper()
    return {f"ROOFTILE_{name}_LIBRARY": str(DOUBLES / f"libfake_{backend}.so"), f"FAKE_{name}_DEVICES": str(devices),
            "ROOFTILE_RCCL": str(DOUBLES / "libfake_ccl.so"), "ROOFTILE_NCCL": str(DOUBLES / "libfake_ccl.so"),
            "ROOFTILE_NVML_LIBRARY": "/nonexistent.so"} | {f"FAKE_{name}_{key}": str(value) for key, value in fake.items()}


def verified(home):
    for backend, devices in (("hip", 8), ("cuda", 3)):
        done = run("check", "--run", *COLLECTIVES, *COPIES, "--device", f"{backend}:0", home=home, **vendor(backend, devices))
        check_run(done, 0, f"collectives of {devices} devices")
        check(f"{len(COLLECTIVES) + len(COPIES)} verified" in done.stdout, done.stdout)
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


def suite(home):
    """The suite's copies, smaller, without those of our kernels, which the stand-ins do not know."""
    links = json.loads((ROOT / "configs/links.json").read_text())
    links["cases"] = [case for case in links["cases"] if case["kernel"] != "kernel_copy_peer"]
    for case in links["cases"]:
        case["params"]["size"] = 1 << 20
    links["derive"] = [derive for derive in links["derive"] if derive["kernel"] != "kernel_copy_peer"]
    (home / "links.json").write_text(json.dumps(links))


def measured(home, code, **fake):
    done = run("run", "links.json", "--device", "hip:0", "--quick", "-o", "r.json", cwd=home, home=home, **vendor("hip", 3, **fake))
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
    check("| together |" not in done.stdout and "finding" not in done.stdout, f"no finding: {done.stdout}")
    # Against the link's ceiling, whose source the machine file has; 25 and 100 GB/s of 64.
    for links, code, share in (("25", 0, 0.39), ("100", 1, None)):
        done = run("run", "copy_peer", "--set", "size=64Mi", "--device", "hip:0", "--quick", "--machine", "mi300x", "-o", "link.json", cwd=home,
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


main(verified, skipped, links, doubles=["libfake_hip.so", "libfake_cuda.so", "libfake_ccl.so"])
