#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Picks the fastest register tile of gemm_buffered: tuner.py librooftile.so [OPTION OF 'rooftile run']..."""
import ctypes
import json
import sys

library = ctypes.CDLL(sys.argv[1])
library.rooftile_open.restype = ctypes.c_void_p
library.rooftile_error.restype = ctypes.c_char_p
options = [word.encode() for word in sys.argv[2:]]
rooftile = ctypes.c_void_p(library.rooftile_open((ctypes.c_char_p * (len(options) + 1))(*options, None)))
params = {"m": 512, "n": 512, "k": 512}
suite = {"name": "tiles", "cases": [{"kernel": "gemm_buffered", "params": params, "sweep": {"TM": [2, 4, 8]}}]}
cases = []
take = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(lambda _, line: cases.append(json.loads(line)["case"]) or 0)
if code := library.rooftile_run(rooftile, json.dumps(suite).encode(), take, None):
    sys.exit(library.rooftile_error(rooftile).decode() or code)
best = max(cases, key=lambda case: case["throughput"]["flops_per_s"])
print(f"TM={best['params']['TM']}: {best['throughput']['flops_per_s']:.4g} FLOP/s")
library.rooftile_close(rooftile)
