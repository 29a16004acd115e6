# SPDX-License-Identifier: MIT
"""Names with their values, which is what lines of text come down to: the cells of a table's row under their heads, the
options of a command, the pairs of a YAML map or of a log."""
import csv
import re

from operators import leading_number

MOST_FIELDS = 96
SIMPLE = re.compile(r'(?:"[^"]*"|[^",]*)(?:,(?:"[^"]*"|[^",]*))*').fullmatch
SPACES = " \t\n\v\f\r"


class Fields:
    """any_case: of heads, capitals do not count. behind: where what is not here is looked for."""

    def __init__(self, keys=(), values=(), any_case=False, behind=None, word=None):
        self.keys, self.values, self.any_case, self.behind, self.word = list(keys), list(values), any_case, behind, word
        self.places = {}

    def add(self, key, value):
        """One more, if it is not the hundredth."""
        if len(self.keys) < MOST_FIELDS:
            self.keys.append(key)
            self.values.append(value)
            self.places = {}

    def places_of(self, names):
        """Where each of the names stands, in their order."""
        keys = [key.lower() for key in self.keys] if self.any_case else self.keys
        self.places[names] = found = [at for name in names.split("|") for at, key in enumerate(keys)
                                      if key == (name.lower() if self.any_case else name)]
        return found

    def get(self, names, otherwise=None):
        """The value of the first of these names, between '|'."""
        places = self.places.get(names)
        for at in self.places_of(names) if places is None else places:
            if at < len(self.values):
                return self.values[at]
        return self.behind.get(names, otherwise) if self.behind else otherwise

    def text(self, names, otherwise):
        """The same where an empty value is none."""
        return self.get(names) or otherwise

    def number(self, names, otherwise):
        """`otherwise` where there is no number."""
        value = self.get(names)
        if value is None:
            return otherwise
        try:
            return float(value)
        except ValueError:
            number, _ = leading_number(value)
            return otherwise if number is None else number


def split_cells(line):
    """A CSV's cells: quotes and blanks around them go."""
    if '"' not in line:
        return [cell.lstrip(" \t").rstrip(SPACES) for cell in line.split(",", MOST_FIELDS)[:MOST_FIELDS]]
    if SIMPLE(line) and "\r" not in line and len(line) < csv.field_size_limit():
        cells = next(csv.reader([line]))
        if all(cell == cell.strip(SPACES) for cell in cells):
            return cells[:MOST_FIELDS]
    return split_odd_cells(line)


def split_odd_cells(line):
    """Quotes may begin anywhere in a cell."""
    cells, at, more = [], 0, True
    while more and len(cells) < MOST_FIELDS:
        while line[at:at + 1] in (" ", "\t"):
            at += 1
        out, end, quoted = [], 0, False
        while at < len(line) and (quoted or line[at] != ","):
            if line[at] == '"' and not (quoted and line[at + 1:at + 2] == '"'):
                quoted = not quoted
                at += 1
                continue
            at += line[at] == '"'
            out.append(line[at])
            end = len(out) if quoted or line[at] not in SPACES else end
            at += 1
        cells.append("".join(out[:end]))
        more = at < len(line)
        at += 1
    return cells


def split_options(text):
    """"-m 16 --flag conv": keys without dashes; `word`: the first argument that is no option."""
    out = Fields()
    for word in re.split("[ \t]+", text):
        if len(word) > 1 and word[0] == "-" and word[1] not in "0123456789.":
            out.add(word.lstrip("-"), "")
        elif word and out.keys and not out.values[-1]:
            out.values[-1] = word
        elif word and not out.word:
            out.word = word
    return out


PAIR = re.compile(r"""([^ \t\r,{}()\[\]'":=][^ \t,{}:=]*|)"""
                  r"""(?:[:=][ \t]*(?:'([^']*)'?|"([^"]*)"?|([^ \t\r,{}()\[\]'"]*))|)""")
AROUND = re.compile(r"""[ \t\r,{}()\[\]'"]*""")


def split_pairs(text):
    """"{'M': 320, transA: N} B=1": other words go."""
    out, at = Fields(), AROUND.match(text).end()
    while at < len(text):
        found = PAIR.match(text, at)
        value = next((given for given in found.groups()[1:] if given is not None), None)
        if value is not None:
            out.add(re.split("['\"]", found[1])[0].lstrip("-"), value)
        at = AROUND.match(text, max(found.end(), at + 1)).end()
    return out
