#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A real mpirun of Open MPI starts four ranks on this host, on the CPU and with a GPU each (a stand-in): each knows which it is, and
`rooftile fleet` reads them as one job. Open MPI is unpacked under build/tools, never installed."""
import json
import subprocess

from harness import DOUBLES, PATIENCE_S, PROGRAM, QUICK, ROOT, check, check_run, environment, load, main, run, skip

MPI = ROOT / "build/tools/openmpi"
MPIRUN = MPI / "usr/bin/mpirun.openmpi"
RANKS = 4


def mpirun(home, *command, ranks=RANKS, **gpus):
    libraries = next(MPI.glob("usr/lib/*/libopen-pal.so.*")).parent
    variables = dict.fromkeys(("OPAL_PREFIX", "PRTE_PREFIX", "PMIX_PREFIX"), str(MPI / "usr")) | {
        "LD_LIBRARY_PATH": f"{libraries}:{libraries}/pmix2/lib", "OMPI_MCA_reachable": "weighted", "TMPDIR": str(home),
        "OMPI_MCA_plm_rsh_agent": "false", "PRTE_MCA_plm_rsh_agent": "false"} | gpus  # PRTE: since Open MPI 5
    call = [str(MPIRUN), "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *map(str, command)]
    return subprocess.run(call, env=environment(home, **variables), cwd=home, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE_S)


def measured(home, device, kernel, params, name, **gpus):
    """Four ranks run a kernel; whether each knows which it is, and `fleet` finds a device of each."""
    suite = {"name": name, "defaults": {"measure": QUICK}, "cases": [{"kernel": kernel, "params": params}]}
    (home / f"{name}.json").write_text(json.dumps(suite))
    check_run(mpirun(home, PROGRAM, "run", f"{name}.json", "--device", device, "--out-dir", name, "-q", **gpus), 0, f"four ranks of {name}")
    results = [load(path) for path in (home / name).glob("*.json")]
    jobs = sorted((job["engine"], job["rank"], job["world"], job["local_rank"]) for job in (result["run"]["job"] for result in results))
    check(jobs == [("openmpi", rank, RANKS, rank) for rank in range(RANKS)], f"who each is: {jobs}")
    check([case["status"] for result in results for case in result["cases"]] == ["ok"] * RANKS, "each has measured")
    judged = run("fleet", name, "--json", "-", home=home)
    document = json.loads(judged.stdout or "{}")
    check(len(document.get("devices", ())) == RANKS and not document["missing"], f"a device each: {judged.stdout[:2000]} {judged.stderr}")
    return {result["environment"]["device"]["id"] for result in results}


def ranks(home):
    if not MPIRUN.exists():
        skip("there is no Open MPI; scripts/test fetches it")
    started = mpirun(home, "true", ranks=2)
    if started.returncode:
        skip(f"mpirun starts nothing here: {started.stdout[-300:]}{started.stderr[-300:]}")
    measured(home, "cpu", "stream_copy", {"n": 4096}, "cores")
    gpus = {"ROOFTILE_HIP_LIBRARY": str(DOUBLES / "libfake_hip.so"), "ROOFTILE_SYSFS": str(home / "sys"), "FAKE_HIP_DEVICES": str(RANKS)}
    found = measured(home, "local", "copy_on_device", {"size": 4096}, "gpus", **gpus)
    check(found == {f"hip:{rank}" for rank in range(RANKS)}, f"a GPU for each rank: {found}")


main(ranks, doubles=["libfake_hip.so"])
