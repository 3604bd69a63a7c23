"""Schedulers written in Python that wait, and those of pTCP and R²CP."""

import runpy
from typing import Any

import pytest
from conftest import ROOT, SMALL

import prismux

SHORT = {"duration": "8 s", "events": []}


class Adas:
    """The published rules: least hRTT for a retransmission; else least NIP, then least hRTT."""

    def __init__(self, proxy: str) -> None:
        assert proxy == "proxy"

    def choose(self, links: list[prismux.LinkView], packet: prismux.PacketView) -> prismux.LinkView | None:
        if packet.retransmission:
            return min(links, key=lambda link: link.hrtt_s, default=None)
        return min(links, key=lambda link: (link.nip, link.hrtt_s), default=None)


def test_a_scheduler_that_is_an_object_gives_the_run_of_the_one_in_rust() -> None:
    settings = {**SHORT, "nodes.proxy.profile": "paper"}
    ours = prismux.run("two-members", set=settings, scheduler=Adas).to_dict()
    theirs = prismux.run("two-members", set={**settings, "nodes.proxy.scheduler": "adas"}).to_dict()
    assert ours.pop("scenario_hash") == "" != theirs.pop("scenario_hash")
    assert ours == theirs


def test_a_scheduler_sees_connections_windows_and_deadlines_and_may_wait() -> None:
    seen: list[prismux.PacketView] = []

    class Patient:
        """Keeps every packet for five milliseconds."""

        def __init__(self, proxy: str) -> None:
            self.first_seen_s: dict[tuple[str, int], float] = {}

        def choose(self, links: list[prismux.LinkView], packet: prismux.PacketView) -> prismux.LinkView | float | None:
            seen.append(packet)
            first_s = self.first_seen_s.setdefault((packet.flow, packet.sequence), packet.now_s)
            if packet.deadline_s is not None and packet.now_s < first_s + 0.005:
                return first_s + 0.005
            return min(links, key=lambda link: link.hrtt_s, default=None)

    result = prismux.run("mix-20-20", set={"duration": "4 s"}, scheduler=Patient)
    assert result.nodes["proxy"]["waited_packets"] > 100
    data = [packet for packet in seen if packet.packet_bytes > 1000]
    assert {packet.flow.count(" > ") for packet in data} == {1} and len({packet.flow for packet in data}) == 1
    assert len({packet.sequence for packet in data}) > 100
    assert all(packet.window_bytes is None or packet.window_bytes > 0 for packet in data[1:])
    may_wait = [packet.deadline_s - packet.now_s for packet in data if packet.deadline_s is not None]
    assert may_wait and max(may_wait) > 0.05
    # Five milliseconds more in each round trip are no catastrophe.
    assert result.goodput_bps > 10e6


def test_nothing_waits_for_ever() -> None:
    class Never:
        def __init__(self, proxy: str) -> None:
            pass

        def choose(self, links: object, packet: object) -> None:
            return None

    result = prismux.run("mix-20-20", set={"duration": "8 s", "flows.download.bytes": "20 kB"}, scheduler=Never)
    flow = result.to_dict()["flows"]["download"]
    assert flow["bytes"] == 20_000 and 0.1 < flow["completion_s"] < 8
    assert flow["timeouts"] == 0, "packets leave before their sender repeats them"


def test_a_time_that_has_passed_is_refused() -> None:
    with pytest.raises(TypeError, match="or a later time of the run in seconds"):
        prismux.run("mix-20-20", set={"duration": "1 s"}, scheduler=lambda now_s, *_: now_s / 2)


def test_the_example_of_waiting_schedulers_prints_what_waited(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "python/examples/own_waiting_scheduler.py"), run_name="__main__")
    said = capsys.readouterr().out
    print(said)
    assert [line.split()[0] for line in said.splitlines()] == ["earliest-arrival", "BLEST", "ECF"]
    for line in said.splitlines()[1:]:
        assert int(line.split()[3]) > 100 and float(line.split()[1]) > 5, line


PIPES: dict[str, Any] = {"duration": "12 s", "flows.upload.links": ["pipe2", "pipe5"]}


class LeastRtt:
    """What pTCP does by itself: the quickest pipe that has room."""

    def __init__(self, flow: str) -> None:
        assert flow == "upload"

    def choose(self, pipes: list[prismux.PipeView], offer: prismux.PipeOfferView) -> prismux.PipeView | None:
        assert offer.unsent_bytes > 0 and offer.next_byte >= 0 and offer.window_bytes >= 0 and offer.now_s > 0
        free = [pipe for pipe in pipes if pipe.usable and pipe.has_room]
        return min(free, key=lambda pipe: pipe.srtt_s or 1e9, default=None)


def test_a_scheduler_of_pipes_gives_ptcp_what_it_has_by_itself() -> None:
    own = prismux.run("pipes", set=PIPES, pipe_scheduler=LeastRtt)
    plain = prismux.run("pipes", set=PIPES)
    assert own.scenario_hash == "" and own.decisions > 1000
    assert own.goodput_bps == pytest.approx(plain.goodput_bps, rel=0.05)


def test_a_scheduler_of_pipes_decides_and_may_wait() -> None:
    class OnlyTheFirst(LeastRtt):
        def choose(self, pipes: list[prismux.PipeView], offer: prismux.PipeOfferView) -> prismux.PipeView | None:
            return next((pipe for pipe in pipes if pipe.id == 0 and pipe.has_room), None)

    result = prismux.run("pipes", set=PIPES, pipe_scheduler=OnlyTheFirst).to_dict()
    pipes = result["flows"]["upload"]["pipes"]
    assert pipes["pipe2"]["sent_bytes"] > 1e6 and pipes["pipe5"]["sent_bytes"] == 0


class FirstPending:
    """R²CP-s: every pipe asks for the first segment that nobody was asked for."""

    def __init__(self, flow: str) -> None:
        assert flow == "download"

    def choose(self, pipes: list[prismux.RequestPipeView], request: prismux.RequestView) -> int | None:
        assert pipes[request.pipe].id == request.pipe and pipes[request.pipe].usable
        assert request.pending_byte >= request.next_byte >= 0 and request.segment_bytes > 0
        return 0


class Rank(FirstPending):
    """By rank: the segment that will be next in line when the data arrives."""

    def choose(self, pipes: list[prismux.RequestPipeView], request: prismux.RequestView) -> int | None:
        own = pipes[request.pipe]
        arrives_s = request.now_s + own.round_trip_s
        others = [pipe for pipe in pipes if pipe.usable and pipe.id != own.id]
        return sum(arrives_s > at + 2 * pipe.round_trip_s for pipe in others for at in pipe.asked_s)


@pytest.mark.parametrize(("scheduler", "name"), [(FirstPending, "first-pending"), (Rank, "expected-arrival")])
def test_schedulers_of_requests_give_the_runs_of_those_in_rust(scheduler: type[FirstPending], name: str) -> None:
    settings = {"duration": "15 s"}
    own = prismux.run("r2cp-aggregation", set=settings, request_scheduler=scheduler)
    theirs = prismux.run("r2cp-aggregation", set={**settings, "flows.download.scheduling": name}).to_dict()
    ours = own.to_dict()
    assert ours.pop("scenario_hash") == "" != theirs.pop("scenario_hash")
    assert ours == theirs
    assert own.decisions > 1000


def test_a_scheduler_of_requests_may_wait_but_not_for_ever() -> None:
    class OnlyTheSecond(FirstPending):
        def choose(self, pipes: list[prismux.RequestPipeView], request: prismux.RequestView) -> int | None:
            return 0 if request.pipe == 1 else None

    class Never(FirstPending):
        def choose(self, pipes: list[prismux.RequestPipeView], request: prismux.RequestView) -> int | None:
            return None

    def received(scheduler: type[FirstPending]) -> list[int]:
        result = prismux.run("r2cp-aggregation", set={"duration": "15 s"}, request_scheduler=scheduler).to_dict()
        return [pipe["received_bytes"] for pipe in result["flows"]["download"]["pipes"].values()]

    second_only, never = received(OnlyTheSecond), received(Never)
    assert second_only[1] > 20 * second_only[0], second_only
    # A request at a time, where nothing else is under way.
    assert 10_000 < sum(never) < sum(second_only) / 4, never


@pytest.mark.parametrize(
    ("role", "scenario", "message"),
    [
        ("pipe_scheduler", "pipes", "one of the pipes that it was given"),
        ("request_scheduler", "r2cp-aggregation", "the place of a segment"),
    ],
)
def test_anything_else_than_an_answer_is_refused(role: str, scenario: str, message: str) -> None:
    class Wrong:
        def __init__(self, flow: str) -> None:
            pass

        def choose(self, pipes: object, offer: object) -> object:
            return "the first"

    class Empty:
        def __init__(self, flow: str) -> None:
            pass

    run: Any = prismux.run
    with pytest.raises(TypeError, match=message):
        run(scenario, set={"duration": "2 s"}, **{role: Wrong})
    with pytest.raises(TypeError, match="has no method choose"):
        run(scenario, set={"duration": "2 s"}, **{role: Empty})
    with pytest.raises(prismux.ScenarioError, match="none runs over"):
        run(prismux.Scenario.from_text(SMALL), **{role: Wrong})
