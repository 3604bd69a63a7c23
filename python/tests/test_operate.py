"""What operators connect to running daemons: metrics and the dashboard over them, logs for collectors."""

import json
import os
import re
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no types
from jsonschema.exceptions import ValidationError  # type: ignore[import-untyped]  # it ships no types
from page_lab import PageLab
from test_page import has_namespaces

pytestmark = pytest.mark.skipif(not has_namespaces(), reason="needs namespaces and TUN devices")

DASHBOARD = json.loads((ROOT / "packaging/grafana/prismux.json").read_text())
# Labels that Prometheus itself adds to what it reads.
ADDED = {"instance", "job"}
# Endings of metrics in base units, or of what has no unit.
UNITS = re.compile(r"_(seconds|bytes|ratio|packets|total|per_second|info|up|state|flows)$")
# The home's first uplink has caps.
PREPARE = r"""
sed -i 's/^device = "wan0"/&\nsharing = { cap_per_day = "5 GB", cap_per_month = "50 GB" }/' home.toml
sed -i "s/^page = .*/&\nmetrics = \"127.0.0.1:$PORT\"/" home.toml
HOME_OPTIONS="--log-format otlp"
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageLab]:
    program = Path(os.environ.get("PRISMUX", ROOT / "target/debug/prismux")).resolve()
    with PageLab(program, tmp_path_factory.mktemp("operate"), PREPARE) as lab:
        yield lab


Labels = dict[str, set[str]]


def printed(text: str) -> Labels:
    """Metrics of Prometheus' text format, and the labels that each has."""
    found: Labels = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            sample = re.fullmatch(r'(\w+)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? [-+.\w]+', line)
            assert sample, line
            found.setdefault(sample[1], set()).update(re.findall(r'(\w+)="', sample[2] or ""))
    return found


def named(expression: str) -> Labels:
    """Metrics that a query names, and the labels that it wants of each."""
    return {
        metric: set(re.findall(r"(\w+)=", selector))
        for metric, selector in re.findall(r"(prismux_\w+)(?:\{([^}]*)\})?", expression)
    }


def home_metrics(lab: PageLab) -> Labels:
    with urllib.request.urlopen(lab.url + "metrics", timeout=10) as answer:
        return printed(answer.read().decode())


def test_all_that_the_dashboard_shows_is_told_by_running_daemons(lab: PageLab) -> None:
    queries = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    queries += [variable["definition"] for variable in DASHBOARD["templating"]["list"] if "definition" in variable]
    wanted = [item for query in queries for item in named(query).items()]
    assert len(wanted) >= 30
    limit = time.monotonic() + 20
    while True:
        told = home_metrics(lab)
        missing = {metric for metric, _ in wanted} - set(told)
        if not missing or time.monotonic() > limit:
            break
        time.sleep(0.2)
    assert not missing
    for metric, labels in wanted:
        assert labels - ADDED <= told[metric], metric
    gateway = printed(lab.run("$PRISMUX status --metrics --socket /run/prismux/gateway.sock"))
    # What only those tell who have caps.
    assert {metric for metric, _ in wanted if "_cap_" not in metric} <= set(gateway)
    assert gateway["prismux_link_up"] == {"home", "link"}
    for metric in told | gateway:
        assert UNITS.search(metric), metric
    legends = {
        label
        for panel in DASHBOARD["panels"]
        for target in panel["targets"]
        for label in re.findall(r"{{(\w+)}}", target["legendFormat"])
    }
    assert legends <= ADDED.union(*told.values())


def test_logs_are_records_of_opentelemetry(lab: PageLab) -> None:
    lines = [line for line in lab.log.read_text().splitlines() if line.startswith("{")]
    requests = [json.loads(line) for line in lines]
    records = [r["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0] for r in requests]
    registered = [r for r in records if r.get("eventName") == "prismux.registration_changed"]
    assert registered, lines
    for record in records:
        assert record["severityNumber"] in {9: "INFO", 13: "WARN"} and record["severityText"] in ("INFO", "WARN")
        assert record["body"]["stringValue"]
        assert abs(int(record["timeUnixNano"]) / 1e9 - time.time()) < 600


SCHEMA = json.loads((ROOT / "docs/control-api.schema.json").read_text())


def validator(kind: str) -> Draft202012Validator:
    """What an object of a kind must be, with nothing that the schema does not describe."""

    def closed(node: Any) -> Any:
        if isinstance(node, list):
            return [closed(item) for item in node]
        if not isinstance(node, dict):
            return node
        node = {key: closed(value) for key, value in node.items()}
        # Events have members of their own.
        if "required" in node and "event" not in node["required"]:
            node.setdefault("unevaluatedProperties", False)
        return node

    schema = {"$schema": SCHEMA["$schema"], "$defs": closed(SCHEMA["$defs"]), "$ref": f"#/$defs/{kind}"}
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def asked(lab: PageLab, name: str, command: object = None) -> dict[str, object]:
    socket = f"/run/prismux/{name}.{'control' if command else 'sock'}"
    text = json.dumps(command) if command else ""
    answer: dict[str, object] = json.loads(lab.run(f"$PYTHON $RELAY ask {socket} '{text}'"))
    return answer


MEMBER = """
name = "phone"
receivers = ["10.99.0.2"]
private_key_file = "home.key"
status_socket = "/run/prismux/member.sock"
[tun]
name = "prism1"
[tunnel]
proxy = "sealed:192.0.2.1:51820"
proxy_public_key = "%s"
"""


def test_what_daemons_answer_is_what_the_schema_says(lab: PageLab) -> None:
    key = re.search(r'public_key = "(.*)"', (lab.folder / "home.toml").read_text())
    assert key
    (lab.folder / "member.toml").write_text(MEMBER % key[1])
    lab.run("$PRISMUX member --config member.toml & member=$!")
    lab.run("until [ -S /run/prismux/member.sock ]; do kill -0 $member; sleep 0.02; done")
    lab.run("ip link add radio0 type bridge && ip link set radio0 up")
    lab.run("$PRISMUX route --protocol aodv --address 10.9.0.1/16 --radio radio0 & route=$!")
    lab.run("until [ -S /run/prismux/route.sock ]; do kill -0 $route; sleep 0.02; done")
    for name, kind in [("home", "home"), ("gateway", "proxy"), ("member", "member"), ("route", "route")]:
        page = asked(lab, name)
        validator(kind).validate(page)
        validator("status").validate(page)
        if kind in ("home", "proxy"):
            assert page["links"] and page["receipts"] and page["flows"], "nothing of it goes unseen"
        # A page of another shape is none.
        for wrong in (
            page | {"uptime_s": "long"},
            page | {"secret": 1},
            {k: v for k, v in page.items() if k != "drops"},
        ):
            with pytest.raises(ValidationError):
                validator(kind).validate(wrong)
    lab.run("kill $member; wait $member; kill $route; wait $route; ip link delete radio0")
    for command, answer in [
        ({"command": "revoke", "name": "nobody"}, "refused"),
        ({"command": "revoke", "name": "house"}, "done"),
        ({"command": "restore", "name": "house"}, "done"),
    ]:
        validator("request").validate(command)
        said = asked(lab, "gateway", command)
        validator("answer").validate(said)
        assert list(said) == [answer], said
    for nonsense in ({"command": "format"}, {"command": "revoke"}, {"command": "revoke", "name": 1}):
        with pytest.raises(ValidationError):
            validator("request").validate(nonsense)
        assert list(asked(lab, "gateway", nonsense)) == ["refused"], "the daemon and the schema agree"
