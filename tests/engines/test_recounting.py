from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from shoal.engines.stream import recounting
from shoal.engines.stream.checking import recount_pieces
from shoal.engines.stream.recounting import Recount
from shoal.engines.stream.spool import write_rows
from shoal.engines.stream.writing import check_written
from shoal.errors import PrivacyError

K = 3


def counted(*cells, names=("q",)):
    recount = Recount(names)
    for batch in cells:
        recount.add(pa.table(dict(zip(names, batch, strict=True))))
    return recount


def test_a_group_of_k_passes_and_one_of_a_row_less_does_not():
    counted([["a"] * K + ["b"] * (K + 1)]).check(K)
    with pytest.raises(PrivacyError, match=f"a group of {K - 1}"):
        counted([["a"] * (K - 1) + ["b"] * (K + 1)]).check(K)


def test_staged_rows_are_counted_against_the_k_that_is_promised(tmp_path):
    """A piece on disk with a group of k passes, one with a group of a row less does not."""
    coding = SimpleNamespace(records=3 * K, books={}, attributes={})
    for least, passes in ((K, True), (K - 1, False)):
        recipe = SimpleNamespace(max_suppression=0.0)
        order = SimpleNamespace(
            recipe=recipe, whole=False, quasi_identifiers=["q"], job=SimpleNamespace(k=K, sensitive=(), models=())
        )
        piece = tmp_path / f"{least}.arrow"
        write_rows(pa.table({"q": ["a"] * least + ["b"] * (3 * K - least)}), piece)
        made = SimpleNamespace(suppressed=0, records=3 * K)
        if passes:
            assert recount_pieces(order, coding, [piece], made)[0].k == K
        else:
            with pytest.raises(PrivacyError, match=f"a group of {K - 1}"):
                recount_pieces(order, coding, [piece], made)


def test_a_written_file_is_counted_against_the_k_that_is_promised(tmp_path):
    for least in (K, K - 1):
        path = tmp_path / f"{least}.csv"
        path.write_text("q\n" + "a\n" * least + "b\n" * K, "utf-8")
        if least == K:
            check_written([path], ["q"], K, least + K)
        else:
            with pytest.raises(PrivacyError, match=f"a group of {K - 1}"):
                check_written([path], ["q"], K, least + K)


def test_rows_of_a_group_are_added_up_over_batches_and_their_order():
    recount = counted([["a", "b"]], [["b", "a", None]], [[None, "a", "b", None]])
    sizes, _ = recount.groups()
    assert sorted(sizes.tolist()) == [K, K, K]
    recount.check(K)


def test_columns_beyond_one_word_tell_rows_apart():
    names = tuple("abcdefg")
    alike = [["x"] * 4 for _ in names]
    other = [*alike[:-1], ["x", "x", "x", "y"]]
    counted(alike, names=names).check(4)
    with pytest.raises(PrivacyError, match="a group of 1"):
        counted(other, names=names).check(4)


def test_no_row_is_no_group():
    sizes, held = Recount(["q"]).groups()
    assert np.array_equal(sizes, [])
    assert held == {}
    Recount(["q"]).check(K)


def test_many_groups_are_not_added_up_anew_for_every_batch(monkeypatch):
    grouped, plain = [], recounting._grouped
    monkeypatch.setattr(recounting, "_MERGED", 10)
    monkeypatch.setattr(recounting, "_grouped", lambda table: grouped.append(table.num_rows) or plain(table))
    recount = Recount(["age"])
    for begin in range(0, 2_000, 4):
        recount.add(pa.table({"age": [str(begin + place) for place in range(4)]}))
    assert sum(grouped) < 4 * 2_000
    assert recount.groups()[0].tolist() == [1] * 2_000
