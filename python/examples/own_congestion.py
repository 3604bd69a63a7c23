"""A congestion control of one's own, written in Python, beside one that ships with prismux.

It keeps the round trip short, as TCP Vegas does: once a round trip it compares what the window should deliver at the
least round-trip time with what it does deliver, and lets two to four segments wait in queues, no more.
"""

import prismux

SCENARIO = """\
duration = "60 s"

[nodes]
server = { kind = "host" }
client = { kind = "host" }

[links]
line = { between = ["server", "client"], rate = "10 Mbit/s", delay = "20 ms", queue = "200 packets" }

[flows]
download = { from = "server", to = "client" }
"""


class Vegas:
    """One for each connection."""

    def __init__(self) -> None:
        self.least_rtt_s = float("inf")
        self.next_s = 0.0

    def on_ack(self, ack: prismux.AckView, window: prismux.WindowView) -> int:
        """Return the window, in bytes, after an acknowledgement of new data."""
        if ack.rtt_s is not None:
            self.least_rtt_s = min(self.least_rtt_s, ack.rtt_s)
        if ack.rtt_s is None or ack.now_s < self.next_s:
            return window.cwnd_bytes
        self.next_s = ack.now_s + ack.rtt_s
        waiting = window.cwnd_bytes * (1 - self.least_rtt_s / ack.rtt_s) / window.mss_bytes
        if waiting < 2:
            doubled = window.cwnd_bytes * 2 if window.in_slow_start and waiting < 1 else 0
            return max(doubled, window.cwnd_bytes + window.mss_bytes)
        return window.cwnd_bytes - (window.mss_bytes if waiting > 4 else 0)

    def on_congestion(self, signal: str, window: prismux.WindowView) -> int:
        """Return the threshold, in bytes, to which the window falls."""
        return window.cwnd_bytes // 2


def main() -> None:
    """Compare it with CUBIC on one line with a deep queue, and print what a decision costs."""
    scenario = prismux.Scenario.from_text(SCENARIO)
    results = {"cubic": prismux.run(scenario), "Vegas": prismux.run(scenario, congestion=Vegas)}
    for name, result in results.items():
        flow = result.to_dict()["flows"]["download"]
        print(
            f"{name:6} {result.goodput_bps / 1e6:5.2f} Mbit/s, {flow['retransmitted_segments']:4} segments sent again"
        )
    own = results["Vegas"]
    print(f"{own.decisions} decisions in Python, {(own.decision_cost_s or 0) * 1e6:.1f} µs each")


if __name__ == "__main__":
    main()
