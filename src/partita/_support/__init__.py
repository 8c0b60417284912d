"""Helpers that every package may use and no user imports."""

from typing import TYPE_CHECKING

from .lazy import lazy_names

if TYPE_CHECKING:
    from .confidence import check_alpha, clopper_pearson
    from .lazy import require
    from .parallel import exclusive, on_one_thread, one_thread_settings, run_each
    from .screen import (
        SECONDS_BETWEEN_LINES,
        Progress,
        log,
        print_line,
        print_table,
        print_warning,
        radii_that_fit,
    )
    from .values import (
        Array,
        Estimator,
        JsonObject,
        PathLike,
        TableLike,
        answer_text,
        array_of,
        check_number,
        check_whole,
        json_value,
        one_line,
        open_atomic,
        percent,
        probability,
        read_toml,
        shortened,
        warn_or_raise,
        write_atomic,
    )

__all__: list[str] = []

__getattr__, __dir__ = lazy_names(__name__)
