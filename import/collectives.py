# SPDX-License-Identifier: MIT
"""What rccl-tests and nccl-tests print: a table of sizes, each out of place and in place. Newer versions name the
program; of older ones its command line may be in the log, else what was reduced and the ratio of the two bandwidths say
which collective it was, or it is not known. Lines of other programs are passed over."""
import math
import re

from operators import Operator, dtype_of_trace, leading_number

SIDE = 4  # words of a side: time, algbw, busbw, #wrong
PROGRAM = re.compile(r"(?:^|(?<=[ /\t'\"]))(all_reduce|all_gather|reduce_scatter|broadcast|alltoallv|alltoall|sendrecv|"
                     r"reduce|gather|scatter|hypercube)_perf")
OUR_NAMES = {"alltoall": "all_to_all", "sendrecv": "send_recv"}


def to_number(word):
    """None: the word is no number that a measurement can be."""
    number, behind = leading_number(word)
    return number if number is not None and not behind and 0 <= number < math.inf else None


def is_head(line):
    """The line that names the columns."""
    return "#" in line and all(f" {word} " in line for word in ("size", "busbw", "type", "algbw")) and \
        line.index(" busbw ") > line.index(" size ")


class Collectives:
    """A table of rccl-tests. counts_wrong: older versions have the largest error there."""

    def __init__(self, trace):
        self.trace = trace
        self.program, self.ranks, self.nodes, self.host = None, 0.0, 0, None
        self.in_table = self.counts_wrong = False

    def read_rank(self, line):
        """"#  Rank  0 Group  0 Pid  37300 on   node1 device  0 [0000:05:00] AMD Instinct MI300X"."""
        _, is_rank, number = line.partition("Rank ")
        _, has_host, host = line.partition(" on ")
        if not is_rank or not has_host or " device " not in line:
            return False
        number = leading_number(number)[0] or 0.0
        host = host.lstrip(" ").partition(" ")[0]
        if number == 0:  # another table begins
            self.ranks, self.nodes, self.host = 0.0, 0, ""
        self.ranks = max(self.ranks, number + 1)
        self.nodes += self.host != host
        self.host = host
        _, bracket, name = line.rpartition("]")
        if bracket:
            self.trace.set_device(name.lstrip(" "), "", 0.0)
        return True

    def guess_program(self, reduces, has_root, ratio):
        """Without its name: a root, what is reduced, and how many times as much a link carries."""
        n, near = self.ranks, 0.03
        if not n > 1 or not math.isfinite(ratio):
            return None
        if reduces:
            every, part = abs(ratio - 2 * (n - 1) / n) < near, abs(ratio - (n - 1) / n) < near
            return "reduce" if has_root else "all_reduce" if every else "reduce_scatter" if part else None
        if abs(ratio - 1) < near:
            return "broadcast" if has_root else "send_recv"
        return None  # all_gather and all_to_all look alike

    def add_side(self, operator, words, reduces, has_root, in_place):
        """A measurement."""
        us, algorithm, bus, wrong = map(to_number, words)
        if us is None or algorithm is None or bus is None or not us > 0:
            self.trace.skip("a measurement without a time was skipped")
            return
        size = operator.dims[1]
        program = self.program
        if not program and algorithm >= 1:
            program = self.guess_program(reduces, has_root, bus / algorithm)
        operator = Operator(program or "collective of an unknown kind", operator.kind, operator.dims, operator.dtype,
                            layout="in-place" if in_place else "out-of-place")
        wrong = math.nan if wrong is None or not self.counts_wrong else wrong
        if wrong > 0:
            self.trace.note(f"{self.trace.path}:{self.trace.source.line}: {wrong:.0f} wrong elements: {operator.name} "
                            f"{operator.layout}, {size:.0f} bytes")
        call = self.trace.add_call(operator, 1.0, us * 1e3)
        call.wrong_elements = wrong
        if self.ranks == 1:  # it copied in its own memory, or did nothing
            self.trace.skip("one rank took part, as in a build without MPI: nothing crossed a link, and the "
                            "bandwidth is none")
            return
        call.algorithm_bytes_per_s = size / us / 1e3 * 1e9 if size > 0 else math.nan  # the table has two decimals
        call.bus_bytes_per_s = bus * 1e9 if bus > 0 else math.nan

    def read_row(self, words):
        """size count type [redop] [root] time algbw busbw #wrong time algbw busbw #wrong"""
        lead = len(words) - 2 * SIDE
        size, elements = (to_number(word) for word in words[:2]) if 3 <= lead <= 5 else (None, None)
        if size is None or elements is None:
            return False
        if not size > 0 or not elements > 0:
            self.trace.skip("sizes of no bytes were skipped")
            return True
        root = (leading_number(words[4])[0] or 0.0) if lead == 5 else -1.0
        operator = Operator("", "communication", dtype=dtype_of_trace(words[2]) or words[2])
        operator.set_dims(elements, size, self.ranks, root if root > 0 else 0.0, self.nodes if self.nodes > 1 else 0.0)
        reduces = lead > 3 and words[3] != "none"
        for in_place in False, True:
            self.add_side(operator, words[lead:][SIDE * in_place:][:SIDE], reduces, root >= 0, in_place)
        return True

    def take(self, line):
        """Also what lines around the table say."""
        if line.startswith("[") and ">:" in line:  # mpirun --tag-output
            line = line.partition(">:")[2]
        named = PROGRAM.search(line) if "_perf" in line else None
        if named:
            self.program = OUR_NAMES.get(named[1], named[1])
        if "#" in line:
            if is_head(line):
                self.in_table, self.counts_wrong = True, "#wrong" in line
                return True
            return self.read_rank(line)
        if not self.in_table or not "0" <= line.lstrip(" \t")[:1] <= "9":
            return False
        return self.read_row([word for word in re.split("[ \t]+", line) if word][:24])
