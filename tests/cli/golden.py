# SPDX-License-Identifier: MIT
"""Golden outputs: golden/<name>/cmd holds the arguments (as a shell would read them; <root> is the source tree), golden/<name>/stdout
what they print."""
import difflib
import pathlib
import shlex

FOLDER = pathlib.Path(__file__).resolve().parent / "golden"
ROOT = FOLDER.parent.parent.parent


def portable(output):
    """Where the source tree lies is no part of the expectation."""
    return output.replace(str(ROOT), "<root>")


def names():
    return sorted(p.parent.name for p in FOLDER.glob("*/cmd"))


def arguments(name):
    return shlex.split((FOLDER / name / "cmd").read_text().replace("<root>", str(ROOT)))


def expected(name):
    path = FOLDER / name / "stdout"
    return path.read_text() if path.exists() else ""


def difference(name, output):
    """Empty when they are the same."""
    return "".join(difflib.unified_diff(expected(name).splitlines(True), portable(output).splitlines(True), f"golden/{name}/stdout", "now"))


def accept(name, output):
    (FOLDER / name / "stdout").write_text(portable(output))
