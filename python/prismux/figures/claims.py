"""The table of all claims of a result file, as Markdown."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from prismux.figures.report import Claim, Report

_VERDICTS = ("holds", "differs", "not-testable", "not-yet")


def _text(value: float | str | None) -> str:
    match value:
        case None:
            return "-"
        case float() | int():
            return f"{value:.4g}"
        case _:
            return value.replace("|", "\\|").replace("\n", " ")


def _row(claim: Claim) -> str:
    sign = {"~": "", "shape": ""}.get(claim.comparison, f"{claim.comparison} ")
    reported = f"{sign}{_text(claim.reported)}"
    verdict = claim.verdict if claim.verdict == "holds" else f"**{claim.verdict}**"
    if claim.cause:
        verdict = f"[{verdict}](#{claim.id.lower()})"
    what = f"{claim.metric} ({claim.unit}); {claim.place}"
    cells = (claim.id, _text(what), reported, _text(claim.measured), claim.kind.replace("-", " "), verdict)
    return "| " + " | ".join(cells) + " |"


def _note(claims: Sequence[Claim]) -> str:
    """A cause, with the neighbouring claims that share it."""
    anchors = "".join(f'<a id="{claim.id.lower()}"></a>' for claim in claims)
    last = f" to {claims[-1].id}" if len(claims) > 1 else ""
    return f"- {anchors}**{claims[0].id}{last}**: {claims[0].cause}"


def _count(claims: Sequence[Claim], what: str) -> str:
    """How many of some claims hold: "45 of 62 measured hold, 17 differ"."""
    counts = Counter(claim.verdict for claim in claims)
    names = {"differs": "differ", "not-testable": "not testable", "not-yet": "not yet"}
    others = "".join(f", {counts[verdict]} {name}" for verdict, name in names.items() if counts[verdict])
    return f"{counts['holds']} of {len(claims)} {what} hold{others}"


def totals(claims: Sequence[Claim]) -> str:
    """Return how many claims have which verdict, those that nothing here measures apart."""
    measured, others = _apart(claims)
    parts = [(measured, "measured"), (others, "by arithmetic or read back")]
    return "; ".join(_count(some, what) for some, what in parts if some)


def _apart(claims: Sequence[Claim]) -> tuple[list[Claim], list[Claim]]:
    measured = [claim for claim in claims if claim.kind == "measured"]
    return measured, [claim for claim in claims if claim.kind != "measured"]


def section(system: str, report: Report) -> str:
    """Return the claims of one system: how many hold, each with reported and measured value, then the causes."""
    claims = list(report.claims.values())
    head = "| claim | what, and where | reported | measured | kind | verdict |\n" + "|---" * 6 + "|"
    rows = "\n".join(_row(claim) for claim in claims)
    parts = [f"## {system}\n\n{len(claims)} claims: {totals(claims)} (prismux {report.version}).\n\n{head}\n{rows}\n"]
    notes = [claim for claim in claims if claim.cause]
    if notes:
        parts.append(f"### Causes and remarks: {system}\n")
        parts.append("\n".join(_note(list(same)) for _, same in groupby(notes, key=lambda claim: claim.cause)))
    return "\n".join(parts) + "\n"


def overview(reports: Sequence[tuple[str, Report]]) -> str:
    """Return the table of how many measured claims of each system have which verdict, and how many others hold."""
    verdicts = " | ".join(verdict.replace("-", " ") for verdict in _VERDICTS)
    lines = [f"| system | claims | measured | {verdicts} | by arithmetic or read back | of them hold |"]
    lines.append("|---" + "|---:" * (len(_VERDICTS) + 4) + "|")
    for system, report in reports:
        measured, others = _apart(list(report.claims.values()))
        counts = Counter(claim.verdict for claim in measured)
        cells = [f"[{system}](#{_anchor(system)})", str(len(report.claims)), str(len(measured))]
        cells += [str(counts[verdict]) for verdict in _VERDICTS]
        cells += [str(len(others)), str(sum(claim.verdict == "holds" for claim in others))]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _anchor(heading: str) -> str:
    plain = unicodedata.normalize("NFKD", heading).lower().replace(" ", "-")
    return re.sub(r"[^a-z0-9-]", "", plain)


def page(reports: Sequence[tuple[str, Report]]) -> str:
    """Return the page of all claims: an overview, and a section for each system."""
    intro = (
        "---\nhide: [toc]\n---\n\n# Claims\n\nWhat the papers report, and what was measured here. "
        "*Holds* and *differs* are judged by the rule of each claim; a claim that differs has its cause, one that "
        "cannot be tested its reason: click on the verdict. *Measured*: something runs, and what it does is counted; "
        "*arithmetic*: formulas, printed numbers or a count of steps; *read back*: a setting or a constant of ours "
        "implies it. The measured are counted apart. `prismux reproduce all` prints the same.\n"
    )
    return "\n".join([intro, overview(reports), *(section(system, report) for system, report in reports)])
