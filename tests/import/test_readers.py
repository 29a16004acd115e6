# SPDX-License-Identifier: MIT
"""Files of each kind, found by content whatever their names: what is in them, what is wrong with them, and where. Whatever the
bytes, rows that add up or one sentence."""
import argparse
import gzip
import importlib.util
import json
import math
import pathlib
import random
import sqlite3
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "import"))
from attribution import attribute  # noqa: E402
from jsoncut import Cutter  # noqa: E402
from operators import Inputs  # noqa: E402
from source import MOST, Source  # noqa: E402
from trace import Event, HostEvent, Trace  # noqa: E402

spec = importlib.util.spec_from_file_location("importer", ROOT / "import/__main__.py")
importer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(importer)

RANKS = "".join(f"#  Rank  {k} Group  0 Pid 1 on %s device  {k} [0000:{k}5:00] AMD Instinct MI300X\n" for k in range(4))
ONE_NODE, TWO_NODES = RANKS % (("node1",) * 4), RANKS % ("node1", "node2", "node2", "node2")
HEAD = ("#                                       out-of-place                       in-place\n"
        "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
        "#   (B)  (elements)  (us)  (GB/s)  (GB/s)  (us)  (GB/s)  (GB/s)\n")
LARGE = "1000000 250000 float "
# Of the files each has the rows "operator | shape | calls x median ns".
FILES = (
    ('{"traceEvents": [{"ph":"X","cat":"kernel","name":"k","ts":10.5,"dur":2.25,"args":{}},\n{"ph":"X","cat":"gpu_memset","name":"Memset","ts":"20","dur":1}]}',
     "k |  | 1 x 2250", "Memset |  | 1 x 1000"),
    ('[{"ph":"X","cat":"Kernel","name":"old \\u0041","ts":10,"dur":2}]', "old A |  | 1 x 2000"),
    ('"Kind","Kernel_Name","Start_Timestamp","End_Timestamp"\nK,"f<a,b>(""x"")",1700000000000000001,1700000000000000011\n', 'f<a,b>("x") |  | 1 x 10'),
    ("Index,KernelName,gpu-id,queue-id,BeginNs,EndNs\n0,k.kd,1,0,5,9\n1,k.kd,1,0,10,16\n", "k.kd |  | 2 x 5"),
    ("\ufeffName,Calls,TotalDurationNs\nk,4,100\n", "k |  | 4 x 25"),
    ("Kernel_Name,Dispatch_Id,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\nk,1,A,5,10,30\nk,1,B,5,10,30\n", "k |  | 1 x 20"),
    ("Time (%),Total Time (ns),Instances,Name\n100,60,3,k\n", "k |  | 3 x 20"),
    ("NOTICE: an export was found\n\nProcessing [x.sqlite] with [cuda_gpu_trace.py]... \n"
     "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,Bytes (MB),Device,Strm,Name\n"
     '100,30,11,2,1,1,64,1,1,24,,GPU (0),7,"k(int, float)"\n170,5,13,,,,,,,,4,GPU (0),7,[CUDA memcpy HtoD]\n', "k(int, float) |  | 1 x 30", "[CUDA memcpy HtoD] |  | 1 x 5"),
    # PyTorch 2.1: no strides, but values
    ('{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::native_group_norm","pid":1,"tid":1,"ts":1,"dur":9,"args":{"External id":4,"Input Dims":[[2,64,5,7],[64],[64],[],[],[],[],[]],'
     '"Input type":["c10::Half"],"Concrete Inputs":["","","","2","64","35","32","1e-5"]}},{"ph":"X","cat":"kernel","name":"k","ts":20,"dur":2,"args":{"External id":4}}]}',
     "aten::native_group_norm | rows=64 columns=70 | 1 x 2000"),
    ("GemmTunableOp_Half_TN,tn_16_4_8_ld_8_8_16,Default,0.5\n", "GemmTunableOp_Half_TN | M=4 N=16 K=8 | 1 x 500000"),
    ("M,N,K,q_dtype_w,us\n4,16,8,torch.bfloat16,2\n", "aiter gemm | M=4 N=16 K=8 | 1 x 2000"),
    ("x hipblaslt-bench -m 16 -n 4 -k 8 --a_type f16_r\n", "hipblaslt -m 16 -n 4 -k 8 | M=4 N=16 K=8 | 1 x nan"),
    ('{"rocprofiler-sdk-tool":[{"metadata":{"pid":1},"kernel_symbols":[{"kernel_id":2,"kernel_name":"_Zk"}],"buffer_records":{"kernel_dispatch":'
     '[{"start_timestamp":7,"end_timestamp":9,"dispatch_info":{"kernel_id":2}}]}}]}', "_Zk |  | 1 x 2"),
)
# Of copies and collectives "operator | kernel | parameters or why there is none | GB/s".
TRANSFER = " Transfer 00 | {} GB/s | {} ms | 67108864 bytes | {}\n"
LINKS = (
    ("Test 1:\n" + TRANSFER.format("33.554", "2.000", "G0 -> GPU00:004 -> G1") + " Aggregate (CPU) | 1 GB/s\nTest 2:\n" + TRANSFER.format("16.777", "4.000", "G1 -> DMA01:001 -> G0") +
     "Test 3:\n" + TRANSFER.format("26.844", "2.500", "G0 -> GPU00:004 -> G1") + TRANSFER.format("22.370", "3.000", "C0 -> CPU00:004 -> G1") + TRANSFER.format("0", "nan", "G0"),
     'G1 -> DMA01:001 -> G0 | copy_peer | {"size": 67108864, "from": 1, "to": 0} | 17', "at once with others: C0 -> CPU00:004 -> G1 |  | no kernel of ours does this | 22",
     "at once with others: G0 -> GPU00:004 -> G1 |  | no kernel of ours does this | 27", 'G0 -> GPU00:004 -> G1 | kernel_copy_peer | {"size": 67108864, "from": 0, "to": 1} | 34'),
    ("$ ./nvbandwidth -b 1\nRunning host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n 0 1\n0 26.0 N/A\nSUM host_to_device_memcpy_ce 26.0\n"
     "Running device_to_host_memcpy_sm.\nmemcpy SM CPU(row) <- GPU(column) bandwidth (GB/s)\n 0 1\n0 20 25\n"
     "Running device_to_device_memcpy_write_ce.\nmemcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n 0 1\n0 N/A 276\n1 200 N/A\n"
     "Running x_bidirectional_read_sm.\nmemcpy SM GPU(row) <-> GPU(column) Total bandwidth (GB/s)\n 0 1\n0 N/A 9\n"
     "Running host_to_all_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n 0\n0 11\n",
     "at once with others: C0 -> DMA -> G0 |  | no kernel of ours does this | 11", 'G0 -> GPU -> C0 | kernel_copy | {"size": 1048576, "from": "device", "to": "pinned"} | 20',
     'G1 -> GPU -> C0 | kernel_copy | {"size": 1048576, "from": "device", "to": "pinned"} | 25', 'C0 -> DMA -> G0 | copy_to_device | {"size": 1048576} | 26',
     'G0 -> DMA -> G1 | copy_peer | {"size": 1048576, "from": 0, "to": 1} | 200', 'G1 -> DMA -> G0 | copy_peer | {"size": 1048576, "from": 1, "to": 0} | 276'),
    ("Bytes Per Direction 1048576\nUnidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: DMA)\n SRC+EXE\\DST    CPU 00       GPU 00    GPU 01\n"
     "  CPU 00  ->     15.00         9.00      8.00\n  CPU 00 min     1.00     1.00    1.00\n  GPU 00  ->     26.00       500.00     48.00\nAverages (During UniDir):     17.67      9.33\n"
     "Bidirectional copy peak bandwidth GB/s [Remote read / Local write] (GPU-Executor: GFX)\n     SRC\\DST    GPU 00    GPU 01\n  GPU 00  ->     N/A      38.00\n  GPU 00 <-      N/A      37.00\n",
     "C0 -> CPU -> G1 |  | no kernel of ours copies with the CPU's threads | 8", "C0 -> CPU -> G0 |  | no kernel of ours copies with the CPU's threads | 9",
     "C0 -> CPU -> C0 |  | no kernel of ours does this | 15", 'G0 -> DMA -> C0 | copy_to_host | {"size": 1048576} | 26',
     "at once with others: G1 -> GPU -> G0 |  | no kernel of ours does this | 37", "at once with others: G0 -> GPU -> G1 |  | no kernel of ours does this | 38",
     'G0 -> DMA -> G1 | copy_peer | {"size": 1048576, "from": 0, "to": 1} | 48', 'G0 -> DMA -> G0 | copy_on_device | {"size": 1048576} | 500'),
    ("GPU-GFX All-To-All benchmark:\n- Copying 4096 bytes between all pairs of GPUs using 8 CUs (2 Transfers)\nSummary:\nSRC\\DST  GPU 00     GPU 01        STotal      Actual\n"
     "GPU 00      N/A    33.000     33.000   33.000\nGPU 01   30.000       N/A      30.000   30.000\n\nRTotal   30.000    33.000\n",
     "at once with others: G1 -> GPU -> G0 |  | no kernel of ours does this | 30", "at once with others: G0 -> GPU -> G1 |  | no kernel of ours does this | 33"),
    ("# Collective test starting: all_reduce_perf\n" + ONE_NODE + HEAD + LARGE + "sum -1 50.00 20.00 30.00 0 40.00 25.00 37.50 0\n# Avg bus bandwidth : 33\n",
     'all_reduce | all_reduce | {"size": 1000000, "devices": 4, "dtype": "f32"} | 20 30 0', 'all_reduce | all_reduce_in_place | {"size": 1000000, "devices": 4, "dtype": "f32"} | 25 38 0'),
    # wrong elements; not looked for; without a name, by 2 (n - 1) / n; lines with mpirun's tags, in any order
    (ONE_NODE + "[1,0]<stdout>:" + HEAD + "[1,0]<stdout>: " + LARGE + "sum -1 50.00 20.00 30.00 7 40.00 25.00 37.50 N/A\nlib: INFO 1 2 3\n",
     'all_reduce | all_reduce | {"size": 1000000, "devices": 4, "dtype": "f32"} | 20 30 7', 'all_reduce | all_reduce_in_place | {"size": 1000000, "devices": 4, "dtype": "f32"} | 25 38 nan',
     "file:8: 7 wrong elements: all_reduce out-of-place, 1000000 bytes"),
    ("$ mpirun ./build/broadcast_perf -b 1M -r 2\n" + ONE_NODE + HEAD + LARGE + "none 2 50.00 20.00 20.00 0 40.00 25.00 25.00 0\n",
     'broadcast | broadcast | {"size": 1000000, "devices": 4, "root": 2, "dtype": "f32"} | 20 20 0', "broadcast |  | no kernel of ours does this in place | 25 25 0"),
    # all_gather and all_to_all cannot be told apart
    (ONE_NODE + HEAD + LARGE + "none -1 50.00 20.00 15.00 0 40.00 25.00 18.75 0\n", "collective of an unknown kind |  | no kernel of ours does this | 20 15 0",
     "collective of an unknown kind |  | no kernel of ours does this in place | 25 19 0"),
    ("alltoall_perf\n" + TWO_NODES + HEAD + "0 0 float none -1 5 0.00 0.00 0 5 0.00 0.00 0\n" + LARGE + "none -1 50.00 20.00 15.00 0 0.00 25.00 18.75 0\n",
     "all_to_all |  | it ran on several nodes, and ours takes the devices of one | 20 15 0", "sizes of no bytes were skipped (the first at line 9)"),
)
REFUSED = {"": "is empty", "prose": "nothing that can be imported", "{}": "JSON without GPU events", '{"hidden_size": 8}': "num_attention_heads", "hipblaslt-bench\n": "nothing that can be imported",
           HEAD + "1000 x float sum -1 1 1 1 0 1 1 1 0\n1 2\n": "there is no GPU activity in it", "GemmTunableOp_Half_TN,x,y,z\n": "no product that was tuned", "SQLite format 3": "file",
           "Name,Calls,TotalDurationNs\nk,0,0\n": "without calls", "Name,Calls\nk,\0\xff\n": "nothing that can be imported"}
ONE = '{"cat":"kernel","name":"%s","ts":1,"dur":1}'
DAMAGED = (('{"traceEvents":[' + ONE % "a" + "," + ONE % "b", "cut off at byte", 2), ('{"traceEvents":[' + ONE % "a" + "," + ONE % "b" + ',{"cat":"kernel","na', "cut off at byte", 2),
           ('{"traceEvents":[' + ONE % "a" + ",," + ONE % "b" + "]}", "damaged at byte 59", 2), ('{"traceEvents":[' + ONE % "a" + ',{"cat":"kernel","name":"b","ts":5,"dur":-1}]}', "counted, not timed", 2),
           ('{"traceEvents":[' + ONE % "a" + ',{"cat":"kernel","name":"b","ts":1,"dur":2x,"args":{"device":}}]}', None, 2),
           ('{"traceEvents":[' + ONE % "a" + ',{"cat":"cpu_op","name":"b","args":' + "[" * 90000 + "]" * 90000 + "}]}", "an operator without a time", 1),
           ("Kernel_Name,Start_Timestamp,End_Timestamp\nk,1,2\nk\nk,3,4\n", "a row with 1 of 3 columns was skipped (the first at line 3)", 2))
WORDS = [b"null", b"-1", b"1e400", b"NaN", b"[]", b"{}", b'""', b"[[[[", b"\xff", b"\0", b"9" * 30, b"1" * 5000, b"true", b",,", b"}", b"]", b'"', b"\\u0000", b"\\ud800", b"inf", b"\r"]


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "file"
        self.addCleanup(self.folder.cleanup)

    def answer(self, content, **options):
        self.path.write_bytes(content if isinstance(content, bytes) else content.encode())
        known = {"shapes": [], "batch": 2, "tokens": 128, "tp": 0, "decode": False, "counters": False, "diff": False, "demangler": "", "files": [str(self.path)]}
        return importer.answer(argparse.Namespace(**known | options))

    def read(self, content):
        answer = self.answer(content)
        self.assertIn("imports", answer, answer.get("error"))
        found, = answer["imports"]
        return found, [note["text"].replace(f"{self.path.parent}/", "") for note in found["notes"]]


class Readers(Case):
    def test_every_kind(self):
        for content, *rows in FILES:
            with self.subTest(content[:60]):
                self.assertEqual([f"{row['operator']} | {row['shape']} | {row['calls']:.0f} x {row['median_ns']:.0f}" for row in self.read(content)[0]["rows"]], rows)

    def test_links_and_collectives(self):
        for content, *expected in LINKS:
            with self.subTest(content[:60]):
                found, notes = self.read(content)
                rows = []
                for row in found["rows"]:
                    rates = f"{row['algorithm_bytes_per_s'] / 1e9:.0f}"
                    if row["kind"] == "communication":
                        rates += f" {row['bus_bytes_per_s'] / 1e9:.0f} {row['wrong_elements']:.0f}"
                    rows.append(f"{row['operator']} | {row['kernel']} | {row['params'] or row['why']} | {rates}")
                said = [note.removeprefix("file: ") for note in notes if "skipped" in note or "wrong" in note]
                self.assertEqual(rows + said[:1], expected)

    def test_what_is_none(self):
        for content, words in REFUSED.items():
            with self.subTest(content[:60]):
                answer = self.answer(content.encode("latin-1"))
                self.assertIn(words, answer.get("error", ""))
                self.assertIn("file", answer["error"])
        self.assertEqual(self.answer('{"hidden_size": 8')["text"], '{"hidden_size": 8')
        for content in '{"hidden_size": 8, "hidden_size": 9}', '{"hidden_size": NaN}', '{"hidden_size": 1e999}':
            self.assertIn("damaged", self.answer(content))
        self.assertIn("has no counters", self.answer(FILES[3][0], counters=True)["error"])

    def test_damage_has_a_place(self):
        for content, words, events in DAMAGED:
            with self.subTest(content[:100]):
                found, notes = self.read(content)
                self.assertEqual(found["events"], events)
                self.assertTrue(words in notes[0] if words else not notes, notes)

    def test_time_counts_once(self):
        on = '{{"cat":"kernel","name":"{}","ts":{},"dur":{},"args":{{"device":{}}}}}'
        found, _ = self.read('{"traceEvents":[' + ",".join(on.format(*one) for one in (("a", 0, 10, 0), ("ncclX", 5, 10, 0), ("a", 2, 3, 0), ("a", 20, 5, 0), ("a", 0, 50, 1))) + "]}")
        line = found["timeline"]
        self.assertEqual([line[key] for key in ("devices", "span_ns", "busy_ns", "idle_ns", "compute_ns", "communication_ns", "exposed_communication_ns")],
                         [2, 75e3, 70e3, 5e3, 65e3, 10e3, 5e3])

    def test_json_is_cut_at_paths(self):
        def cut(content, *paths):
            self.path.write_bytes(content)
            taken, cutter = [], None
            with Source(str(self.path)) as source:
                cutter = Cutter(source, {path: lambda value: taken.append((cutter.offset(), value)) for path in paths})
                cutter.read()
            return taken, cutter
        taken, cutter = cut('{"ä":{"x":[9],"b":[1, "]", {"b":[3]}]},"b":[4],"c":null}'.encode(), "ä.b[]", "c")
        self.assertEqual((taken, cutter.damages), ([(20, 1), (23, "]"), (28, {"b": [3]}), (52, None)], 0))
        # What is too long to be held is passed over, with all that looks like its end; what follows is read.
        taken, cutter = cut(b'{"a":[1,{"x":["' + b"x" * MOST + b'\\"]}]' + b"x" * (1 << 20) + b'\\\\"]},2]}', "a[]")
        self.assertEqual(([value for _, value in taken], cutter.damages, cutter.first_damage), ([1, 2], 1, 8))

    def test_long_lines(self):
        self.path.write_bytes(b"x" * (3 << 20) + b"\r\nend\0")
        with Source(str(self.path)) as source:
            self.assertEqual([(len(line), line[-4:]) for line in source.lines()], [(3 << 20, "xxxx"), (4, "end ")])

    def test_packed_files_follow_each_other(self):
        content = FILES[3][0].encode()
        found, notes = self.read(gzip.compress(content[:30]) + gzip.compress(content[30:]) + b"\0 else")
        self.assertEqual((found["events"], notes), (2, []))


class Attribution(unittest.TestCase):
    def test_clocks_round(self):
        """A child that ends a little late is still a child, one that ends much later is not."""
        trace = Trace(argparse.Namespace(shapes=[]))
        for name, start, end in (("outer", 0, 10000), ("first", 100, 1000), ("late", 900, 1100), ("other", 5000, 6000), ("astray", 1500, 8000)):
            trace.operators.append(HostEvent(float(start), float(end), 0, 1, trace.signatures.add(name, Inputs(name))))
        trace.runtime.append(HostEvent(950.0, 951.0, 11, 1))
        event = Event(trace.names.add(("a", None)), trace.device(0), start=50000.0, end=50005.0)
        event.correlation = 11
        trace.events.append(event)
        attribute(trace)
        self.assertEqual(trace.signatures.items[event.operator].name, "late")


class Fuzz(Case):
    def seeds(self):
        """Databases are made by their statements."""
        for path in sorted((ROOT / "tests/fuzz/seeds").glob("*/*")):
            if path.parent.name in ("import", "counters"):
                yield path.read_bytes()
            elif path.parent.name == "database":
                with sqlite3.connect(":memory:") as db:
                    db.executescript(path.read_text())
                    yield gzip.compress(db.serialize(), 1)
        yield from (content.encode() for content, *_ in FILES + LINKS)

    def changed(self, rng, data):
        """A byte, a word or a piece of it is another one, is missing or stands twice."""
        data = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 5, 20])):
            at = rng.randrange(len(data) + 1)
            how = rng.randrange(5)
            data[at:at + (how == 1) * rng.choice([1, 10, 100])] = (b"", b"", rng.choice(WORDS), data[rng.randrange(len(data) + 1):][:50], bytes([rng.randrange(256)]))[how]
        return bytes(data[:rng.randrange(len(data) + 1)] if rng.random() < 0.1 else data)

    def test_whatever_the_bytes(self):
        rng = random.Random(1)
        for data in self.seeds():
            for _ in range(20):
                text = self.changed(rng, data)
                answer = self.answer(text, decode=rng.random() < 0.3, counters=rng.random() < 0.1, shapes=[str(self.path)] * (rng.random() < 0.1))
                json.dumps(importer.finite(answer), allow_nan=False)
                self.assertNotIn("its reader failed", answer.get("error", ""), text[:2000])
                if "error" in answer or "imports" not in answer:
                    continue
                found, = answer["imports"]
                total = sum(row["total_ns"] for row in found["rows"] if math.isfinite(row["total_ns"]))
                self.assertTrue(math.isclose(total, found["total_ns"], rel_tol=1e-9) and found["explained_ns"] <= total * (1 + 1e-9), text[:2000])
                self.assertFalse(found["timeline"]["busy_ns"] > found["timeline"]["span_ns"] * (1 + 1e-9), text[:2000])


if __name__ == "__main__":
    unittest.main()
