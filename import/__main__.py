# SPDX-License-Identifier: MIT
"""What frameworks, profilers and libraries write about a run (traces, logs, tuning tables, a model's configuration):
which operators with which shapes the time goes to. Prints one JSON document, which `rooftile import` and `rooftile
explain` read.

Files of one run add up. The kind of a file is found in its content, gzip is read through, and a trace is read as a
stream: memory is a window of the file, a record for each GPU event and each operator's call of the file that is being
read, and each distinct text once.

A GPU event belongs to the innermost operator that was running on the host thread when it was launched, found by the
runtime call of its correlation, else to the operator of its external id. Events that a graph replays belong to no
operator: their shapes come from a capture or eager trace with the same kernels in the same order, from a library's log,
or from the kernel's name; otherwise they are unknown, and reported as such. The time of an operator's call is the time
during which any of its events ran."""
import argparse
import gc
import json
import math
import os
import re
import subprocess
import sys

from attribution import attribute
from source import Refused, Source
from trace import Trace

TOOL_PATIENCE_S = 20


def read_file(trace, path):
    """Its events get their operators when it is read."""
    with Source(path) as source:
        trace.begin(path, source)
        read_source(trace, source)
        attribute(trace)


def read_source(trace, source):
    """By the reader of its kind."""
    path = source.path
    if not source.head:
        is_damaged = ": its compression is damaged from the beginning"
        raise Refused(path + (is_damaged if source.damaged else " is empty"))
    if source.head.startswith(b"SQLite format 3"):
        from databases import read_database as read
    elif source.head.lstrip(b" \r\n\t").startswith((b"{", b"[")):
        from model import is_config, read_config
        from kineto import read_json
        read = read_config if is_config(source.head) else read_json
    else:
        from tables import read_lines as read
    read(trace, source)
    trace.files.append({"path": path, "format": trace.format or "text"})
    if source.damaged:
        trace.note(f"{path}: the file ends too early, or its compression is damaged, at byte {source.bytes_read}; what "
                   "comes before it is used")


def demangled(names, tool):
    """Mangled names as their source has them, where the tool knows them all."""
    mangled = [re.split(r"[.\n]", name)[0] for name in names]  # without ".kd"
    try:
        answer = subprocess.run([tool], input="".join(f"{name}\n" for name in mangled), capture_output=True, text=True,
                                errors="replace", timeout=TOOL_PATIENCE_S, check=True).stdout.splitlines()
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    return {name: plain for name, plain in zip(names, answer) if plain and not plain.startswith("_Z")} \
        if len(answer) == len(names) else {}


def demangle_names(trace, tool):
    """What then is alike is one kernel."""
    names = {name for name, _ in trace.names.items} | {launch.name for launch in trace.launches}
    mangled = sorted(name for name in names if name.startswith("_Z"))
    plain = demangled(mangled, tool) if mangled and tool else {}
    if not plain:
        return
    old, trace.names = trace.names, type(trace.names)()
    numbers = [trace.names.add((plain.get(name, name), launch)) for name, launch in old.items]
    for event in trace.events:
        event.name = numbers[event.name]
    for call in trace.calls:
        if call.signature is None:
            call.name = numbers[call.name]
    for launch in trace.launches:
        launch.name = plain.get(launch.name, launch.name)


def import_files(options, files):
    """What all of them say together."""
    from capture import fill_from_capture
    from rows import aggregate
    trace = Trace(options)
    for path in files:
        read_file(trace, path)
    trace.shapes_only = True
    for path in options.shapes:
        read_file(trace, path)
    if not trace.events and not trace.calls:
        raise Refused(list(trace.notes)[-1][0] if trace.notes else f"{files[0]}: there is no GPU activity in it")
    demangle_names(trace, options.demangler)
    fill_from_capture(trace)
    found = aggregate(trace)
    notes = [{"text": text, "time_ns": time_ns, "count": count} for (text, time_ns), count in trace.notes.items()]
    return found | {"notes": notes, "files": trace.files}


def read_counters(options, path):
    """Hardware counters that rocprofv3 wrote, of all launches of a kernel together."""
    trace = Trace(options)
    read_file(trace, path)
    if not trace.counters:
        raise Refused(f"{path} has no counters: rocprofv3 --pmc writes them, as counter_collection.csv or rocpd")
    return [{"kernel": kernel, "counter": counter, "sum": total, "launches": launches}
            for (kernel, counter), (total, launches) in trace.counters.items()]


def row_key(row):
    """The same operator, shape, types and layout are the same row."""
    return tuple(row[key] for key in ("operator", "shape", "dtype", "total", "layout"))


def compare(before, after):
    """What changed, by its size: pairs of rows by number, -1 where there is none."""
    def time_of(row):
        return row["total_ns"] if row and math.isfinite(row["total_ns"]) else 0.0
    sides = [{row_key(row): number for number, row in enumerate(side["rows"])} for side in (before, after)]
    changes = []
    for key in sides[0] | sides[1]:
        numbers = [side.get(key, -1) for side in sides]
        a, b = (side["rows"][number] if number >= 0 else None for side, number in zip((before, after), numbers))
        difference = time_of(b) - time_of(a)
        changes.append({"before": numbers[0], "after": numbers[1], "difference_ns": difference,
                        "change": difference / time_of(a) if a and b and time_of(a) > 0 else math.nan, "key": key})
    changes.sort(key=lambda change: (-abs(change["difference_ns"]), change.pop("key")[:2]))
    return changes


def finite(value):
    """JSON has no NaN and no infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(member) for key, member in value.items()}
    return [finite(element) for element in value] if isinstance(value, (list, tuple)) else value


def answer(options):
    """The document."""
    from model import Damaged
    try:
        if options.counters:
            return {"counters": read_counters(options, options.files[0])}
        if options.diff:
            imports = [import_files(options, [path]) for path in options.files]
            return {"imports": imports, "changes": compare(*imports)}
        return {"imports": [import_files(options, options.files)]}
    except Refused as why:
        return {"error": str(why)}
    except Damaged as damaged:
        return {"damaged": damaged.path, "text": damaged.text}
    except MemoryError:
        return {"error": f"{options.files[0]}: there is too little memory for it"}
    except Exception as error:  # whatever a file has in it, the answer is a sentence
        return {"error": f"{options.files[0]}: its reader failed: {type(error).__name__}: {error}"}


def main():
    """Options are checked by the program that starts this."""
    parser = argparse.ArgumentParser(prog="import")
    parser.add_argument("--shapes", action="append", default=[])
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--tokens", type=int, default=0)
    parser.add_argument("--tp", type=int, default=0)
    for flag in "--decode", "--counters", "--diff":
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--demangler", default="")
    parser.add_argument("files", nargs="+")
    gc.disable()  # millions of records, and no cycles
    document = json.dumps(finite(answer(parser.parse_args())), ensure_ascii=False)
    # What is no text in UTF-8 shows as the mark for it.
    document = re.sub("[\ud800-\udfff]", "\ufffd", document)
    with os.fdopen(sys.stdout.fileno(), "wb", closefd=False) as out:
        out.write(document.encode())
    sys.stdout.flush()
    os._exit(0)  # nothing is left to tidy up, record by record


if __name__ == "__main__":
    main()
