"""What a release came to, in plain values that files hold.

``schema`` is the form, ``make`` fills it in, ``attempts``, ``distributions`` and ``association`` measure what it holds, ``second_look`` says what to look
at before publishing. Called by the results, the engines and the report, and loaded when a report is asked for. It does not know requests or engines.
"""

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
