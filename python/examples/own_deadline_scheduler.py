"""A scheduler of MPTCP that knows when its application wants the file, as MP-DASH does.

The second link costs money: it is used only while the first alone would come too late.
"""

import prismux

SCENARIO = """\
duration = "60 s"

[nodes]
server = { kind = "host" }
cell = { kind = "router" }
access = { kind = "router" }
phone = { kind = "host" }

[links]
wifi = { between = ["access", "phone"], rate = "8 Mbit/s", delay = "10 ms", jitter = "100 us" }
lte = { between = ["cell", "phone"], rate = "20 Mbit/s", delay = "25 ms", jitter = "100 us" }
near = { between = ["server", "access"], rate = "1 Gbit/s", delay = "2 ms" }
far = { between = ["server", "cell"], rate = "1 Gbit/s", delay = "2 ms" }

[flows.video]
from = "server"
to = "phone"
transport = "mptcp"
links = ["wifi", "lte"]
bytes = "20 MB"
deadline = "15 s"
"""

#: So much of the time until the deadline is counted on.
SHARE = 0.9


class Thrifty:
    """One for each connection."""

    def __init__(self, flow: str) -> None:
        self.flow = flow

    def choose(self, subflows: list[prismux.SubflowView], offer: prismux.OfferView) -> prismux.SubflowView | None:
        """Pick the subflow of the next segment; the first is the cheap one."""
        cheap = subflows[0]
        ready = [subflow for subflow in subflows if subflow.usable and subflow.has_room]
        left_s = (offer.deadline_s or float("inf")) - offer.now_s
        if offer.unsent_bytes * 8 <= cheap.rate_bps * left_s * SHARE:
            ready = [subflow for subflow in ready if subflow.id == cheap.id]
        return min(ready, key=lambda subflow: subflow.srtt_s, default=None)


def main() -> None:
    """Compare three deadlines: what the dear link carries, and when the file is there."""
    scenario = prismux.Scenario.from_text(SCENARIO)
    for deadline_s in (8, 15, 25):
        result = prismux.run(scenario, set={"flows.video.deadline": f"{deadline_s} s"}, subflow_scheduler=Thrifty)
        video = result.to_dict()["flows"]["video"]
        dear = video["pipes"]["lte"]["sent_bytes"] / 1e6
        print(
            f"wanted in {deadline_s:2} s: there after {video['completion_s']:4.1f} s, {dear:4.1f} MB over the dear link"
        )


if __name__ == "__main__":
    main()
