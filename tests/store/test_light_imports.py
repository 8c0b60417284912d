"""The import hook keeps PyTorch out of one block on one thread, and leaves no trace."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import pytest

from partita.store._files import without_torch


@pytest.mark.long
def test_storing_imports_no_torch_and_it_can_be_found_later():
    """It is imported by whoever imports all of scikit-learn, as skops does."""
    if find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    code = (
        "import sys; from partita.store._files import _skops_io; _skops_io(); "
        "assert 'torch' not in sys.modules; "
        "from importlib.util import find_spec; assert find_spec('torch')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_other_threads_do_not_notice_the_hook():
    with without_torch():
        finder = sys.meta_path[0]
        with pytest.raises(ImportError, match="PyTorch is not needed here"):
            finder.find_spec("torch")
        assert finder.find_spec("numpy") is None
        with ThreadPoolExecutor(1) as other:
            assert other.submit(finder.find_spec, "torch").result() is None


def test_the_hook_is_gone_after_an_error():
    before = list(sys.meta_path)
    with pytest.raises(ZeroDivisionError), without_torch():
        1 / 0  # noqa: B018
    assert sys.meta_path == before
