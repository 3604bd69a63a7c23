"""Types of the compiled module; a test holds them against it."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, final

from prismux.policies import (
    CongestionControl,
    LinkScheduler,
    PipeScheduler,
    RateControl,
    RequestScheduler,
    SubflowScheduler,
)

__all__ = [
    "AckView",
    "Comparison",
    "Diagnostic",
    "LinkView",
    "OfferView",
    "PacketView",
    "PipeOfferView",
    "PipeView",
    "RateView",
    "RequestPipeView",
    "RequestView",
    "RunError",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "SubflowView",
    "SweepFileError",
    "SweepPlan",
    "SweepStore",
    "Table",
    "WindowView",
    "__version__",
    "claims_json",
    "compare",
    "merge_sweeps",
    "mixes_json",
    "read_sweep",
    "run",
    "run_task",
    "shipped",
]

__version__: str

_Set: TypeAlias = Mapping[str, object] | Sequence[str]
_Scenario: TypeAlias = "Scenario | str | os.PathLike[str]"

#: now_s, links, packet_bytes, retransmission
_Scheduler: TypeAlias = "Callable[[float, list[LinkView], int, bool], LinkView | float | None]"

_Schedulers: TypeAlias = "_Scheduler | Callable[[str], LinkScheduler] | str"
_Control: TypeAlias = "Callable[[], CongestionControl | RateControl] | str"
_Policies: TypeAlias = "_Control | Mapping[str, _Control]"
_Subflows: TypeAlias = "Callable[[str], SubflowScheduler] | str"
_Pipes: TypeAlias = "Callable[[str], PipeScheduler] | str"
_Requests: TypeAlias = "Callable[[str], RequestScheduler] | str"

class ScenarioError(ValueError):
    """A scenario is wrong. The text is what the command line prints: place, what was found, what was expected, what
    to do.

    `diagnostics` holds the findings one by one.
    """

    diagnostics: list[Diagnostic]

class RunError(RuntimeError):
    """A run could not be done."""

class SweepFileError(OSError):
    """The results of a sweep cannot be read or written; the text says which file, and why."""

@final
class Diagnostic:
    """One thing wrong with a scenario."""
    @property
    def file(self) -> str | None:
        """The file, as it was named; None for an override."""
    @property
    def line(self) -> int | None:
        """Line of the file, counted from 1; None for an override or the file as a whole."""
    @property
    def location(self) -> str:
        """Where: file with line and column, or the override."""
    @property
    def key(self) -> str:
        """Dotted key it is about, such as `links.wwan2.delay`; empty for the file as a whole."""
    @property
    def found(self) -> str:
        """What was found."""
    @property
    def expected(self) -> str:
        """What was expected instead."""
    @property
    def hint(self) -> str | None:
        """What to do."""

@final
class Scenario:
    """A scenario: nodes, links, flows and events, read and found to be without mistakes."""
    @staticmethod
    def from_file(path: str | os.PathLike[str]) -> Scenario:
        """Reads a scenario file.

        Raises ScenarioError, with line and hint, for a file that is missing or wrong.
        """
    @staticmethod
    def from_text(text: str, name: str = "scenario.toml") -> Scenario:
        """A scenario from its text; messages call it `name`.

        Raises ScenarioError, with line and hint, for a text that is wrong.
        """
    @staticmethod
    def from_dict(dictionary: dict[str, Any], name: str = "scenario.toml") -> Scenario:
        """A scenario from a dictionary with the tables and keys of a scenario file.

        Lines in messages are those of `text`, the file that says the same. Raises ScenarioError for what a file
        may not say, and TypeError for a value that cannot stand in a file.
        """
    @staticmethod
    def find(name: str) -> Scenario:
        """The file at a path, or the scenario of this name that ships with prismux.

        Raises ScenarioError when there is neither, or for a file that is wrong.
        """
    @property
    def name(self) -> str:
        """Name of the experiment."""
    @property
    def summary(self) -> str:
        """One line about what it shows."""
    @property
    def duration_s(self) -> float:
        """Longest duration of a run, in seconds."""
    @property
    def text(self) -> str:
        """The text as a file would have it."""
    @property
    def variants(self) -> dict[str, str]:
        """The variants that the scenario declares, with their summaries."""
    def hash(self, *, variant: str | None = None, set: _Set | None = None) -> str:
        """SHA-256 of the canonical form, after a variant and overrides: equal experiments have equal hashes."""
    def canonical(self, *, variant: str | None = None, set: _Set | None = None) -> str:
        """The canonical form, after a variant and overrides: every setting with its default, one `path = value` on a
        line.
        """

@final
class Table:
    """A table of results. `polars.DataFrame(table)`, `pyarrow.table(table)` and `pandas.DataFrame.from_arrow(table)`
    read it without copying (Arrow PyCapsule interface).
    """
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __len__(self) -> int: ...
    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame: by pandas itself from version 3 on, else by pyarrow."""
    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
    @property
    def units(self) -> dict[str, str]:
        """Unit of every column that has one, by name: "bit/s", "s", "B", "1" for counts and fractions."""
    @property
    def about(self) -> dict[str, str]:
        """Meaning of every column, by name."""
    @property
    def metadata(self) -> dict[str, str]:
        """Where the table comes from: scenario, scenario_hash, backend, seed, version."""

@final
class LinkView:
    """A link as a scheduler written in Python sees it, at the time of the decision."""
    @property
    def id(self) -> int:
        """Number of the link at its proxy."""
    @property
    def name(self) -> str:
        """Name of the link."""
    @property
    def rate_bps(self) -> int | None:
        """Rate in bit/s as learned, else as advertised; None while it is unknown."""
    @property
    def hrtt_s(self) -> float:
        """Smoothed round-trip time over the link (hRTT) in seconds; 0 without samples."""
    @property
    def in_flight_packets(self) -> int:
        """Packets on their way over the link, whose arrival is not known."""
    @property
    def in_flight_bytes(self) -> int:
        """The same in bytes."""
    @property
    def cap_bytes(self) -> int:
        """Bytes that the link takes in flight before a queue grows."""
    @property
    def weight(self) -> float:
        """Weight of the link (its rate against that of the slowest, lessened by losses)."""
    @property
    def nip(self) -> float:
        """Packets in flight normalised by the weight."""
    @property
    def scheduled_packets(self) -> int:
        """Packets scheduled on the link so far."""

@final
class PacketView:
    """A packet as a scheduler written in Python sees it."""
    @property
    def now_s(self) -> float:
        """Time of the run in seconds."""
    @property
    def flow(self) -> str:
        """The connection, in the direction of its data: "10.0.0.1:80 > 10.0.0.2:5001"."""
    @property
    def sequence(self) -> int:
        """Its first sequence number."""
    @property
    def packet_bytes(self) -> int:
        """Sequence space that it takes, in bytes."""
    @property
    def retransmission(self) -> bool:
        """Whether it was sent before, by its sender or by the proxy."""
    @property
    def window_bytes(self) -> int | None:
        """Bytes behind it that the receiver's window leaves; None while the window is unknown."""
    @property
    def flow_in_flight_bytes(self) -> int:
        """Bytes of its connection in flight on all links."""
    @property
    def deadline_s(self) -> float | None:
        """Time of the run, in seconds, until which it may be kept waiting; None for a packet that has to leave now."""

@final
class AckView:
    """An acknowledgement of new data, as a congestion control written in Python sees it."""
    @property
    def now_s(self) -> float:
        """Time of the run in seconds."""
    @property
    def delivered_bytes(self) -> int:
        """Bytes newly delivered."""
    @property
    def total_delivered_bytes(self) -> int:
        """Bytes delivered since the connection's start, those reported while the window falls included."""
    @property
    def total_marked_bytes(self) -> int:
        """Of these, bytes that the network marked (ECN). With `ecn_echo = "rfc8257"` exact; otherwise every byte
        counts from a mark until its sender hears of the answer.
        """
    @property
    def rtt_s(self) -> float | None:
        """Round-trip time that this acknowledgement measured, in seconds; None when it measured none."""
    @property
    def smoothed_rtt_s(self) -> float | None:
        """Smoothed round-trip time in seconds; None before the first."""
    @property
    def flight_size_bytes(self) -> int:
        """Bytes sent and not yet cumulatively acknowledged (FlightSize of RFC 5681)."""

@final
class RateView:
    """What an acknowledgement says of the path's delivery rate, for a congestion control with `on_rate`."""
    @property
    def now_s(self) -> float:
        """Time of the run in seconds."""
    @property
    def delivered_bytes(self) -> int:
        """Bytes delivered since the connection's start."""
    @property
    def newly_delivered_bytes(self) -> int:
        """Bytes that this acknowledgement newly reports as delivered."""
    @property
    def newly_marked_bytes(self) -> int:
        """Of these, bytes that the network marked (ECN). With `ecn_echo = "rfc8257"` exact; otherwise every byte
        counts from a mark until its sender hears of the answer.
        """
    @property
    def newly_lost_bytes(self) -> int:
        """Bytes taken for lost since the last call."""
    @property
    def prior_delivered_bytes(self) -> int | None:
        """`delivered_bytes` when the newest of the segments reported was sent; None when none was reported."""
    @property
    def delivery_rate_bps(self) -> int | None:
        """Rate of delivery since then, in bit/s; None where the interval is too short to say."""
    @property
    def is_app_limited(self) -> bool:
        """Whether the application, not the path, was the limit in that interval."""
    @property
    def rtt_s(self) -> float | None:
        """Round-trip time that this acknowledgement measured, in seconds; None when it measured none."""
    @property
    def in_flight_bytes(self) -> int:
        """Bytes in the network after this acknowledgement."""
    @property
    def in_recovery(self) -> bool:
        """Whether the sender recovers from losses."""

@final
class SubflowView:
    """A subflow of an MPTCP connection as a scheduler written in Python sees it, at the time of the decision."""
    @property
    def id(self) -> int:
        """Number of the subflow in its connection, from 0."""
    @property
    def usable(self) -> bool:
        """Whether it may carry new bytes: established, not in trouble, and no backup while others work."""
    @property
    def has_room(self) -> bool:
        """Whether its congestion window lets a segment go."""
    @property
    def srtt_s(self) -> float:
        """Smoothed round-trip time in seconds."""
    @property
    def rttvar_s(self) -> float:
        """Round-trip time variation in seconds."""
    @property
    def cwnd_bytes(self) -> int:
        """Congestion window in bytes."""
    @property
    def in_flight_bytes(self) -> int:
        """Bytes sent and not acknowledged."""
    @property
    def rate_bps(self) -> float:
        """Rate at which it sends, in bit/s: a window per smoothed round trip."""
    @property
    def segment_bytes(self) -> int:
        """Payload of a full segment in bytes."""

@final
class OfferView:
    """What an MPTCP connection has to send, as a scheduler written in Python sees it."""
    @property
    def now_s(self) -> float:
        """Time of the run in seconds."""
    @property
    def next_byte(self) -> int:
        """Offset in the stream of the first byte that no subflow has been given."""
    @property
    def unsent_bytes(self) -> int:
        """Bytes that no subflow has been given."""
    @property
    def window_bytes(self) -> int:
        """Bytes that the peer's window leaves."""
    @property
    def was_blocked(self) -> bool:
        """Whether the peer's window has kept bytes back since the last call."""
    @property
    def deadline_s(self) -> float | None:
        """Time of the run, in seconds, at which the flow's application wants all of it; None without a deadline."""

@final
class PipeView:
    """A pipe of a pTCP connection as a scheduler written in Python sees it, at the time of the decision."""
    @property
    def id(self) -> int:
        """Number of the pipe in its connection, from 0."""
    @property
    def usable(self) -> bool:
        """Whether it may carry new bytes: established, and not waiting in vain for an acknowledgement."""
    @property
    def has_room(self) -> bool:
        """Whether its window has not refused a segment since it was last heard of."""
    @property
    def srtt_s(self) -> float | None:
        """Smoothed round-trip time in seconds; None before the first sample."""
    @property
    def rttvar_s(self) -> float:
        """Round-trip time variation in seconds."""
    @property
    def cwnd_bytes(self) -> int:
        """Congestion window in bytes."""
    @property
    def in_flight_bytes(self) -> int:
        """Bytes of virtual segments sent and not acknowledged."""
    @property
    def segment_bytes(self) -> int:
        """Payload of a full segment in bytes."""
    @property
    def place(self) -> int:
        """Its place among the pipes of this question."""

@final
class PipeOfferView:
    """What a pTCP connection has to send, as a scheduler written in Python sees it."""
    @property
    def now_s(self) -> float:
        """Time of the run in seconds."""
    @property
    def next_byte(self) -> int:
        """Offset in the stream of the first byte that is bound to no pipe."""
    @property
    def unsent_bytes(self) -> int:
        """Bytes that are bound to no pipe, those unbound from a pipe in trouble included."""
    @property
    def window_bytes(self) -> int:
        """Bytes beyond all that was ever bound that the peer's buffer and the sender's leave room for."""
    @property
    def deadline_s(self) -> float | None:
        """Time of the run, in seconds, at which the flow's application wants all of it; None without a deadline."""

@final
class RequestPipeView:
    """A pipe of an R²CP connection as a scheduler written in Python sees it, at the time of the decision."""
    @property
    def id(self) -> int:
        """Number of the pipe in its connection, from 0, in the order in which they were opened."""
    @property
    def usable(self) -> bool:
        """Whether it may ask: established, awake, heard of since its last timeout, and not about to end."""
    @property
    def round_trip_s(self) -> float:
        """Smoothed round-trip time in seconds, or the time that its oldest request has been under way, if that is
        longer; the timeout before the first sample.
        """
    @property
    def asked_s(self) -> list[float]:
        """Times of the run, in seconds, at which its outstanding requests left, the oldest first."""
    @property
    def outstanding_bytes(self) -> int:
        """Bytes asked for that have not come."""
    @property
    def cwnd_bytes(self) -> int:
        """Congestion window in bytes."""
    @property
    def cost(self) -> int:
        """What using it costs; lower is used first."""

@final
class RequestView:
    """A request that a pipe of an R²CP connection may make, as a scheduler written in Python sees it."""
    @property
    def now_s(self) -> float:
        """Time of the run in seconds."""
    @property
    def pipe(self) -> int:
        """Number of the pipe that may ask."""
    @property
    def next_byte(self) -> int:
        """Offset in the stream of the first byte that has not arrived."""
    @property
    def pending_byte(self) -> int:
        """Offset of the first byte that no pipe has been asked for."""
    @property
    def room_bytes(self) -> int:
        """Bytes of the receive buffer that neither data nor requests take."""
    @property
    def segment_bytes(self) -> int:
        """Bytes of a segment."""
    @property
    def deadline_s(self) -> float | None:
        """Time of the run, in seconds, at which the flow's application wants all of it; None without a deadline."""

@final
class WindowView:
    """The window that a congestion control written in Python controls."""
    @property
    def cwnd_bytes(self) -> int:
        """Congestion window in bytes."""
    @property
    def ssthresh_bytes(self) -> int | None:
        """Slow-start threshold in bytes; None before the first congestion."""
    @property
    def mss_bytes(self) -> int:
        """Size of a segment in bytes."""
    @property
    def in_slow_start(self) -> bool:
        """Whether the window is below the threshold."""

@final
class RunResult:
    """What one run measured, and what it was born from."""

    __hash__: None  # type: ignore[assignment]
    @staticmethod
    def from_json(text: str) -> RunResult:
        """A result from its JSON form, as `prismux run --json` prints it. Raises ValueError for any other text."""
    @property
    def scenario(self) -> str:
        """Name of the scenario."""
    @property
    def scenario_hash(self) -> str:
        """SHA-256 of the scenario after overrides."""
    @property
    def backend(self) -> str:
        """Who carried the packets: "sim" or "lab"."""
    @property
    def seed(self) -> int:
        """Seed of every random stream."""
    @property
    def version(self) -> str:
        """Version of prismux."""
    @property
    def duration_s(self) -> float:
        """Length of the run in seconds."""
    @property
    def goodput_bps(self) -> float:
        """Goodput of all flows from the start of the first to the end of the last, bit/s."""
    @property
    def capacity_bps(self) -> float:
        """The best goodput physics allows: rates of the shared links less header overhead, bit/s."""
    @property
    def efficiency(self) -> float | None:
        """Goodput over capacity; None without a capacity."""
    @property
    def steady_goodput_bps(self) -> float | None:
        """Goodput of all flows in steady state, bit/s; None where one has none: it did not outlast the warm-up, or
        the run ended before it had carried 95 % of its bytes; or where they never were in it together.
        """
    @property
    def steady_efficiency(self) -> float | None:
        """The same over capacity."""
    @property
    def flows(self) -> Table:
        """One row for each flow."""
    @property
    def links(self) -> Table:
        """One row for each link, measured from its first node to its second; columns called `reverse.` the other
        way.
        """
    @property
    def groups(self) -> Table:
        """One row for each group of several flows."""
    @property
    def jain(self) -> float | None:
        """Jain's index of the flows' goodputs, datagrams left out; None for fewer than two flows."""
    @property
    def flow_series(self) -> Table:
        """One row for each flow and sample; empty unless the scenario sets `measure.interval`."""
    @property
    def link_series(self) -> Table:
        """One row for each link and sample; empty unless the scenario sets `measure.interval`."""
    @property
    def nodes(self) -> dict[str, dict[str, int]]:
        """Counters of proxies, members and other nodes: `nodes["proxy"]["acks_held"]`."""
    @property
    def decisions(self) -> int:
        """Decisions of a scheduler written in Python; 0 without one."""
    @property
    def decision_cost_s(self) -> float | None:
        """Mean time of such a decision in seconds, the way between the languages included; None without one."""
    def to_json(self) -> str:
        """The JSON form, equal to what `prismux run --json` prints."""
    def to_dict(self) -> dict[str, Any]:
        """The JSON form as dictionaries."""
    def _repr_html_(self) -> str:
        """A line and small tables of flows and links, as notebooks show them."""
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class Comparison:
    """Several ways of using the same links, side by side."""
    @property
    def table(self) -> Table:
        """One row for each variant and seed."""
    @property
    def results(self) -> dict[str, list[RunResult]]:
        """The results by variant, one for each seed."""
    @property
    def failures(self) -> dict[str, str]:
        """Variants that could not run, with the reason."""
    def to_json(self) -> str:
        """The JSON form: a list with name, results, failure and policies of each variant."""
    def _repr_html_(self) -> str:
        """A small table of the variants, as notebooks show it."""

def run(
    scenario: _Scenario,
    *,
    seed: int = 1,
    set: _Set | None = None,
    variant: str | None = None,
    on: str = "sim",
    record: str | os.PathLike[str] | None = None,
    pcap: str | os.PathLike[str] | None = None,
    events: str | os.PathLike[str] | None = None,
    scheduler: _Schedulers | None = None,
    congestion: _Policies | None = None,
    subflow_scheduler: _Subflows | None = None,
    pipe_scheduler: _Pipes | None = None,
    request_scheduler: _Requests | None = None,
) -> RunResult:
    """Runs a scenario once and returns what it measured.

    `scenario` is a Scenario, a path, or the name of a shipped scenario; `set` changes values
    ({"links.wwan2.delay": "900ms"}). With `record` a record of the run is written to that folder, for `prismux
    view`; with `pcap` a capture of every link to that folder; with `events` every event of the run to that file.
    Other threads of Python run meanwhile; Ctrl-C stops the run.

    `scheduler` picks the link for each packet at every proxy, in place of the scheduler that the scenario names.
    It is a function, `scheduler(now_s, links, packet_bytes, retransmission)`, or a class that is called with the
    name of the proxy and whose objects have `choose(links, packet)`, which sees connection, sequence number,
    window and deadline in a PacketView. Both get a list of LinkView and return one of them, None to wait until an
    acknowledgement changes the links, or a later time of the run in seconds (a float) to wait until then. A
    packet whose deadline has come, and one that the proxy cannot keep, leaves over the link with the least hRTT.

    `congestion` is called for each sender of TCP and returns its congestion control, in place of the one that the
    scenario names: an object with `on_ack(ack, window)`, which gets an AckView and a WindowView and returns the
    new window in bytes, and `on_congestion(signal, window)`, which gets "loss", "ecn-mark" or "timeout" and
    returns the new threshold in bytes. When to fall, what to repeat and whether a loss was none stay with TCP. An
    object with `on_rate(rate, window)` sets the window itself, in every phase, from a RateView of each
    acknowledgement. The attribute `pacing_rate_bps`, where an object has it, says at which rate segments leave. A
    dictionary gives flows, or groups of them, controls of their own; the others keep theirs.

    `subflow_scheduler` is called with the name of each flow over MPTCP and returns its scheduler: an object with
    `choose(subflows, offer)`, which gets a list of SubflowView and an OfferView and returns one of the subflows,
    or None to wait. `pipe_scheduler` is the same for each flow over pTCP, with a list of PipeView and a
    PipeOfferView. `request_scheduler` is called with the name of each flow over R²CP and returns an object with
    `choose(pipes, request)`, which gets a list of RequestPipeView and a RequestView and returns which of the
    segments that no pipe was asked for the pipe asks for, counted from 0, or None to wait.

    Each of them may be a text that says where to import it from, "module:name". An exception in one ends the run
    and is raised; one that would have nothing to do is refused. Such a result has no scenario hash, since the
    scenario alone does not say what ran.

    Raises ScenarioError for a scenario that is wrong, RunError for a run that fails.
    """

def compare(
    scenario: _Scenario,
    *,
    variants: Sequence[str] | None = None,
    seed: int = 1,
    runs: int = 1,
    set: _Set | None = None,
    jobs: int | None = None,
    scheduler: _Schedulers | None = None,
    congestion: _Policies | None = None,
    subflow_scheduler: _Subflows | None = None,
    pipe_scheduler: _Pipes | None = None,
    request_scheduler: _Requests | None = None,
) -> Comparison:
    """Runs the variants of a scenario with the same seeds and returns them side by side.

    `variants` are those of the file, else "single", "striping", "prism" and "tcp-prism"; a name may end in
    "-cubic" or "-newreno". `runs` seeds from `seed` on; `jobs` runs at the same time, by default one for each
    processor. Policies are as for `run`, and serve the variants in which they have something to do; the table's
    columns `policy` and `policy_hash` say which, and of what source. Ctrl-C stops it.

    Raises ScenarioError for a scenario or a variant that is wrong, and for a policy that no variant has a use
    for.
    """

def claims_json(name: str, *, only: Sequence[str], quick: bool, seeds: int | None, jobs: int | None) -> str:
    """Does the runs that the claims of `name` need and returns the verdicts, the tables and the curves as JSON."""

def mixes_json(
    numbers: Sequence[int],
    *,
    seed: int,
    variants: Sequence[str],
    warm_s: int,
    steady_s: int,
    receive_buffer_bytes: int,
    hystart: str,
    jobs: int | None,
) -> str:
    """Simulates `variants` of the mixes with these numbers and returns what came of them as JSON."""

@final
class SweepPlan:
    """The tasks of a sweep, every one checked."""
    def __new__(
        cls,
        scenario: _Scenario,
        over: Mapping[str, str | Iterable[object]],
        *,
        set: _Set | None = None,
        variants: Sequence[str] | None = None,
        seed: int = 1,
        seeds: int = 1,
        scheduler: str | None = None,
        congestion: str | Mapping[str, str] | None = None,
        subflow_scheduler: str | None = None,
        pipe_scheduler: str | None = None,
        request_scheduler: str | None = None,
    ) -> SweepPlan: ...
    @property
    def scenario(self) -> str:
        """Name of the scenario."""
    @property
    def tasks(self) -> list[str]:
        """Ids of the tasks, in order."""
    def message(self, index: int) -> str:
        """The task at an index in words for another process: what `run_task` takes."""
    def without_effect(self, table: Table) -> list[str]:
        """Paths of `over` whose every value gives the same results in `table`."""
    def __len__(self) -> int: ...

@final
class SweepStore:
    """Results of a sweep on disk: what is there, and what comes."""
    def __new__(
        cls, path: str | os.PathLike[str], plan: SweepPlan, *, prune: bool = False, keep: bool = False
    ) -> SweepStore: ...
    def missing(self, plan: SweepPlan) -> list[int]:
        """Indexes of the tasks of `plan` that are not there."""
    def add(self, row: str) -> bool:
        """Adds a row that `run_task` returned; False if it was there."""
    def run(self, plan: SweepPlan, jobs: int | None = None, progress: Callable[[int], object] | None = None) -> float:
        """Runs what is missing of `plan` on this machine, `jobs` at a time, and calls `progress` with the number of
        finished runs. Returns the seconds that all threads together spent in the runs. Ctrl-C stops it; what is
        stored stays.
        """
    def finish(self) -> Table:
        """Makes one file of the rows and returns those of the plan, in its order. The store is closed afterwards."""
    def close(self) -> None:
        """Closes the file and lets go of its lock; what is stored stays."""

def run_task(message: str) -> str:
    """Runs the task of a message and returns its row: what a worker of a cluster does.

    Raises ValueError where this process would make another run of it (another version of prismux, another source
    of a policy).
    """

def read_sweep(path: str | os.PathLike[str]) -> Table:
    """Reads the results of a sweep.

    Raises SweepFileError, with the reason, for a file that is damaged or not the result of a sweep.
    """

def merge_sweeps(paths: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str]) -> Table:
    """Makes one file of the results of several sweeps and returns its rows; a task that is there twice counts once.

    Raises SweepFileError for a file that is damaged or foreign, or whose columns do not fit the others'.
    """

def shipped() -> dict[str, str]:
    """The scenarios that ship with prismux: name and summary."""
