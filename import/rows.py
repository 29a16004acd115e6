# SPDX-License-Identifier: MIT
"""Events into rows: one operator with one shape, or one kernel whose operator is not known; time by operator name; the
timeline. Rows are found by what they are."""
import heapq
import math
from itertools import groupby
from operator import attrgetter

from mapping import describe, flops_of, map_row
from names import name_of_kind, plain_name, read_kernel_name
from operators import DIMS, Inputs, Operator
from shapes import read_operator
from trace import INF

NAN = math.nan
MOST_NAMES = 2000  # letters of the names of a row's kernels
MOST_GAPS = 8      # the longest
TEXTS = ("operator kind source shape dtype total layout kernels traits kernel params other_params library "
         "library_params cpu_kernel cpu_params cpu_library cpu_exclude why").split()
NUMBERS = "total_ns median_ns min_ns max_ns share algorithm_bytes_per_s bus_bytes_per_s wrong_elements flops".split()


# ---- launches of kernels that Triton compiled ----

def reach(one):
    """Elements from the first to the last that the sizes and strides reach; 0: no tensor."""
    if not one.rank or not all(dim > 0 for dim in one.dims):
        return 0.0
    if not any(stride > 0 for stride in one.strides[:one.rank]):
        return one.count()
    return 1.0 + sum((dim - 1) * stride for dim, stride in zip(one.dims, one.strides))


def launch_of(given):
    """All that a launch needs but the code; None: Triton did not compile it. The grid comes from its events."""
    if not isinstance(given, Inputs) or not given.triton:
        return None
    warps, stages, source_hash = given.triton
    args = [{"dtype": one.dtype if one.rank else "", "elements": reach(one), "value": one.value} for one in given.items]
    return {"kernel": given.name, "hash": source_hash, "warps": warps, "stages": stages, "grid": [0.0] * 3,
            "block": [0.0] * 3, "args": args}


# ---- rows ----

class Rows:
    """by_name: one row for each operator or kernel, whatever the shape."""

    def __init__(self, trace, by_name):
        self.trace, self.by_name = trace, by_name
        self.items, self.events = {}, []
        self.of_operator, self.of_name = {}, {}

    def row_of(self, o, source, traits):
        """(the row of what it is, is it new?)"""
        shape = o.shape_words()
        key = o.name if self.by_name else (o.name, shape, o.dtype, o.total, o.layout)
        row = self.items.get(key)
        if row:
            return row, False
        row = self.items[key] = dict.fromkeys(TEXTS, "") | dict.fromkeys(NUMBERS, NAN)
        row |= {"number": len(self.events), "operator": o.name, "short": plain_name(o.name), "kind": o.kind,
                "source": source if shape else "none", "shape": shape, "dtype": o.dtype, "total": o.total,
                "is_explained": bool(DIMS[o.kind]) and o.dims[0] > 0, "layout": o.layout, "traits": traits,
                "why": "no shape is known", "calls": 0.0, "is_fnuz": False, "described": None, "launch": None}
        self.events.append([])
        return row, True

    def row_of_operator(self, given, source):
        """The row of a signature."""
        o = read_operator(given)
        o.name = name_of_kind(o.name)
        row, is_new = self.row_of(o, source, "")
        if is_new and not self.by_name:
            differs = map_row(row, o)
            if differs:
                self.trace.note(differs)
            row["described"], row["launch"] = describe(o), launch_of(given)
            row["flops"] = flops_of(o, row["described"])
        return row

    def row_of_kernel(self, name, launch):
        """A kernel of which no operator is known: what its name says, and with the grid how large a product is at
        most."""
        grid, block = (launch[:3], launch[3:]) if launch else ((0.0,) * 3, (0.0,) * 3)
        o = Operator(name)
        traits = read_kernel_name(o, name, grid, block) or ""
        o.name = name_of_kind(name)
        if o.name != name and grid[0] > 0:  # several of that name: by their size
            groups, items = (sizes[0] * max(1.0, sizes[1]) * max(1.0, sizes[2]) for sizes in (grid, block))
            o.shape = f"{groups:.0f} workgroups of {items:.0f}"
        return self.row_of(o, "none", traits)[0]

    def assign(self):
        """Every event to its row."""
        names, signatures = self.trace.names.items, self.trace.signatures.items
        for event in self.trace.events:
            if event.operator is not None:
                row = self.of_operator.get(event.operator)
                if row is None:
                    row = self.row_of_operator(signatures[event.operator], event.source)
                    self.of_operator[event.operator] = row
            else:
                row = self.of_name.get(event.name)
                if row is None:
                    row = self.of_name[event.name] = self.row_of_kernel(*names[event.name])
            self.events[row["number"]].append(event)
        for row in self.items.values():
            if self.events[row["number"]]:
                self.time_row(row, self.events[row["number"]])

    def call_times(self, events):
        """(the number of calls, the times in ns of those that have one): of each the time in which any of its events
        ran."""
        calls, times, k = 0, [], 0
        while k < len(events):
            first = events[k]
            call, total, start, end = first.call, 0.0, first.start, first.end
            k += 1
            while call is not None and k < len(events) and events[k].call == call:
                event = events[k]
                k += 1
                if event.end == INF:
                    continue
                if event.start > end:
                    total += end - start
                    start = end = event.start
                end = max(end, event.end)
            calls += 1
            if end != INF:  # sorted by start: else none of them has a time
                times.append((total + (end - start)) * self.trace.units_ns[first.device])
        return calls, times

    def time_row(self, row, events):
        """Its calls, its times and the names of its kernels."""
        events.sort(key=lambda event: (INF if event.call is None else event.call, event.start))
        for number in dict.fromkeys(event.name for event in events):
            name, launch = self.trace.names.items[number]
            if name != row["operator"] and name not in row["kernels"] and len(row["kernels"]) < MOST_NAMES:
                row["kernels"] += ("; " if row["kernels"] else "") + name[:500]
            if row["launch"] and launch and name == row["launch"]["kernel"] and not row["launch"]["grid"][0] > 0:
                row["launch"]["grid"], row["launch"]["block"] = list(launch[:3]), list(launch[3:])
        calls, times = self.call_times(events)
        row["calls"] += calls
        if times:
            total = 0.0
            for time in times:
                total += time
            ordered, middle = sorted(times), len(times) // 2
            row["total_ns"], row["min_ns"], row["max_ns"] = total, ordered[0], ordered[-1]
            row["median_ns"] = ordered[middle] if len(times) % 2 else (ordered[middle - 1] + ordered[middle]) / 2

    def add_calls(self):
        """Lines of logs and tables: calls that a trace has timed are not counted again."""
        trace = self.trace
        for call in trace.calls:
            if not call.count > 0:  # a trace has its kernel
                continue
            row = self.row_of_kernel(*trace.names.items[call.name]) if call.signature is None else \
                self.row_of_operator(trace.signatures.items[call.signature], trace.call_source)
            if self.events[row["number"]]:
                continue
            for key in "algorithm_bytes_per_s", "bus_bytes_per_s":
                row[key] = mean_bandwidth(row[key], row["calls"], call.count, getattr(call, key))
            if call.bus_bytes_per_s != 0 and not math.isnan(call.wrong_elements):
                row["wrong_elements"] = call.wrong_elements + (0 if math.isnan(row["wrong_elements"]) else
                                                               row["wrong_elements"])
            row["calls"] += call.count
            row["total_ns"] = (row["total_ns"] if row["calls"] > call.count else 0.0) + call.count * call.time_ns
            row["median_ns"] = row["total_ns"] / row["calls"]  # the means of tables say nothing about the others


def mean_bandwidth(before, calls, count, more):
    """Of calls of the same size: the bandwidth that their mean time has."""
    if not more > 0:
        return before
    return (calls + count) / (calls / before + count / more) if before > 0 else more


# ---- the timeline ----

def covered(events, activities):
    """Time in which any event of these activities ran, in the clock's unit; events are sorted by start."""
    total, start, end = 0.0, 0.0, -INF
    for event in events:
        if event.end == INF or event.activity not in activities:
            continue
        if event.start > end:
            if end > -INF:
                total += end - start
            start, end = event.start, event.end
        elif event.end > end:
            end = event.end
    return total + (end - start) if end > -INF else total


class Gaps:
    """Times in which nothing ran on a device, and how much of them passed before the host launched what came next."""

    def __init__(self, names):
        self.names, self.count, self.host_ns, self.longest = names, 0, NAN, []

    def add(self, number, events, unit_ns):
        """Those between a device's events, which are sorted by start."""
        last, first = events[0], events[0].start
        for event in events:
            if event.end == INF:
                continue
            if event.start > last.end:
                length, host = (event.start - last.end) * unit_ns, NAN
                if event.launched is not None:
                    host = min(length, max(0.0, (event.launched - last.end) * unit_ns))
                    self.host_ns = host + (0.0 if math.isnan(self.host_ns) else self.host_ns)
                self.count += 1
                is_full = len(self.longest) == MOST_GAPS
                if not is_full or length > self.longest[0][0]:
                    put = heapq.heapreplace if is_full else heapq.heappush
                    put(self.longest,
                        (length, -self.count, number, (last.end - first) * unit_ns, host, last.name, event.name))
            if event.end > last.end:
                last = event

    def listed(self):
        """The longest first."""
        return [{"device": device, "start_ns": start, "length_ns": length, "host_ns": host,
                 "after": plain_name(self.names[before][0]), "before": plain_name(self.names[after][0])}
                for length, _, device, start, host, before, after in sorted(self.longest, reverse=True)]


def timeline_of(trace):
    """What the GPUs did, summed over devices; where events overlap, their time counts once. NaN without events."""
    keys = ("compute_ns communication_ns copy_ns exposed_communication_ns exposed_copy_ns busy_ns idle_ns "
            "span_ns host_ns").split()
    if not any(event.end != INF for event in trace.events):
        return dict.fromkeys(keys, NAN) | {"devices": 0, "gap_count": 0, "gaps": []}
    trace.events.sort(key=lambda event: (event.device, event.start))
    all_kinds = {"compute", "communication", "copy"}
    sums = dict.fromkeys(("work", "communication", "copy", "without copies", "busy", "span"), 0.0)
    devices, gaps = 0, Gaps(trace.names.items)
    for device, group in groupby(trace.events, attrgetter("device")):
        events, unit_ns = list(group), trace.units_ns[device]
        devices += 1
        for key, kinds in (("work", {"compute"}), ("communication", {"communication"}), ("copy", {"copy"}),
                           ("without copies", {"compute", "communication"}), ("busy", all_kinds)):
            sums[key] += covered(events, kinds) * unit_ns
        gaps.add(devices - 1, events, unit_ns)
        ends = [event.end for event in events if event.end != INF]
        sums["span"] += (max(ends) - events[0].start) * unit_ns if ends else 0.0
    without = sums["without copies"]
    return dict(zip(keys, (sums["work"], sums["communication"], sums["copy"], without - sums["work"],
                           sums["busy"] - without, sums["busy"], sums["span"] - sums["busy"], sums["span"],
                           gaps.host_ns))) | {"devices": devices, "gap_count": gaps.count, "gaps": gaps.listed()}


# ---- all of it ----

def by_time(row):
    """The longest first, then the most calls."""
    return -(row["total_ns"] if math.isfinite(row["total_ns"]) else -1.0), -row["calls"], row["operator"], row["shape"]


def join_parts(trace):
    """From here on events belong to the operator that has the shape."""
    for event in trace.events:
        if event.call in trace.parts:
            event.call, event.operator = trace.parts[event.call]


def sum_times(rows):
    """Of rows that have one."""
    total = 0.0
    for row in rows:
        total += row["total_ns"] if math.isfinite(row["total_ns"]) else 0.0
    return total


def times_by_name(named):
    """[{name, short, calls, total_ns, share}] of (name, calls, time), the longest first."""
    sums = {}
    for name, calls, time_ns in named:
        one = sums.setdefault(name, {"name": name, "short": plain_name(name), "calls": 0.0, "total_ns": NAN})
        one["calls"] += calls
        if math.isfinite(time_ns):
            one["total_ns"] = time_ns + (0.0 if math.isnan(one["total_ns"]) else one["total_ns"])
    total, seen = sum_times(sums.values()), {}
    for one in sums.values():
        one["share"] = one["total_ns"] / total if total else NAN
        seen[one["short"]] = number = seen.get(one["short"], 0) + 1
        one["short"] += f" #{number}" if number > 1 else ""
    return sorted(sums.values(), key=lambda one: (-(one["total_ns"] if math.isfinite(one["total_ns"]) else -1.0),
                                                  one["name"]))


def aggregate(trace):
    """Adds up what was read."""
    timeline = timeline_of(trace)
    by_name = Rows(trace, True)
    by_name.assign()
    operators = times_by_name((row["operator"], row["calls"], row["total_ns"]) for row in by_name.items.values())
    kernels = times_by_name((trace.names.items[event.name][0], 1, (event.end - event.start) *
                             trace.units_ns[event.device] if event.end != INF else NAN) for event in trace.events)
    join_parts(trace)
    rows = Rows(trace, False)
    rows.assign()
    rows.add_calls()
    items = list(rows.items.values())
    total = sum_times(items)
    for row in items:
        row["share"] = row["total_ns"] / total if total > 0 else NAN
    explained = sum_times(row for row in items if row["is_explained"])
    return {"device": trace.device_name, "arch": trace.arch, "cus": trace.cus, "events": len(trace.events) - trace.lost,
            "total_ns": total, "explained_ns": explained, "timeline": timeline, "rows": sorted(items, key=by_time),
            "operators": operators, "kernels": kernels}
