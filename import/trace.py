# SPDX-License-Identifier: MIT
"""What the readers fill: one record for everything a GPU did, texts kept once, calls of logs and tables, and notes.
What a file says of its host threads lives only until its events have got their operators (attribution)."""
import math

from operators import DIMS, MOST_SIZE

INF = math.inf
MOST_COUNTERS = 4096
MOST_BETWEEN = 256  # launches of one operator's call are near each other: operators inside it may launch between them
# Of a runtime call: a capture begins, ends; a kernel is launched whose name is not known.
CAPTURE, CAPTURED, LAUNCH = "capture", "captured", "launch"


class Event:
    """A kernel, copy or fill.

    start, end: of the file's own clock; infinite: it is counted, its time is not known. operator: number of a
    signature. call: the operator's call, events of one call are one call of its row; while its file is read, the
    stream. external: the operator's id, or of a graph's kernel its node. source: where the operator comes from;
    "capture": a graph launched it. launched: when the host began to launch it; None: not known."""
    __slots__ = ("start", "end", "correlation", "external", "name", "operator", "call", "device", "activity", "source",
                 "launched")

    def __init__(self, name, device, activity="compute", start=INF, end=INF):
        self.name, self.device, self.activity, self.start, self.end = name, device, activity, start, end
        self.correlation = self.external = 0
        self.operator = self.call = self.launched = None
        self.source = "none"


class HostEvent:
    """An operator, or (signature None) a runtime call, on a host thread.

    id: the operator's external id; the call's correlation. whole: the operator that it is a part of, maybe itself; of a
    call the kernel that it launches, LAUNCH, CAPTURE or CAPTURED."""
    __slots__ = ("start", "end", "id", "thread", "signature", "whole", "number")

    def __init__(self, start, end, number, thread, signature=None, whole=None):
        self.start, self.end, self.id, self.thread = start, end, number, thread
        self.signature, self.whole = signature, whole


class Launch:
    """A launch with a known operator that was made elsewhere: while a graph was captured, or in a trace that is read
    for its shapes alone. number, call: of the operator in its file; of its call in the segment."""
    __slots__ = ("name", "operator", "segment", "order", "number", "call")

    def __init__(self, *values):
        self.name, self.operator, self.segment, self.order, self.number, self.call = values


class Call:
    """A shape that came without a trace. signature None: only the kernel is known, by its name. Rates are of
    collectives and copies."""

    def __init__(self, signature, name, count, time_ns):
        self.signature, self.name, self.count, self.time_ns = signature, name, count, time_ns
        self.algorithm_bytes_per_s = self.bus_bytes_per_s = self.wrong_elements = 0.0


class Interned:
    """Values with a key, each once, by number."""

    def __init__(self):
        self.numbers, self.items = {}, []

    def add(self, key, value=None):
        """The number of the key; its value is kept the first time."""
        number = self.numbers.setdefault(key, len(self.items))
        if number == len(self.items):
            self.items.append(key if value is None else value)
        return number


COPIES = ("MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE",
          "__amd_rocclr_copyBuffer")  # by a kernel of ROCm's own runtime, as they are where the copy engines do them
COLLECTIVES = ("nccl", "NCCL", "rccl", "RCCL", "Nccl", "cross_device_reduce", "multimem_all_reduce",
               "_shot_all_reduce_")


def activity_of(name):
    """What a kernel of this name does."""
    if name.startswith(COPIES):
        return "copy"
    return "communication" if any(word in name for word in COLLECTIVES) else "compute"


class Trace:
    """All files of a run."""

    def __init__(self, options):
        self.options = options
        self.names = Interned()       # (kernel, its launch or None)
        self.launches_of = {}         # numbers of names and their activities, by what an event says
        self.signatures = Interned()  # operators, and inputs of operators
        self.events, self.calls, self.counters, self.files = [], [], {}, []
        self.lost = 0                 # launches whose kernels are in no file, which are events without a time
        self.call_source = "log"
        self.timelines, self.units_ns = Interned(), []  # a device in a file; of its clock
        self.device_name = self.arch = ""
        self.cus = 0
        self.launches, self.segment_calls = [], []
        self.parts = {}               # number of a call: (that of the call that it is a part of, its signature)
        self.operator_calls = 0       # numbers given to calls so far
        self.notes, self.skipped = {}, {}
        self.shapes_only = False
        self.begin("", None)

    def begin(self, path, source):
        """Another file."""
        self.path, self.source, self.format, self.unit_ns = path, source, None, 1.0
        self.place = None             # of JSON: what says at which byte the value begins that is being read
        self.words = Interned()       # its threads and devices, as it names them
        self.first_ns = None
        self.gpu_events = 0
        self.cut = False              # its end is missing
        self.operators, self.runtime = [], []
        self.first_event = len(self.events)

    # ---- notes ----

    def note(self, text, time_ns=None):
        """In words that something was wrong or skipped; notes that repeat are counted. {time} stands for `time_ns`."""
        self.notes[text, time_ns] = self.notes.get((text, time_ns), 0) + 1

    def skip(self, words):
        """Something was passed over: "FILE: WORDS (the first at line 5)"."""
        key = self.path, words
        if key not in self.skipped:
            line, at = self.source.line, 0 if self.source.line or not self.place else self.place()
            place = f" (the first at {'line' if line else 'byte'} {line or at})" if line or at else ""
            self.skipped[key] = f"{self.path}: {words}{place}"
        self.note(self.skipped[key])

    # ---- times and devices ----

    def since_first(self, ns):
        """Time since the file's first stamp, as a double cannot hold nanoseconds since 1970. NaN: none was taken."""
        if not ns:
            return math.nan
        if self.first_ns is None:
            self.first_ns = ns
        return float(ns - self.first_ns)

    def stamp(self, digits):
        """The same of a text; NaN: not a number."""
        if digits.isascii() and digits.isdigit() and len(digits) < 20:
            return self.since_first(int(digits))
        kept = digits.lstrip(" \t+")
        length = next((k for k, letter in enumerate(kept) if letter not in "0123456789"), len(kept))
        return self.since_first(int(kept[:length])) if 0 < length < 20 else math.nan

    def device(self, number):
        """The number of the timeline of a device in this file."""
        at = self.timelines.add((self.path, number))
        if at == len(self.units_ns):
            self.units_ns.append(self.unit_ns)
        return at

    def word(self, word):
        """The number of a word that names a thread or device of the file."""
        return self.words.add(word)

    # ---- events ----

    def launch_name(self, name, grid, block, in_lanes):
        """(number of the kernel's name with its launch, activity); grids in work-items become workgroups."""
        key = name, grid, block, in_lanes
        known = self.launches_of.get(key)
        if known:
            return known
        if in_lanes:
            block = [max(1.0, size) for size in block]
            grid = [math.ceil(size / each) if 0 <= size < INF else 0 for size, each in zip(grid, block)]
        launch = None
        if grid[0] > 0:
            launch = tuple(float(int(size)) if 0 <= size < 1e18 else 0.0 for size in (*grid, *block))
        known = self.names.add((name, launch)), activity_of(name)
        self.launches_of[key] = known
        return known

    def add_gpu(self, category, name, device, start, end, grid=(0, 0, 0), block=(0, 0, 0), in_lanes=False,
                correlation=0, external=0, graph_node=0, stream=0):
        """Adds what a GPU did, of which no operator is known yet. Times that make no sense: it is counted, and has
        none. graph_node: in the order of its capture; 0: no graph launched it. stream: numbered from 1; 0: not
        known."""
        number, activity = self.launch_name(name, tuple(grid), tuple(block), in_lanes)
        event = Event(number, self.device(device), "copy" if category == "gpu_memcpy" else activity)
        if end > start and math.isfinite(start) and math.isfinite(end):
            event.start, event.end = start, end
        else:
            self.skip("a GPU event without a time is counted, not timed")
        self.gpu_events += 1
        event.correlation = correlation
        event.external = graph_node or external
        event.call = stream - 1 if stream else None
        if graph_node:
            event.source = "capture"
        self.events.append(event)

    def set_device(self, name, arch, cus):
        """The first GPU that says so."""
        self.device_name = self.device_name or name
        self.arch = self.arch or arch
        self.cus = self.cus or int(min(max(0.0, cus), 1e6))

    # ---- calls and counters ----

    def add_call(self, operator, count, time_ns):
        """Adds `count` calls of an operator; `time_ns` of one, NaN: not known. The caller writes what else is known."""
        if not all(0 <= dim < MOST_SIZE for dim in operator.dims[:len(DIMS[operator.kind])]):
            self.skip("a call with sizes that make no sense was skipped")
            count = 0
        call = Call(self.signatures.add(operator.key(), operator), None, count, time_ns)
        self.calls.append(call)
        return call

    def add_kernel(self, name, count, time_ns):
        """Calls of a kernel of which no more is known."""
        self.calls.append(Call(None, self.names.add((name, None)), count, time_ns))

    def count(self, kernel, counter, value):
        """A hardware counter of one launch of a kernel; of a file with too many of them the first."""
        if not math.isfinite(value) or kernel is None or counter is None:
            return
        known = self.counters.get((kernel, counter))
        if known:
            known[0] += value
            known[1] += 1
        elif len(self.counters) < MOST_COUNTERS:
            self.counters[kernel, counter] = [value, 1]

    # ---- launches that were made elsewhere ----

    def begin_segment(self):
        """Launches that belong together: of a capture, or of a file."""
        self.segment_calls.append(0)

    def call_of_launch(self, segment, number):
        """The call of the operator with this number in its file."""
        for before in reversed(self.launches[-MOST_BETWEEN:]):
            if before.segment != segment:
                break
            if before.number == number and number is not None:
                return before.call
        self.segment_calls[segment] += 1
        return self.segment_calls[segment] - 1

    def add_launch(self, kernel, operator, number):
        """The next launch of the segment."""
        if not self.segment_calls:
            self.begin_segment()
        segment = len(self.segment_calls) - 1
        call = self.call_of_launch(segment, number)
        self.launches.append(Launch(kernel, operator, segment, len(self.launches), number, call))
