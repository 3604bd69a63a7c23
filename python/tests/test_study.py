"""Published claims and random mixes from Python."""

from __future__ import annotations

import json

import pytest
from conftest import Command

import prismux


def test_claims_judged_from_python_are_those_of_the_command(prismux_command: Command) -> None:
    reports = prismux.reproduce("tcp-ho", only=["HO-004", "HO-005"], quick=True)
    said = prismux_command("reproduce", "tcp-ho", "--only", "HO-004,HO-005", "--quick", "--json")
    expected = {claim["id"]: (claim["verdict"], claim["measured"]) for claim in json.loads(said.stdout)["claims"]}
    found = {claim: (found.verdict, found.measured) for claim, found in reports["tcp-ho"].claims.items()}
    assert found == expected
    assert set(expected) == {"HO-004", "HO-005"}


def test_an_unknown_system_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match=r"expected: .*prism.*all"):
        prismux.reproduce("prisma")


def test_mixes_from_python_are_those_of_the_command(prismux_command: Command) -> None:
    here = prismux.mixes([3], variants=["prism"], warm_s=1, steady_s=1)
    said = prismux_command("mixes", "--only", "3", "--variants", "prism", "--warm", "1", "--steady", "1", "--json")
    assert here == json.loads(said.stdout)


def test_an_unknown_variant_of_a_mix_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match="expected: single, prism"):
        prismux.mixes([1], variants=["prisma"])
