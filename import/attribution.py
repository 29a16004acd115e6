# SPDX-License-Identifier: MIT
"""Which operator an event belongs to. On each host thread operators and runtime calls nest: one pass over both, sorted
by start, with the operators that are open on a stack."""
from math import isfinite
from operator import attrgetter

from shapes import is_known, is_whole
from trace import CAPTURE, CAPTURED, INF, LAUNCH, Event

BLEED_NS = 1000.0  # a child that ends later than its parent by less overlaps it because of the clock's resolution
MOST_OPEN = 4096


def by_thread_and_start(event):
    """Graphs are of no thread, and come last."""
    return INF if event.thread is None else event.thread, event.start, -event.end


class OpenOperators:
    """The operators that are running on a thread."""

    def __init__(self, bleed):
        self.bleed, self.items, self.thread = bleed, [], None

    def settle(self, event):
        """Closes what ended before; False: the event overlaps one that is open, and belongs to nobody."""
        if self.thread != event.thread:
            self.items = []
        self.thread = event.thread
        items = self.items
        while items and event.start >= items[-1].end:
            items.pop()
        if not items:
            return True
        overlap = items[-1].end - event.start
        if event.end <= event.start + overlap:
            return True
        if overlap >= self.bleed or len(items) < 2:
            return False
        items.pop()
        return True

    def open(self, operator, signatures):
        """`whole` becomes the operator that it is a part of."""
        operator.whole = None
        if not self.settle(operator) or len(self.items) == MOST_OPEN:
            return
        if self.items:
            operator.whole = self.items[-1].whole
        if operator.whole is None and is_whole(signatures[operator.signature]):
            operator.whole = operator
        self.items.append(operator)


def nest(trace):
    """Every runtime call gets its operator as `signature`; None: it has none."""
    opened = OpenOperators(BLEED_NS / trace.unit_ns)
    signatures, operators, following = trace.signatures.items, trace.operators, 0
    keys = [by_thread_and_start(operator) for operator in operators]
    for call in trace.runtime:
        key = by_thread_and_start(call)
        while following < len(operators) and keys[following] <= key:
            opened.open(operators[following], signatures)
            following += 1
        call.signature = opened.items[-1] if opened.settle(call) and opened.items else None
    for operator in operators[following:]:
        opened.open(operator, signatures)


def set_operator(trace, event, operator):
    """The event is of this operator's call."""
    event.operator = operator.signature
    event.call = trace.operator_calls + operator.number
    event.source = "operator"
    whole = operator.whole
    if whole is not None and whole is not operator:
        trace.parts[event.call] = trace.operator_calls + whole.number, whole.signature


def first_of_each_id(events):
    """By number; 0 is none."""
    found = {}
    for event in events:
        if event.id:
            found.setdefault(event.id, event)
    return found


def by_correlation(trace):
    """By their runtime calls, which of those ran. True: others have an external id."""
    calls, ran, left = first_of_each_id(trace.runtime), set(), False
    for event in trace.events[trace.first_event:]:
        call = calls.get(event.correlation)
        if call:
            ran.add(call)
            event.launched = call.start
        if event.source == "capture":
            continue
        if call and call.thread is None:
            event.external = 0  # of whoever launched the graph
            event.source = "capture"
        elif call and call.signature is not None:
            set_operator(trace, event, call.signature)
        left = left or (event.operator is None and event.external)
    return ran, left


def by_external_id(trace):
    """Events that no runtime call gave an operator."""
    operators = first_of_each_id(trace.operators)
    for event in trace.events[trace.first_event:]:
        if event.operator is None and event.source != "capture" and event.external in operators:
            set_operator(trace, event, operators[event.external])


def add_lost(trace, name, operator):
    """An event of this operator that the file has no kernel of: it is counted."""
    event = Event(name, trace.device(0))
    if operator is not None:
        set_operator(trace, event, operator)
    trace.events.append(event)
    trace.lost += 1


def add_operators(trace):
    """Of a file that was cut before it says what was launched: the operators that others are not inside of."""
    nameless = trace.names.add(("", None))
    for operator, following in zip(trace.operators, trace.operators[1:] + [None]):
        alone = following is None or following.thread != operator.thread or following.start >= operator.end
        if alone and is_known(trace.signatures.items[operator.signature]):
            add_lost(trace, nameless, operator)


def keep_launches(trace, ran):
    """Launches that never ran. While a capture lasts they were recorded into a graph; else their kernels are missing.
    Ids rise in the order of calls."""
    nameless, graph = trace.names.add(("unknown kernel", None)), trace.names.add(("launch of a graph", None))
    before, launches = trace.lost, 0
    captures = not trace.gpu_events and not trace.cut  # such a file is there for its shapes
    trace.begin_segment()
    for call in trace.runtime:
        named, of_graph = type(call.whole) is int, call.thread is None
        is_launch = named or of_graph or call.whole == LAUNCH
        if call.whole == CAPTURE:
            trace.begin_segment()
        captures = call.whole == CAPTURE or (captures and (call.whole != CAPTURED or not trace.gpu_events))
        launches += is_launch
        if call in ran or not isfinite(call.end):
            continue
        operator = call.signature
        if named:
            trace.add_launch(trace.names.items[call.whole][0], operator and operator.signature,
                             operator and operator.number)
        if is_launch and not captures and not trace.shapes_only:
            add_lost(trace, call.whole if named else graph if of_graph else nameless, None if of_graph else operator)
    if trace.lost > before:
        trace.note(f"{trace.path}: {trace.lost - before} of {launches} launches have no kernel in it: "
                   "they are counted, not timed")
    elif trace.cut and not trace.gpu_events:
        add_operators(trace)


def keep_shapes_only(trace):
    """Of a file that is read for its shapes the events are launches that ran elsewhere; what a graph replayed in it
    says nothing."""
    trace.begin_segment()
    own = trace.events[trace.first_event:]
    del trace.events[trace.first_event:]
    for event in sorted(own, key=attrgetter("start")):
        if event.source != "capture":
            trace.add_launch(trace.names.items[event.name][0], event.operator, event.call)


def clip_overlaps(trace):
    """On a stream events run one after the other, but for those of a graph: what is longer ends where the next one
    starts."""
    clipped, count = 0.0, 0
    own = sorted(trace.events[trace.first_event:],
                 key=lambda event: (event.device, INF if event.call is None else event.call, event.start))
    trace.events[trace.first_event:] = own
    for before, event in zip(own, own[1:]):
        overlap = before.end - event.start
        if (before.device != event.device or before.call != event.call or event.call is None or
                (event.correlation and before.correlation == event.correlation) or
                not overlap * trace.unit_ns > BLEED_NS):
            continue
        before.end = event.start
        clipped += overlap
        count += 1
    for event in own:
        event.call = None
    if count:
        trace.note(f"{trace.path}: durations overlap on a stream: {count} GPU events end where the next one starts, "
                   "{time} less", clipped * trace.unit_ns)


def attribute(trace):
    """After a file was read: gives its events their operators, as far as known, and drops its host events."""
    clip_overlaps(trace)
    trace.operators.sort(key=by_thread_and_start)
    trace.runtime.sort(key=by_thread_and_start)
    nest(trace)
    trace.runtime.sort(key=attrgetter("id"))
    for number, operator in enumerate(trace.operators):
        operator.number = number
    ran, left = by_correlation(trace)
    if left:
        by_external_id(trace)
    keep_launches(trace, ran)
    if trace.shapes_only and len(trace.events) > trace.first_event:
        keep_shapes_only(trace)
    trace.operator_calls += len(trace.operators)
