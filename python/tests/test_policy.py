"""Schedulers written in Python."""

import runpy

import pytest
from conftest import ROOT

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
        # The wrong type is what is tested.
        prismux.run("two-members", set=SHORT, scheduler=lambda *_: 7)  # type: ignore[arg-type]


def test_without_a_scheduler_nothing_was_decided() -> None:
    result = prismux.run("two-members", set=SHORT)
    assert (result.decisions, result.decision_cost_s) == (0, None)


def test_the_example_prints_what_a_decision_costs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "python/examples/own_scheduler.py"), run_name="__main__")
    said = capsys.readouterr().out
    print(said)
    assert "least_wait" in said and "µs each" in said
