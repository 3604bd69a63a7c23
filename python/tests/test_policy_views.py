"""What policies written in Python see: marks, deadlines, rates."""

import runpy
from typing import Any

import pytest
from conftest import ROOT

import prismux


def example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(ROOT / f"python/examples/{name}.py"))


@pytest.mark.parametrize(("echo", "is_exact"), [("rfc8257", True), ("rfc3168", False)])
def test_marked_bytes_are_those_that_the_link_marked_where_the_receiver_echoes_one_by_one(
    echo: str, is_exact: bool
) -> None:
    dctcp = example("own_ecn_congestion")
    seen = {"marked": 0, "delivered": 0, "segment": 1}

    class Counting:
        def __init__(self) -> None:
            self.control = dctcp["Dctcp"]()

        def on_ack(self, ack: prismux.AckView, window: prismux.WindowView) -> float:
            seen["marked"], seen["delivered"] = ack.total_marked_bytes, ack.total_delivered_bytes
            seen["segment"] = window.mss_bytes
            return float(self.control.on_ack(ack, window))

        def on_congestion(self, signal: str, window: prismux.WindowView) -> float:
            return float(self.control.on_congestion(signal, window))

    scenario = prismux.Scenario.from_text(dctcp["SCENARIO"])
    settings = {"duration": "8 s", "flows.download.tcp.ecn_echo": echo}
    result = prismux.run(scenario, set=settings, congestion=Counting)
    marked_packets = result.to_dict()["links"]["line"]["marked_packets"]
    assert marked_packets > 500
    assert seen["marked"] < seen["delivered"]
    # What is on its way at the end is not known yet.
    share = seen["marked"] / seen["segment"] / marked_packets
    assert (0.9 < share <= 1.0) if is_exact else share > 1.2, share


def test_a_control_by_the_share_of_marks_uses_more_of_the_line_than_one_that_halves() -> None:
    dctcp = example("own_ecn_congestion")
    scenario = prismux.Scenario.from_text(dctcp["SCENARIO"])
    newreno = prismux.run(scenario)
    own = prismux.run(scenario, congestion=dctcp["Dctcp"])
    assert (own.steady_goodput_bps or 0) > 1.1 * (newreno.steady_goodput_bps or 0)
    assert own.to_dict()["links"]["line"]["dropped_packets"] == 0


def test_a_rate_based_control_sees_marks_too() -> None:
    marked = []

    class Steady:
        pacing_rate_bps = 60e6

        def on_rate(self, rate: prismux.RateView, window: prismux.WindowView) -> float:
            assert rate.newly_marked_bytes in (0, rate.newly_delivered_bytes)
            marked.append(rate.newly_marked_bytes)
            return 200 * window.mss_bytes

    scenario = prismux.Scenario.from_text(example("own_ecn_congestion")["SCENARIO"])
    prismux.run(scenario, set={"duration": "2 s"}, congestion=Steady)
    assert sum(marked) > 0 and 0 in marked


def test_a_scheduler_with_a_deadline_spares_the_dear_link_and_comes_in_time() -> None:
    thrifty = example("own_deadline_scheduler")
    scenario = prismux.Scenario.from_text(thrifty["SCENARIO"])
    dear_bytes = []
    for deadline_s in (8, 15, 25):
        settings = {"flows.video.deadline": f"{deadline_s} s"}
        result = prismux.run(scenario, set=settings, subflow_scheduler=thrifty["Thrifty"])
        video = result.to_dict()["flows"]["video"]
        assert video["completion_s"] < deadline_s
        dear_bytes.append(video["pipes"]["lte"]["sent_bytes"])
    assert dear_bytes[0] > 1.5 * dear_bytes[1] > 3 * dear_bytes[2]


def test_every_scheduler_of_several_paths_sees_the_deadline() -> None:
    scenario = prismux.Scenario.from_text(example("own_deadline_scheduler")["SCENARIO"])
    seen: dict[str, set[float | None]] = {"subflow_scheduler": set(), "pipe_scheduler": set()}

    def watching(role: str) -> type:
        class Watching:
            def __init__(self, flow: str) -> None:
                assert flow == "video"

            def choose(self, paths: Any, offer: Any) -> Any:
                seen[role].add(offer.deadline_s)
                return next((path for path in paths if path.usable and path.has_room), None)

        return Watching

    for transport, role in (("mptcp", "subflow_scheduler"), ("ptcp", "pipe_scheduler")):
        for start in ("0 s", "1 s"):
            settings = {"flows.video.transport": transport, "flows.video.start": start, "duration": "3 s"}
            policy: dict[str, Any] = {role: watching(role)}
            prismux.run(scenario, set=settings, **policy)
    assert seen == {"subflow_scheduler": {15.0, 16.0}, "pipe_scheduler": {15.0, 16.0}}
    asked: set[float | None] = set()

    class Requests:
        def __init__(self, flow: str) -> None:
            pass

        def choose(self, pipes: list[prismux.RequestPipeView], request: prismux.RequestView) -> int:
            asked.add(request.deadline_s)
            return 0

    for deadline in ({}, {"flows.download.deadline": "7 s"}):
        prismux.run("r2cp-aggregation", set={"duration": "2 s", **deadline}, request_scheduler=Requests)
    assert asked == {None, 7.0}
    with pytest.raises(prismux.ScenarioError, match="no scheduler would see"):
        prismux.run("two-members", set={"flows.download.deadline": "5 s"})
