"""What deploy/ starts is what is documented; its files fit together."""

import hashlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from sklearn.datasets import load_breast_cancer

from partita import FeaturePartitionClassifier, store
from partita.serve._app import PATHS
from partita.serve._metrics import ALARM, Metrics, source_families

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
KEY = "0123456789abcdef"
X, Y = load_breast_cancer(return_X_y=True, as_frame=True)

yaml = pytest.importorskip("yaml")


def read(name):
    return yaml.safe_load((DEPLOY / name).read_text())


def instruction(name):
    """The list that an instruction of the Dockerfile has."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    return json.loads(re.search(rf"^{name}[^\[\n]*(\[.*\])$", text, re.MULTILINE)[1])


def test_the_files_that_are_named_exist():
    services = read("compose.yaml")["services"]
    build = services["partita"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).resolve() == DEPLOY / "Dockerfile"
    for volume in services["prometheus"]["volumes"]:
        assert (DEPLOY / volume.split(":")[0]).is_file()
    for line in (DEPLOY / "Dockerfile").read_text().splitlines():
        if line.startswith("COPY"):
            assert all((ROOT / one).exists() for one in line.split()[1:-1])
    for file in read("prometheus.yml")["rule_files"]:
        assert (DEPLOY / file).is_file()


def test_prometheus_asks_where_the_service_listens():
    services = read("compose.yaml")["services"]
    target = read("prometheus.yml")["scrape_configs"][0]["static_configs"][0]["targets"][0]
    host, port = target.split(":")
    assert host in services
    entry = instruction("ENTRYPOINT")
    assert entry[entry.index("--port") + 1] == port
    assert services["partita"]["ports"] == [f"127.0.0.1:{port}:{port}"]


def test_alerts_are_about_metrics_that_there_are():
    shown = Metrics(PATHS, further=source_families(["a sensor"])).text() + f"# TYPE {ALARM.name}\n"
    for rule in read("alerts.yml")["groups"][0]["rules"]:
        for name in re.findall(r"partita_\w+", rule["expr"]):
            assert re.search(rf"^(# TYPE )?{name}\b", shown, re.MULTILINE), name


def test_the_container_is_not_root():
    text = (DEPLOY / "Dockerfile").read_text()
    assert text.index("\nUSER partita") < text.index("\nENTRYPOINT")


def test_images_have_plain_names():
    named = [line.split()[1] for line in (DEPLOY / "Dockerfile").read_text().splitlines()
             if line.startswith("FROM")]  # fmt: skip
    named += [one["image"] for one in read("compose.yaml")["services"].values()]
    assert named == ["python:3.11-slim", "partita", "prom/prometheus"]


@pytest.mark.long
def test_the_command_starts_and_is_healthy(tmp_path):
    """As the container would: with other paths, and on a free port."""
    model = store.save(FeaturePartitionClassifier(n_submodels=3).fit(X, Y), tmp_path / "model")
    keys = tmp_path / "clients"
    keys.write_text(f"me sha256:{hashlib.sha256(KEY.encode()).hexdigest()}\n")
    program, *options = instruction("ENTRYPOINT")
    options += read("compose.yaml")["services"]["partita"]["command"]
    paths = {"/model": str(model), "/keys/clients": str(keys), "8000": "0", "0.0.0.0": "127.0.0.1"}
    log = tmp_path / "log"
    assert program == "partita"
    command = [sys.executable, "-m", program, *(paths.get(one, one) for one in options)]
    with log.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        until = time.monotonic() + 60
        while not (found := re.search(r"running on (http://\S+)", log.read_text())):
            assert time.monotonic() < until, log.read_text()
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        check = instruction("HEALTHCHECK")
        code = check[2].replace("http://127.0.0.1:8000", found[1])
        subprocess.run([sys.executable, *check[1:2], code], check=True)
        with httpx.Client(base_url=found[1]) as client:
            body = {"rows": X[:1].to_dict("records")}
            assert client.post("/certify", json=body).status_code == 401
            known = client.post("/certify", json=body, headers={"Authorization": f"Bearer {KEY}"})
            assert known.status_code == 200
        process.terminate()
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
    assert '"key": "me"' in log.read_text()
