# SPDX-License-Identifier: MIT
"""scripts/check_rocm on stand-ins: a whole library, one that lacks what is required, and none."""
import shutil
import subprocess

from harness import DOUBLES, ROOT, check_run, main, skip


def check_rocm(*folders):
    return subprocess.run(["bash", ROOT / "scripts/check_rocm", *folders], capture_output=True, text=True, check=False)


def with_libraries(home):
    if not shutil.which("nm"):
        skip("nm is not installed")
    for number, (double, name, code, said) in enumerate([
            ("libfake_hip.so", "libamdhip64.so.7", 0, " symbols"), ("libfake_hipblaslt.so", "libhipblaslt.so.1", 0, "14 of 14 symbols"),
            ("libfake_rocblas.so", "librocblas.so.5", 0, "8 of 8 symbols"),
            ("libfake_hipblaslt.so", "librocblas.so.5", 1, "MISSING: rocblas_create_handle")]):
        folder = home / str(number)
        folder.mkdir()
        shutil.copy(DOUBLES / double, folder / name)
        check_run(check_rocm(folder), code, f"{double} as {name}", stdout=[said])


def without(home):
    folder = home / "empty"
    folder.mkdir()
    check_run(check_rocm(folder), 3, "no library", stderr="no library of ROCm is here")


main(with_libraries, without, doubles=["libfake_hip.so", "libfake_hipblaslt.so", "libfake_rocblas.so"])
