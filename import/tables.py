# SPDX-License-Identifier: MIT
"""Text: logs and tables, also several in one file. Every line goes to the kinds of lines until one takes it; what no
kind takes is passed over.

Tables with a head: rocprofv3's and rocprof's CSV of kernels, copies, statistics and counters, nsys' statistics and GPU
trace, AITER's lists of shapes, and results of the benchmarks of BLAS libraries. Columns are found by their names,
whatever their order. PyTorch's TunableOp has none."""
import math

from bench import Bench
from collectives import Collectives
from fields import Fields, split_cells
from operators import EXPERTS_TOGETHER, Operator, blas_gemm, dtype_of_trace, leading_number, product_type
from source import Refused
from transfers import Transfers

FORMATS = (
    "PyTorch's profiler (Kineto JSON), rocprofv3 (CSV, JSON, rocpd), nsys (SQLite export, CSV), lines of "
    "hipblaslt-bench, rocblas-bench and MIOpenDriver in any log, their YAML and results, tables of rccl-tests and "
    "nccl-tests, TransferBench, nvbandwidth, rocm_bandwidth_test, TunableOp and AITER, a model's config.json")
START = "Start_Timestamp|BeginNs|Start (ns)|Start"
END = "End_Timestamp|EndNs|End (ns)|End"
LENGTH = "Duration (ns)"
KERNEL = "Kernel_Name|KernelName|Kernel Name|Name"
AGENT = "Agent_Id|gpu-id|GPU_ID|Device|Destination_Agent_Id|DeviceId"
TOTAL = "TotalDurationNs|Total Time (ns)|TotalDuration(Ns)"
GRIDS = "Grid_Size_X|Grid_Size|grd|GrdX", "Grid_Size_Y|GrdY", "Grid_Size_Z|GrdZ"
BLOCKS = "Workgroup_Size_X|Workgroup_Size|wgr|BlkX", "Workgroup_Size_Y|BlkY", "Workgroup_Size_Z|BlkZ"
# rocprofv3 has tables of the same form of calls on the host, and of all kinds of records.
NO_KERNELS = {"HIP_API", "HSA_API", "MARKER_API", "RCCL_API", "ROCDECODE_API", "KERNEL_DISPATCH", "MEMORY_COPY",
              "MEMORY_ALLOCATION", "SCRATCH_MEMORY"}


def is_kernel(name):
    """Is it no call of the host's, and no kind of records?"""
    is_call = name.startswith("hsa_") or (name.startswith("hip") and "A" <= name[3:4] <= "Z")
    return name not in NO_KERNELS and (not is_call or "(" in name or "<" in name)


def type_of(row, names, otherwise):
    """The type in one of these columns; "" unknown."""
    word = row.get(names)
    return (otherwise if word is None else dtype_of_trace(word)) or ""


def factors_of(row):
    """The type of a product's factors."""
    weights = type_of(row, "q_dtype_w|dtype", "")
    return product_type(type_of(row, "q_dtype_a", weights), weights)


def aiter_product(trace, row):
    """AITER: A is M x K, B N x K; of tables and of lines of a log."""
    mnk = [row.number(name, 0.0) for name in "NMK"]
    us = row.number("us", math.nan)
    if not all(size > 0 for size in mnk):
        trace.skip("a row without M, N and K was skipped")
        return
    operator = Operator("aiter gemm", dtype=factors_of(row))
    blas_gemm(operator, mnk, row.number("B", 1.0), True, False)
    operator.total = type_of(row, "outdtype|otype|dtype", "bf16" if operator.dtype else "")
    trace.add_call(operator, 1.0, us * 1e3 if us > 0 else math.nan)


class Table:
    """The table that is being read."""

    def __init__(self, trace, bench):
        self.trace, self.bench = trace, bench
        self.columns = self.read_row = None  # no head yet
        self.row, self.cells, self.dispatch = Fields(), 1, -2.0

    def kernel_row(self):
        """rocprofv3's grids are in work-items; those of nsys' cuda_gpu_trace in workgroups, beside copies without
        any."""
        row, trace = self.row, self.trace
        name = row.get(KERNEL)
        in_lanes = row.get("GrdX") is None
        start, end = trace.stamp(row.get(START, "")), trace.stamp(row.get(END, ""))
        if row.get(LENGTH) is not None:
            end = start + row.number(LENGTH, math.nan)
        trace.add_gpu("gpu_memcpy" if name.startswith("[CUDA mem") else "kernel", name, trace.word(row.get(AGENT, "")),
                      start, end, [row.number(names, 0.0) for names in GRIDS],
                      [row.number(names, float(in_lanes)) for names in BLOCKS], in_lanes, stream=self.stream())

    def stream(self):
        """rocprofv3's streams, and nsys'; the queues of older tables are shared by several streams."""
        stream = self.row.number("Stream_Id|Strm", -1.0)
        return 1 + int(stream) if 0 <= stream < 1e9 else 0

    def copy_row(self):
        """A copy of memory."""
        row, trace = self.row, self.trace
        trace.add_gpu("gpu_memcpy", row.get("Direction|Kind"), trace.word(row.get(AGENT, "")),
                      trace.stamp(row.get(START, "")), trace.stamp(row.get(END, "")), stream=self.stream())

    def stats_row(self):
        """All calls of a kernel together."""
        name, calls = self.row.get(KERNEL), self.row.number("Calls|Instances", 0.0)
        total = self.row.number(TOTAL, math.nan)
        if not is_kernel(name):
            self.trace.skip("a row that is of no kernel was skipped")
        elif 0 < calls < math.inf and not total < 0:
            self.trace.add_kernel(name, calls, total / calls)
        else:
            self.trace.skip("a row without calls, or with a negative time, was skipped")

    def counter_row(self):
        """A row for each counter of each dispatch."""
        name, dispatch = self.row.get(KERNEL), self.row.number("Dispatch_Id", -1.0)
        self.trace.count(name, self.row.get("Counter_Name"), self.row.number("Counter_Value", math.nan))
        if dispatch == self.dispatch:
            return
        self.dispatch = dispatch
        if self.row.number(START, 0.0) > 0:
            self.kernel_row()
        else:
            self.trace.add_kernel(name, 1.0, math.nan)

    def aiter_row(self):
        """A product."""
        aiter_product(self.trace, self.row)

    def aiter_moe_row(self):
        """Both products of a mixture of experts, gate and up, then down: as many FLOPs and weights as one with the
        columns of both."""
        row = self.row
        parts = 3 if row.number("use_g1u1", 1.0) != 0 else 2
        dims = [row.number("token", 0.0) * row.number("topk", 1.0), row.number("inter_dim", 0.0) * parts,
                row.number("model_dim", 0.0), row.number("expert", 0.0)]
        us = row.number("us|us1", math.nan)
        if not all(dim > 0 for dim in dims):
            self.trace.skip("a row without the sizes of its experts was skipped")
            return
        operator = Operator("aiter moe", "moe_gemm", dtype=factors_of(row), total=type_of(row, "dtype", ""),
                            extra=EXPERTS_TOGETHER)
        operator.set_dims(*dims)
        self.trace.add_call(operator, 1.0, us * 1e3 if us > 0 else math.nan)

    def bench_row(self):
        """A result of a library's benchmark."""
        self.bench.take_result(self.row)

    # The first whose columns are all there says what the table is.
    DIALECTS = (
        ("library log", ("us|rocblas-us", "rocblas-Gflops|rocblas-GB/s|hipblaslt-Gflops|hipblaslt-GB/s"), bench_row),
        ("counters, CSV", ("Counter_Name", KERNEL, "Dispatch_Id"), counter_row),
        ("copies, CSV", ("Direction", START, END), copy_row),
        ("nsys' GPU trace, CSV", ("Start (ns)", LENGTH, "CorrId", "Name"), kernel_row),
        ("AITER, experts", ("token", "model_dim", "inter_dim", "expert"), aiter_moe_row),
        ("kernel trace, CSV", ("Kernel_Name|KernelName|Kernel Name", START, END), kernel_row),
        ("kernel statistics, CSV", (KERNEL, "Calls|Instances", TOTAL), stats_row),
        ("AITER", ("M", "N", "K"), aiter_row),
    )

    def take_head(self, line):
        """hipblaslt-bench numbers its heads: "[0]:transA,..."."""
        at = line.find("]:") + 2 if line.startswith("[") and "]:" in line else 0
        cells = split_cells(line[at:])
        head = Fields(cells, cells, any_case=True)
        for name, columns, read_row in self.DIALECTS:
            if all(head.get(column) is not None for column in columns):
                self.row, self.columns, self.read_row, self.dispatch = head, columns, read_row, -2.0
                self.trace.format = self.trace.format or name
                return True
        return False

    def take(self, line):
        """A head, or a row of the table."""
        self.cells = 1
        if "," not in line or line.lstrip("- ").startswith("{"):
            return False
        if not self.columns:
            return self.take_head(line)
        cells = split_cells(line)
        self.cells = len(cells)
        if not any("0" <= cell[:1] <= "9" for cell in cells) and self.take_head(line):
            return True
        self.row.values = cells
        row = self.row
        row.behind = None
        for names in self.columns:
            if row.get(names) is None:
                return False
        self.read_row(self)
        return True

    def stray(self, line):
        """Says which rows of a table no kind of line took."""
        if self.columns and self.read_row is not Table.bench_row and line:
            self.trace.skip(f"a row with {self.cells} of {len(self.row.keys)} columns was skipped")
        return False


# ---- PyTorch's TunableOp ----

def read_tuned(operator, text):
    """"tn_152064_3_5120_ld_...", with "_B_12" of batches: BLAS's letters, m, n, k."""
    a, b = text[:1] == "t", text[1:2] == "t"
    mnk, at, batch = [], text[2:], text.partition("_B_")
    for _ in range(3):
        number, behind = leading_number(at[1:]) if at.startswith("_") else (0.0, at)
        if not (number or 0.0) > 0:
            return False
        mnk.append(number)
        at = behind
    blas_gemm(operator, mnk, (leading_number(batch[2])[0] or 0.0) if batch[1] else 1.0, a, b)
    return True


class TunableOp:
    """"GemmTunableOp_Half_TN,tn_16_4_8_ld_8_8_16,Default,0.5": a product with its time in ms."""

    def __init__(self, trace):
        self.trace = trace

    def take(self, line):
        """Also the lines that say for what was tuned."""
        is_validator = line.startswith("Validator,")
        if not is_validator and not 0 <= line.find("TunableOp_") < len(line.partition(",")[0]):
            return False
        cells = split_cells(line)
        if is_validator:
            if len(cells) > 2 and cells[1] == "GCN_ARCH_NAME":
                self.trace.set_device("", cells[2], 0.0)
            return True
        operator = Operator(cells[0])
        if len(cells) < 2 or not read_tuned(operator, cells[1]):
            self.trace.skip("a line that is no product that was tuned was skipped")
            return True
        ms = (leading_number(cells[3])[0] or 0.0) if len(cells) > 3 else 0.0  # none of what is still to be tuned
        operator.dtype = operator.total = dtype_of_trace(cells[0]) or ""
        if "e4m3" in operator.dtype or "e5m2" in operator.dtype:  # the last type is the result's
            words = {"BFloat16": "bf16", "Half": "f16", "_float_": "f32"}
            operator.total = next((words[word] for word in words if word in cells[0]), operator.dtype)
        self.trace.add_call(operator, 1.0, ms * 1e6 if ms > 0 else math.nan)
        return True


def read_lines(trace, source):
    """All lines of a text."""
    bench, links = Bench(trace, aiter_product), Transfers(trace)
    table, tuned, collectives = Table(trace, bench), TunableOp(trace), Collectives(trace)
    kinds = ((None, table.take), ("TunableOp", tuned.take), ("rccl-tests, nccl-tests", collectives.take),
             ("TransferBench, nvbandwidth", links.take), ("library log", bench.take), (None, table.stray))
    taken = False
    for line in source.lines():
        for name, take in kinds:
            if take(line):
                taken = True
                trace.format = trace.format or name
                break
    links.end()
    bench.end()
    if not taken:
        raise Refused(f"{source.path} is nothing that can be imported: {FORMATS}")
