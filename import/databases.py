# SPDX-License-Identifier: MIT
"""Databases: rocprofv3's rocpd (schemas 3.0.0 to 4.1.0: tables carry a suffix for each process; a dispatch names its
agent itself or through a track) and what nsys exports. What differs between versions is asked of the database: which
tables, which columns."""
import sqlite3
import urllib.parse

from jsoncut import UNREADABLE, scan
from operators import Inputs, leading_number
from source import Refused
from trace import HostEvent

KERNELS, GRAPHS = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
CALLS = "CUPTI_ACTIVITY_KIND_RUNTIME"


def to_text(value):
    """A column as SQLite would give it as text; "" for NULL."""
    if value is None:
        return ""
    text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
    return text.partition("\0")[0]


def to_number(value):
    """A column as SQLite would give it as a number; 0 for what is none."""
    if isinstance(value, (int, float)):
        return value
    return leading_number(to_text(value))[0] or 0.0


def to_whole(value):
    """The same without a fraction, exact to the last digit."""
    number = to_number(value)
    return int(number) if abs(number) < 1 << 63 else 0


class Base:
    """A database that is read."""

    def __init__(self, trace, db):
        self.trace, self.db = trace, db
        self.processes = []  # of nsys: those with kernels

    # ---- asking ----

    def ask(self, sql):
        """Its rows, up to where the file is damaged."""
        try:
            rows = self.db.execute(sql)
        except sqlite3.Error as error:
            self.trace.note(f"{self.trace.path}: {error}")
            return
        try:
            yield from rows
        except sqlite3.Error as error:
            self.trace.note(f"{self.trace.path}: {error}; the rows before are used")

    def has_column(self, table, column):
        """Has the table this column?"""
        return any(True for _ in self.ask(f"SELECT 1 FROM pragma_table_info('{table}') WHERE name = '{column}'"))

    def has_table(self, table):
        """Is there a table or view of this name?"""
        sql = f"SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = '{table}'"
        return any(True for _ in self.ask(sql))

    # ---- events ----

    def add_events(self, category, in_lanes, sql):
        """Columns: start, end, name, device, stream, and of kernels grid (three), block (three), correlation, node."""
        trace = self.trace
        for row in self.ask(sql):
            name, device, stream = map(to_text, row[2:5])
            sizes = [float(to_number(size)) for size in row[5:11]] or [0.0] * 6
            start, end = (trace.since_first(to_whole(stamp)) for stamp in row[:2])
            trace.add_gpu(category, name, trace.word(device), start, end, sizes[:3], sizes[3:], in_lanes,
                          correlation=to_whole(row[11]) if len(row) > 11 else 0,
                          graph_node=to_whole(row[12]) if len(row) > 12 else 0,
                          stream=1 + trace.word(stream) if stream else 0)

    def node_of(self, table, node, graph):
        """A node of a graph, numbered from 1, in SQL; 0: no graph launched it."""
        if not self.has_column(table, node):
            return "0"
        in_graph = f" OR {graph} > 0" if self.has_column(table, graph) else ""
        return f"CASE WHEN {node} > 0{in_graph} THEN ({node} & 4294967295) + 1 ELSE 0 END"

    def set_device(self, sql):
        """Columns: name, target, compute units."""
        for name, arch, cus in self.ask(sql):
            self.trace.set_device(to_text(name), to_text(arch), to_number(cus))

    # ---- rocpd ----

    def agent_join(self, table, suffix, column):
        """The agent of a dispatch or copy, and how to join it; "": it names none."""
        is_own = self.has_column(table, column)
        if not is_own and not self.has_column(table, "track_id"):
            return ""
        track = "" if is_own else f' LEFT JOIN "rocpd_track{suffix}" t ON t.id = d.track_id AND t.guid = d.guid'
        agent = f"d.{column}" if is_own else "t.agent_id"
        return f'{track} LEFT JOIN "rocpd_info_agent{suffix}" a ON a.id = {agent} AND a.guid = d.guid'

    def stamps(self, table, suffix, joins):
        """When it ran: its own columns, or of the first schemas rows of another table."""
        if self.has_column(table, "start") or not self.has_column(table, "start_id"):
            return 'd.start, d."end"', joins
        return "b.value, e.value", (
            f'{joins} JOIN "rocpd_timestamp{suffix}" b ON b.id = d.start_id AND b.guid = d.guid JOIN '
            f'"rocpd_timestamp{suffix}" e ON e.id = d.end_id AND e.guid = d.guid')

    def rocpd_counters(self, suffix, name):
        """A counter has a value for each of its instances; all of a dispatch hang on its event. Samples in time are
        none."""
        values = f"rocpd_pmc_event{suffix}"
        if not self.has_table(values):
            return
        where = "WHERE e.sample_id IS NULL" if self.has_column(values, "sample_id") else ""
        sql = (f'SELECT coalesce({name}, \'\'), p.name, sum(e.value) FROM "rocpd_pmc_event{suffix}" e '
               f'JOIN "rocpd_info_pmc{suffix}" p ON p.id = e.pmc_id AND p.guid = e.guid '
               f'JOIN "rocpd_kernel_dispatch{suffix}" d ON d.event_id = e.event_id AND d.guid = e.guid '
               f'LEFT JOIN "rocpd_info_kernel_symbol{suffix}" k ON k.id = d.kernel_id AND k.guid = d.guid '
               f'{where} GROUP BY d.id, p.name ORDER BY d.id, p.name')
        for kernel, counter, value in self.ask(sql):
            self.trace.count(to_text(kernel), to_text(counter), float(to_number(value)))

    def rocpd_launch(self, table, suffix):
        """Of a graph's kernel the id of the launch, which all of its kernels share, in SQL, and the node."""
        node, events = self.node_of(table, "graph_node_id", "graph_exec_id"), f"rocpd_event{suffix}"
        if node == "0" or not self.has_column(events, "correlation_id"):
            return "0, 0"
        return f'CASE WHEN {node} > 0 THEN (SELECT v.correlation_id FROM "{events}" v WHERE v.id = d.event_id AND ' \
               f"v.guid = d.guid) END, {node}"

    def rocpd_process(self, suffix):
        """Kernels, copies, counters and GPUs of a process."""
        table, copies = f"rocpd_kernel_dispatch{suffix}", f"rocpd_memory_copy{suffix}"
        symbols = f"rocpd_info_kernel_symbol{suffix}"
        name = "coalesce(nullif(k.display_name, ''), k.kernel_name)" if self.has_column(symbols, "display_name") else \
            "k.kernel_name"
        agent = "a.nid || '/' || coalesce(a.absolute_index, a.id)"
        join = self.agent_join(table, suffix, "agent_id")
        times, joins = self.stamps(table, suffix, join)
        stream = "d.guid || d.stream_id" if self.has_column(table, "stream_id") else "''"
        sizes = ", ".join(f"d.{what}_size_{axis}" for what in ("grid", "workgroup") for axis in "xyz")
        self.add_events("kernel", True, (
            f"SELECT {times}, coalesce({name}, 'kernel ' || d.kernel_id), {agent if join else repr('')}, {stream}, "
            f'{sizes}, {self.rocpd_launch(table, suffix)} FROM "{table}" d LEFT JOIN "{symbols}" k '
            f"ON k.id = d.kernel_id AND k.guid = d.guid{joins} ORDER BY 1"))
        if self.has_table(copies):
            join = self.agent_join(copies, suffix, "dst_agent_id")
            times, joins = self.stamps(copies, suffix, join)
            target = f"coalesce({agent}, '')" if join else "''"
            self.add_events("gpu_memcpy", True, (
                f"SELECT {times}, coalesce(s.string, 'memory copy'), {target}, '' FROM \"{copies}\" d LEFT JOIN "
                f'"rocpd_string{suffix}" s ON s.id = d.name_id AND s.guid = d.guid{joins} ORDER BY 1'))
        self.rocpd_counters(suffix, name)
        cus = "CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.cu_count') END"
        self.set_device(f'SELECT product_name, name, {cus} FROM "rocpd_info_agent{suffix}" '
                        "WHERE type = 'GPU' ORDER BY absolute_index")

    def read_rocpd(self):
        """All processes."""
        self.trace.format = "rocpd"
        sql = ("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_kernel_dispatch%' "
               "ORDER BY name")
        names = [to_text(name) for name, in self.ask(sql)]
        for name in names:
            if '"' not in name and "'" not in name:
                self.rocpd_process(name[len("rocpd_kernel_dispatch"):])

    # ---- nsys ----

    def nsys_id(self, table, column, process):
        """A correlation id that no two processes share, in SQL. globalPid is the globalTid of their threads without its
        low bits."""
        if not self.has_column(table, column):
            return "0"
        if len(self.processes) < 2 or not self.has_column(table, process):
            return f"k.{column}"
        cases = "".join(f" WHEN {number} THEN {k}" for k, number in enumerate(self.processes))
        return f"k.{column} * {len(self.processes)} + CASE k.{process} / 16777216 * 16777216{cases} ELSE 0 END"

    def read_nvtx(self):
        """PyTorch's emit_nvtx(record_shapes=True): "aten::mm, op_id = 12, sizes = [[8, 4], [4, 2]]"."""
        trace = self.trace
        sql = ('SELECT n.start, n."end", coalesce(n.text, s.value), n.globalTid FROM NVTX_EVENTS n LEFT JOIN '
               'StringIds s ON s.id = n.textId WHERE n."end" IS NOT NULL ORDER BY n.start')
        for start, end, text, thread in self.ask(sql):
            text = to_text(text)
            _, found, sizes = text.partition("sizes = [")
            if not found:
                continue
            try:
                dims, _ = scan("[" + sizes, 0)
            except UNREADABLE:
                dims = None
            name = text.partition(",")[0]
            number = trace.signatures.add(f"{name}\n{dims}", Inputs(name, dims))
            trace.operators.append(HostEvent(trace.since_first(to_whole(start)), trace.since_first(to_whole(end)), 0,
                                             trace.word(to_text(thread)), number))
        if not trace.operators:
            return
        name = "(SELECT value FROM StringIds s WHERE s.id = k.nameId)" if self.has_column(CALLS, "nameId") else "''"
        sql = (f"SELECT k.start, k.\"end\", {self.nsys_id(CALLS, 'correlationId', 'globalTid')}, k.globalTid, {name} "
               f"FROM {CALLS} k ORDER BY k.start")
        for start, end, number, thread, called in self.ask(sql):
            is_graph = "GraphLaunch" in to_text(called)  # its kernels are of whoever was captured
            trace.runtime.append(HostEvent(trace.since_first(to_whole(start)), trace.since_first(to_whole(end)),
                                           to_whole(number), None if is_graph else trace.word(to_text(thread))))

    def nsys_name(self):
        """The name of a kernel by those of its columns that there are, and how to join them."""
        columns = [one for one in ("demangledName", "shortName", "mangledName") if self.has_column(KERNELS, one)]
        names = "".join(f"s{k}.value, " for k in range(len(columns)))
        joins = "".join(f" LEFT JOIN StringIds s{k} ON s{k}.id = k.{column}" for k, column in enumerate(columns))
        return f"coalesce({names}'unknown kernel')" if columns else "'unknown kernel'", joins

    def nsys_device(self, table):
        """A process may see its GPUs by numbers of its own. How to join the devices, too."""
        if not self.has_column("TARGET_INFO_CUDA_DEVICE", "cudaId") or not self.has_column(table, "globalPid"):
            return "k.deviceId", ""
        return "coalesce(c.gpu, k.deviceId)", (
            " LEFT JOIN (SELECT cudaId, pid, min(gpuId) AS gpu FROM TARGET_INFO_CUDA_DEVICE GROUP BY "
            "cudaId, pid) c ON c.cudaId = k.deviceId AND c.pid = k.globalPid / 16777216 % 16777216")

    def nsys_events(self, table, category, name, joins):
        """What brought work to a GPU: kernels, copies, and graphs where nsys recorded none of their kernels."""
        device, more = self.nsys_device(table)
        device = device if self.has_column(table, "deviceId") else "0"
        has_stream = self.has_column(table, "streamId") and self.has_column(table, "globalPid")
        stream = "k.globalPid || '/' || k.streamId" if has_stream else "''"
        has_grid = self.has_column(table, "gridX")
        sizes = "k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ" if has_grid else "0, 0, 0, 0, 0, 0"
        self.add_events(category, False, (
            f'SELECT k.start, k."end", {name}, {device}, {stream}, {sizes}, '
            f"{self.nsys_id(table, 'correlationId', 'globalPid')}, {self.node_of(table, 'graphNodeId', 'graphId')} "
            f"FROM {table} k{joins}{more} ORDER BY k.start"))

    def read_nsys(self):
        """Everything of nsys' export."""
        self.trace.format = "nsys"
        if self.has_column(KERNELS, "globalPid"):
            rows = self.ask(f"SELECT DISTINCT globalPid FROM {KERNELS} ORDER BY 1")
            self.processes = [to_whole(number) for number, in rows]
        if self.has_table(KERNELS):
            self.nsys_events(KERNELS, "kernel", *self.nsys_name())
        for table, category, name in (("CUPTI_ACTIVITY_KIND_MEMCPY", "gpu_memcpy", "'memory copy'"),
                                      ("CUPTI_ACTIVITY_KIND_MEMSET", "gpu_memset", "'memory fill'"),
                                      (GRAPHS, "kernel", "'CUDA graph ' || k.graphId")):
            if self.has_table(table):
                self.nsys_events(table, category, name, "")
        if self.has_table(GRAPHS):
            self.trace.note(f"{self.trace.path}: kernels of CUDA graphs are not in it: nsys profile "
                            "--cuda-graph-trace=node has them")
        if self.has_table("TARGET_INFO_GPU"):
            gpu = "TARGET_INFO_GPU"
            arch = "'sm_' || computeMajor || computeMinor" if self.has_column(gpu, "computeMajor") else "NULL"
            cus = "smCount" if self.has_column(gpu, "smCount") else "0"
            self.set_device(f"SELECT name, {arch}, {cus} FROM {gpu} ORDER BY id")
        if self.has_column(KERNELS, "correlationId") and self.has_table("NVTX_EVENTS") and self.has_table(CALLS):
            self.read_nvtx()


def open_database(source):
    """A file is opened where it lies; what is compressed or comes through a pipe is read into memory."""
    if not source.compressed and source.path != "-":
        return sqlite3.connect(f"file:{urllib.parse.quote(source.path)}?mode=ro", uri=True)
    data = source.read_all()
    if data is None:
        raise Refused(f"{source.path}: a compressed database of more than 64 MB: unpack it first")
    db = sqlite3.connect(":memory:")
    db.deserialize(data)
    return db


def read_database(trace, source):
    """Of either tool."""
    try:
        base = Base(trace, open_database(source))
    except sqlite3.Error as error:
        raise Refused(f"{source.path}: {error}") from None
    base.db.text_factory = bytes
    if base.has_table(KERNELS) or base.has_table(GRAPHS):
        base.read_nsys()
    else:
        base.read_rocpd()
    base.db.close()
    if not trace.gpu_events:
        last = "; " + list(trace.notes)[-1][0] if trace.notes else ""
        raise Refused(f"{source.path}: a database without kernels of rocprofv3 (rocpd_kernel_dispatch) or nsys "
                      f"(CUPTI_ACTIVITY_KIND_KERNEL){last}")
