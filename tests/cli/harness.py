# SPDX-License-Identifier: MIT
"""What the tests of the program share: running it in a clean environment, and reporting what went wrong."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
failures = []
checks = 0


def environment(home, **extra):
    """Nothing of the user's settings, caches or terminal."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "ROOFTILE_DATA": str(home / "data"),
           "SOURCE_DATE_EPOCH": "1700000000"}
    if "ROOFTILE_TEST_CACHE" in os.environ:
        env["ROOFTILE_CACHE"] = os.environ["ROOFTILE_TEST_CACHE"]
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        if name in os.environ:
            env[name] = os.environ[name]
    env.update({k: v for k, v in extra.items() if v is not None})
    return env


def scratch():
    return tempfile.TemporaryDirectory(prefix="rooftile-test-")


def run(*args, home, cwd=None, timeout=300, **extra):
    return subprocess.run([str(PROGRAM), *map(str, args)], env=environment(pathlib.Path(home), **extra),
                          cwd=cwd or home, capture_output=True, text=True, timeout=timeout)


def over(base, own):
    """A JSON value over another as in manifests: objects are merged, null takes a key away, all else replaces."""
    if not isinstance(base, dict) or not isinstance(own, dict):
        return own
    merged = {k: over(v, own[k]) if k in own else v for k, v in base.items() if own.get(k, v) is not None}
    return merged | {k: v for k, v in own.items() if k not in base}


def read_manifest(path):
    """The manifest at this path, with those that it extends below it."""
    own = json.loads(path.read_text(encoding="utf-8"))
    if "extends" not in own:
        return own
    base = read_manifest(path.with_name(own.pop("extends") + ".json"))
    return over({k: v for k, v in base.items() if k not in ("name", "summary")}, own)


def closed(schema):
    """A JSON schema in which no object may have other keys: readers are open, what the program writes is not."""
    if isinstance(schema, list):
        return [closed(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {key: closed(value) for key, value in schema.items()}
    if isinstance(copy.get("properties"), dict) and copy.get("type") == "object":
        copy["additionalProperties"] = False
    return copy


def packed(value):
    """msgpack, as far as metadata needs it."""
    if isinstance(value, dict):
        return b"\xdf" + struct.pack(">I", len(value)) + b"".join(packed(k) + packed(v) for k, v in value.items())
    if isinstance(value, list):
        return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(packed, value))
    if isinstance(value, int):
        return b"\xce" + struct.pack(">I", value)
    return b"\xdb" + struct.pack(">I", len(value)) + value.encode()


def code_object(target, symbol, *args, **more):
    """An AMD code object without instructions, for stand-ins that execute none: an ELF file of nothing but its metadata note.
    Arguments are "pointer" or a size in bytes."""
    listed, offset = [], 0
    for arg in args:
        size = 8 if arg == "pointer" else arg
        offset = (offset + size - 1) // size * size
        listed.append({".offset": offset, ".size": size, ".value_kind": "global_buffer" if arg == "pointer" else "by_value"})
        offset += size
    kernel = {".name": symbol, ".symbol": symbol + ".kd", ".args": listed, ".kernarg_segment_size": offset, ".wavefront_size": 64} | more
    data = packed({"amdhsa.target": "amdgcn-amd-amdhsa--" + target, "amdhsa.kernels": [kernel]})
    note = struct.pack("<III8s", 7, len(data), 32, b"AMDGPU") + data + bytes(-len(data) % 4)
    header = struct.pack("<4sBBBBB7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 64, 3, 3, 224, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return header + struct.pack("<IIQQQQQQ", 4, 4, 120, 120, 120, len(note), len(note), 4) + note


def check(holds, what):
    """Counts one check; a failed one is reported at the end with the others."""
    global checks
    checks += 1
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}", flush=True)


def check_run(done, code, what, stdout=None, stderr=None):
    """The exit code, and texts that must appear."""
    check(done.returncode == code, f"{what}: exit {done.returncode}, expected {code}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    for stream, wanted in ((done.stdout, stdout), (done.stderr, stderr)):
        for text in [wanted] if isinstance(wanted, str) else wanted or []:
            check(text in stream, f"{what}: '{text}' is missing in:\n{stream[-3000:]}")


def load(path):
    return json.loads(pathlib.Path(path).read_text())


def finish():
    print(f"{checks - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)
