"""Schedulers of a proxy that let packets wait: BLEST and ECF, made for MPTCP, over the links of a community.

Both look at the quick link and at the next one that has room. BLEST waits where the quick link could fill what the
receiver's window leaves before the slow one has delivered; ECF waits where the quick link, busy as it is, would be done
with the packet earlier, and says until when.

BLEST: S. Ferlin, O. Alay, O. Mehani, R. Boreli, IFIP Networking 2016. ECF: Y. Lim, E. Nahum, D. Towsley, R. Gibbens,
ACM CoNEXT 2017.
"""

import prismux

SCENARIO = """\
duration = "30 s"

[nodes]
server = { kind = "host" }
proxy = { kind = "prism-proxy" }
near = { kind = "member" }
far = { kind = "member" }
client = { kind = "host" }

[links]
backbone = { between = ["server", "proxy"], rate = "1 Gbit/s", delay = "5 ms", jitter = "100 us", queue = "4 MB" }
quick = { between = ["proxy", "near"], rate = "10 Mbit/s", delay = "10 ms", queue = "1 bdp" }
slow = { between = ["proxy", "far"], rate = "2 Mbit/s", delay = "150 ms", queue = "1 bdp" }
wlan1 = { between = ["near", "client"], rate = "300 Mbit/s", delay = "1 ms" }
wlan2 = { between = ["far", "client"], rate = "300 Mbit/s", delay = "1 ms" }

[flows]
download = { from = "server", to = "client", bytes = "20 MB", tcp = { window = "300 kB" } }
"""


def quick_and_next(
    links: list[prismux.LinkView], packet: prismux.PacketView
) -> tuple[prismux.LinkView, prismux.LinkView | None]:
    """Return the link with the least round trip, and of those with room the one with the least round trip."""

    def has_room(link: prismux.LinkView) -> bool:
        return link.in_flight_bytes + packet.packet_bytes <= link.cap_bytes

    by_round_trip = sorted(links, key=lambda link: link.hrtt_s)
    return by_round_trip[0], next(filter(has_room, by_round_trip), None)


class Blest:
    """Leaves the slow link idle where it would hold up what the quick one brings."""

    def __init__(self, proxy: str) -> None:
        self.proxy = proxy

    def choose(self, links: list[prismux.LinkView], packet: prismux.PacketView) -> prismux.LinkView | None:
        """Return the link for a packet, or None to wait."""
        if not links:
            return None
        quick, other = quick_and_next(links, packet)
        if other is None or other.id == quick.id or quick.rate_bps is None or packet.window_bytes is None:
            return other or quick
        # What the quick link could bring while the slow one is at it, against what the receiver may still be sent.
        would_bring = quick.rate_bps / 8 * other.hrtt_s
        return other if would_bring <= packet.window_bytes else None


class Ecf:
    """Waits for the quick link where that is done earlier (earliest completion first)."""

    def __init__(self, proxy: str) -> None:
        self.proxy = proxy

    def choose(self, links: list[prismux.LinkView], packet: prismux.PacketView) -> prismux.LinkView | float | None:
        """Return the link for a packet, or the time until which it waits."""
        if not links:
            return None
        quick, other = quick_and_next(links, packet)
        if other is None or other.id == quick.id or quick.rate_bps is None or other.rate_bps is None:
            return other or quick
        # When the quick link will have room, and when either would have delivered.
        excess_bytes = quick.in_flight_bytes + packet.packet_bytes - quick.cap_bytes
        room_s = max(excess_bytes, 0) * 8 / quick.rate_bps
        by_quick_s = room_s + quick.cap_bytes * 8 / quick.rate_bps / 2 + quick.hrtt_s / 2
        by_other_s = (other.in_flight_bytes + packet.packet_bytes) * 8 / other.rate_bps + other.hrtt_s / 2
        return other if by_other_s <= by_quick_s else packet.now_s + max(room_s, 0.001)


def main() -> None:
    """Run both and what ships with prismux over a quick link and a distant one, and print how often packets waited."""
    scenario = prismux.Scenario.from_text(SCENARIO)
    for name, scheduler in (("earliest-arrival", None), ("BLEST", Blest), ("ECF", Ecf)):
        result = prismux.run(scenario, scheduler=scheduler)
        waited = result.nodes["proxy"]["waited_packets"]
        print(f"{name:16} {result.goodput_bps / 1e6:5.2f} Mbit/s, {waited:5} packets waited")


if __name__ == "__main__":
    main()
