# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# job.py WAY LIBRARY [option of nt-fake-nccl]... - an NCCL job in Python
#
# WAY says how it ends: return, _exit (all ranks by os._exit), raise (an exception on task 1), mpi (with mpi4py, which
# starts MPI before the job and ends it at exit; its answers are checked), mpi-late (mpi4py comes after a first job).
import ctypes
import os
import sys
import time


def play(library, arguments):
    words = [b"job.py"] + [word.encode() for word in arguments]
    argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    rc = ctypes.CDLL(library).nt_fake_main(len(words), argv)
    if rc != 0:
        sys.exit(rc)


def check_mpi(task):
    from mpi4py import MPI

    print(f"task {task}: MPI has started", file=sys.stderr)
    world = MPI.COMM_WORLD
    tasks = int(os.environ["SLURM_NTASKS"])
    assert (world.rank, world.size) == (task, tasks)
    assert world.allreduce(task + 1) == tasks * (tasks + 1) // 2
    assert world.allgather({"task": task, "data": [task] * 5000}) == [
        {"task": other, "data": [other] * 5000} for other in range(tasks)
    ]
    world.Barrier()


def main():
    way, library, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    task = int(os.environ["SLURM_PROCID"])
    if way == "mpi":
        check_mpi(task)
    play(library, arguments)
    if way == "mpi-late":
        check_mpi(task)
        play(library, arguments)
    if way.startswith("mpi"):
        check_mpi(task)
    sys.stdout.flush()
    if way == "_exit":
        os._exit(0)
    if way == "raise" and task == 1:
        raise RuntimeError("as told")
    if way == "raise":
        time.sleep(2)
    print(f"ended {task}", file=sys.stderr)


main()
