# SPDX-License-Identifier: MIT
"""Faults of libcuda: see device_faults.py."""
import sys

import device_faults
from harness import PROGRAM

if __name__ == "__main__":
    sys.exit("the program is missing: test_cuda_faults.py PROGRAM" if not PROGRAM else device_faults.main("cuda"))
