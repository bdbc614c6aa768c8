"""Groups of equal records are set aside before a fragment is searched."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encoding import encode
from shoal.frames import to_frame
from shoal.methods.base import Grouping, Task
from shoal.methods.mondrian import Mondrian
from shoal.plan import steps
from shoal.plan.contents import draw_sample
from shoal.plan.copies import copies_aside, group_with_copies
from shoal.privacy.base import bind_models
from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS, people

K = 5


def table_with_copies(records=400, copies=137):
    """Return a coded table in which every third of the first people has very many doubles."""
    some = people(records)
    rows = np.concatenate([np.arange(records), np.repeat(np.arange(0, 9, 3), copies)])
    table = some.take(pa.array(np.random.default_rng(4).permutation(rows)))
    return encode(to_frame(table), QUASI_IDENTIFIERS, hierarchies=HIERARCHIES, attributes=["illness"])


class Watched(Mondrian):
    """A method that notes what it is given to group."""

    def run(self, table, task):
        seen.append((table, task))
        return super().run(table, task)


seen = []


@pytest.fixture(autouse=True)
def nothing_seen():
    seen.clear()


@pytest.mark.parametrize(("size", "aside"), [(1, 0), (10, 0), (14, 0), (15, 5), (19, 5), (20, 10), (1000, 990)])
def test_at_least_2k_copies_stay_and_whole_groups_go(size, aside):
    assert copies_aside(np.array([size]), K).tolist() == [aside]


def test_groups_of_copies_lose_nothing_and_the_others_are_searched():
    table = table_with_copies()
    found = group_with_copies(Watched(), table, Task(k=K)).labels
    assert (found >= 0).all()
    sizes = np.bincount(found)
    assert sizes.min() >= K
    searched = seen[0][0].records
    tuples = list(zip(*table.codes.tolist(), strict=True))
    assert max(Counter(tuples).values()) > 100
    assert searched == sum(min(count, 2 * K + count % K) for count in Counter(tuples).values())
    of_group = {}
    for one, group in zip(tuples, found.tolist(), strict=True):
        of_group.setdefault(group, set()).add(one)
    aside = (table.records - searched) // K
    assert all(len(of_group[group]) == 1 for group in range(aside))
    assert sizes[:aside].tolist() == [K] * aside


def test_with_models_all_records_are_searched():
    table = table_with_copies()
    task = Task(k=K, requirements=tuple(bind_models([shoal.LDiversity(2)], table, ["illness"])))
    group_with_copies(Watched(), table, task)
    assert seen[0][0].records == table.records


def test_as_many_records_may_be_withheld_as_without_copies(monkeypatch):
    table = table_with_copies()

    def withhold(self, part, task):
        allowed = int(task.max_suppression * part.records + 1e-9)
        return Grouping(np.where(np.arange(part.records) < allowed, -1, 0).astype(np.int32))

    monkeypatch.setattr(Mondrian, "run", withhold)
    found = group_with_copies(Mondrian(), table, Task(k=K, max_suppression=0.1)).labels
    assert (found < 0).sum() == table.records // 10


def test_a_table_without_copies_goes_through_the_method_as_it_is():
    table = table_with_copies(copies=0)
    assert (group_with_copies(Mondrian(), table, Task(k=K)).labels == Mondrian().run(table, Task(k=K)).labels).all()


@pytest.mark.usefixtures("small_fragments")
def test_copies_need_not_be_searched_for_the_same_groups_in_any_order():
    some = people(600)
    doubles = some.take(pa.array(np.repeat(np.arange(0, 12, 3), 150)))
    table = pa.concat_tables([some, doubles])
    given = {"k": K, "quasi_identifiers": QUASI_IDENTIFIERS, "sensitive": ["illness"], "identifiers": ["note"]}
    given |= {"hierarchies": HIERARCHIES, "effort": "fast"}
    order = pa.array(np.random.default_rng(3).permutation(table.num_rows))
    one, other = shoal.anonymize(table, **given), shoal.anonymize(table.take(order), **given)
    assert one.details["fragments"] > 3
    cells = [sorted(map(repr, made.released.to_pylist())) for made in (one, other)]
    assert cells[0] == cells[1]
    assert one.audit.k >= K


def test_where_records_have_owners_copies_weigh_as_much_as_they_are_searched(monkeypatch):
    monkeypatch.setattr(steps, "LARGE", 100)
    monkeypatch.setattr(steps, "_FRAGMENT", 100)
    monkeypatch.setattr(steps, "_MANY_GROUPS", 1)
    frame = to_frame({"job": [f"job {place % 8}" for place in range(1600)]})
    table = encode(frame, ["job"], hierarchies={"job": "flat"})
    job = steps.Job(Mondrian(), Task(k=2))
    sample = draw_sample(table, 0, 1.0)
    leaves = [steps.cut_table(table, sample, table.records, job, owned=owned).leaves for owned in (False, True)]
    assert leaves == [1, 8]


def test_replaced_labels_keep_what_the_method_tells(monkeypatch):
    table = table_with_copies()
    plain = Mondrian.run
    monkeypatch.setattr(Mondrian, "run", lambda *given: replace(plain(*given), details={"told": 1}))
    assert group_with_copies(Mondrian(), table, Task(k=K)).details == {"told": 1}
