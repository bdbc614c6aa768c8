"""What a release came to, in plain values: made by ``summarizing``, which loads only if a report is asked for."""

from shoal.summary.release import Release
from shoal.summary.schema import SCHEMA_VERSION, Summary, json_schema
from shoal.summary.second_look import computed_columns, second_look, things_to_look_at

__all__ = [
    "SCHEMA_VERSION",
    "Release",
    "Summary",
    "computed_columns",
    "json_schema",
    "second_look",
    "things_to_look_at",
]
