"""Several weak links used as one good one: simulation, comparison and sweeps.

A scenario in three lines::

    import prismux, polars
    result = prismux.run("two-members", seed=1, set={"links.wwan2.delay": "900 ms"})
    print(polars.DataFrame(result.links))

Every table speaks the Arrow PyCapsule interface, so polars, pandas and pyarrow read it without copying.
Units and meaning of the columns are in the metadata of their fields (``table.units``, ``table.about``), the
scenario's hash, seed and version in that of the schema (``table.metadata``).
"""

from prismux._core import (
    AckView,
    Comparison,
    Diagnostic,
    LinkView,
    OfferView,
    PacketView,
    PipeOfferView,
    PipeView,
    RateView,
    RequestPipeView,
    RequestView,
    RunError,
    RunResult,
    Scenario,
    ScenarioError,
    SubflowView,
    SweepFileError,
    Table,
    WindowView,
    __version__,
    compare,
    merge_sweeps,
    read_sweep,
    run,
    shipped,
)
from prismux._study import mixes, reproduce
from prismux._sweep import SweepResult, sweep

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
    "SweepResult",
    "Table",
    "WindowView",
    "__version__",
    "compare",
    "merge_sweeps",
    "mixes",
    "read_sweep",
    "reproduce",
    "run",
    "shipped",
    "sweep",
]
