"""Every parameter on every engine: seen in the release, or refused in one sentence before any work. Spark has its own part of this."""

from __future__ import annotations

import warnings

import pyarrow.parquet as papq
import pytest

import shoal
from shoal.errors import ShoalWarning
from shoal.treatments.pseudonyms import make_key
from tests.engines.sweep import BASE, CASES, Seen, table_of

pytestmark = pytest.mark.usefixtures("small_batches", "small_fragments")
ENGINES = {  # engine, records, what else it is given
    "memory": ("memory", 240),
    "memory, cut": ("memory", 700),
    "stream": ("stream", 700),
    "stream, two workers": ("stream", 700),
}
REFUSED = {
    ("stream", "release"): "cannot be streamed with a release with representatives",
    ("stream", "cells"): "cannot be streamed with disjoint cells",
    ("stream", "counts"): "cannot be streamed with counts of exact values",
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    for records in (240, 700):
        papq.write_table(table_of(records), folder / f"{records}.parquet")
    for name in ("KEY", "OTHER"):
        make_key(folder / name)
    return folder


def released(folder, engine, given):
    """Return what an engine makes of a table."""
    kind, records = ENGINES[engine]
    given = {name: folder / value if name == "key" else value for name, value in given.items()}
    place = folder / f"{records}.parquet"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        if engine == "stream, two workers":
            target = folder / "out.parquet"
            made = shoal.Anonymizer(**given).stream(place, target, memory="1GB", workers=2, force=True)
            return Seen(papq.read_table(target).to_pylist(), made.metrics, made.audit)
        made = shoal.anonymize(place, **given, engine=kind)
        return Seen(made.data.to_pylist(), made.metrics, made.audit)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parameter)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_parameter_is_seen_in_the_release_or_refused(tables, engine, case):
    base = BASE | case.base
    sentence = REFUSED.get((ENGINES[engine][0], case.parameter))
    if sentence is not None:
        with pytest.raises(shoal.errors.ParameterError, match=sentence):
            released(tables, engine, base | case.given)
        return
    one, other = released(tables, engine, base | case.given), released(tables, engine, base)
    assert case.shows(one, other)
