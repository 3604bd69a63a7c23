"""A scheduler of one's own: least expected wait, against those that ship with prismux.

A scheduler is a function. It is asked for every packet, with the links that take data at that moment, and returns one
of them. This one sends each packet where the bytes in flight will be through first: the time that the link needs for
what it carries, plus half a round trip.
"""

import prismux

SCENARIO = "demo-2005"


def least_wait(
    now_s: float, links: list[prismux.LinkView], packet_bytes: int, retransmission: bool
) -> prismux.LinkView | None:
    """Pick the link on which the packet is expected to arrive first."""

    def wait_s(link: prismux.LinkView) -> float:
        if link.rate_bps is None:
            return 0.0  # try it: that is how its rate becomes known
        return (link.in_flight_bytes + packet_bytes) * 8 / link.rate_bps + link.hrtt_s / 2

    return min(links, key=wait_s, default=None)


def main() -> None:
    """Run the scheduler and two that ship with prismux over the same links, and print what each achieves."""
    for name in ("round-robin", "earliest-arrival"):
        result = prismux.run(SCENARIO, set={"nodes.proxy.scheduler": name})
        print(f"{name:18} {result.goodput_bps / 1e6:.3f} Mbit/s")
    result = prismux.run(SCENARIO, scheduler=least_wait)
    print(f"{'least_wait':18} {result.goodput_bps / 1e6:.3f} Mbit/s")
    cost_us = (result.decision_cost_s or 0.0) * 1e6
    print(f"{result.decisions} decisions in Python, {cost_us:.1f} µs each")


if __name__ == "__main__":
    main()
