#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A real Slurm of four nodes with two GPUs each (stand-ins) on this host: srun starts the program, one GPU is slow, one node dies in the
middle, and `rooftile fleet` names them. Slurm is unpacked under build/tools, never installed, and each of its processes ended by pid."""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

from harness import CLANG, DOUBLES, PROGRAM, ROOT, check, environment, finish, run, scratch, skip

SLURM = ROOT / "build/tools/slurm"
NODES = [f"n{number}" for number in range(1, 5)]
LIMIT_S = 60  # of everything together
began = time.monotonic()
CONFIG = """ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={home}/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
PluginDir={plugins}
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool-%n
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
KillWait=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
PartitionName=all Nodes=n[1-4] Default=YES MaxTime=5 State=UP
"""


def left_s():
    return max(1, LIMIT_S - (time.monotonic() - began))


def wait_for(what, seconds=30):
    ends = time.monotonic() + min(seconds, left_s())
    while time.monotonic() < ends:
        if found := what():
            return found
        time.sleep(0.1)
    return None


def free_ports(count):
    """Ports that nobody listens on now; all are held until the last is found, so no two are the same."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def processes(variable, *more):
    """Pids of processes that have these variables in their environment."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if {variable, *more} <= set((folder / "environ").read_bytes().decode(errors="replace").split("\0")):
                found.append(int(folder.name))
    return found


def end(pids, how=signal.SIGKILL):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)


class Cluster:
    def __init__(self, home):
        self.home, self.started = home, {}
        libraries = next(SLURM.glob("usr/lib/*/slurm-wlm")).parent
        (home / "munge").mkdir(mode=0o700)
        (home / "munge/key").write_bytes(os.urandom(1024))
        (home / "munge/key").chmod(0o400)
        (home / "state").mkdir()
        self.config = home / "slurm.conf"
        port, *ports = free_ports(1 + len(NODES))
        lines = "".join(f"NodeName={node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={at} CPUs=2\n" for node, at in zip(NODES, ports))
        text = CONFIG.format(home=home, port=port, plugins=libraries / "slurm-wlm")
        self.config.write_text(text.replace("PartitionName", lines + "PartitionName"))
        self.variables = {"SLURM_CONF": str(self.config), "LD_LIBRARY_PATH": f"{libraries}:{libraries}/slurm-wlm"}

    def environment(self, **extra):
        return environment(self.home, **self.variables, **extra)

    def background(self, name, *command):
        with open(self.home / f"{name}.log", "wb") as log:
            self.started[name] = subprocess.Popen(list(map(str, command)), env=self.environment(), stdin=subprocess.DEVNULL, stdout=log,
                                                  stderr=log, start_new_session=True)

    def start(self):
        munge, sbin = self.home / "munge", SLURM / "usr/sbin"
        self.background("munged", sbin / "munged", "--foreground", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket",
                        f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        if not wait_for((munge / "socket").is_socket, 10):
            return False
        self.background("slurmctld", sbin / "slurmctld-wlm", "-D", "-f", self.config)
        for node in NODES:
            self.background(node, sbin / "slurmd-wlm", "-D", "-N", node, "-d", sbin / "slurmstepd-wlm", "-f", self.config)
        if not wait_for(lambda: self.call("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.strip() == str(len(NODES)), 20):
            return False
        empty = self.call("srun", f"-N{len(NODES)}", "true")  # several nodes on one host are more than some versions can do
        if empty.returncode:
            (self.home / "slurmctld.log").write_text(empty.stderr, encoding="utf-8")
        return not empty.returncode

    def call(self, tool, *args):
        return subprocess.run([str(SLURM / "usr/bin" / tool), *args], env=self.environment(), capture_output=True, text=True, timeout=left_s())

    def srun(self, script, *options, **extra):
        """The script on all nodes; it has the program as $0."""
        command = [str(SLURM / "usr/bin/srun"), f"-N{len(NODES)}", *options, "sh", "-c", script, str(PROGRAM)]
        return subprocess.Popen(command, env=self.environment(**extra), cwd=self.home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def kill_node(self, node):
        """All of the node at once, as when its power fails: its daemon, the steps' and what these started."""
        tasks = processes(f"SLURM_CONF={self.config}", f"SLURMD_NODENAME={node}")
        parents = {int((pathlib.Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[1]) for pid in tasks}
        steps = [pid for pid in parents if (pathlib.Path("/proc") / str(pid) / "comm").read_text().startswith("slurmstepd")]
        for how in (signal.SIGSTOP, signal.SIGKILL):  # nobody writes a result of those that were killed before it
            end([self.started[node].pid, *steps, *tasks], how)

    def stop(self):
        end([process.pid for process in reversed(self.started.values())], signal.SIGTERM)
        for process in self.started.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(3)
        end(processes(f"SLURM_CONF={self.config}"))
        for process in self.started.values():
            process.wait()


def judged(home, folder, nodes):
    """What `fleet` says: its exit code, its document, and the nodes to exclude."""
    ended = run("fleet", folder, "--expect", nodes, "--json", "-", home=home)
    bad = run("fleet", folder, "--expect", nodes, "--list", "bad", home=home)
    return ended.returncode, json.loads(ended.stdout or "{}"), bad.stdout.split()


MEASURE = 'exec "$0" run launch_empty --quick --out-dir '


def one_slow(cluster, gpus):
    """A process for each GPU: the fourth rank's is 10 % slower than the others."""
    script = '[ "$SLURM_PROCID" != 3 ] || export FAKE_HIP_KERNEL_NS=13200; [ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_NODELIST" >nodes; '
    job = cluster.srun(script + MEASURE + "ranks --device local -q", "--ntasks-per-node=2", **gpus)
    said, _ = job.communicate(timeout=left_s())
    check(job.returncode == 0, f"srun of eight: {job.returncode} {said}")
    nodes = (cluster.home / "nodes").read_text().strip()
    check(nodes == "n[1-4]", f"Slurm's list of nodes: {nodes}")
    jobs = [json.loads(path.read_text())["run"]["job"] for path in (cluster.home / "ranks").iterdir()]
    check(sorted((job["engine"], job["rank"], job["world"], job["node"], job["local_rank"]) for job in jobs) ==
          [("slurm", rank, 8, NODES[rank // 2], rank % 2) for rank in range(8)], f"who each is: {jobs}")
    code, document, bad = judged(cluster.home, "ranks", nodes)
    check(code == 1 and [entry["device"].split("#")[0] for entry in document["outliers"]] == ["n2 hip:1"], f"the slow one: {code} {document.get('outliers')}")
    check(bad == ["n2"] and not document["missing"], f"to exclude: {bad}, missing: {document['missing']}")


def collective(cluster, gpus):
    """A process for each GPU of the four nodes: one all-reduce of all eight, which meet through files of the folder."""
    script = 'exec "$0" run all_reduce --set size=64Ki --quick --device local --out-dir reduced --budget 60s -q'
    job = cluster.srun(script, "--ntasks-per-node=2", ROOFTILE_RCCL=str(DOUBLES / "libfake_ccl.so"), **gpus)
    said, _ = job.communicate(timeout=left_s())
    check(job.returncode == 0, f"a collective of eight ranks: {job.returncode} {said}")
    results = [json.loads(path.read_text()) for path in (cluster.home / "reduced").glob("*.json")]
    cases = [case for result in results for case in result["cases"]]
    check(sorted(result["run"]["job"]["rank"] for result in results) == list(range(8)), f"all of them: {len(results)}")
    check(all(case["verification"]["status"] == "pass" for case in cases) and len({case["stats"]["median_ns"] for case in cases}) == 1,
          f"verified, in lockstep: {[(case['status'], case['stats']['median_ns']) for case in cases]}")


def one_dies(cluster, gpus):
    """A process for each node: one node hangs in the middle of its measurement, and then loses its power."""
    script = '[ "$SLURMD_NODENAME" != n3 ] || export FAKE_HIP_FAIL=hipModuleLaunchKernel:3:hang; '
    job = cluster.srun(script + MEASURE + "all --device all --budget 120s -q", "--ntasks-per-node=1", "--no-kill", "--wait=2", **gpus)
    expected = {f"{node}.hip-{device}.json" for node in ("n1", "n2", "n4") for device in (0, 1)}
    results = cluster.home / "all"
    there = wait_for(lambda: results.is_dir() and expected <= {path.name for path in results.iterdir()})
    check(there, f"the others have measured: {sorted(results.iterdir()) if results.is_dir() else None}")
    hanging = processes(f"SLURM_CONF={cluster.config}", "SLURMD_NODENAME=n3")
    check(hanging, "the third node is in the middle of it")
    cluster.kill_node("n3")
    try:
        said, _ = job.communicate(timeout=left_s())
        check("task 2: running" in said, f"srun gives up the third task alone: {said}")
    except subprocess.TimeoutExpired:
        job.kill()
        job.communicate()
        check(False, "srun does not end")
    names = {path.name for path in results.iterdir()}
    check({name for name in names if name.endswith(".json")} == expected, f"nothing of the dead node: {names - expected}")
    code, document, bad = judged(cluster.home, "all", "n[1-4]")
    check(code == 1 and bad == ["n3"] and document["missing"] == ["1 of 2 devices of n3"], f"the dead node: {code} {document.get('missing')} {bad}")
    died = [(entry["device"], entry["problem"]) for entry in document["devices"] if entry["verdict"] == "broken"]
    check(died == [("n3 hip:0", "the run did not end")], f"its GPU that was being measured: {died}")
    check(document["summary"]["alike"] == 6 and not document["outliers"], f"the rest are alike: {document['summary']}")
    check(document["good_nodes"] == ["n1", "n2", "n4"], f"to use: {document['good_nodes']}")


def main():
    if os.geteuid() != 0:
        skip("Slurm's daemons need root here")
    if not (SLURM / "usr/sbin/slurmctld-wlm").exists():
        skip("there is no Slurm; scripts/test fetches it")
    with scratch() as folder:
        home = pathlib.Path(folder)
        gpus = {"ROOFTILE_HIP_LIBRARY": str(DOUBLES / "libfake_hip.so"), "ROOFTILE_SYSFS": str(home / "sys"), "FAKE_HIP_DEVICES": "2",
                "FAKE_HIP_NAME": "Fake Instinct"} | CLANG
        if run("build", "launch_empty", "--arch", "gfx942", home=home, **CLANG).returncode:
            skip("no compiler for AMD GPUs")
        cluster = Cluster(home)
        try:
            if not cluster.start():
                skip("Slurm does not start: " + (home / "slurmctld.log").read_text()[-300:] if (home / "slurmctld.log").exists() else "munge does not start")
            one_slow(cluster, gpus)
            collective(cluster, gpus)
            one_dies(cluster, gpus)
        finally:
            cluster.stop()
    print(f"{time.monotonic() - began:.0f} s")
    finish()


main()
