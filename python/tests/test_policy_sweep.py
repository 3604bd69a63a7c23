"""Policies written in Python in sweeps and comparisons: by import path, with their sources' hashes."""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import polars
import pytest
from conftest import SMALL, Command
from distributed import Client, LocalCluster

import prismux
from prismux._core import SweepPlan, run_task

POLICY = """\
class Constant:
    segments = 4

    def on_ack(self, ack, window):
        return self.segments * window.mss_bytes

    def on_congestion(self, signal, window):
        return self.segments * window.mss_bytes


class Broken(Constant):
    def on_ack(self, ack, window):
        raise LookupError("no idea")


def first(now_s, links, packet_bytes, retransmission):
    return links[0]
"""
OVER = {"links.wire.delay": ["20 ms", "40 ms"]}
TWO = {**OVER, "flows.file.transport": ["tcp", "rcp"]}


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module of policies in a folder of its own."""
    folder = tmp_path / "modules"
    folder.mkdir()
    path = folder / "my_policies.py"
    path.write_text(POLICY)
    monkeypatch.syspath_prepend(str(folder))
    # Otherwise a file that is edited within a second is taken for the same.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield path
    sys.modules.pop("my_policies", None)


@pytest.fixture
def scenario() -> prismux.Scenario:
    return prismux.Scenario.from_text(SMALL.replace("loss = 0.01", "loss = 0.001"), name="small.toml")


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))
    importlib.invalidate_caches()
    importlib.reload(sys.modules["my_policies"])


@pytest.mark.usefixtures("module")
def test_a_sweep_runs_a_policy_and_names_it_in_every_row(scenario: prismux.Scenario, tmp_path: Path) -> None:
    result = prismux.sweep(scenario, TWO, out=tmp_path / "runs.parquet", congestion="my_policies:Constant")
    frame = polars.DataFrame(result.table)
    over_tcp = frame.filter(polars.col("flows.file.transport") == "tcp")
    others = frame.filter(polars.col("flows.file.transport") == "rcp")
    assert over_tcp["policy"].to_list() == ["congestion=my_policies:Constant"] * 2
    assert over_tcp["policy_hash"].n_unique() == 1 and over_tcp["policy_hash"].str.len_chars().to_list() == [64, 64]
    assert others["policy"].to_list() == others["policy_hash"].to_list() == [None, None]
    plain = prismux.run(scenario, set={"links.wire.delay": "20 ms"})
    own = prismux.run(scenario, set={"links.wire.delay": "20 ms"}, congestion="my_policies:Constant")
    row = over_tcp.row(0, named=True)
    assert row["scenario_hash"] == plain.scenario_hash
    assert row["total.goodput_bps"] == own.goodput_bps != plain.goodput_bps


def test_rows_of_an_edited_policy_never_mix_with_the_new_ones(
    scenario: prismux.Scenario, tmp_path: Path, module: Path
) -> None:
    out = tmp_path / "runs.parquet"
    path = "my_policies:Constant"
    before = prismux.sweep(scenario, OVER, out=out, congestion=path)
    assert prismux.sweep(scenario, OVER, out=out, congestion=path).ran == 0
    edit(module, "segments = 4", "segments = 8")
    with pytest.raises(prismux.SweepFileError, match="2 rows there are of other experiments"):
        prismux.sweep(scenario, OVER, out=out, congestion=path)
    after = prismux.sweep(scenario, OVER, out=out, congestion=path, prune=True)
    assert (after.ran, len(after.table), len(polars.read_parquet(out))) == (2, 2, 2)
    old, new = polars.DataFrame(before.table), polars.DataFrame(after.table)
    assert set(old["policy_hash"]).isdisjoint(new["policy_hash"])
    assert (new["total.goodput_bps"] > 1.5 * old["total.goodput_bps"]).all()
    # Another version of the class is another policy, for what its file does not show.
    edit(module, "segments = 8", "segments = 8\n    version = 2")
    newer = prismux.sweep(scenario, OVER, out=tmp_path / "newer.parquet", congestion=path)
    assert set(polars.DataFrame(newer.table)["policy_hash"]).isdisjoint(new["policy_hash"])


def test_a_file_that_was_edited_after_its_import_is_refused(scenario: prismux.Scenario, module: Path) -> None:
    SweepPlan(scenario, OVER, congestion="my_policies:Constant")
    module.write_text(POLICY.replace("segments = 4", "segments = 8"))
    with pytest.raises(ValueError, match=r"has changed since it was imported.*\n.*importlib\.reload"):
        SweepPlan(scenario, OVER, congestion="my_policies:Constant")


@pytest.mark.usefixtures("module")
def test_what_is_no_policy_is_refused_before_the_first_run(scenario: prismux.Scenario, tmp_path: Path) -> None:
    out = tmp_path / "runs.parquet"
    with pytest.raises(ImportError, match=r"No module named 'their_policies'\n.*PYTHONPATH"):
        prismux.sweep(scenario, OVER, out=out, congestion="their_policies:Constant")
    with pytest.raises(AttributeError, match="Constat"):
        prismux.sweep(scenario, OVER, out=out, congestion="my_policies:Constat")
    with pytest.raises(ValueError, match="no import path"):
        prismux.sweep(scenario, OVER, out=out, congestion="Constant")
    with pytest.raises(TypeError, match="cannot be called"):
        prismux.sweep(scenario, OVER, out=out, congestion="my_policies:Constant.segments")
    with pytest.raises(TypeError, match="without an import path"):
        prismux.sweep(scenario, OVER, out=out, congestion=dict)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ValueError, match="no source file"):
        prismux.sweep(scenario, OVER, out=out, congestion="builtins:dict")
    with pytest.raises(prismux.ScenarioError, match="no proxy to serve"):
        prismux.sweep(scenario, OVER, out=out, scheduler="my_policies:first")
    with pytest.raises(prismux.ScenarioError, match='"fiel", which is no flow over TCP'):
        prismux.sweep(scenario, OVER, out=out, congestion={"fiel": "my_policies:Constant"})
    assert [path.name for path in tmp_path.iterdir()] == ["modules"]


@pytest.mark.usefixtures("module")
def test_an_exception_in_a_policy_ends_a_sweep_and_is_raised(scenario: prismux.Scenario, tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="no idea"):
        prismux.sweep(scenario, OVER, seeds=4, out=tmp_path / "runs.parquet", congestion="my_policies:Broken")


def test_a_worker_runs_the_policy_of_a_task_from_the_same_source_only(
    scenario: prismux.Scenario, tmp_path: Path, module: Path
) -> None:
    plan = SweepPlan(scenario, OVER, congestion={"file": "my_policies:Constant"})
    message = plan.message(0)
    here = prismux.sweep(scenario, OVER, out=tmp_path / "runs.parquet", congestion={"file": "my_policies:Constant"})
    goodput = polars.DataFrame(here.table)["total.goodput_bps"][0]
    assert f'"goodput_bps":{goodput}' in run_task(message)
    edit(module, "segments = 4", "segments = 8")
    with pytest.raises(ValueError, match="has another source in this process"):
        run_task(message)
    broken = SweepPlan(scenario, OVER, congestion="my_policies:Broken")
    with pytest.raises(LookupError, match="no idea"):
        run_task(broken.message(0))


def test_processes_of_a_cluster_run_policies_too(
    scenario: prismux.Scenario, tmp_path: Path, module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(module.parent))
    path = "my_policies:Constant"
    here = prismux.sweep(scenario, OVER, out=tmp_path / "here.parquet", congestion=path)
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        there = prismux.sweep(scenario, OVER, out=tmp_path / "there.parquet", congestion=path, client=client)
    assert there.path.read_bytes() == here.path.read_bytes()


@pytest.mark.usefixtures("module")
def test_a_comparison_runs_a_policy_beside_variants_that_have_no_use_for_it() -> None:
    short = {"duration": "6 s", "events": []}
    compared = prismux.compare(
        "two-members", variants=["single", "prism"], set=short, scheduler="my_policies:first", jobs=2
    )
    frame = polars.DataFrame(compared.table)
    # Alone on one link a flow goes past the proxy.
    assert dict(frame.select("variant", "policy").iter_rows()) == {
        frame["variant"][0]: None,
        "prism": "scheduler=my_policies:first",
    }
    assert frame["policy_hash"].drop_nulls().str.len_chars().to_list() == [64]
    own = prismux.run("two-members", set=short, scheduler="my_policies:first")
    assert compared.results["prism"][0].to_dict()["links"] == own.to_dict()["links"]
    with pytest.raises(prismux.ScenarioError, match="none runs over MPTCP"):
        prismux.compare("two-members", set=short, subflow_scheduler="my_policies:first", variants=["prism"])


def test_the_command_line_takes_policies_by_import_path(
    module: Path, tmp_path: Path, prismux_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRISMUX_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", str(module.parent))
    scenario, out = tmp_path / "small.toml", tmp_path / "runs.parquet"
    scenario.write_text(SMALL)
    command = ("sweep", str(scenario), "--over", "links.wire.delay=20 ms,40 ms", "--out", str(out))
    said = prismux_command(*command, "--congestion", f"{module.stem}:Constant", "--json")
    assert said.returncode == 0, said.stderr
    assert '"ran": 2' in said.stdout
    rows = polars.DataFrame(prismux.read_sweep(out))
    assert rows["policy"].unique().to_list() == [f"congestion={module.stem}:Constant"]
    here = prismux.sweep(scenario, OVER, out=tmp_path / "here.parquet", congestion=f"{module.stem}:Constant")
    assert here.path.read_bytes() == out.read_bytes()
    wrong = prismux_command(*command, "--congestion", f"{module.stem}:Nobody")
    assert wrong.returncode == 1 and "Nobody" in wrong.stderr


def test_the_command_line_compares_with_policies_by_import_path(
    module: Path, tmp_path: Path, prismux_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRISMUX_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", str(module.parent))
    short = {"duration": "6 s", "events": []}
    command = ("compare", "two-members", "--set", "duration=6 s", "--set", "events=[]", "--variants", "single,prism")
    said = prismux_command(*command, "--scheduler", f"{module.stem}:first", "--json")
    assert said.returncode == 0, said.stderr
    single, prism = json.loads(said.stdout)["variants"]
    assert single["policies"] == []
    policy = prism["policies"][0]
    assert (policy["role"], policy["path"]) == ("scheduler", f"{module.stem}:first") and len(policy["hash"]) == 64
    here = prismux.run("two-members", set=short, scheduler=f"{module.stem}:first")
    assert prism["runs"][0]["links"] == here.to_dict()["links"]
    plain = prismux.run("two-members", set=short)
    assert prism["runs"][0]["links"] != plain.to_dict()["links"]
    table = prismux_command(*command, "--scheduler", f"{module.stem}:first")
    assert f"prism: scheduler={module.stem}:first" in table.stdout
    idle = prismux_command(*command, "--subflow-scheduler", f"{module.stem}:first")
    assert idle.returncode == 1 and "none runs over MPTCP" in idle.stderr
    assert not idle.stdout
    lab = prismux_command(*command, "--scheduler", f"{module.stem}:first", "--on", "lab")
    assert lab.returncode == 2 and "simulator only" in lab.stderr
