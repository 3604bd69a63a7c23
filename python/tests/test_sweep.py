"""Sweeps: what they write, and what ends them early."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars
import pyarrow.parquet
import pytest
from conftest import SMALL, Command

import prismux

OVER = {"links.wire.delay": "20ms..60ms/20ms", "flows.file.congestion": ["cubic", "newreno"]}


@pytest.fixture
def scenario() -> prismux.Scenario:
    return prismux.Scenario.from_text(SMALL, name="small.toml")


def test_a_sweep_has_a_row_for_each_point_and_seed(scenario: prismux.Scenario, tmp_path: Path) -> None:
    result = prismux.sweep(scenario, OVER, seeds=2, out=tmp_path / "runs.parquet")
    frame = polars.DataFrame(result.table)
    assert len(frame) == result.ran == 12 and result.already_there == 0
    assert frame["links.wire.delay"].unique(maintain_order=True).to_list() == [0.02, 0.04, 0.06]
    assert result.table.units["links.wire.delay"] == "s"
    assert frame["flows.file.congestion"].to_list()[:4] == ["cubic", "cubic", "newreno", "newreno"]
    assert frame["task"].n_unique() == 12
    one = frame.row(3, named=True)
    same = prismux.run(
        scenario, seed=2, set={"links.wire.delay": "20 ms", "flows.file.congestion": "newreno"}
    ).to_dict()
    assert one["scenario_hash"] == same["scenario_hash"]
    assert one["total.goodput_bps"] == same["total"]["goodput_bps"]
    assert one["flows.file.delivered_bytes"] == same["flows"]["file"]["bytes"]


def test_every_reader_of_parquet_reads_the_file(scenario: prismux.Scenario, tmp_path: Path) -> None:
    result = prismux.sweep(scenario, OVER, out=tmp_path / "runs.parquet")
    ours = pyarrow.table(result.table)
    assert pyarrow.parquet.read_table(result.path).to_pylist() == ours.to_pylist()
    assert polars.read_parquet(result.path).to_dicts() == ours.to_pylist()
    assert pyarrow.table(prismux.read_sweep(result.path)).equals(ours, check_metadata=True)
    schema = pyarrow.parquet.read_schema(result.path)
    assert schema.metadata[b"scenario"] == b"small"
    assert schema.field("total.goodput_bps").metadata[b"unit"] == b"bit/s"


def test_the_command_line_writes_the_same_file(
    scenario: prismux.Scenario, tmp_path: Path, prismux_command: Command
) -> None:
    result = prismux.sweep(scenario, OVER, seeds=2, out=tmp_path / "ours.parquet")
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    theirs = tmp_path / "theirs.parquet"
    said = prismux_command(
        *("sweep", str(path), "--over", "links.wire.delay=20ms..60ms/20ms"),
        *("--over", "flows.file.congestion=cubic,newreno", "--seeds", "2", "--out", str(theirs)),
    )
    assert said.returncode == 0, said.stderr
    assert theirs.read_bytes() == result.path.read_bytes()
    assert "12 runs in" in said.stdout


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"links.wyre.delay": ["1 ms"]}, 'did you mean "wire"'),
        ({"links.wire.dealy": ["1 ms"]}, "dealy"),
        ({"links.wire.delay": ["1 ms", "soon"]}, "soon"),
    ],
)
def test_a_setting_that_does_not_exist_is_refused_before_the_first_run(
    over: dict[str, list[object]], message: str, scenario: prismux.Scenario, tmp_path: Path
) -> None:
    with pytest.raises(prismux.ScenarioError, match=message):
        prismux.sweep(scenario, over, out=tmp_path / "runs.parquet")
    assert list(tmp_path.iterdir()) == []


def test_axes_without_sense_are_value_errors(scenario: prismux.Scenario) -> None:
    axes: list[dict[str, Any]] = [{"links.wire.delay": "1ms..2ms"}, {"links.wire.delay": []}]
    for over in axes:
        with pytest.raises(ValueError, match=r"links\.wire\.delay"):
            prismux.sweep(scenario, over)


def test_the_same_call_again_runs_nothing_and_more_seeds_run_the_rest(
    scenario: prismux.Scenario, tmp_path: Path
) -> None:
    out = tmp_path / "runs.parquet"
    prismux.sweep(scenario, OVER, out=out)
    before = out.read_bytes()
    again = prismux.sweep(scenario, OVER, out=out)
    assert (again.ran, again.already_there) == (0, 6)
    assert out.read_bytes() == before
    more = prismux.sweep(scenario, OVER, seeds=3, out=out)
    assert (more.ran, more.already_there, len(more.table)) == (12, 6, 18)
    apart = prismux.sweep(scenario, OVER, seeds=3, out=tmp_path / "apart.parquet")
    assert pyarrow.table(more.table).equals(pyarrow.table(apart.table))


def test_partial_results_merge(scenario: prismux.Scenario, tmp_path: Path) -> None:
    parts = [tmp_path / "low.parquet", tmp_path / "high.parquet"]
    prismux.sweep(scenario, {"links.wire.delay": ["10 ms", "20 ms"]}, out=parts[0])
    prismux.sweep(scenario, {"links.wire.delay": ["20 ms", "30 ms"]}, out=parts[1])
    merged = prismux.merge_sweeps(parts, tmp_path / "all.parquet")
    assert polars.DataFrame(merged)["links.wire.delay"].to_list() == [0.01, 0.02, 0.03]


def test_damaged_and_foreign_files_are_refused_with_their_reason(
    scenario: prismux.Scenario, tmp_path: Path, prismux_command: Command
) -> None:
    out = tmp_path / "runs.parquet"
    polars.DataFrame({"a": [1]}).write_parquet(out)
    with pytest.raises(prismux.SweepFileError, match="not the result of a sweep"):
        prismux.sweep(scenario, OVER, out=out)
    said = prismux_command("merge", "--out", str(tmp_path / "all"), str(out))
    assert said.returncode == 2 and "not the result of a sweep" in said.stderr
    out.write_bytes(out.read_bytes()[:-10])
    with pytest.raises(prismux.SweepFileError, match="no whole Parquet file"):
        prismux.read_sweep(out)


SLOW = 'duration = "60 s"\n' + SMALL.partition("\n")[2].replace("1 MB", "50 MB")


def sweep_in_a_process(path: Path, *more: str, limit: int | None = None) -> subprocess.Popen[str]:
    def prepare() -> None:
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    program = os.environ.get("PRISMUX", str(Path(__file__).parents[2] / "target/debug/prismux"))
    command = [program, "sweep", str(path), "--seeds", "40", "--jobs", "1", "--json", *more]
    return subprocess.Popen(
        command,
        cwd=path.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=prepare,
    )


def test_a_killed_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "slow.toml"
    path.write_text(SLOW)
    journal = tmp_path / "slow-sweep.parquet.parts/journal"
    with sweep_in_a_process(path) as process:
        while not (journal.exists() and journal.read_text().count("\n") >= 3):
            assert process.poll() is None, process.communicate()
            time.sleep(0.001)
        process.kill()
    saved = journal.read_text().count("\n")
    assert 3 <= saved < 40
    with sweep_in_a_process(path) as process:
        said, complaint = process.communicate()
        assert process.returncode == 0, complaint
    assert f'"already_there":{saved}' in said
    assert f'"ran":{40 - saved}' in said
    expected = prismux.sweep(path, {}, seeds=40, out=tmp_path / "whole.parquet")
    assert (tmp_path / "slow-sweep.parquet").read_bytes() == expected.path.read_bytes()


def test_a_full_disk_loses_the_run_in_hand_alone(tmp_path: Path) -> None:
    path = tmp_path / "slow.toml"
    path.write_text(SLOW)
    # A file that may not grow further fails as a full disk does.
    with sweep_in_a_process(path, limit=8000) as process:
        _, complaint = process.communicate()
        assert process.returncode == 1
    journal = tmp_path / "slow-sweep.parquet.parts/journal"
    saved = journal.read_text().count("\n")
    assert saved >= 3 and journal.read_text().endswith("\n")
    assert "journal: cannot write" in complaint
    assert f"{saved} of 40 runs are saved; the same command goes on from there" in complaint
    with sweep_in_a_process(path) as process:
        said, complaint = process.communicate()
        assert process.returncode == 0, complaint
    assert f'"already_there":{saved}' in said


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    path = tmp_path / "slow.toml"
    path.write_text(SLOW)
    program = (
        "import prismux, sys\n"
        "try:\n"
        f"    prismux.sweep({str(path)!r}, {{}}, seeds=100000, jobs=1, out={str(tmp_path / 'runs.parquet')!r})\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(42)\n"
    )
    journal = tmp_path / "runs.parquet.parts/journal"
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        while not (journal.exists() and journal.read_text().count("\n") >= 2):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 42
    assert prismux.sweep(path, {}, seeds=2, out=tmp_path / "runs.parquet").already_there == 2


def test_the_bar_tells_rate_and_time_left(
    scenario: prismux.Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prismux.sweep(scenario, OVER, out=tmp_path / "runs.parquet", progress=True)
    said = capsys.readouterr().err
    assert "6/6" in said and "/s, " in said and "s left" in said


def test_rows_of_an_edited_scenario_never_mix_with_the_new_ones(tmp_path: Path) -> None:
    out = tmp_path / "runs.parquet"
    over = {"links.wire.delay": ["20 ms", "40 ms"]}
    prismux.sweep(prismux.Scenario.from_text(SMALL, name="small.toml"), over, out=out)
    edited = prismux.Scenario.from_text(SMALL.replace("10 Mbit/s", "5 Mbit/s"), name="small.toml")
    with pytest.raises(prismux.SweepFileError, match="2 rows there are of other experiments"):
        prismux.sweep(edited, over, out=out)
    kept = prismux.sweep(edited, over, out=out, keep=True)
    assert (len(kept.table), len(polars.read_parquet(out))) == (2, 4)
    pruned = prismux.sweep(edited, over, out=out, prune=True)
    assert (pruned.ran, len(pruned.table), len(polars.read_parquet(out))) == (0, 2, 2)
    assert set(polars.read_parquet(out)["scenario"]) == {"small"}


def test_a_path_whose_values_change_nothing_is_warned_of(scenario: prismux.Scenario, tmp_path: Path) -> None:
    over = {"links.wire.queue": ["500 packets", "600 packets"]}
    with pytest.warns(UserWarning, match=r"links\.wire\.queue changes nothing"):
        result = prismux.sweep(scenario, over, out=tmp_path / "runs.parquet")
    assert result.without_effect == ["links.wire.queue"]


def test_paths_and_values_come_in_a_dictionary(tmp_path: Path) -> None:
    dictionary: Any = {"duration": "1 s"}
    lines: Any = ["links.wwan2.delay=1ms,2ms"]
    with pytest.raises(TypeError, match=r"over: expected a dictionary .*not list"):
        prismux.sweep("two-members", lines, out=tmp_path / "x.parquet")
    with pytest.raises(TypeError, match=r"Scenario\.from_dict"):
        prismux.run(dictionary)
