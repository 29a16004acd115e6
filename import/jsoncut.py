# SPDX-License-Identifier: MIT
"""JSON of any size, cut into values: those at some paths are handed out one at a time, and nothing else is kept.

A path is the keys on the way joined with '.', "[]" behind the key of an array whose elements are meant:
"traceEvents[]", or "[]" where the document is an array. Damage (no comma, an invalid value) is counted, with the
position of the first, and reading goes on behind it; an end too early is no such place, but `cut`. Numbers with a point
are handed out as text, to be exact."""
import codecs
import json
import re

from source import MOST

BLANKS = re.compile(r"[ \n\r\t]*").match
BLANKS_AND_COMMAS = re.compile(r"[ \n\r\t,]*").match
STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.S).match
SCALAR = re.compile(r"[^,}\] \n\r\t:]*").match
MARKS = re.compile(r'[{}\[\]]|"[^"\\]*(?:\\.[^"\\]*)*("?)', re.S)
PASSED = re.compile(r'\\.|["{}\[\]]', re.S)
MOST_DEPTH = 64
scan = json.JSONDecoder(parse_float=str, strict=False).scan_once
# What scan() raises where a value is damaged, nested too deeply, or not all there.
UNREADABLE = (ValueError, RecursionError, StopIteration)


def cut_end(data, at):
    """Behind the value that begins there, whatever is in it; None: it does not end."""
    first = data[at:at + 1]
    if first == '"':
        found = STRING(data, at)
        return found.end() if found else None
    if first not in ("{", "["):
        end = SCALAR(data, at).end()
        return end if end < len(data) else None
    depth = 0
    for found in MARKS.finditer(data, at):
        mark = found[0]
        if mark[0] == '"':
            if not found[1]:
                return None
            continue
        depth += 1 if mark in "{[" else -1
        if depth == 0:
            return found.end()
    return None


def members(text):
    """The members of an object that is damaged, as far as they can be told: values that are damaged as text."""
    out, at = {}, 1
    while found := STRING(text, BLANKS_AND_COMMAS(text, at).end()):
        key, at = found[0][1:-1], BLANKS_AND_COMMAS(text, found.end()).end()
        if text[at:at + 1] != ":":
            break
        at = BLANKS_AND_COMMAS(text, at + 1).end()
        end = cut_end(text, at)
        if end is None:
            break
        out[key] = loose(text[at:end])
        at = end
    return out


def loose(text):
    """A value that may be damaged."""
    try:
        value, end = scan(text, 0)
        if end == len(text):
            return value
    except UNREADABLE:
        pass
    return members(text) if text.startswith("{") else text


class Cutter:
    """Reads the whole document; `paths` has a function for each path, which gets the value."""

    def __init__(self, source, paths):
        self.source, self.paths = source, paths
        self.decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self.data, self.at = "", 0
        self.before = source.given  # bytes of the file before `data`
        self.damages, self.first_damage, self.cut = 0, 0, False
        self.ended = False
        self.wanted = {path[:k] for path in paths for k in range(len(path) + 1)}

    def read(self):
        """All of it."""
        if self.peek():
            self.value("", 0)

    def offset(self):
        """Where the value stands in the file, in bytes."""
        return self.before + self.bytes_of(self.data[:self.at])

    @staticmethod
    def bytes_of(text):
        return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))

    def more(self):
        """More of the file, as much again as there is; False: there is no more, or too much."""
        if self.ended or len(self.data) - self.at >= MOST:
            return False
        self.before += self.bytes_of(self.data[:self.at])
        parts, length = [self.data[self.at:]], 0
        self.at = 0
        while length <= len(parts[0]) and len(parts[0]) + length < MOST:
            data = self.source.read()
            self.ended = not data
            parts.append(self.decode(data, self.ended))
            length += len(data)
            if self.ended:
                break
        self.data = "".join(parts)
        return length > 0

    def peek(self):
        """The next byte that is no blank, which is not taken; "" at the end."""
        while True:
            self.at = BLANKS(self.data, self.at).end()
            if self.at < len(self.data):
                return self.data[self.at]
            if not self.more():
                return ""

    def damaged(self):
        """Here is something wrong."""
        self.cut = self.cut or not self.peek()
        if not self.cut:
            self.damages += 1
            if self.damages == 1:
                self.first_damage = self.offset()

    def whole_end(self):
        """Behind the value here; None: it does not end."""
        while True:
            end = cut_end(self.data, self.at)
            if end is not None:
                return end
            if not self.more():
                is_scalar = self.at < len(self.data) and self.data[self.at] not in '"{['
                return len(self.data) if is_scalar else None

    def member_key(self):
        """A key and its colon; None: there is none."""
        end = self.whole_end()
        if end is None or self.data[self.at] != '"' or end - self.at < 2:
            return None
        key = self.data[self.at + 1:end - 1]
        self.at = end
        if self.peek() != ":":
            return None
        self.at += 1
        self.peek()
        return key

    def children(self, close, path, depth):
        """Members or elements, behind the opening bracket."""
        take = self.paths.get(path + "[]") if close == "]" else None
        while (byte := self.peek()) and byte != close:
            before, good, inner = self.before + self.at, True, path + "[]"
            if close == "}":
                key = self.member_key()
                good = key is not None
                inner = f"{path}.{key}" if path else key
            if good and not (take and self.hand_out(take)):
                self.value(inner, depth)
            good = good and self.before + self.at > before
            following = self.peek()
            if following == "," and good:
                self.at += 1
            elif following != close or not good:
                self.damaged()
                if not following:
                    return
                self.at += self.before + self.at == before or following in ",]}"
        if not self.peek():
            self.damaged()
        self.at += self.peek() == close

    def hand_out(self, take):
        """Elements that are sound and all there, up to behind the last one; False: the next one is not."""
        data, at, moved = self.data, self.at, False
        while data.startswith("{", at):
            try:
                value, end = scan(data, at)
            except UNREADABLE:
                break
            self.at = at
            take(value)
            self.at, moved = end, True
            at = BLANKS(data, end).end()
            if not data.startswith(",", at):
                break
            at = BLANKS(data, at + 1).end()
        return moved

    def pass_over(self):
        """A string, array or object that is too long to be held, or the rest of the file where it does not end."""
        depth, quoted = 0, False
        while True:
            for found in PASSED.finditer(self.data, self.at):
                mark = found[0]
                if mark == '"':
                    quoted = not quoted
                elif not quoted and mark[0] != "\\":
                    depth += 1 if mark in "{[" else -1
                if not quoted and depth <= 0:
                    self.at = found.end()
                    return
            self.at = len(self.data)
            if not self.more():
                return

    def value(self, path, depth):
        """Hands it out, or looks for what is wanted in it."""
        take, first = self.paths.get(path), self.peek()
        if not take and first and first in "{[" and depth < MOST_DEPTH:
            if path not in self.wanted and self.skip():
                return
            self.at += 1
            self.children("}" if first == "{" else "]", path, depth + 1)
            return
        end = self.whole_end()
        if end is None:
            self.cut = self.cut or self.ended
            self.damaged()
            self.pass_over()
            return
        if take and end > self.at:
            take(loose(self.data[self.at:end]))
        self.at = end

    def skip(self):
        """Passes over a sound value that is all there."""
        try:
            self.at = scan(self.data, self.at)[1]
            return True
        except UNREADABLE:
            return False
