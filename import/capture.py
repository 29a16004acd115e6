# SPDX-License-Identifier: MIT
"""Shapes for kernels whose launch no operator saw, because a graph replayed it or because the trace has no operators.
Three places may know: the launches that were recorded while the graph was captured (ROCm's runtime calls name the
kernel), an eager trace of the same program, and a library's log. Kernels are matched by name and order, and only where
there is one answer."""
import math
from itertools import groupby

from names import read_kernel_name
from operators import Operator
from shapes import read_operator


def start_of(event):
    """The node where it is known: replays may run several at a time, and in another order."""
    return event.external if event.source == "capture" and event.external else event.start


class Launches:
    """Those that were recorded: of each segment and kernel in order."""

    def __init__(self, trace):
        self.trace, self.runs = trace, {}
        for launch in trace.launches:
            self.runs.setdefault((launch.segment, launch.name), []).append(launch)

    def score(self, segment, kernels):
        """How many kernels of the group the segment has as often, or a whole number of times less often."""
        runs = ((len(events), self.runs.get((segment, name), ())) for name, events in kernels)
        return sum(count for count, run in runs if run and count % len(run) == 0)

    def answer(self, segments, name, same, k):
        """A launch whose operator all these segments agree on; None: there is none, or they do not."""
        found = None
        for segment in segments:
            run = self.runs.get((segment, name), ())
            if not run or same % len(run):
                continue
            launch = run[k % len(run)]
            if found and launch.operator != found.operator:
                return None
            found = found or launch
        return found

    def fill_group(self, events):
        """Events of one call of an operator are one call; a group may have the segment several times."""
        trace, rounds = self.trace, 0
        names = trace.names.items
        kernels = [(name, list(same)) for name, same in groupby(events, lambda event: names[event.name][0])]
        scores = [self.score(segment, kernels) for segment in range(len(trace.segment_calls))]
        best = max(scores, default=0)
        if not best:
            return
        segments = [segment for segment, score in enumerate(scores) if score == best]
        calls = max(trace.segment_calls[segment] for segment in segments)
        for name, same in kernels:
            for k, event in enumerate(same):
                launch = self.answer(segments, name, len(same), k)
                event.operator = launch.operator if launch else None
                if event.operator is None:
                    continue
                event.source = "capture"
                turn = k // len(self.runs[launch.segment, name])
                event.call = trace.operator_calls + turn * calls + launch.call
                rounds = max(rounds, turn + 1)
        trace.operator_calls += rounds * calls


# ---- logs ----

def tensile_class(name):
    """A kernel of Tensile says its type and layout; None: it is another one."""
    operator = Operator(name)
    if not name.startswith("Cijk_") or read_kernel_name(operator, name, (0, 0, 0), (0, 0, 0)) is None:
        return None
    return operator.dtype, operator.layout


def fill_from_logs(trace, missing):
    """As many lines of a type and layout as kernels are these, in order; and a single shape is that of all."""
    names = trace.names.items
    class_of = {number: tensile_class(names[number][0]) for number in {event.name for event in trace.events}}
    wanted = dict.fromkeys(class_of[event.name] for event in missing)
    lines = {}
    for call in trace.calls:
        operator = read_operator(trace.signatures.items[call.signature]) if call.signature is not None else None
        if operator and operator.kind == "gemm":
            lines.setdefault((operator.dtype, operator.layout), []).append(call)
    for its in wanted:
        calls = lines.get(its, [])
        kernels = [event for event in trace.events
                   if class_of[event.name] == its and (event.operator is None or event.source == "log")]
        is_one_shape = all(call.signature == calls[0].signature for call in calls)
        if its is None or not calls or not kernels or not (len(kernels) == len(calls) or is_one_shape):
            continue
        for k, event in enumerate(kernels):
            if event.operator is None:
                event.operator = calls[0 if is_one_shape else k].signature
                event.source = "log"
        for call in calls:
            call.count = 0.0


def note_graphs(trace, missing):
    """What stays unknown of graphs, by their launches, which bring them together in the list."""
    left = [event for event in missing if event.operator is None and event.source == "capture"]
    if not left:
        return
    launches = 1 + sum(a.correlation != b.correlation for a, b in zip(left, left[1:]))
    time_ns = sum((event.end - event.start) * trace.units_ns[event.device]
                  for event in left if math.isfinite(event.end))
    where = "" if trace.options.shapes else ": a trace of the capture, or of an eager run, with --shapes has them"
    trace.note(f"{len(left)} kernels of {launches} launch{'' if launches == 1 else 'es'} of graphs, "
               f"{{time}}, have no operator{where}", time_ns)


def fill_from_capture(trace):
    """Gives events without an operator the operators of the same kernels elsewhere."""
    names, order = trace.names.items, {}
    missing = [event for event in trace.events if event.operator is None and event.activity == "compute"]
    for event in missing:
        order.setdefault(names[event.name][0], len(order))
    missing.sort(key=lambda event: (event.correlation, order[names[event.name][0]], start_of(event)))
    if missing and trace.launches:
        launches = Launches(trace)
        for _, group in groupby(missing, lambda event: event.correlation):
            launches.fill_group(list(group))
    if missing and trace.calls:
        fill_from_logs(trace, missing)
    note_graphs(trace, missing)
