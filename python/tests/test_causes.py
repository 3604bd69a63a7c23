"""A claim that differs says which override was tried against its cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from prismux.figures import Report

RESULTS = Path(__file__).parent / "data/claims-quick.json"
#: How causes speak of an override that was tried.
TRIED = ("refuted", "with other rates and buffers", "with other readings")


@pytest.mark.parametrize("system", ["rcp", "r2cp", "striping"])
def test_a_cause_names_what_was_tried_against_it(system: str) -> None:
    claims = Report.load(RESULTS)[system].claims
    differing = {name: claim.cause or "" for name, claim in claims.items() if claim.verdict == "differs"}
    assert differing, "nothing differs: this test has nothing to look at"
    untried = [name for name, cause in differing.items() if not any(words in cause.lower() for words in TRIED)]
    assert not untried, f"no override was tried against the causes of {untried}"


def test_no_cause_speaks_of_figures_that_were_not_measured() -> None:
    for report in Report.load(RESULTS).values():
        empty = [name for name, claim in report.claims.items() if "NaN" in (claim.cause or "")]
        assert not empty, f"causes without figures: {empty}"
