"""What operators connect to running daemons: metrics and the dashboard over them, logs for collectors."""

import json
import os
import re
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
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
