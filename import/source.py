# SPDX-License-Identifier: MIT
"""A file as a stream of bytes, gzip or not. What ends too early is used as far as it goes."""
import io
import os
import zlib

CHUNK = 1 << 20
HEAD = 1 << 16
MOST = 64 << 20  # a longer line or JSON value is passed over


class Refused(Exception):
    """Why nothing can be imported, in a sentence."""


class Source:
    """`head` has the first bytes, and read() begins with them."""

    def __init__(self, path):
        self.path = path
        self.line = 0         # the number of the line that was read last; 0: none was
        self.bytes_read = 0   # of what is in the file, unpacked
        self.ended = self.damaged = False
        if path != "-" and os.path.isdir(path):
            raise Refused(f"{path} is a folder")
        try:
            self.file = os.fdopen(os.dup(0), "rb", 0) if path == "-" else open(path, "rb", 0)
        except OSError as error:
            raise Refused(f"{path}: {error.strerror}") from None
        self.packed = self.raw(2)
        self.gzip = zlib.decompressobj(31) if self.packed == b"\x1f\x8b" else None
        self.compressed = self.gzip is not None
        self.head = b""
        while len(self.head) < HEAD and not self.ended:
            self.head += self.more()
        if self.head[:2] in (b"\xff\xfe", b"\xfe\xff") or self.has_wide_letters():
            raise Refused(f"{path} is text in UTF-16: iconv -f UTF-16 -t UTF-8 makes it readable")
        self.given = len(b"\xef\xbb\xbf") if self.head.startswith(b"\xef\xbb\xbf") else 0  # of the head, to read()
        self.head = self.head[self.given:]
        self.waiting = self.head

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def has_wide_letters(self):
        """Letters of ASCII in 16 bits have zeros at every other place."""
        zeros = [byte == 0 for byte in self.head[:4]]
        return len(zeros) == 4 and zeros[0] != zeros[1] and zeros[2] != zeros[3]

    def raw(self, count):
        """Bytes of the file as they are; fewer only at its end."""
        parts = []
        while count > 0:
            try:
                part = self.file.read(count)
            except OSError:
                part = b""
            if not part:
                break
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def more(self):
        """The next bytes, unpacked; b"" with `ended` at the end."""
        out = b""
        while not out and not self.ended:
            data, self.packed = self.packed or self.raw(CHUNK), b""
            if not self.compressed:
                out = data
                self.ended = not data
            else:
                out = self.unpack(data)
        self.bytes_read += len(out)
        return out

    def unpack(self, data):
        """Several gzip streams may follow each other; what else follows is no part of the file."""
        if self.gzip.eof:
            if not data.startswith(b"\x1f\x8b"):
                self.ended = True
                return b""
            self.gzip = zlib.decompressobj(31)
        if not data:
            self.ended = self.damaged = True
            return b""
        out = io.BytesIO()
        try:
            out.write(self.gzip.decompress(data, 8 * CHUNK))
        except zlib.error:
            self.ended = self.damaged = True
        self.packed = self.gzip.unconsumed_tail or self.gzip.unused_data
        return out.getvalue()

    def read(self):
        """The next bytes; b"" at the end."""
        out, self.waiting = self.waiting, b""
        return out or self.more()

    def read_all(self):
        """All that is left; None: it is more than MOST."""
        parts, length = [], 0
        while part := self.read():
            parts.append(part)
            length += len(part)
            if length > MOST:
                return None
        return b"".join(parts)

    def lines(self):
        """Each line as text, without its end, with blanks for zeros; one that is longer than MOST is split."""
        rest = b""
        while True:
            data = self.read()
            *whole, rest = (rest + data).split(b"\n") if data else [rest, b""]
            if len(rest) >= MOST:
                whole.append(rest)
                rest = b""
            for line in whole if data or whole != [b""] else []:
                self.line += 1
                line = line.removesuffix(b"\r").replace(b"\0", b" ")
                yield line.decode("utf-8", "surrogateescape")
            if not data:
                return
