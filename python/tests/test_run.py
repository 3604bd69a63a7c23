"""Runs: what the command line measures, without holding up Python."""

import copy
import json
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import SMALL, Command

import prismux

SHORT = {"duration": "8 s", "events": []}


def test_a_result_equals_the_output_of_the_command_line(prismux_command: Command) -> None:
    said = prismux_command("run", "two-members", "--seed", "4", "--set", "duration=8 s", "--set", "events=[]", "--json")
    result = prismux.run("two-members", seed=4, set=SHORT)
    assert result.to_json() == said.stdout.strip()
    assert result.to_dict() == json.loads(said.stdout)
    assert prismux.RunResult.from_json(said.stdout) == result


def test_a_seed_that_is_none_is_refused_with_what_would_do() -> None:
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match=rf"seed {seed}: give a whole number from 0 to {2**64 - 1}"):
            prismux.run("two-members", seed=seed, set=SHORT)
        with pytest.raises(ValueError, match="give a whole number"):
            prismux.compare("two-members", seed=seed, set=SHORT)
    with pytest.raises(TypeError):
        prismux.run("two-members", seed="one", set=SHORT)  # type: ignore[arg-type]  # wrong on purpose


def test_a_seed_decides_a_run_and_overrides_change_it() -> None:
    scenario = prismux.Scenario.from_text(SMALL)
    first, again, other = (prismux.run(scenario, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert first.scenario_hash == other.scenario_hash == scenario.hash()
    slower = prismux.run(scenario, set=["links.wire.rate=1 Mbit/s"])
    assert slower.goodput_bps < 1e6 < first.goodput_bps
    assert slower.scenario_hash == scenario.hash(set={"links.wire.rate": "1 Mbit/s"}) != first.scenario_hash


def test_a_variant_is_run_by_its_name() -> None:
    scenario = prismux.Scenario.from_text(SMALL + '[variants.slow]\nlinks.wire.rate = "1 Mbit/s"\n')
    assert prismux.run(scenario, variant="slow").goodput_bps < 1e6 < prismux.run(scenario).goodput_bps
    with pytest.raises(prismux.ScenarioError, match="there is no variant"):
        prismux.run(scenario, variant="slwo")


def test_results_are_pickled_and_copied() -> None:
    result = prismux.run(prismux.Scenario.from_text(SMALL))
    assert pickle.loads(pickle.dumps(result)) == result
    assert copy.deepcopy(result) == result
    with pytest.raises(ValueError, match="not the result of a run"):
        prismux.RunResult.from_json('{"scenario": 1}')


def test_captures_and_events_are_written(tmp_path: Path) -> None:
    prismux.run(prismux.Scenario.from_text(SMALL), pcap=tmp_path / "pcap", events=tmp_path / "events")
    assert [path.suffix for path in (tmp_path / "pcap").iterdir()] == [".pcapng"]
    assert json.loads((tmp_path / "events").read_text().splitlines()[0])
    with pytest.raises(prismux.RunError, match="cannot write"):
        prismux.run(prismux.Scenario.from_text(SMALL), events=tmp_path / "none" / "events")


def test_a_record_is_that_of_the_command_line_and_can_be_viewed(prismux_command: Command, tmp_path: Path) -> None:
    here, there, shown = (tmp_path / name for name in ("here", "there", "shown"))
    result = prismux.run("two-members", seed=4, set=SHORT, record=here)
    settings = ("--set", "duration=8 s", "--set", "events=[]")
    said = prismux_command("run", "two-members", "--seed", "4", *settings, "--json", "--record", str(there))
    assert result.to_json() == said.stdout.strip()
    assert {path.name: path.read_bytes() for path in here.iterdir()} == {
        path.name: path.read_bytes() for path in there.iterdir()
    }
    viewed = prismux_command("view", str(here), "--export", str(shown))
    assert viewed.returncode == 0, viewed.stderr
    assert Path(viewed.stdout.strip()).is_file()
    (tmp_path / "file").touch()
    with pytest.raises(prismux.RunError, match="cannot write"):
        prismux.run("two-members", set=SHORT, record=tmp_path / "file")


def test_what_only_the_lab_can_do_is_refused_with_a_remedy() -> None:
    with pytest.raises(prismux.ScenarioError, match="remedy"):
        prismux.run("two-members", on="lab")


LONG = {"duration": "100000 s", "flows.download.bytes": "1 TB", "events": []}


def test_other_threads_run_during_a_run() -> None:
    running = threading.Event()
    ticks = []

    def tick() -> None:
        while running.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    running.set()
    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    prismux.run("two-members", set={**LONG, "duration": "1500 s"})
    end = time.perf_counter()
    running.clear()
    thread.join()
    gaps = [b - a for a, b in zip([start, *ticks], [*ticks, end], strict=True) if a <= end and b >= start]
    # With the lock held the one gap would be the whole run.
    assert max(gaps) < (end - start) / 2, f"{max(gaps):.3f} s of {end - start:.3f} s"


def test_what_a_signal_handler_raises_ends_the_run_and_comes_out() -> None:
    def handler(number: int, frame: object) -> None:
        raise TimeoutError("long enough")

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(TimeoutError, match="long enough"):
            prismux.run("two-members", set=LONG)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_ctrl_c_stops_a_run() -> None:
    program = (
        "import prismux, sys\n"
        "print('running', flush=True)\n"
        "try:\n"
        f"    prismux.run('two-members', set={LONG!r})\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(42)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 42


def test_notebooks_show_results_as_tables() -> None:
    named = SMALL.replace("wire = {", "'wi<b>re' = {")
    result = prismux.run(prismux.Scenario.from_text(named))
    html = result._repr_html_()
    assert html.count("<table>") == html.count("</table>") == 2
    goodput = f"{result.goodput_bps / 1e6:.3g}"
    assert f"{goodput} Mbit/s" in html
    assert "wi&lt;b&gt;re" in html and "wi<b>re" not in html
    compared = prismux.compare("two-members", variants=["single", "prism"], set=SHORT)._repr_html_()
    assert compared.count("<tr>") == 3 and "<td>prism</td>" in compared
