"""Every parameter on Spark, for a table that is one task and for one that is cut: seen in the release, or refused before any work."""

from __future__ import annotations

import warnings

import pytest

import shoal.spark
from shoal.errors import ParameterError, ShoalWarning
from shoal.treatments.pseudonyms import make_key
from tests.engines.spark.conftest import SPARKS_OWN_WARNINGS
from tests.engines.sweep import BASE, CASES, Seen, table_of

pytestmark = [*SPARKS_OWN_WARNINGS, pytest.mark.usefixtures("small_fragments")]


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    for name in ("KEY", "OTHER"):
        make_key(folder / name)
    return folder


@pytest.fixture(scope="module")
def frames(spark):
    """Return the table of the sweep in two sizes."""
    found = {}
    for records in (240, 700):
        table = table_of(records)
        rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        kinds = {"int64": "long", "double": "double", "string": "string"}
        schema = ", ".join(f"{field.name} {kinds[str(field.type)]}" for field in table.schema)
        found[records] = spark.createDataFrame(rows, schema).repartition(2).cache()
    return found


@pytest.fixture(scope="module")
def without():
    """Return the releases without a parameter, made once each."""
    return {}


REFUSED = {
    "cells": "cannot be released on Spark with disjoint cells",
    "counts": "cannot be released on Spark with counts of exact values",
}


def released(data, folder, given):
    given = {name: folder / value if name == "key" else value for name, value in given.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        with shoal.spark.anonymize(data, **given) as made:
            return Seen([row.asDict() for row in made.data.collect()], made.metrics, made.audit)


@pytest.mark.parametrize("records", [240, 700])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parameter)
def test_a_parameter_is_seen_in_the_release_or_refused(frames, keys, without, case, records):
    base = BASE | case.base
    if case.parameter in REFUSED:
        with pytest.raises(ParameterError, match=REFUSED[case.parameter]):
            released(frames[records], keys, base | case.given)
        return
    key = (records, str(sorted(case.base)), str(case.base.values()))
    if key not in without:
        without[key] = released(frames[records], keys, base)
    assert case.shows(released(frames[records], keys, base | case.given), without[key])
