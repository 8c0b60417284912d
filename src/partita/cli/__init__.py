"""The command line: one module per command, thin; the work is done in the other packages.

``_app`` puts the commands together, and ``_options`` has the options that several commands share
and turns them into what the workflow takes. What goes wrong becomes one sentence and an
exit code in ``partita.__main__``. Command modules import the work late: ``--help`` must be quick.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._app import app

__all__ = ["app"]

__getattr__, __dir__ = lazy_names(__name__)
