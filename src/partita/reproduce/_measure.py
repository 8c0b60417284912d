"""One run by its method, with what the result must say about the machine and the version."""

import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from .. import __version__
from ._baseline_runs import run_ablation, run_constant, run_smoothing
from ._data import RunData
from ._partition_runs import run_partition
from ._runs import Run, RunResult

METHODS: dict[str, Callable[[Run, RunData, Path], RunResult]] = {
    "partition": run_partition,
    "ablation": run_ablation,
    "smoothing": run_smoothing,
    "constant": run_constant,
}


def measure(run: Run, data: RunData, unfinished: Path) -> RunResult:
    """Train and certify; ``unfinished`` is where networks keep their checkpoints."""
    result = METHODS[run.setting.method](run, data, unfinished)
    return {
        "rows": {"train": len(data.y_train), "test": len(data.y_test)},
        "machine": machine(),
        "partita": __version__,
        **result,
    }


def machine() -> str:
    """What this runs on: cores, architecture and, once PyTorch is imported, the GPU."""
    torch = sys.modules.get("torch")
    has_gpu = torch is not None and torch.cuda.is_available()
    gpu = f", {torch.cuda.get_device_name()}" if torch is not None and has_gpu else ""
    return f"{os.cpu_count()} cores, {platform.machine()}{gpu}"
