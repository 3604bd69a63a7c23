"""What TCP-DOOR gains in the four experiments of its study, from the sweep of `make door-study`.

python reproduce/tcp-door/study.py results/door-study.parquet
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

ROUTING, VARIANT, NETWORK = "routing.protocol", "variant", "seed"
SETTING, PROFILE = "flows.download.door.setting", "flows.download.profile"
GOODPUT, TIMEOUTS = "flows.download.goodput_bps", "flows.download.timeouts"
PLAIN, TODAY = "tcp", "tcp-today"
HEADER = (
    "way",
    "networks",
    "improvement",
    "least setting",
    "greatest setting",
    "deviation",
    "positive",
    "kbit/s",
    "timeouts",
)


def way(run: pd.Series) -> str:
    """Name what sends in a run: a setting of TCP-DOOR, plain TCP, or TCP of today."""
    if isinstance(run.get(SETTING), str):
        return str(run[SETTING])
    return TODAY if isinstance(run.get(PROFILE), str) else PLAIN


def improvements(runs: pd.DataFrame) -> pd.DataFrame:
    """Per cent over plain TCP in the same network: a row for each network, a column for each way to send."""
    goodput = runs.pivot(index=NETWORK, columns="way", values=GOODPUT).dropna()
    goodput = goodput[goodput[PLAIN] > 0]
    return goodput.div(goodput[PLAIN], axis=0).sub(1).mul(100).drop(columns=PLAIN)


def interval(values: pd.Series) -> str:
    """Mean and half of its 95 % interval by Student's t, whose quantile is Fisher's expansion of the normal one."""
    z, freedom = 1.959964, len(values) - 1
    t = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return f"{values.mean():.1f} ± {t * values.sem():.1f} %"


def row(name: str, gains: pd.DataFrame, runs: pd.DataFrame) -> list[str]:
    """One configuration, over its settings."""
    means, sent = gains.mean(), runs[runs["way"].isin(gains.columns)]
    several = len(means) > 1
    return [
        name,
        str(len(gains)),
        interval(gains.mean(axis=1)),
        f"{means.min():.1f} % ({means.idxmin()})" if several else "",
        f"{means.max():.1f} % ({means.idxmax()})" if several else "",
        f"{gains.std().mean():.1f} %",
        f"{100 * gains.gt(0).to_numpy().mean():.1f} %",
        f"{sent[GOODPUT].mean() / 1000:.1f}",
        f"{sent[TIMEOUTS].mean():.1f}",
    ]


def experiment(runs: pd.DataFrame) -> list[list[str]]:
    """All rows of one experiment."""
    gains = improvements(runs)
    runs = runs[runs[NETWORK].isin(gains.index)]
    plain = runs[runs["way"] == PLAIN]
    rows = [[PLAIN, str(len(gains)), *[""] * 5, f"{plain[GOODPUT].mean() / 1000:.1f}", f"{plain[TIMEOUTS].mean():.1f}"]]
    for name in ("all", "sd", "rd", "td", "ir"):
        # A study that was interrupted has run some of them only.
        if settings := [column for column in gains if column.startswith(f"{name}-")]:
            rows.append(row(name, gains[settings], runs))
    if TODAY in gains:
        rows.append(row(TODAY, gains[[TODAY]], runs))
    return rows


def main() -> None:
    """Print one table for each experiment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sweep", type=Path, help="the Parquet file of the sweep")
    runs = pd.read_parquet(parser.parse_args().sweep)
    runs["way"] = runs.apply(way, axis=1)
    for (routing, variant), chosen in runs.groupby([ROUTING, VARIANT]):
        print(f"\n{variant}, {routing}\n")
        print("| " + " | ".join(HEADER) + " |")
        print("|" + "---|" * len(HEADER))
        for cells in experiment(chosen):
            print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
