# SPDX-License-Identifier: MIT
"""scripts/check_rocm on stand-ins: a whole library, one that lacks what is required, and none; headers with the types that are called, and others."""
import os
import shutil
import subprocess

from harness import DOUBLES, ROOT, check_run, main, skip


def check_rocm(*folders, **variables):
    return subprocess.run(["bash", ROOT / "scripts/check_rocm", *folders], capture_output=True, text=True, check=False, env=os.environ | variables)


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


RCCL = """#include <cstddef>
enum ncclResult_t { ncclSuccess };
enum ncclDataType_t { ncclInt8 };
enum ncclRedOp_t { ncclSum };
struct ncclComm;
typedef ncclComm *ncclComm_t;
typedef struct ihipStream_t *hipStream_t;
ncclResult_t ncclGetVersion(int *version);
const char *ncclGetErrorString(ncclResult_t result);
ncclResult_t ncclCommInitAll(ncclComm_t *comm, int ndev, const int *devlist);
struct ncclUniqueId { char internal[128]; };
ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclAllReduce(const void *in, void *out, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, hipStream_t stream);
ncclResult_t ncclAllGather(const void *in, void *out, size_t count, ncclDataType_t type, ncclComm_t comm, hipStream_t stream);
ncclResult_t ncclReduceScatter(const void *in, void *out, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, hipStream_t stream);
ncclResult_t ncclBroadcast(const void *in, void *out, size_t count, ncclDataType_t type, int root, ncclComm_t comm, hipStream_t stream);
ncclResult_t ncclSend(const void *in, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, hipStream_t stream);
ncclResult_t ncclRecv(void *out, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, hipStream_t stream);
"""


def types(home):
    """An argument that is narrower, one too many, and a pointer that was a value are found in headers."""
    if not shutil.which(os.environ.get("CXX", "c++")) and not shutil.which("clang++"):
        skip("there is no C++ compiler")
    header = home / "include/rccl/rccl.h"
    header.parent.mkdir(parents=True)
    shutil.copy(DOUBLES / "libfake_hip.so", home / "libamdhip64.so.7")
    for before, after, code, said in (("", "", 0, "rccl/rccl.h: the types of 14 functions agree"),
                                      ("ncclSend(const void *in, size_t count", "ncclSend(const void *in, int count", 1, "another prototype: ncclSend"),
                                      ("ncclCommDestroy(ncclComm_t comm", "ncclCommDestroy(ncclComm_t comm, int now", 1, "another prototype: ncclCommDestroy"),
                                      ("internal[128]", "internal[64]", 1, "another prototype: ncclCommInitRank"),
                                      ("ncclGetVersion(int *", "ncclGetVersion(long *", 1, "another prototype: ncclGetVersion"),
                                      ("int peer, ncclComm_t comm", "ncclComm_t comm, int peer", 1, "another prototype: ncclRecv")):
        header.write_text(RCCL.replace(before, after) if before else RCCL)
        check_run(check_rocm(home, ROOFTILE_ROCM_INCLUDE=str(home / "include")), code, after, stdout=[said])


main(with_libraries, types, without, doubles=["libfake_hip.so", "libfake_hipblaslt.so", "libfake_rocblas.so"])
