"""How the benchmarks take time, and how their results name the machine and the command."""

import os
import platform
import shlex
import sys
import time
from pathlib import Path


def best(work, runs):
    """The least of several runs, in seconds: what the work takes when nothing disturbs it."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def processor():
    """The processor's name, where the system tells it."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def cores_and_gpu():
    """The number of cores, and the GPU or the architecture."""
    import torch

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else platform.machine()
    return f"{os.cpu_count()} cores, {gpu}"


def command_without(*options):
    """The command that runs, without options that name places on this machine."""
    arguments, skip = [], False
    for argument in sys.argv:
        if not skip and argument not in options:
            arguments.append(argument)
        skip = argument in options
    return shlex.join(["python", *arguments])
