"""Schedulers of MPTCP written in Python: BLEST and ECF, which wait for a better subflow, beside those that ship.

BLEST: S. Ferlin, O. Alay, O. Mehani, R. Boreli, IFIP Networking 2016. ECF: Y. Lim, E. Nahum, D. Towsley, R. Gibbens,
ACM CoNEXT 2017. Both give the numbers of their counterparts in Rust, to the last byte.
"""

from collections.abc import Callable

import prismux


def quickest(
    subflows: list[prismux.SubflowView], wanted: Callable[[prismux.SubflowView], bool] = lambda _: True
) -> prismux.SubflowView | None:
    """Return the usable subflow with the least round-trip time for which ``wanted`` holds."""
    usable = (subflow for subflow in subflows if subflow.usable and wanted(subflow))
    return min(usable, key=lambda subflow: subflow.srtt_s, default=None)


class Blest:
    """Leaves the slow subflow idle where it would fill the peer's window."""

    def __init__(self, flow: str) -> None:
        self.flow = flow
        #: How much more the fast subflow is reckoned to send, in hundredths.
        self.extra = 100
        self.changed_s = 0.0
        self.blocked = False

    def choose(self, subflows: list[prismux.SubflowView], offer: prismux.OfferView) -> prismux.SubflowView | None:
        """Return the subflow for the next segment, or None to wait."""
        self.blocked |= offer.was_blocked
        fast = quickest(subflows)
        if fast is None:
            return None
        if offer.now_s - self.changed_s >= fast.srtt_s:
            self.extra = min(max(self.extra + (1 if self.blocked else -1), 100), 130)
            self.changed_s, self.blocked = offer.now_s, False
        slow = quickest(subflows, lambda subflow: subflow.has_room)
        if slow is None or slow.id == fast.id:
            return slow
        rounds = slow.srtt_s / max(fast.srtt_s, 1e-6)
        segment = float(fast.segment_bytes)
        grown = fast.cwnd_bytes / segment + (rounds - 1) / 2
        would_send = segment * grown * rounds * self.extra / 100
        window = offer.window_bytes + sum(subflow.in_flight_bytes for subflow in subflows)
        left = window - (slow.in_flight_bytes + slow.segment_bytes)
        return slow if would_send <= left else None


class Ecf:
    """Waits for the fast subflow where that is done earlier (earliest completion first)."""

    def __init__(self, flow: str) -> None:
        self.flow = flow
        self.waiting = False

    def choose(self, subflows: list[prismux.SubflowView], offer: prismux.OfferView) -> prismux.SubflowView | None:
        """Return the subflow for the next segment, or None to wait."""
        fast = quickest(subflows)
        slow = quickest(subflows, lambda subflow: subflow.has_room)
        if fast is None or slow is None or slow.id == fast.id:
            return slow
        rounds = 1 + offer.unsent_bytes / max(fast.cwnd_bytes, 1)
        margin = max(fast.rttvar_s, slow.rttvar_s)
        patience = 1.25 if self.waiting else 1.0
        if rounds * fast.srtt_s >= patience * (slow.srtt_s + margin):
            self.waiting = False
            return slow
        by_slow = offer.unsent_bytes / max(slow.cwnd_bytes, 1) * slow.srtt_s
        if by_slow >= 2 * fast.srtt_s + margin:
            self.waiting = True
            return None
        return slow


def main() -> None:
    """Run both over a fast and a distant link with a short receive buffer, and print what a decision costs."""
    for name, ours in (("blest", Blest), ("ecf", Ecf)):
        theirs = prismux.run("mptcp-schedulers", variant=name)
        own = prismux.run("mptcp-schedulers", subflow_scheduler=ours)
        cost_us = (own.decision_cost_s or 0) * 1e6
        print(
            f"{name:6} in Rust {theirs.goodput_bps / 1e6:5.2f} Mbit/s, in Python {own.goodput_bps / 1e6:5.2f} Mbit/s "
            f"({own.decisions} decisions, {cost_us:.1f} µs each)"
        )


if __name__ == "__main__":
    main()
