"""Sweeps on a real Dask cluster of several worker processes."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import SMALL, Command
from distributed import Client, LocalCluster

import prismux
from prismux import sweep_command

SLOW = 'duration = "60 s"\n' + SMALL.partition("\n")[2].replace("1 MB", "20 MB")
OVER = {"links.wire.delay": ["20 ms", "40 ms"]}


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "slow.toml"
    path.write_text(SLOW)
    return path


def test_a_cluster_gives_the_same_file_though_a_worker_is_killed(cluster: LocalCluster, scenario: Path) -> None:
    here = prismux.sweep(scenario, OVER, seeds=20, out=scenario.with_name("here.parquet"))
    there = scenario.with_name("there.parquet")
    journal = scenario.with_name("there.parquet.parts") / "journal"
    with Client(cluster) as client:
        victim = next(iter(client.run(os.getpid).values()))
        killed_after = []

        def kill_in_the_middle() -> None:
            while not (journal.exists() and journal.read_text().count("\n") >= 5):
                pass
            os.kill(victim, signal.SIGKILL)
            killed_after.append(journal.read_text().count("\n"))

        killer = threading.Thread(target=kill_in_the_middle)
        killer.start()
        result = prismux.sweep(scenario, OVER, seeds=20, out=there, client=client)
        killer.join()
        assert killed_after and 5 <= killed_after[0] < 40, killed_after
        assert victim not in client.run(os.getpid).values()
    assert result.ran == 40
    assert there.read_bytes() == here.path.read_bytes()


def test_a_cluster_without_workers_is_told_how_to_start_them(scenario: Path) -> None:
    out = scenario.with_name("none.parquet")
    with LocalCluster(n_workers=0, dashboard_address=":0") as empty, Client(empty) as client:
        with pytest.raises(prismux.RunError, match=f"dask worker {empty.scheduler_address}"):
            prismux.sweep(scenario, OVER, out=out, client=client)
        assert sweep_command.main([str(scenario), f"--cluster={empty.scheduler_address}", f"--out={out}"]) == 1
    with pytest.raises(TypeError, match=r"expected: a distributed.Client"):
        prismux.sweep(scenario, OVER, out=out, client="tcp://host:8786")  # type: ignore[arg-type]  # wrong on purpose


def test_no_cluster_and_no_package_say_what_would_do(
    scenario: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(scenario), f"--out={scenario.with_name('none.parquet')}"]
    assert sweep_command.main([*arguments, "--cluster=host"]) == 1
    assert "remedy: the address that `dask scheduler` prints" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert sweep_command.main([*arguments, "--cluster=tcp://host:8786"]) == 1
    assert "remedy: pip install 'prismux[cluster]'" in capsys.readouterr().err


def test_the_command_line_runs_on_a_cluster_and_resumes(
    cluster: LocalCluster, scenario: Path, prismux_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRISMUX_PYTHON", sys.executable)
    out = scenario.with_name("runs.parquet")
    prismux.sweep(scenario, OVER, out=out)
    said = prismux_command(
        *("sweep", str(scenario), "--over", "links.wire.delay=20 ms,40 ms", "--seeds", "3"),
        *("--out", str(out), "--cluster", cluster.scheduler_address, "--json"),
    )
    assert said.returncode == 0, said.stderr
    assert '"ran": 4, "already_there": 2' in said.stdout
    assert len(prismux.read_sweep(out)) == 6


def test_what_is_wrong_shows_without_a_cluster(scenario: Path, prismux_command: Command) -> None:
    nobody = ("--cluster", "tcp://127.0.0.1:9")
    said = prismux_command("sweep", str(scenario), "--over", "links.wyre.delay=1ms", *nobody)
    assert said.returncode == 2
    assert 'did you mean "wire"' in said.stderr


def test_a_worker_with_another_version_is_refused(scenario: Path) -> None:
    from prismux import _core

    plan = _core.SweepPlan(scenario, {})
    message = plan.message(0)
    assert plan.tasks[0] in _core.run_task(message)
    with pytest.raises(ValueError, match="another run of the task"):
        _core.run_task(message.replace(plan.tasks[0], "0" * 64))


def test_a_cluster_without_the_python_package_is_refused_with_a_remedy(
    scenario: Path, prismux_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRISMUX_PYTHON", "/nonexistent/python")
    said = prismux_command("sweep", str(scenario), "--cluster", "tcp://127.0.0.1:9")
    assert said.returncode == 1
    assert "remedy" in said.stderr and "PRISMUX_PYTHON" in said.stderr
