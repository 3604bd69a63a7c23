"""Schedulers and congestion controls written in Python."""

import runpy

import pytest
from conftest import ROOT, SMALL

import prismux

SHORT = {"duration": "8 s", "events": []}


def adas(
    now_s: float, links: list[prismux.LinkView], packet_bytes: int, retransmission: bool
) -> prismux.LinkView | None:
    """The published rules: least hRTT for a retransmission; else least NIP, then least hRTT."""
    if retransmission:
        return min(links, key=lambda link: link.hrtt_s, default=None)
    return min(links, key=lambda link: (link.nip, link.hrtt_s), default=None)


def test_the_published_scheduler_in_python_gives_the_run_of_the_one_in_rust() -> None:
    settings = {**SHORT, "nodes.proxy.profile": "paper"}
    ours = prismux.run("two-members", set=settings, scheduler=adas).to_dict()
    theirs = prismux.run("two-members", set={**settings, "nodes.proxy.scheduler": "adas"}).to_dict()
    assert ours.pop("scenario_hash") == "" != theirs.pop("scenario_hash")
    assert ours == theirs


def test_a_scheduler_decides_where_packets_go() -> None:
    def only_the_first(
        now_s: float, links: list[prismux.LinkView], packet_bytes: int, retransmission: bool
    ) -> prismux.LinkView | None:
        assert now_s >= 0 and packet_bytes >= 0 and retransmission in (True, False)
        return next((link for link in links if link.name == "m1"), links[0])

    result = prismux.run("two-members", set=SHORT, scheduler=only_the_first)
    links = result.to_dict()["links"]
    assert links["wwan1"]["share"] > 0.9
    assert result.decisions > 100 and result.decision_cost_s is not None and result.decision_cost_s > 0


def test_an_exception_ends_the_run_and_is_raised() -> None:
    calls = 0

    def broken(now_s: float, links: list[prismux.LinkView], packet_bytes: int, retransmission: bool) -> None:
        nonlocal calls
        calls += 1
        raise LookupError("no idea")

    with pytest.raises(LookupError, match="no idea"):
        prismux.run("two-members", set=SHORT, scheduler=broken)
    assert calls == 1


def test_anything_but_a_link_is_refused() -> None:
    with pytest.raises(TypeError, match="one of the links that it was given"):
        prismux.run("two-members", set=SHORT, scheduler=lambda *_: 7)


def test_without_a_scheduler_nothing_was_decided() -> None:
    result = prismux.run("two-members", set=SHORT)
    assert (result.decisions, result.decision_cost_s) == (0, None)


def test_the_example_prints_what_a_decision_costs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "python/examples/own_scheduler.py"), run_name="__main__")
    said = capsys.readouterr().out
    print(said)
    assert "least_wait" in said and "µs each" in said


class NewReno:
    """The rules of RFC 5681 and RFC 3465, by bytes."""

    def __init__(self) -> None:
        self.credit = 0

    def on_ack(self, ack: prismux.AckView, window: prismux.WindowView) -> int:
        size, delivered = window.cwnd_bytes, ack.delivered_bytes
        if window.in_slow_start:
            room = float("inf") if window.ssthresh_bytes is None else window.ssthresh_bytes - size
            used = int(min(delivered, room))
            size, delivered = size + used, delivered - used
            if delivered == 0:
                return size
        self.credit += delivered
        if self.credit >= size:
            self.credit = min(self.credit - size, size)
            size += window.mss_bytes
        return size

    def on_congestion(self, signal: str, window: prismux.WindowView) -> int:
        assert signal in ("loss", "ecn-mark", "timeout")
        self.credit = 0
        return max(window.cwnd_bytes // 2, 2 * window.mss_bytes)


def test_new_reno_in_python_gives_the_run_of_the_one_in_rust() -> None:
    scenario = prismux.Scenario.from_text(SMALL)
    # Without what ends slow start before a loss: that is the built-in policy's own.
    settings = {"flows.file.bytes": "5 MB", "flows.file.congestion": "newreno", "flows.file.tcp": {"hystart": "off"}}
    result = prismux.run(scenario, set=settings, congestion=NewReno)
    ours, theirs = result.to_dict(), prismux.run(scenario, set=settings).to_dict()
    assert ours.pop("scenario_hash") == "" != theirs.pop("scenario_hash")
    assert ours == theirs
    assert ours["flows"]["file"]["retransmitted_segments"] > 10
    assert result.decisions > 1000 and result.decision_cost_s is not None


def test_every_connection_has_a_congestion_control_of_its_own() -> None:
    made = []

    class Constant:
        def __init__(self) -> None:
            made.append(self)

        def on_ack(self, ack: prismux.AckView, window: prismux.WindowView) -> int:
            assert ack.now_s > 0 and ack.delivered_bytes > 0 and window.mss_bytes > 0
            return 4 * window.mss_bytes

        def on_congestion(self, signal: str, window: prismux.WindowView) -> int:
            return 4 * window.mss_bytes

    scenario = prismux.Scenario.from_text(SMALL)
    settings = {"flows.file.count": 3, "links.wire.loss": 0}
    result = prismux.run(scenario, set=settings, congestion=Constant)
    assert len(made) == 3
    # Four segments each, once in a round trip of 40 ms.
    assert result.goodput_bps < 3 * 4 * 1500 * 8 / 0.04


@pytest.mark.parametrize("answer", [None, "much", -1, float("nan"), 1e300])
def test_anything_but_bytes_is_refused(answer: object) -> None:
    class Broken:
        def on_ack(self, ack: prismux.AckView, window: prismux.WindowView) -> object:
            return answer

        def on_congestion(self, signal: str, window: prismux.WindowView) -> int:
            return window.mss_bytes

    with pytest.raises(TypeError, match="a number of bytes"):
        prismux.run(prismux.Scenario.from_text(SMALL), congestion=Broken)  # type: ignore[arg-type]  # wrong on purpose


class Shy:
    def __init__(self) -> None:
        pass

    def choose(self, links: list[prismux.LinkView], packet: prismux.PacketView) -> None:
        return None


class Short:
    def __init__(self, proxy: str) -> None:
        pass

    def choose(self, links: list[prismux.LinkView]) -> None:
        return None


class Half:
    def on_ack(self, ack: prismux.AckView) -> int:
        return 1

    def on_congestion(self, signal: str, window: prismux.WindowView) -> int:
        return 1


def test_a_policy_that_takes_other_arguments_is_told_which() -> None:
    def pick(links: object, packet: object) -> None:
        return None

    def stumble(now_s: float, links: object, packet_bytes: int, retransmission: bool) -> None:
        len(5)  # type: ignore[arg-type]  # wrong on purpose

    called = [
        (
            {"scheduler": pick},
            "pick(links: object, packet: object)",
            "pick(now_s, links, packet_bytes, retransmission)",
        ),
        ({"scheduler": Shy}, "Shy() ", "Shy(proxy)"),
        ({"scheduler": Short}, "Short.choose(links: ", "Short.choose(links, packet)"),
        ({"congestion": Half}, "Half.on_ack(ack: ", "Half.on_ack(ack, window)"),
    ]
    for policy, takes, called_with in called:
        with pytest.raises(TypeError) as raised:
            prismux.run("two-members", set={"duration": "5 s", "events": []}, **policy)  # type: ignore[arg-type]  # any of five
        message = str(raised.value)
        assert takes in message and message.endswith(f"called with: {called_with}"), message
    # A mistake of its own stays as it is.
    with pytest.raises(TypeError, match="has no len"):
        prismux.run("two-members", set={"duration": "5 s", "events": []}, scheduler=stumble)


def test_an_exception_in_a_congestion_control_is_raised() -> None:
    def broken() -> NewReno:
        raise LookupError("no idea")

    with pytest.raises(LookupError, match="no idea"):
        prismux.run(prismux.Scenario.from_text(SMALL), congestion=broken)


def test_a_congestion_control_without_tcp_is_refused() -> None:
    settings = {"flows.file.transport": "rcp"}
    with pytest.raises(prismux.ScenarioError, match="none runs over TCP"):
        prismux.run(prismux.Scenario.from_text(SMALL), set=settings, congestion=NewReno)


def test_a_control_without_its_methods_is_refused_before_the_run() -> None:
    class Half:
        def on_ack(self, ack: prismux.AckView, window: prismux.WindowView) -> int:
            return window.cwnd_bytes

    with pytest.raises(TypeError, match="no method on_congestion"):
        prismux.run(prismux.Scenario.from_text(SMALL), congestion=Half)  # type: ignore[arg-type]  # wrong on purpose


def test_a_control_of_one_flow_leaves_the_others_theirs() -> None:
    scenario = prismux.Scenario.from_text(SMALL)
    settings = {"flows.file.count": 2, "flows.file.bytes": "1 MB", "links.wire.loss": 0}
    made = []

    class Small:
        def __init__(self) -> None:
            made.append(self)

        def on_ack(self, ack: prismux.AckView, window: prismux.WindowView) -> int:
            assert ack.flight_size_bytes >= 0
            return 2 * window.mss_bytes

        def on_congestion(self, signal: str, window: prismux.WindowView) -> int:
            return 2 * window.mss_bytes

    flows = prismux.run(scenario, set=settings, congestion={"file-1": Small}).to_dict()["flows"]
    assert len(made) == 1
    assert flows["file-1"]["goodput_bps"] * 2 < flows["file-2"]["goodput_bps"]
    prismux.run(scenario, set=settings, congestion={"file": Small})
    assert len(made) == 3
    with pytest.raises(prismux.ScenarioError, match='"fiel", which is no flow over TCP'):
        prismux.run(scenario, set=settings, congestion={"fiel": Small})


class Steady:
    """Sets the window itself, and paces."""

    pacing_rate_bps: float | None = 400e3

    def on_rate(self, rate: prismux.RateView, window: prismux.WindowView) -> int:
        assert rate.delivered_bytes >= rate.newly_delivered_bytes and rate.in_flight_bytes >= 0
        return 20 * window.mss_bytes


def test_a_control_by_rate_sets_window_and_pace() -> None:
    scenario = prismux.Scenario.from_text(SMALL)
    settings = {"links.wire.loss": 0, "flows.file.bytes": "1 MB", "duration": "40 s"}
    result = prismux.run(scenario, set=settings, congestion=Steady)
    # 400 kbit/s of 1500-byte packets with 1448 bytes of payload.
    assert result.goodput_bps == pytest.approx(400e3 * 1448 / 1500, rel=0.06)


def test_policies_come_by_import_path_too() -> None:
    scenario = prismux.Scenario.from_text(SMALL)
    settings = {"links.wire.loss": 0, "flows.file.bytes": "1 MB", "duration": "40 s"}
    here = f"{__name__}:Steady"
    by_path = prismux.run(scenario, set=settings, congestion=here)
    assert by_path == prismux.run(scenario, set=settings, congestion=Steady)
    with pytest.raises(ValueError, match="no import path"):
        prismux.run(scenario, congestion="Steady")
    with pytest.raises(TypeError, match="cannot be called"):
        prismux.run(scenario, congestion=7)  # type: ignore[arg-type]  # wrong on purpose


def test_a_scheduler_without_a_proxy_and_one_of_subflows_without_mptcp_are_refused() -> None:
    scenario = prismux.Scenario.from_text(SMALL)
    with pytest.raises(prismux.ScenarioError, match="no proxy to serve"):
        prismux.run(scenario, scheduler=adas)
    with pytest.raises(prismux.ScenarioError, match="none runs over MPTCP"):
        prismux.run(scenario, subflow_scheduler=lambda flow: None)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("name", ["blest", "ecf"])
def test_blest_and_ecf_in_python_give_the_runs_of_those_in_rust(name: str) -> None:
    example = runpy.run_path(str(ROOT / "python/examples/own_subflow_scheduler.py"))
    settings = {"duration": "12 s", "flows.download.bytes": "10 MB"}
    result = prismux.run("mptcp-schedulers", set=settings, subflow_scheduler=example[name.capitalize()])
    ours, theirs = result.to_dict(), prismux.run("mptcp-schedulers", variant=name, set=settings).to_dict()
    assert ours.pop("scenario_hash") == "" != theirs.pop("scenario_hash")
    assert ours == theirs
    assert result.decisions > 1000


def test_a_scheduler_of_subflows_waits_and_chooses_only_what_it_was_given() -> None:
    class First:
        def __init__(self, flow: str) -> None:
            assert flow == "download"

        def choose(self, subflows: list[prismux.SubflowView], offer: prismux.OfferView) -> prismux.SubflowView | None:
            assert offer.unsent_bytes > 0 and offer.next_byte >= 0
            return next((subflow for subflow in subflows if subflow.id == 0 and subflow.has_room), None)

    settings = {"duration": "5 s", "flows.download.mptcp.opportunistic_retransmission": False}
    result = prismux.run("mptcp-schedulers", set=settings, subflow_scheduler=First).to_dict()
    pipes = list(result["flows"]["download"]["pipes"].values())
    assert pipes[0]["sent_bytes"] > 1e6 and all(pipe["sent_bytes"] == 0 for pipe in pipes[1:])

    class Wrong(First):
        def choose(self, subflows: object, offer: object) -> object:  # type: ignore[override]  # wrong on purpose
            return 3

    with pytest.raises(TypeError, match="one of the subflows that it was given"):
        prismux.run("mptcp-schedulers", set=settings, subflow_scheduler=Wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_the_example_of_a_congestion_control_keeps_the_queue_short(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "python/examples/own_congestion.py"), run_name="__main__")
    said = capsys.readouterr().out
    print(said)
    assert "Vegas" in said and ",    0 segments sent again" in said and "µs each" in said
