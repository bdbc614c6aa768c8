"""What stands between a fault and a release, each guard at its boundary: what just passes, and what just does not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.audit import check_release
from shoal.audit.risk import estimate_uniqueness
from shoal.enforcement.dispatch import withhold_failing
from shoal.engines.memory import release as memory
from shoal.errors import DataError, PrivacyError
from shoal.frames import Frame
from shoal.io.files import open_table
from shoal.kernels.space.space import cover_groups
from shoal.methods.base import Grouping, Method, MethodInfo, Task, most_withheld
from shoal.plan import table as plan_table
from shoal.privacy.base import PrivacyModel, Requirement, bind_models
from shoal.release import make
from shoal.release import widen as widening
from shoal.release.widen import widen, widen_where_models_hold
from shoal.results import save
from tests.support.tables import coded_table
from tests.test_extensions import AtMost

K = 4


@dataclass(frozen=True)
class Given(Method):
    """Groups as a test wants them, right or wrong."""

    labels: tuple[int, ...] = ()

    info: ClassVar[MethodInfo] = MethodInfo("given", "Given", "local", "none", "O(1)")

    def run(self, table, task):
        return Grouping(np.array(self.labels, np.int32))


def sizes(*each):
    """Return the labels of groups of these sizes, and -1 for the last, withheld ones."""
    *groups, withheld = each
    return (*(label for label, size in enumerate(groups) for _ in range(size)), *[-1] * withheld)


def anonymize(labels, ill=None, **parameters):
    """Release a table with one age for each group, so that groups are told apart by what is released."""
    table = pa.table({"age": [abs(label) for label in labels], "ill": ill or ["flu", "gout"] * (len(labels) // 2)})
    return shoal.anonymize(
        table, k=K, quasi_identifiers=["age"], sensitive=["ill"], method=Given(tuple(labels)), **parameters
    )


# --- the recount ---------------------------------------------------------------------------------------------


def test_a_group_of_k_passes_the_count_and_one_of_a_record_less_does_not():
    check_release(pa.table({"q": ["a"] * K + ["b"] * (K + 1)}), ["q"], K)
    with pytest.raises(PrivacyError, match=f"a group of {K - 1}"):
        check_release(pa.table({"q": ["a"] * (K - 1) + ["b"] * (K + 1)}), ["q"], K)


def test_no_release_is_made_of_groups_of_which_one_lacks_a_record():
    assert anonymize(sizes(K, K, 0)).audit.k == K
    with pytest.raises(PrivacyError, match=f"a group of {K - 1}"):
        anonymize(sizes(K - 1, K + 1, 0))


def test_no_file_is_written_of_groups_of_which_one_lacks_a_record(tmp_path, monkeypatch):
    made = anonymize(sizes(K, K, 0))
    ages = made.released.column("age").to_pylist()
    spoilt = made.released.set_column(0, "age", pa.array([*ages[: K - 1], *ages[K:], ages[-1]]))
    object.__setattr__(made, "released", spoilt)
    with pytest.raises(PrivacyError, match=f"a group of {K - 1}"):
        made.save(tmp_path / "release.csv")
    assert list(tmp_path.iterdir()) == []


def test_no_file_is_left_that_reads_back_with_a_row_less(tmp_path, monkeypatch):
    made = anonymize(sizes(K + 1, K + 1, 0))
    monkeypatch.setattr(save, "open_table", lambda path, **how: Frame(open_table(path, **how).table.slice(1)))
    with pytest.raises(DataError, match="read back differs"):
        made.save(tmp_path / "release.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("lacking", ["person", "household", None])
def test_persons_and_households_of_a_group_are_both_counted(lacking, monkeypatch):
    """The one that a group lacks is refused, whichever is named first."""
    monkeypatch.setattr(plan_table, "group_records", without_models)
    number = [str(row) for row in range(2 * K)]
    units = {"person": number, "household": number}
    if lacking:
        units[lacking] = [number[1], *number[1:]]
    table = pa.table({"age": [0] * K + [1] * K, **units})
    asked = {"k": K, "quasi_identifiers": ["age"], "person": "person", "household": "household"}
    made = Given(sizes(K, K, 0))
    if lacking is None:
        assert shoal.anonymize(table, method=made, **asked).audit.k == K
        return
    with pytest.raises(PrivacyError, match=f"a group of {K - 1} {lacking}s"):
        shoal.anonymize(table, method=made, **asked)


# --- models ------------------------------------------------------------------------------------------------------


def without_models(method, table, task):
    """Group as if the search and the mending had forgotten the models."""
    return method.run(table, replace(task, requirements=()))


def test_a_model_that_fails_in_a_single_group_stops_the_release(monkeypatch):
    monkeypatch.setattr(plan_table, "group_records", without_models)
    good = ["flu", "gout"] * (3 * K // 2)
    assert anonymize(sizes(K, K, K, 0), good, models=[shoal.LDiversity(2)]).audit.l == 2
    bad = [*good[: 2 * K], *["flu"] * K]
    with pytest.raises(PrivacyError, match="LDiversity does not hold in 1 groups"):
        anonymize(sizes(K, K, K, 0), bad, models=[shoal.LDiversity(2)])


def test_every_model_of_several_is_checked(monkeypatch):
    monkeypatch.setattr(plan_table, "group_records", without_models)
    bad = [*["flu", "gout"] * K, *["flu"] * K]
    for models in ([shoal.LDiversity(2), shoal.KAnonymity(2)], [shoal.KAnonymity(2), shoal.LDiversity(2)]):
        with pytest.raises(PrivacyError, match="LDiversity does not hold in 1 groups"):
            anonymize(sizes(K, K, K, 0), bad, models=models)


@dataclass(frozen=True)
class Noting(PrivacyModel):
    """Notes which columns it is asked to protect; holds everywhere."""

    seen: ClassVar[list[list[str]]] = []

    def bind(self, table):
        self.seen.append(sorted(table.attributes))
        return Everywhere()

    def describe(self):
        return "Nothing."


class Everywhere(Requirement):
    def failing(self, labels, groups):
        return np.zeros(groups, np.bool_)


def test_models_are_bound_to_sensitive_columns_and_not_to_the_class_a_method_looks_at():
    Noting.seen.clear()
    table = pa.table({"age": ["a", "b"] * 8, "ill": ["flu", "gout"] * 8, "class": ["x", "y", "y", "y"] * 4})
    given = {"k": 4, "quasi_identifiers": ["age"], "sensitive": ["ill"], "keep": ["class"]}
    method = shoal.BottomUpGeneralization(target="class")
    made = shoal.anonymize(table, method=method, hierarchies={"age": "flat"}, models=[Noting()], **given)
    assert Noting.seen == [["ill"]]
    bind_models([Noting()], made.coded, ["ill"])
    bind_models([Noting()], made.coded, [])
    assert Noting.seen[1:] == [["ill"], []]


# --- withheld records --------------------------------------------------------------------------------------------


def test_as_many_records_as_allowed_may_be_withheld_and_not_one_more():
    assert anonymize(sizes(K, K, 2), max_suppression=0.2).suppressed == 2
    with pytest.raises(PrivacyError, match="2 records would have to be withheld"):
        anonymize(sizes(K, K, 2), max_suppression=0.19)
    with pytest.raises(PrivacyError, match="1 records would have to be withheld"):
        anonymize(sizes(K, K + 1, 1))


@pytest.mark.parametrize(
    ("share", "records", "most"), [(0.29, 100, 29), (0.07, 100, 7), (0.299, 10, 2), (0.0, 9, 0), (1.0, 9, 9)]
)
def test_a_share_of_records_is_a_whole_number_of_them(share, records, most):
    assert most_withheld(share, records) == most


class FirstFails(Requirement):
    def failing(self, labels, groups):
        return np.arange(groups) == 0


def test_failing_groups_are_withheld_only_as_far_as_allowed():
    labels = np.array(sizes(K, K, K, 0), np.int32)
    enough = Task(k=K, requirements=(FirstFails(),), max_suppression=K / len(labels))
    assert (withhold_failing(labels, enough) < 0).sum() == K
    with pytest.raises(PrivacyError, match="more than 'max_suppression' allows"):
        withhold_failing(labels, Task(k=K, requirements=(FirstFails(),), max_suppression=(K - 1) / len(labels)))


# --- estimates ---------------------------------------------------------------------------------------------------


def test_the_estimate_of_zayatz_is_the_quotient_of_hypergeometric_chances():
    size, population = np.array([1, 1, 1, 2, 2, 5]), 24
    n = int(size.sum())
    chance = {1: 3, 2: 2, 5: 1}  # how many groups of each size stand for groups of that size in the population
    once = {f: count * Fraction(f * comb(population - f, n - 1), comb(population, n)) for f, count in chance.items()}
    expected = once[1] / sum(once.values())
    found = estimate_uniqueness(size, n / population)[1]
    assert found.model == "zayatz"
    assert found.share_of_sample_uniques == pytest.approx(float(expected), rel=1e-9)
    assert found.people == pytest.approx(float(expected) * 3 * population / n, rel=1e-9)


# --- widening ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FailsIn(Requirement):
    """Fails in the groups whose number is named, or in all."""

    number: int | None = None

    def failing(self, labels, groups):
        return np.arange(groups) == self.number if self.number is not None else np.ones(groups, np.bool_)


def tight():
    table = coded_table(60, "ins", 3)
    labels = (np.arange(60) // 6).astype(np.int32)
    return table, labels, cover_groups(table.space, table.codes, labels, 10)


def same_boxes(one, other):
    return all(np.array_equal(getattr(one, part), getattr(other, part)) for part in ("low", "high", "words"))


def test_where_no_widening_lets_the_models_hold_the_tight_cells_are_released():
    table, labels, cover = tight()
    assert not same_boxes(widen(table, cover, 1.0, 0), cover)
    assert same_boxes(widen_where_models_hold(table, labels, cover, 1.0, 0, [FailsIn()]), cover)


def test_without_models_cells_are_widened_as_asked():
    table, labels, cover = tight()
    assert same_boxes(widen_where_models_hold(table, labels, cover, 1.0, 0, []), widen(table, cover, 1.0, 0))


def test_the_fall_back_of_widening_is_the_tight_cover_and_not_the_last_try(monkeypatch):
    table, labels, cover = tight()
    monkeypatch.setattr(widening, "_ROUNDS", 0)  # no time to take anything back
    assert same_boxes(widen_where_models_hold(table, labels, cover, 1.0, 0, [FailsIn(0)]), cover)


def test_a_widened_release_is_counted_with_its_models(monkeypatch):
    """Widening that joins groups so that a model fails must be caught by the count, should its own check miss it."""
    rows = 40
    table = pa.table({"age": [n // 4 for n in range(rows)], "ill": ["flu", "gout", "cold", "flu"] * (rows // 4)})

    def all_alike(table, labels, cover, *_):
        return cover._replace(low=np.zeros_like(cover.low), high=np.full_like(cover.high, 9))

    monkeypatch.setattr(make, "widen_where_models_hold", all_alike)
    given = {"k": K, "quasi_identifiers": ["age"], "sensitive": ["ill"], "method": "mondrian", "widen": 0.5}
    assert shoal.anonymize(table, models=[shoal.LDiversity(3)], **given).audit.groups == 1
    with pytest.raises(PrivacyError, match="AtMost does not hold in 1 groups"):
        shoal.anonymize(table, models=[AtMost(8)], **given)


# --- people with several records ----------------------------------------------------------------------------------


def people(*owners):
    return pa.table({"nr": list(owners), "age": [30] * K + [50] * (len(owners) - K), "ill": ["a"] * len(owners)})


def test_a_combination_of_k_records_of_fewer_people_does_not_pass_the_count(monkeypatch):
    monkeypatch.setattr(memory, "at_least_units", lambda *_: ())  # a search that counts records
    labels = tuple([0] * K + [1] * K)
    parameters = {"k": K, "quasi_identifiers": ["age"], "sensitive": ["ill"], "method": Given(labels), "person": "nr"}
    assert shoal.anonymize(people(*range(2 * K)), **parameters).audit.k == K
    with pytest.raises(PrivacyError, match=f"a group of {K - 1} persons"):
        shoal.anonymize(people(0, *range(K - 1), *range(K, 2 * K)), **parameters)


def test_a_person_whose_records_fit_too_few_people_does_not_pass_the_count(monkeypatch):
    monkeypatch.setattr(
        "shoal.enforcement.dispatch.group_together", lambda method, table, task: method.run(table, task)
    )
    labels = tuple([0] * K + [1] * K)
    parameters = {"k": K, "quasi_identifiers": ["age"], "sensitive": ["ill"], "method": Given(labels), "person": "nr"}
    shoal.anonymize(people(*range(K), *range(K)), **parameters, together=True)
    with pytest.raises(PrivacyError, match=f"fit fewer than {K} persons"):
        shoal.anonymize(people(*range(K), *range(1, K + 1)), **parameters, together=True)
