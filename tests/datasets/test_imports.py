"""Loaders of images need little."""

import subprocess
import sys


def test_importing_the_package_needs_numpy_alone():
    code = """
import sys
for name in ("sklearn", "scipy", "PIL", "numba", "narwhals", "joblib", "pandas", "matplotlib"):
    sys.modules[name] = None
import partita.datasets
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
