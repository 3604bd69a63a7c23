"""Types of policies: what classes have that decide in the place of prismux, for annotations and type checkers.

Nobody need derive from them: a class with the same methods will do.
"""

from typing import Protocol

from prismux._core import (
    AckView,
    LinkView,
    OfferView,
    PacketView,
    PipeOfferView,
    PipeView,
    RateView,
    RequestPipeView,
    RequestView,
    SubflowView,
    WindowView,
)

__all__ = [
    "CongestionControl",
    "LinkScheduler",
    "PipeScheduler",
    "RateControl",
    "RequestScheduler",
    "SubflowScheduler",
]


class LinkScheduler(Protocol):
    """Which link of a proxy takes a packet (``scheduler=``)."""

    def choose(self, links: list[LinkView], packet: PacketView, /) -> LinkView | float | None:
        """One of the links, a time of the run in seconds to wait for, or None: until the links have changed."""


class CongestionControl(Protocol):
    """How large the window of a TCP sender is (``congestion=``).

    With an attribute ``pacing_rate_bps``, segments leave at that rate.
    """

    def on_ack(self, ack: AckView, window: WindowView, /) -> float:
        """The window in bytes after new data was acknowledged."""

    def on_congestion(self, signal: str, window: WindowView, /) -> float:
        """The window in bytes after ``"loss"``, ``"ecn-mark"`` or ``"timeout"``."""


class RateControl(Protocol):
    """How large the window of a TCP sender is, by samples of the delivery rate, in every phase (``congestion=``).

    With an attribute ``pacing_rate_bps``, segments leave at that rate.
    """

    def on_rate(self, rate: RateView, window: WindowView, /) -> float:
        """The window in bytes after an acknowledgement."""


class SubflowScheduler(Protocol):
    """Which subflow of MPTCP takes the next bytes (``subflow_scheduler=``)."""

    def choose(self, subflows: list[SubflowView], offer: OfferView, /) -> SubflowView | None:
        """One of the subflows, or None to wait."""


class PipeScheduler(Protocol):
    """Which pipe of pTCP takes the next segment (``pipe_scheduler=``)."""

    def choose(self, pipes: list[PipeView], offer: PipeOfferView, /) -> PipeView | None:
        """One of the pipes, or None to wait."""


class RequestScheduler(Protocol):
    """Which segment a pipe of R²CP asks for (``request_scheduler=``)."""

    def choose(self, pipes: list[RequestPipeView], request: RequestView, /) -> int | None:
        """The number of a segment that no pipe was asked for, from 0, or None to wait."""
