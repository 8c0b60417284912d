"""What the command line, the report and the service share: from tables in files to proofs."""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._out_of_core import certify_parquet, fit_parquet
    from ._rule_search import search_rules
    from ._sweep import sweep

__all__ = ["certify_parquet", "fit_parquet", "search_rules", "sweep"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "certify_parquet": "_out_of_core",
        "fit_parquet": "_out_of_core",
        "search_rules": "_rule_search",
        "sweep": "_sweep",
    },
)
