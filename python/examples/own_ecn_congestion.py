"""A congestion control that goes by the share of marked bytes, as DCTCP does (RFC 8257), beside one that halves.

Its receiver echoes marks segment by segment (``ecn_echo = "rfc8257"``), so that the bytes of an acknowledgement are
marked or are not; the queue marks every packet that finds twenty waiting.
"""

import prismux

SCENARIO = """\
duration = "30 s"

[nodes]
server = { kind = "host" }
client = { kind = "host" }

[links.line]
between = ["server", "client"]
rate = "50 Mbit/s"
delay = "10 ms"
jitter = "100 us"
queue.discipline = "red"
queue.limit = "500 packets"
queue.min_threshold = 20
queue.max_threshold = 21
queue.max_probability = 1.0
queue.weight = 1.0

[flows]
download = { from = "server", to = "client", congestion = "newreno", tcp = { ecn = true, ecn_echo = "rfc8257" } }

[measure]
warm_up = "5 s"
delays = true
"""

#: Weight of the last window in the share of marks (section 4.2).
GAIN = 1 / 16


class Dctcp:
    """One for each connection."""

    def __init__(self) -> None:
        self.share = 1.0
        self.window_ends_s = 0.0
        #: Bytes delivered, and marked, when the last window ended.
        self.before = (0, 0)

    def on_ack(self, ack: prismux.AckView, window: prismux.WindowView) -> float:
        """Return the window, in bytes, after an acknowledgement of new data: it grows as NewReno's does."""
        now = (ack.total_delivered_bytes, ack.total_marked_bytes)
        if ack.now_s >= self.window_ends_s and ack.smoothed_rtt_s is not None:
            self.share += GAIN * ((now[1] - self.before[1]) / (now[0] - self.before[0]) - self.share)
            self.before = now
            self.window_ends_s = ack.now_s + ack.smoothed_rtt_s
        if window.in_slow_start:
            return window.cwnd_bytes + ack.delivered_bytes
        return window.cwnd_bytes + window.mss_bytes * ack.delivered_bytes / window.cwnd_bytes

    def on_congestion(self, signal: str, window: prismux.WindowView) -> float:
        """Return the threshold, in bytes, to which the window falls: the less, the fewer bytes were marked."""
        return window.cwnd_bytes * (1 - self.share / 2 if signal == "ecn-mark" else 0.5)


def main() -> None:
    """Compare it with NewReno, which halves for every window with a mark."""
    scenario = prismux.Scenario.from_text(SCENARIO)
    results = {"NewReno": prismux.run(scenario), "DCTCP": prismux.run(scenario, congestion=Dctcp)}
    for name, result in results.items():
        delay = result.to_dict()["flows"]["download"]["delay"]
        print(f"{name:8} {(result.steady_goodput_bps or 0) / 1e6:5.2f} Mbit/s, {delay['mean_s'] * 1e3:.1f} ms of delay")


if __name__ == "__main__":
    main()
