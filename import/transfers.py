# SPDX-License-Identifier: MIT
"""What TransferBench, nvbandwidth and rocm_bandwidth_test print of copies. TransferBench has a line for each transfer
of a test,
    Transfer 00 | 33.520 GB/s | 2.002 ms | 67108864 bytes | G0 -> GPU00:004 -> G1
and all have matrices of GB/s, whose title says who copies and which way:
    memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)
    Unidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: GFX)
TransferBench's scaling and schmoo have a row for each number of compute units. Only a copy that ran alone is a case of
ours."""
import math
import re

from operators import Operator, leading_number, leading_whole

NVBANDWIDTH_BYTES = 512.0 * (1 << 20)
MOST_DEVICES = 64
NUMBER = r"([-+]?[0-9.]+(?:[eE][-+]?\d+)?)"
TRANSFER = re.compile(rf"Transfer\s*\d+\s*{NUMBER}\s*GB/s\s*{NUMBER}\s*ms\s*{NUMBER}\s*bytes\s*")
DEVICE = re.compile(r" *(?:([CG])PU)? *(\d{1,3})(?= |$)")
WAY = re.compile(r"([A-Z0-9]{1,4})->([A-Z0-9]{1,4})->([A-Z0-9]{1,4})")
SIZES = ((re.compile("Bytes Per Direction[ ,=]*"), 1), (re.compile("- Copying[ ,=]*"), 1),
         (re.compile("Bytes to transfer:[ ,=]*"), 1))
NVBANDWIDTH_SIZES = ((re.compile(" -b [ ,=]*"), 1 << 20), (re.compile("--bufferSize[ ,=]*"), 1 << 20))
HEADS = "\\DST", "EXE+DST", "D/D", "NumCUs"
# one2all: the rates of a row, how many they are, compute units, and who copied.
TOGETHER = re.compile(r"([ \d.]+?) (\d+) (\d+)((?: \([CGFN]\d* [GD]\d+ [CGFN]\d*\))+) *$")
# healthcheck: "Testing ..." names one of these, and has a line for each device.
CHECKS = (("unidirectional host to device", "C -> DMA -> G{}", 256 << 20),
          ("unidirectional device to host", "G{} -> DMA -> C", 256 << 20),
          ("bidirectional host<->device", "C <-> DMA <-> G{}", 512 << 20),
          ("all-to-all XGMI", "G{} -> GPU -> G{}", 256 << 20),
          ("HBM performance [READ]", "G{} -> GPU -> N", 0), ("HBM performance [WRITE]", "N -> GPU -> G{}", 0),
          ("HBM performance [COPY]", "G{0} -> GPU -> G{0}", 0), ("HBM performance [ADD]", "2 G{0} -> GPU -> G{0}", 0))
CHECKED = re.compile(rf" +GPU (\d+)(?: to GPU (\d+))?:[ :]*(?:Measured)?[ :]*{NUMBER} +(?:GB/s +Criteria|Limit)")
HBM = re.compile(rf"[^\d]*(\d+)[^\d]+(\d+)[^\d]+{NUMBER}[^\d]+{NUMBER}[^\d]+{NUMBER}")


class Transfers:
    """size: of the copies of matrices; 0: not known. executor: of the matrix that is being read, "DMA", "GPU"; None:
    there is none. source_executes: TransferBench says whose kernel or engine it is; of others it is always a GPU's.
    Devices are pairs of a kind, "C", "G", and a number; `origin`: of all copies; `listed`: by rocm_bandwidth_test.
    check: one of CHECKS, and which of its devices were read.
    `ways`: of columns that name a whole copy."""

    def __init__(self, trace):
        self.trace, self.waiting, self.size, self.executor = trace, [], 0.0, None
        self.source_executes = self.backwards = False
        self.alone = True
        self.row_kind = self.column_kind = self.origin = None
        self.columns, self.listed, self.ways = [], [], []
        self.check, self.checked, self.in_hbm = None, [], False

    def add_transfer(self, size, ms, rate, alone, path):
        """Size 0: not known."""
        operator = Operator(path if alone else "at once with others: " + path, "copy")
        operator.set_dims(size)
        call = self.trace.add_call(operator, 1.0, ms * 1e6)
        call.algorithm_bytes_per_s = rate
        call.bus_bytes_per_s = call.wrong_elements = math.nan

    def add_rate(self, gb_per_s, path):
        """A cell of a matrix."""
        if 0 < gb_per_s < math.inf:
            ms = self.size / gb_per_s / 1e6 if self.size > 0 else math.nan
            self.add_transfer(self.size, ms, gb_per_s * 1e9, self.alone, path)

    # ---- a line for each ----

    def read_transfer(self, line):
        """Whatever stands between the columns: '|', ',' in tables, or bars of Unicode."""
        start = line.find("Transfer ")
        if start < 0 or re.match("[^0-9]*", line).end() < start:
            return False
        plain = re.sub(r"[|,\t]|[^\x00-\x7f]", lambda one: " " * len(one[0].encode("utf-8", "surrogateescape")),
                       line[start:])
        found = TRANSFER.match(plain)
        ms, size = (leading_number(found[k])[0] or 0.0 for k in (2, 3)) if found else (0.0, 0.0)
        if not 0 < ms < math.inf or not 0 < size < 1e15:
            return False
        self.waiting.append((size, ms, plain[found.end():].partition("  ")[0]))
        return True

    def end(self):
        """The test is over: a transfer that was its only one ran alone."""
        for size, ms, path in self.waiting:
            self.add_transfer(size, ms, size / ms * 1e3, len(self.waiting) == 1, path)
        self.waiting = []

    # ---- matrices ----

    def read_size(self, line, places):
        """The number behind these words, in bytes."""
        for words, unit in places:
            found = words.search(line)
            number = (leading_number(line[found.end():])[0] or 0.0) if found else 0.0
            if 0 < number < 1e9:
                self.size = number * unit

    def read_title(self, line):
        """Who copies, and which way."""
        row, column = line.find("(row)"), line.find("(column) bandwidth (GB/s)")
        is_pair = 0 <= row < column
        _, peak, behind = line.partition("directional copy peak bandwidth GB/s")
        is_scaling = "Scaling benchmark:" in line or ("Local GPU:" in line and "Remote GPU:" in line)
        if not peak and not is_scaling and "All-To-All benchmark:" not in line and not is_pair:
            return False
        has_row = row >= 0
        is_links = bool(peak) and "[" not in behind  # rocm_bandwidth_test: by the copy engines
        arrow = line[row + 5:].lstrip(" ") if has_row else ""
        if has_row and not self.size > 0:
            self.trace.note(f"{self.trace.path}: nvbandwidth does not say how much it copies: 512 MiB, as without -b")
            self.size = NVBANDWIDTH_BYTES
        self.columns, self.ways, self.origin = [], [], None
        self.row_kind = kind_before(line, row) if has_row else None
        self.column_kind = kind_before(line, column) if has_row else None
        self.executor = "DMA" if ("CE" if has_row else "DMA") in line or is_links else "GPU"
        self.source_executes = not has_row and not is_links and "[Remote read" not in line
        self.backwards = arrow.startswith("<-")
        self.alone = self.alone and not arrow.startswith("<->") if has_row else \
            is_scaling or (bool(peak) and "Unidir" in line)
        return True

    def next_device(self, text, at, kind):
        """(the next device of a matrix, behind it): "CPU 00", a number alone, or one of those listed; None: something
        else stands there."""
        found = DEVICE.match(text, at)
        if not found:
            return None, at
        kind, number = found[1] or kind, int(found[2])
        if not kind:
            return (self.listed[number], found.end()) if number < len(self.listed) else (None, at)
        return (kind, number), found.end()

    def read_columns(self, text):
        """The head of a matrix."""
        device, at = self.next_device(text, 0, self.column_kind)
        while device and len(self.columns) < MOST_DEVICES:
            self.columns.append(device)
            device, at = self.next_device(text, at, self.column_kind)

    def read_row(self, text):
        """A row of rates, from its device or to it."""
        is_best = text.lstrip(" ").startswith("Best ")
        row, at = (self.origin, text.index("B") + 4) if is_best else self.next_device(text, 0, self.row_kind)
        rest = text[at:].lstrip(" ")
        is_there, is_back = rest.startswith("->"), rest.startswith("<- ")
        if not row or not self.columns or (self.origin and not is_best) or \
                not (is_there or is_back or "0" <= rest[:1] <= "9" or rest[:1] == "N"):
            return False
        rest = rest[2:] if is_there or is_back else rest
        for column in self.columns:
            rest = rest.lstrip(" ")
            rate, behind = (0.0, rest[3:]) if rest.startswith("N/A") else leading_number(rest)
            if rate is None:
                break
            if behind.startswith("("):  # "34.21(  8)": by so many compute units
                behind = behind.partition(")")[2]
            rest = behind
            source, target = (column, row) if self.backwards or is_back else (row, column)
            owner = source[0] if self.source_executes else target[0]
            executor = "CPU" if owner == "C" and not self.row_kind and not self.listed else self.executor
            self.add_rate(rate, f"{source[0]}{source[1]} -> {executor} -> {target[0]}{target[1]}")
        return True

    def read_ways(self, text):
        """schmoo: "#CUs |G00->G00->N00|N00->G00->G00|...", and a row of rates for each number of compute units."""
        _, is_head, cells = text.partition("#CUs")
        if is_head:
            found = [WAY.match(cell) for cell in cells.split()[:MOST_DEVICES]]
            self.ways += [f"{way[1]} -> GPU{way[2][1:]}:{{:03.0f}} -> {way[3]}" for way in found if way]
            return True
        if not self.ways:
            return False
        units, behind = leading_number(text)
        for way, cell in zip(self.ways, behind.split()):
            if (units or 0.0) > 0:
                self.add_rate(leading_number(cell)[0] or 0.0, way.format(units))
        return True

    def read_check(self, line):
        """healthcheck: rates of what failed, or with VERBOSE=1 of all."""
        _, is_test, test = line.partition("Testing ")
        found = next((check for check in CHECKS if is_test and test.startswith(check[0])), None)
        if found:
            self.check, self.checked = found, []
        if not self.check:
            return False
        words, path, size = self.check
        failed, rate = re.search(r"FAIL \((\d+) test", line), CHECKED.match(line)
        if failed:
            self.trace.note(f"{self.trace.path}: TransferBench's healthcheck: {words}: {failed[1]} below its limit")
        elif "PASS" in line and not self.checked:
            self.trace.skip("TransferBench's healthcheck says no rate of what passes: VERBOSE=1 prints them")
        devices = [int(device) for device in rate.groups()[:2] if device] if rate else []
        if devices and devices not in self.checked and len(devices) == 1 + words.startswith("all"):
            self.checked.append(devices)
            self.size, self.alone = size, words.startswith("unidirectional")
            self.add_rate(leading_number(rate[3])[0] or 0.0, path.format(*devices))
        return bool(found or failed or rate)

    def read_together(self, line):
        """one2all, and hbm's table of GPUs."""
        found, hbm = TOGETHER.match(re.sub("[,|]", " ", line)), HBM.match(line) if self.in_hbm else None
        self.in_hbm = "MaxBw (GB/s)" in line or bool(hbm) or (self.in_hbm and not re.search(r"\w", line))
        if found and len(found[1].split()) == int(found[2]) == found[4].count("("):
            self.alone = found[2] == "1"
            for rate, way in zip(found[1].split(), re.findall(r"\((\w+) (\w+) (\w+)\)", found[4])):
                by = "DMA" if way[1][0] == "D" else f"GPU{int(way[1][1:]):02d}:{int(found[3]):03d}"
                self.add_rate(leading_number(rate)[0] or 0.0, f"{way[0]} -> {by} -> {way[2]}")
        elif hbm:
            self.alone = True
            self.add_rate(leading_number(hbm[4])[0] or 0.0, f"G{hbm[2]} -> GPU -> N")
        return bool(found or hbm or self.in_hbm)

    def read_listed(self, line):
        """rocm_bandwidth_test: "Device: 1,  AMD Instinct MI300X,  GPU-f1,  c2:0.0"; processors have a name alone."""
        _, found, rest = line.partition("Device: ")
        number, comma, rest = rest.partition(",")
        if not found or not comma or len(self.listed) == MOST_DEVICES:
            return False
        name, is_gpu, _ = rest.partition(",")
        if leading_whole(number) == 0:  # another list begins
            self.listed = []
        if is_gpu:
            self.trace.set_device(name.lstrip(" "), "", 0.0)
        kind = "G" if is_gpu else "C"
        self.listed.append((kind, sum(one[0] == kind for one in self.listed)))
        return True

    def begin_test(self, line):
        """What lines between the matrices say."""
        if "nvbandwidth" in line:
            self.read_size(line, NVBANDWIDTH_SIZES)
        self.read_size(line, SIZES)
        _, is_from, number = line.partition(" bytes from GPU ")
        if is_from:
            self.origin = "G", leading_whole(number)
        _, is_test, test = line.partition("Running ")
        if is_test:
            self.alone = not any(word in test for word in ("bidirectional", "all_", "_all"))
        if is_test or line.startswith("Test ") or "Inter-Device " in line:
            self.end()
            self.executor = None

    def take(self, line):
        """A title, a head, a row, or a transfer."""
        self.begin_test(line)
        if self.read_title(line) or self.read_check(line) or self.read_together(line):
            return True
        if not self.executor:
            return self.read_transfer(line) or self.read_listed(line)
        text = re.sub("[,\t|]", " ", line)
        head = next((word for word in HEADS if word in line), None)
        if head or (not self.columns and self.column_kind):
            self.read_columns(text[line.index(head) + len(head):] if head else text)
            return bool(self.columns)
        return self.read_ways(text) or self.read_row(text) or self.read_transfer(line)


def kind_before(line, at):
    """"C" of a CPU, "G" of a GPU that stands there; None: neither."""
    return line[at - 3] if at >= 3 and line[at - 3] in "CG" and line[at - 2:at] == "PU" else None
