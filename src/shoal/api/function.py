"""The class ``Anonymizer``, called once; here its parameters are described."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pyarrow import Table as ArrowTable
from typing_extensions import TypeVar

from shoal.api.anonymizer import Anonymizer
from shoal.arrays import CancelToken, Effort, Progress, Release
from shoal.cells.counted import CountsChoice
from shoal.cells.disjoint import CellsChoice
from shoal.encoding import HierarchyChoice, KindChoice, Weight
from shoal.ends import EndsChoice
from shoal.methods import DEFAULT_METHOD
from shoal.methods.base import Method
from shoal.privacy.base import PrivacyModel
from shoal.request import EngineChoice
from shoal.results.result import Result
from shoal.treatments import TreatmentChoice
from shoal.validation import checks_keywords

Table = TypeVar("Table", default=ArrowTable)
_OF_THE_TABLE = ("data", "table", "query")
"""The parameters that name the table; ``Anonymizer.fit`` takes them."""


@checks_keywords
def anonymize(
    data: Table | str | Path,
    *,
    k: int,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    keep: Sequence[str] = (),
    person: str | None = None,
    household: str | None = None,
    together: bool = False,
    survey_weight: str | None = None,
    kinds: Mapping[str, KindChoice] | None = None,
    hierarchies: Mapping[str, HierarchyChoice] | Literal["auto", "suggest"] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | Sequence[str] | None = None,
    missing: str | Sequence[str] | None = None,
    weights: Mapping[str, Weight] | None = None,
    models: Sequence[PrivacyModel] = (),
    method: str | Method = DEFAULT_METHOD,
    effort: Effort = "balanced",
    max_suppression: float = 0.0,
    release: Release | None = None,
    widen: float = 0.0,
    ends: EndsChoice = "round",
    cells: Mapping[str, CellsChoice] | None = None,
    counts: CountsChoice | None = None,
    treat: Mapping[str, TreatmentChoice] | None = None,
    pseudonymize: Sequence[str] = (),
    key: str | Path | None = None,
    derived: Literal["refuse", "warn"] = "refuse",
    others: Literal["drop", "keep", "ask"] = "drop",
    seed: int = 0,
    engine: EngineChoice = "auto",
    memory: int | str | None = None,
    progress: Progress | bool | None = None,
    on_interrupt: Literal["raise", "best"] = "raise",
    cancel: CancelToken | None = None,
    table: str | None = None,
    query: str | None = None,
) -> Result[Table]:
    """Release a table in which every record hides among at least k.

    Parameters
    ----------
    data
        A pandas, polars or pyarrow table, a dict of columns, a list of rows, anything that speaks the Arrow capsule,
        the path of a file or folder, or the address of a database.
    k
        Every combination of released quasi-identifier values occurs at least ``k`` times.
    quasi_identifiers
        Columns an outsider may know. They are recoded.
    sensitive
        Columns that are kept and protected by ``models``.
    identifiers
        Columns that are removed.
    keep
        Columns passed through unchanged.
    person
        Column that identifies the person a record belongs to, for tables with several records for each person: k, the models and all
        risks then count people, not records. The column is removed from the release.
    household
        Column that identifies the household a record belongs to: every released combination belongs to at least ``k``
        households, and so do the released records of all its members together. It is removed from the release.
    together
        Whether all records of a person keep the same companions, so that an intruder who knows several of them still finds ``k`` people.
        Without it a person's records may be in groups of different people.
    survey_weight
        Column with the number of people of the population that a record represents; population risks and counts of the report then use
        it. It is released as the mean of each group, so that sums stay what they are; unchanged if ``keep`` names it
        too, and not at all if ``identifiers`` does. ``weights`` is something else: how much a column's loss counts.
    kinds
        How a quasi-identifier or sensitive column is read if its type does not say it: ``"numeric"``, ``"date"``,
        ``"nominal"``, or a list of values from low to high.
    hierarchies
        For categories: a ``Hierarchy``, the path of a hierarchy file, ``"flat"`` (the value or ``*``), ``"set"``
        (a set of values; the default for text) ``"suggest"`` (suggested by the values, see ``Hierarchy.suggest``) or
        ``"auto"``: ranges for numbers and dates, for codes what is suggested, and for categories a tree learned from the groups of quick releases
        (see ``learn_hierarchies``). Methods that need a hierarchy everywhere take ``"auto"`` as ``"suggest"``. One ``"auto"`` or
        ``"suggest"`` instead of a mapping stands for every quasi-identifier without a kind.
    decimal, thousands
        The marks in numbers that are written as text, such as ``","`` and ``"."`` for ``1.234,5``; detected if not given.
    date_format
        How dates and times in text are written, such as ``"%d.%m.%Y"``, or a list of such formats of which each column
        takes the first that fits; detected if not given. Dates that could be read in two ways are refused.
    missing
        Texts that stand for a missing value, such as ``["NA", "-99"]``. If not given, the usual ones are found among
        numbers and dates, but not among other text, where ``NA`` may be Namibia; an empty list turns this off.
    weights
        How much a column's loss counts; 1 if not given. For a column with a hierarchy also a mapping of labels to weights of
        its nodes, such as ``{"zip": {"North": 3}}`` (see ``Hierarchy.weighted``); the column itself then counts 1.
    models
        Privacy models that must hold beyond k.
    method
        Name of a method, or a method object.
    effort
        ``"fast"``, ``"balanced"``, ``"best"`` or seconds, for methods that can spend more to lose less.
    max_suppression
        Largest share of records that may be withheld.
    release
        ``"ranges"`` or ``"representatives"``; the default depends on the method.
    widen
        Protects against conclusions from narrow cells: for each cell that had to be a certain node or set, this many
        others (0 to 1) are released so without need, and ranges are drawn out by up to this share of their width.
    ends
        Where released ranges end: ``"round"`` (outwards to round values, as coarse as possible at a cost of at most 5 % more loss in the column), ``"exact"``
        (at two people's own values), or a mapping with a step for each of some columns, such as ``{"age": 5, "born": "month"}``
        (``[20-24]``, ``[25-29]``); the others then end round.
    cells
        Columns whose released cells never overlap, except ``*``, so that they can be factors of a model:
        ``{"education": "disjoint", "age": shoal.Disjoint(most=8)}``. The search chooses the partition with which the whole loses least,
        within a hierarchy if the column has one.
    counts
        Counts of exact values that recipients get next to the cells, and calibrate their estimates by: ``"columns"``, how often each value of a
        quasi-identifier occurs, in multiples of k and only of values that at least k people have, or ``"groups"``, the values behind the cells of
        each group, column by column. k still holds, but counts tell more about blurred values and presence; a ``PublicationWarning`` says how much.
    treat
        Treatments of kept or sensitive columns that could give people away: a mapping such as
        ``{"cost": shoal.Round(100), "visit": shoal.ShiftDates(30, person="patient_id")}``. Models then hold of the treated values. Random numbers
        are drawn from the system, not from ``seed``.
    pseudonymize
        Columns released as tokens: the same for a value wherever the same key is used. Pseudonymous is not anonymous.
    key
        The file with the key of the tokens, which only its owner may read; ``shoal key make`` makes one. It is not a part of a recipe.
    derived
        What happens if a kept or sensitive column follows from the quasi-identifiers (a copy, a map, a formula such as a body mass index)
        and people who know them could pick out fewer than ``k``: ``"refuse"``, with the ways out, or ``"warn"``.
    others
        What becomes of columns without a role: ``"drop"`` leaves them out with a ``ColumnLeftOutWarning``, ``"keep"`` passes them through
        unchanged, ``"ask"`` refuses the table and names them (the default of the command line).
    seed
        Seed of the random numbers: the same table, recipe and seed give the same groups.
    engine
        Who does the work: ``"memory"``, ``"stream"`` (a file, folder or database whose rows stay on disk; ``data`` of the result is then read from there), ``"spark"``
        (a DataFrame of Spark), or ``"auto"``: in memory unless a file is too large for it. The groups do not depend on it.
    memory
        What a streamed release should stay within, such as ``"4GB"``; by default half of what is free.
    progress
        Called with the share done and a short text; ``True`` draws a bar in a notebook or a terminal, and none in a pipeline.
    on_interrupt
        What Ctrl-C does in a method that improves a solution step by step: ``"raise"``, or ``"best"`` to go on
        with the best found so far.
    cancel
        A ``threading.Event`` (or one of ``multiprocessing``) that another thread may set to end the work: ``CancelledError`` is
        raised, or with ``on_interrupt="best"`` the best found so far is released if the method has some.
    table
        The table of a database, or the sheet of a workbook.
    query
        The rows of a database, as a query that only reads.

    Returns
    -------
    Result
        The release, counted again: ``data`` is the kind of table that came in (an Arrow table if it came from a
        file), with groups, measures, an audit and a report.

    Raises
    ------
    ParameterError
        A parameter is out of its range or of the wrong type, or two do not go together.
    ColumnError
        A column is not in the table, or is given two roles.
    DataError
        The table cannot be read as what it should be.
    PrivacyError
        The promise cannot be kept; nothing is released.

    Examples
    --------
    >>> import shoal
    >>> patients = shoal.datasets.hospital(n=500, seed=1).patients.select(["birth_date", "sex", "diagnosis"])
    >>> result = shoal.anonymize(patients, k=5, quasi_identifiers=["birth_date", "sex"], sensitive=["diagnosis"])
    >>> result.audit.k >= 5
    True
    >>> result.data.column_names
    ['birth_date', 'sex', 'diagnosis']
    """
    parameters = {name: value for name, value in locals().items() if name not in _OF_THE_TABLE}
    return Anonymizer(**parameters).fit(data, table=table, query=query).result_


def _shared_parameters(text: str) -> str:
    """Return the section of a docstring that describes the parameters which the class takes too."""
    section = re.split(r"\n\n(?=\w+\n-+\n)", text)[1]
    entries = re.split(r"\n(?=\w)", section)  # the heading, then one entry a parameter
    return "\n".join(one for one in entries if one.partition("\n")[0] not in _OF_THE_TABLE)


if anonymize.__doc__ and Anonymizer.__doc__:  # python -OO leaves docstrings out
    _own, _rest = inspect.cleandoc(Anonymizer.__doc__).split("\n\nAttributes\n", 1)
    Anonymizer.__doc__ = f"{_own}\n\n{_shared_parameters(inspect.cleandoc(anonymize.__doc__))}\n\nAttributes\n{_rest}"
