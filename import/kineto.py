# SPDX-License-Identifier: MIT
"""JSON of profilers, told apart by where they have their events. PyTorch's profiler (Kineto) writes Chrome's trace
format: GPU activities, operators with their inputs, runtime calls. rocprofv3 has lists of dispatches and copies."""
import math

from jsoncut import Cutter
from operators import Inputs, number_of, text_of
from source import Refused
from trace import CAPTURE, CAPTURED, LAUNCH, HostEvent

OPERATORS = ("cpu_op",)
RUNTIME = ("cuda_runtime", "cuda_driver", "hip_runtime")
GPU = {"kernel": "kernel", "Kernel": "kernel", "gpu_memcpy": "gpu_memcpy", "Memcpy": "gpu_memcpy",
       "gpu_memset": "gpu_memset", "Memset": "gpu_memset"}
MOST_TEXT = 65536  # of a list of an operator's inputs


def members_of(value):
    """The object's members; none of anything else."""
    return value if type(value) is dict else {}


def id_of(value):
    """0: none."""
    number = number_of(value, 0.0)
    return int(number) if 0 < number < 0xffffffff else 0


def node_of(args):
    """The node of a graph, numbered from 1; CUPTI's ids have the graph in their upper half. 0: none."""
    node = args.get("graph node id", args.get("graph_node_id"))
    number = int(number_of(node, -1.0)) if -1 <= number_of(node, -1.0) < 1 << 63 else -1
    if number < 0 or not (number > 0 or number_of(args.get("graph id", args.get("graph_id")), 0.0) > 0):
        return 0
    return (number & 0xffffffff) + 1


def three(value):
    """Up to three numbers of a list."""
    found = [number_of(one, 0.0) for one in value[:3]] if type(value) is list else []
    return tuple(found + [0.0] * (3 - len(found)))


class Kineto:
    """Events of PyTorch's profiler. Its times are us."""

    def __init__(self, trace):
        self.trace = trace
        self.has_shapes = False  # of operators: record_shapes=True
        self.first = None        # us of the first time stamp, where a file counts from 1970

    def start_of(self, value):
        """In us, exact to the nanosecond also where a file counts from 1970: from its first time stamp on."""
        number = number_of(value, math.nan)
        if self.first is None and number > 0:
            self.first = int(number) if 1 << 40 <= number < 1 << 63 else 0
        if not self.first or not 0 <= number < 1 << 63:
            return number - (self.first or 0)
        if type(value) is int:
            return float(value - self.first)
        whole, point, rest = str(value).partition(".")
        if not (whole.isdigit() and (rest or "0").isdigit()):
            return number - self.first
        return float(int(whole) - self.first) + (float("." + rest) if point and rest else 0.0)

    def event(self, value):
        """One of traceEvents."""
        event = members_of(value)
        category = event.get("cat")
        if category is None or category == "python_function" or category == "ac2g":
            return
        if event.get("ph") in ("B", "E"):
            self.trace.skip("an event of phase B or E was skipped: PyTorch's profiler writes phase X")
        elif category in OPERATORS:
            self.add_operator(event, members_of(event.get("args")))
        elif category in RUNTIME:
            self.add_runtime_call(event, members_of(event.get("args")))
        elif type(category) is str and category in GPU:
            self.add_gpu_event(event, members_of(event.get("args")), GPU[category])

    def add_gpu_event(self, event, args, category):
        """A kernel, copy or fill."""
        start = self.start_of(event.get("ts"))
        device = number_of(args.get("device"), 0.0)
        stream = number_of(args["stream"] if "stream" in args else event.get("tid"), -1.0)
        self.trace.add_gpu(category, text_of(event.get("name")), int(device) if 0 <= device < 4096 else 0, start,
                           start + number_of(event.get("dur"), math.nan), three(args.get("grid")),
                           three(args.get("block")), correlation=id_of(args.get("correlation")),
                           external=id_of(args.get("External id", args.get("external id"))), graph_node=node_of(args),
                           stream=1 + int(stream) if 0 <= stream < 1e9 else 0)

    def thread_of(self, event):
        """Threads are numbered by the text of their ids, which may be words."""
        return self.trace.word(f"{event.get('pid')!r}/{event.get('tid')!r}")

    def add_operator(self, event, args):
        """An operator with its inputs; "execute" passes on to the one that it stands in."""
        self.has_shapes = self.has_shapes or "Input Dims" in args
        if event.get("name") == "execute":
            return
        lists = [args.get(key) for key in ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")]
        triton = None
        if args.get("kernel_backend") == "triton":
            triton = (number_of(args.get("num_warps"), 0.0), number_of(args.get("num_stages"), 0.0),
                      text_of(args.get("kernel_hash")))
        start = self.start_of(event.get("ts"))
        end = start + number_of(event.get("dur"), 0.0)
        if not (math.isfinite(start) and math.isfinite(end)):
            self.trace.skip("an operator without a time was skipped")
            return
        name = text_of(event.get("name"))
        key = f"{name}\n{lists}\n{triton}"
        if len(key) > MOST_TEXT:
            lists = [given if len(str(given)) < MOST_TEXT else None for given in lists]
            key = f"{name}\n{lists}\n{triton}"
        number = self.trace.signatures.numbers.get(key)
        if number is None:
            number = self.trace.signatures.add(key, Inputs(name, *lists, triton))
        self.trace.operators.append(HostEvent(start, end, id_of(args.get("External id", args.get("external id"))),
                                              self.thread_of(event), number))

    def add_runtime_call(self, event, args):
        """Only what brings work to a GPU. The kernels of a graph's launch have no operator of their own."""
        name = text_of(event.get("name"))
        start = self.start_of(event.get("ts"))
        is_graph = "GraphLaunch" in name
        if not any(word in name for word in ("aunch", "emcpy", "emset", "Capture")):
            return
        launches = (CAPTURE if "BeginCapture" in name else CAPTURED if "EndCapture" in name else
                    LAUNCH if not is_graph and "aunch" in name and "ernel" in name else None)
        if text_of(args.get("kernel")):
            launches = self.trace.names.add((text_of(args["kernel"]), None))
        number = id_of(args.get("correlation"))
        if math.isfinite(start) and number:
            end = start + number_of(event.get("dur"), 0.0)
            self.trace.runtime.append(HostEvent(start, math.inf if math.isnan(end) else end, number,
                                                None if is_graph else self.thread_of(event), None, launches))

    def device(self, value):
        """The first GPU that has a name. AMD's have numbers for a capability too, of which the target does not
        follow."""
        device = members_of(value)
        self.trace.set_device(text_of(device.get("name")), "", number_of(device.get("numSms"), 0.0))
        major, minor = number_of(device.get("computeMajor"), 0.0), number_of(device.get("computeMinor"), 0.0)
        if major > 0 and self.trace.device_name.startswith("NVIDIA"):
            self.trace.set_device("", f"sm_{major:.0f}{minor:.0f}", 0.0)


class Rocprof:
    """rocprofv3 --output-format json."""

    def __init__(self, trace):
        self.trace, self.symbols, self.process = trace, {}, None

    def begin_process(self, value):
        """Of each process the kernels have numbers of their own."""
        self.symbols = {}
        self.process = self.trace.word(f"process {members_of(value).get('pid')!r}")

    def agent(self, value):
        """Of GPUs the first."""
        agent = members_of(value)
        if number_of(agent.get("type"), 2.0) == 2 and not self.trace.arch:
            self.trace.arch = text_of(agent.get("name"))
            self.trace.device_name = text_of(agent.get("product_name"))
            self.trace.cus = int(min(max(0.0, number_of(agent.get("cu_count"), 0.0)), 1e6))

    def symbol(self, value):
        """A kernel's name."""
        symbol = members_of(value)
        number = number_of(symbol.get("kernel_id"), -1.0)
        name = text_of(symbol.get("formatted_kernel_name")) or text_of(symbol.get("kernel_name"))
        self.symbols.setdefault(number, name)

    def device_of(self, holder, key):
        """Numbers of agents and streams are a process's own."""
        return self.trace.word(f"agent {self.process} {members_of(holder.get(key)).get('handle')!r}")

    def stamps(self, value):
        """Start and end."""
        return [self.trace.stamp(str(value.get(f"{what}_timestamp", ""))) for what in ("start", "end")]

    def dispatch(self, value):
        """A kernel that ran; its grid is in work-items."""
        value = members_of(value)
        info = members_of(value.get("dispatch_info"))
        grid, block = members_of(info.get("grid_size")), members_of(info.get("workgroup_size"))
        name = self.symbols.get(number_of(info.get("kernel_id"), -1.0))
        if name is None:
            self.trace.skip("a dispatch of a kernel that has no name")
        has_stream = "handle" in members_of(value.get("stream_id"))
        self.trace.add_gpu("kernel", "unknown kernel" if name is None else name, self.device_of(info, "agent_id"),
                           *self.stamps(value), [number_of(grid.get(axis), 0.0) for axis in "xyz"],
                           [number_of(block.get(axis), 1.0) for axis in "xyz"], in_lanes=True,
                           stream=1 + self.device_of(value, "stream_id") if has_stream else 0)

    def copy(self, value):
        """A copy of memory."""
        value = members_of(value)
        self.trace.add_gpu("gpu_memcpy", "memory copy", self.device_of(value, "dst_agent_id"), *self.stamps(value))


def read_json(trace, source):
    """A document of either, as far as it is sound."""
    kineto, rocprof = Kineto(trace), Rocprof(trace)
    is_rocprof = b"rocprofiler-sdk-tool" in source.head
    trace.unit_ns = 1.0 if is_rocprof else 1e3
    trace.format = "rocprofv3 JSON" if is_rocprof else "PyTorch profiler"
    paths = {"traceEvents[]": kineto.event, "[]": kineto.event, "deviceProperties[]": kineto.device,
             "rocprofiler-sdk-tool[].metadata": rocprof.begin_process}
    for tool in "rocprofiler-sdk-tool[]", "rocprofiler-sdk-tool":
        paths |= {f"{tool}.agents[]": rocprof.agent, f"{tool}.kernel_symbols[]": rocprof.symbol,
                  f"{tool}.buffer_records.kernel_dispatch[]": rocprof.dispatch,
                  f"{tool}.buffer_records.memory_copy[]": rocprof.copy}
    cutter = Cutter(source, paths)
    trace.place = cutter.offset
    cutter.read()
    trace.place = None
    trace.cut = cutter.cut
    path = source.path
    if cutter.damages:
        more = " and further places" if cutter.damages > 1 else ""
        trace.note(f"{path}: the JSON is damaged at byte {cutter.first_damage}{more}; the rest of it is used")
    if cutter.cut and not source.damaged:
        where = "" if trace.gpu_events else ", before the events of a GPU"
        trace.note(f"{path}: the file is cut off at byte {source.bytes_read}{where}; what comes before is used")
    if not trace.gpu_events and not trace.operators:
        raise Refused(f"{path}: JSON without GPU events or operators: neither PyTorch's profiler nor rocprofv3 wrote "
                      "it")
    if not trace.gpu_events and not trace.cut:
        trace.note(f"{path}: no GPU activity in it, only operators of the host")
    elif trace.operators and not kineto.has_shapes:
        trace.note(f"{path}: its operators have no shapes: record them with record_shapes=True")
