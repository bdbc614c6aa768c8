"""Attacks on panels: people are counted, by a counter that knows nothing of shoal's coding."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import attacks
from shoal.attacks import row_owners
from shoal.cells.parse import parse_column
from shoal.errors import ColumnError
from tests.support.panels import panel

TABLE = panel(40, most=6, seed=3)
QUASI = ["age", "sex"]


def release(**changes):
    arguments = {"k": 4, "quasi_identifiers": QUASI, "sensitive": ["ill"], "identifiers": ["hh", "w", "region", "wave"]}
    return shoal.anonymize(TABLE, **arguments | {"person": "nr", "method": "mondrian"} | changes)


def fits(cell, value):
    if cell.form == "range":
        return float(cell.values[0]) <= value <= float(cell.values[1])
    return cell.form == "any" or str(value) in cell.values


def fitting_rows(released, row):
    """Return the released rows whose cells cover the quasi-identifiers of an original row."""
    rows = set(range(released.num_rows))
    for name in QUASI:
        form, cells = parse_column(released.column(name))
        rows &= {place for place, cell in enumerate(form) if fits(cells[cell], TABLE[name][row].as_py())}
    return rows


@pytest.mark.parametrize("known", ["one record of each person", "a list"])
def test_linkage_counts_the_people_who_fit_not_their_rows(known):
    released, nr = release().released, TABLE["nr"].to_pylist()
    people = {row: len({nr[other] for other in fitting_rows(released, row)}) for row in range(TABLE.num_rows)}
    if known == "a list":
        first = [nr.index(one) for one in sorted(set(nr))]
        found = attacks.linkage(TABLE, released, QUASI, person="nr", known=TABLE.take(pa.array(first)).select(QUASI))
        assert found.figures["median_candidates"] == np.median([people[row] for row in first])
    else:
        found = attacks.linkage(TABLE, released, QUASI, person="nr")
        assert found.figures["people"] == len(set(nr))
        assert found.control.share == pytest.approx(1 / len(set(nr)))
        assert found.figures["fewest_candidates"] >= min(people.values()) >= 4
    rows = attacks.linkage(TABLE, released, QUASI)
    assert found.figures["median_candidates"] < rows.figures["median_candidates"]


def test_a_release_that_counts_rows_gives_people_away_to_an_attack_that_counts_people():
    with pytest.warns(shoal.errors.RepeatedPersonWarning):
        plain = shoal.anonymize(
            TABLE.rename_columns(["person_id", *TABLE.column_names[1:]]),
            k=4,
            quasi_identifiers=["age", "sex", "region", "wave"],
            identifiers=["person_id", "hh", "w", "ill"],
            method="optimize",
            effort="fast",
            ends="exact",
        )
    found = attacks.linkage(TABLE, plain.released, ["age", "sex", "region"], person="nr")
    assert found.figures["fewest_candidates"] < 4
    assert attacks.linkage(TABLE, plain.released, ["age", "sex", "region"]).figures["fewest_candidates"] >= 4


def test_homogeneity_counts_a_value_once_for_each_person_who_bears_it():
    released, nr, ill = release().released, TABLE["nr"].to_pylist(), TABLE["ill"].to_pylist()
    certain = right = 0
    found = attacks.homogeneity(TABLE, released, QUASI, "ill", person="nr")
    chosen = row_owners.one_record_each(row_owners.numbered(TABLE["nr"]), 2_000, 0)
    assert sorted(nr[row] for row in chosen) == sorted(set(nr))
    for row in chosen.tolist():
        pairs = {(nr[other], ill[other]) for other in fitting_rows(released, row)}
        counts, people = Counter(value for _, value in pairs), len({one for one, _ in pairs})
        borne = {value for one, value in zip(nr, ill, strict=True) if one == nr[row]}
        most = max(counts.values())
        certain += most == people
        right += bool({value for value, count in counts.items() if count == most} & borne)
    assert found.figures["certain_and_right"] == certain
    assert found.figures["guessed_rightly"] <= right
    assert found.success.tried == len(set(nr))


def test_a_value_that_everybody_who_fits_bears_is_known_for_certain():
    """Two people have several illnesses each, and one in common: rows alone do not show it."""
    table = pa.table({"nr": [1, 1, 2, 2], "age": [30, 30, 31, 31], "ill": ["flu", "gout", "flu", "burn"]})
    released = table.set_column(1, "age", pa.array(["[30-31]"] * 4)).select(["age", "ill"])
    people = attacks.homogeneity(table, released, ["age"], "ill", person="nr")
    assert people.figures["certain_and_right"] == 2
    assert attacks.homogeneity(table, released, ["age"], "ill").figures["certain_and_right"] == 0


def test_whose_rows_are_is_not_guessed_where_the_order_is_lost():
    released = release().released
    shuffled = released.take(pa.array(np.random.default_rng(1).permutation(released.num_rows)))
    for attack in (
        lambda: attacks.run_attacks(TABLE, shuffled, QUASI, person="nr"),
        lambda: attacks.companions(TABLE, shuffled, QUASI, "nr"),
        lambda: attacks.homogeneity(TABLE, shuffled, QUASI, "ill", person="nr"),
    ):
        with pytest.raises(ColumnError, match="the person of each row is unknown"):
            attack()
    tokens = pa.table({"nr": TABLE["nr"], **{name: released[name] for name in released.column_names}})
    tokens = tokens.take(pa.array(np.random.default_rng(1).permutation(tokens.num_rows)))
    found = {one.attack: one for one in attacks.run_attacks(TABLE, tokens, QUASI, sensitive=["ill"], person="nr")}
    assert found["linkage"].figures == attacks.linkage(TABLE, released, QUASI, person="nr").figures


def test_all_attacks_on_a_panel_count_people():
    found = {one.attack: one for one in attacks.run_attacks(TABLE, release(), QUASI, sensitive=["ill"], person="nr")}
    assert {"linkage", "homogeneity", "companions"} <= set(found)
    for name in ("linkage", "homogeneity", "companions"):
        assert found[name].success.tried == 40
