"""Dockerfile, compose.yaml and the systemd unit, as far as they can be checked without Docker."""

from __future__ import annotations

import configparser
import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.settings import Settings, _variable

ROOT = Path(__file__).parent.parent
KNOWN = {_variable(name) for name in Settings.model_fields}
OTHERS = {"PATH", "HF_HOME", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONUNBUFFERED"}
"""Variables that something else than Threadlore reads."""


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions with continued lines joined, comments left out."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    joined = re.sub(r"\\\n", " ", lines)
    return [
        (word, rest.strip()) for word, _, rest in (line.partition(" ") for line in joined.split("\n")) if word
    ]


def last_stage() -> list[tuple[str, str]]:
    found = instructions()
    start = max(number for number, (word, _) in enumerate(found) if word == "FROM")
    return found[start:]


@pytest.fixture
def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8")))


def variables(rest: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in shlex.split(rest))


def test_every_variable_that_is_set_exists(compose: dict[str, Any]) -> None:
    image = variables(dict(last_stage())["ENV"])
    assert set(image) - OTHERS <= KNOWN and "THREADLORE_HOME" in image
    assert set(compose["services"]["threadlore"]["environment"]) <= KNOWN
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"\b([A-Z]+(?:_[A-Z]+)*)=", text)) <= KNOWN, "what its comments tell to set"
    assert set(re.findall(r"\$\{(\w+)", text)) <= KNOWN


def test_what_is_copied_exists_and_is_not_left_out() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    for word, rest in instructions():
        if word != "COPY" or "--from=" in rest:
            continue
        *paths, _ = (part for part in rest.split() if not part.startswith("--"))
        for path in paths:
            assert (ROOT / path).exists(), path
            assert not any(fnmatch.fnmatch(path, pattern) for pattern in ignored), path


def test_every_package_is_copied() -> None:
    copied = {part for word, rest in instructions() if word == "COPY" for part in rest.split()}
    packages = {p.parent.name for p in ROOT.glob("*/__init__.py")} - {"tests"}
    assert len(packages) == 4 and packages <= copied


def test_the_image_is_small_and_has_no_root_rights() -> None:
    stage = dict(last_stage())
    base = dict(pair.partition("=")[::2] for word, pair in instructions() if word == "ARG")["BASE"]
    assert stage["FROM"] == "${BASE}" and base.endswith("-slim") and stage["USER"] == "threadlore"
    assert stage["VOLUME"] == "/data" and stage["STOPSIGNAL"] == "SIGTERM"
    assert json.loads(stage["CMD"]) == ["threadlore", "serve"], "no shell, so that SIGTERM arrives"
    ran = " ".join(rest for word, rest in instructions() if word == "RUN")
    assert "--no-install-recommends" in ran and "rm -rf /var/lib/apt/lists" in ran
    assert ran.count("pip install") == ran.count("--no-cache-dir")
    order = [word for word, _ in last_stage()]
    assert order.index("USER") > max(n for n, word in enumerate(order) if word == "RUN")


def test_versions_are_those_that_are_tested(compose: dict[str, Any]) -> None:
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert re.findall(r"torch==([\d.]+)", text) == [pinned["torch"].partition("+")[0]]
    assert compose["services"]["chroma"]["image"] == f"chromadb/chroma:{pinned['chromadb']}"


def test_what_the_image_installs_is_known_by_its_hash() -> None:
    installs = [
        one
        for word, rest in instructions()
        if word == "RUN"
        for one in rest.split("&&")
        if "pip install" in one
    ]
    torch, locked, own = installs
    assert "torch==" in torch and "--require-hashes -r requirements.lock" in locked
    assert own.split()[-1] == "." and all("--no-deps" in one for one in installs), "nothing else comes along"


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_health_check_asks_healthz(status: int, code: int) -> None:
    asked = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    check = dict(last_stage())["HEALTHCHECK"]
    _, *command = json.loads(check[check.index("[") :])
    port = {"THREADLORE_PORT": str(server.server_port)}
    done = subprocess.run([sys.executable, *command], env=os.environ | port, capture_output=True, check=False)
    server.shutdown()
    assert done.returncode == code and asked == ["/healthz"]


def test_services_need_only_what_is_there(compose: dict[str, Any]) -> None:
    services, volumes = compose["services"], set(compose["volumes"])
    mounted = {
        entry.split(":")[0]
        for service in services.values()
        for entry in service.get("volumes", ())
        if not entry.startswith(".")
    }
    assert mounted == volumes
    for name, service in services.items():
        needs = service.get("depends_on", {})
        for other in needs:
            assert other in services, f"{name} needs {other}"
            if "profiles" in services[other]:
                assert needs[other]["required"] is False, f"{other} runs in a profile alone"
            if isinstance(needs, dict) and needs[other]["condition"] == "service_healthy":
                assert "healthcheck" in services[other]
    assert services["postgres"]["profiles"] == ["postgres"] and services["chroma"]["profiles"] == ["chroma"]
    bot = services["threadlore"]
    assert bot["ports"] == ["127.0.0.1:8080:8080"], "the dashboard is not for everybody"
    assert bot["stop_grace_period"] == "20s", "longer than a stop takes"
    assert {entry.split(":")[1] for entry in bot["volumes"]} >= {"/data", "/data/models"}


def test_only_keys_of_the_compose_specification_are_used(compose: dict[str, Any]) -> None:
    """A key that compose does not know is refused by it, and a misspelt one does nothing elsewhere."""
    known = set(
        """build cap_drop depends_on deploy entrypoint env_file environment healthcheck image logging ports
        profiles read_only restart security_opt stop_grace_period tmpfs volumes""".split()
    )
    assert set(compose) == {"services", "volumes"}
    for service in compose["services"].values():
        assert set(service) <= known
        assert set(service.get("healthcheck", {})) <= {
            "test",
            "interval",
            "timeout",
            "retries",
            "start_period",
        }


def test_the_unit_fits_the_house(tmp_path: Path) -> None:
    text = (ROOT / "docs/threadlore.service").read_text(encoding="utf-8")
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(text)
    service = unit["Service"]
    given = variables(" ".join(re.findall(r"^Environment=(.*)$", text, re.MULTILINE)))
    assert set(given) - OTHERS <= KNOWN
    home = given["THREADLORE_HOME"]
    assert service["ReadWritePaths"] == home
    assert int(service["TimeoutStopSec"]) == 20
    program = shutil.which("systemd-analyze")
    if program:  # where systemd is, its own word counts
        there = text.replace("/opt/threadlore/.venv/bin/threadlore", sys.executable)
        (tmp_path / "threadlore.service").write_text(there)
        told = subprocess.run(
            [program, "verify", tmp_path / "threadlore.service"], capture_output=True, text=True, check=False
        )
        wrong = [line for line in told.stderr.splitlines() if "threadlore.service" in line]
        assert not wrong and told.returncode == 0, told.stderr


def test_the_cluster_examples_set_what_a_cluster_needs() -> None:
    compose = yaml.safe_load((ROOT / "docs" / "cluster-compose.yaml").read_text(encoding="utf-8"))
    services = {name: service for name, service in compose["services"].items() if "build" in service}
    assert len(services) == 2 and len({service["volumes"][0] for service in services.values()}) == 2
    for service in services.values():
        given = service["environment"]
        assert set(given) <= KNOWN and given["CLUSTER"] == "true"
        assert "THREADLORE_PLAYGROUND" not in given, "false closes the port that the health check asks"
        assert given["DATABASE_URL"].startswith("postgresql://") and service["restart"] == "unless-stopped"
        for volume in service["volumes"]:
            assert volume.partition(":")[0] in compose["volumes"] or volume.startswith("../corpora.toml:")


def test_the_kubernetes_example_gives_each_process_a_home_of_its_own() -> None:
    text = (ROOT / "docs" / "kubernetes.yaml").read_text(encoding="utf-8")
    found = {entry["kind"]: entry for entry in yaml.safe_load_all(text)}
    assert set(found) == {"Secret", "ConfigMap", "Service", "StatefulSet"}
    spec, service = found["StatefulSet"]["spec"], found["Service"]
    assert spec["serviceName"] == service["metadata"]["name"] and service["spec"]["clusterIP"] == "None"
    assert service["spec"]["selector"] == spec["template"]["metadata"]["labels"]
    [container] = spec["template"]["spec"]["containers"]
    given = {entry["name"]: entry["value"] for entry in container["env"]} | found["Secret"]["stringData"]
    assert set(given) <= KNOWN and {"CLUSTER", "PRIVACY_KEY", "DATABASE_URL"} <= set(given)
    assert all(isinstance(value, str) for value in given.values()), "Kubernetes takes texts alone"
    assert "THREADLORE_PLAYGROUND" not in given, "false closes the port that the probe asks"
    assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": Settings().port}
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": Settings().port}
    [claim] = spec["volumeClaimTemplates"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert given["THREADLORE_HOME"].startswith(mounts[claim["metadata"]["name"]]) and spec["replicas"] > 1
    volumes = {volume["name"] for volume in spec["template"]["spec"]["volumes"]}
    assert set(mounts) == volumes | {claim["metadata"]["name"]}
    assert given["THREADLORE_CONFIG"].startswith(mounts["config"])
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    assert spec["template"]["spec"]["securityContext"]["runAsUser"] == 10001, "the image's user"
