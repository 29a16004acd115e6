# SPDX-License-Identifier: MIT
"""Faults of libamdhip64: see device_faults.py."""
import sys

import device_faults
from harness import PROGRAM

if __name__ == "__main__":
    sys.exit("the program is missing: test_hip_faults.py PROGRAM" if not PROGRAM else device_faults.main("hip"))
