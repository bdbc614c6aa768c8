"""The summary of a release: plain values with a versioned schema, from which every rendering is made."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = 1

Role = Literal["quasi-identifier", "sensitive", "identifier", "kept", "pseudonym", "left out"]
ReleasedAs = Literal["range", "node", "set", "representative", "unchanged", "treated", "token", "removed"]
Measure = Literal["correlation", "correlation ratio", "Cramér's V"]


class _Part(BaseModel):
    # deferred: most releases are made without a report, and building these models takes a tenth of shoal's own start
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Bin(_Part):
    """Records with values in one range or of one category. Before the release it counts at least k, or 0."""

    label: str
    low: float | str | None = Field(default=None, description="First value of a range; a date as ISO text.")
    high: float | str | None = Field(default=None, description="End of a range, itself not included.")
    before: float = Field(ge=0)
    after: float = Field(ge=0, description="Each released cell is spread evenly over the values it stands for.")


class Distribution(_Part):
    """How the values of a column are spread before and after."""

    form: Literal["histogram", "bars"]
    unit: Literal["number", "date", "category"]
    bins: list[Bin]
    pooled: int = Field(default=0, description="Values that are too rare to be shown by themselves.")
    missing_before: int | None = Field(default=0, description="None: some, but fewer than k.")
    missing_after: int | None = 0
    hidden_after: int = Field(default=0, description="Released cells that show nothing (*).")


class Node(_Part):
    """A term of a hierarchy, with the terms below it that the release shows too."""

    label: str
    records: int = Field(ge=0, description="Released records whose cell is this term itself.")
    below: list[Node] = []


class Tree(_Part):
    """The part of a hierarchy that released cells show: a function of the released rows, so that no value of a withheld record is in it.

    The labels above released ones are part of it only if the hierarchy comes from a file; otherwise they were made from the table.
    """

    root: Node
    more: int = Field(default=0, ge=0, description="Terms that the release shows too, left out because they are many.")


class Column(_Part):
    """What became of a column."""

    name: str
    role: Role
    released_as: ReleasedAs
    example: str | None = Field(default=None, description="The most frequent released cell that is a range or a set.")
    read_as: str | None = Field(default=None, description="How its text was understood, if that is not plain.")
    ends: str | None = Field(
        default=None,
        description="The round values at which ranges end, such as 'multiples of 5'; empty if ends are not rounded.",
    )
    weight: float | None = None
    loss: float | None = Field(default=None, description="Share of the column's detail that is lost, 0..1.")
    exact: float | None = Field(default=None, description="Share of the records whose cell is one value.")
    typical: float | None = Field(
        default=None, description="Number of values of the table that a cell stands for: the median over records."
    )
    different: int | None = Field(default=None, description="Number of different cells.")
    guess: float | None = Field(
        default=None,
        description="Share of the information of a value (its entropy) that is lost, by how frequent the values of a cell are.",
    )
    distribution: Distribution | None = None
    tree: Tree | None = Field(default=None, description="If it is released as terms of a hierarchy of several levels.")


class Treatment(_Part):
    """What a treatment did to a kept or sensitive column."""

    column: str
    treatment: str
    words: str = Field(description="What was done, as the end of a sentence that begins with the column's name.")
    technique: str = Field(description="Class and technique in the words of ISO/IEC 20889.")
    changed: float = Field(description="Share of the cells that show another value than before.")
    moved: float | None = Field(
        default=None, description="Mean distance of old and new numbers or dates, in standard deviations of the column."
    )
    unique_before: int = Field(description="Records that were alone with their value.")
    unique_after: int
    remains: str = Field(description="What an intruder still finds.")


class Method(_Part):
    """How the groups were found."""

    name: str
    title: str
    paper: str
    effort: str | float | None = Field(default=None, description="None if the method has no such dial.")
    seed: int


class Promise(_Part):
    """What was asked for."""

    k: int
    models: list[str] = Field(description="Each privacy model beyond k in one sentence.")
    max_suppression: float


class Reached(_Part):
    """What the released rows have, counted again."""

    k: int
    groups: int
    mean_size: float
    largest: int
    persons: int | None = Field(
        default=None, description="How many persons the records belong to; groups are then counted in persons."
    )
    households: int | None = Field(default=None, description="How many households they belong to, if those are known.")
    sensitive: dict[str, dict[str, float | None]] = Field(
        description="For each sensitive column: l, t and whatever else was measured; None if there is no bound."
    )
    people: dict[str, float | None] = Field(
        default_factory=dict,
        description="With k-map or δ-presence: how many people of the population fit the worst group.",
    )


class Findable(_Part):
    """Who can be found by somebody who knows a person's quasi-identifiers."""

    unique: int = Field(description="Records that match such knowledge alone.")
    below_k: int = Field(description="Records that share their values with fewer than k - 1 others.")
    mean_risk: float = Field(
        description="Chance that a guess within the record's group is right, on average over all records."
    )
    largest_risk: float = Field(description="The same for the record with the highest chance.")


class Known(_Part):
    """What knowing some of the quasi-identifiers was worth before the release."""

    columns: list[str]
    unique: int


class Found(_Part):
    """Who could be found before and after."""

    before: Findable
    after: Findable
    by_columns: list[Known] = Field(description="For each number of columns known, the most telling ones.")


class Attack(_Part):
    """What an intruder achieves on the released rows, and a guesser without them; shares of the people tried."""

    attack: str
    question: str
    tried: int
    share: float
    low: float = Field(description="Low end of the 95 % interval of the share.")
    high: float
    control: float | None
    verdict: str


class Measured(_Part):
    """A metric with its meaning."""

    name: str
    title: str
    value: float
    better: Literal["lower", "higher"]
    best: float
    worst: float | None
    meaning: str


class Loss(_Part):
    """What was lost."""

    ncp: float
    lower_bound: float | None = Field(default=None, description="No grouping can lose less, if the method knows.")
    exact: float | None = Field(default=None, description="Share of all recoded cells that are one value.")
    typical: float | None = Field(
        default=None,
        description="Number of values that a cell stands for, as the median over all cells that are not exact.",
    )
    metrics: list[Measured]


class SizeBin(_Part):
    """Records in groups of ``low`` to ``high`` records (None: and more)."""

    low: int
    high: int | None
    before: int
    after: int


class Association(_Part):
    """How strongly two columns go together, 0..1 (a correlation: -1..1)."""

    first: str
    second: str
    measure: Measure
    before: float
    after: float


class QueryError(_Part):
    """How wrong answers to random counting questions are when asked of the release.

    A question has a condition on each of two quasi-identifiers; those whose true answer is 0 do not count.
    """

    questions: int = Field(ge=1)
    median: float
    mean: float
    within_tenth: float = Field(description="Share of the questions answered with an error of at most 10 %.")


class Row(_Part):
    """One released record; a cell is None if it is missing."""

    released: list[str | None]
    changed: list[bool]
    original: list[str | None] | None = None


class Examples(_Part):
    """Some records as they are released."""

    columns: list[str]
    rows: list[Row]
    holds_original: bool


class Summary(_Part):
    """All that a report says about a release."""

    audience: Literal["holder"] = Field(
        default="holder", description="Whom it is for: it compares with the original, so it is not for publication."
    )
    version: Literal[1] = Field(default=1, description="Version of this format.")
    shoal: str
    created: str = Field(description="Date in ISO form.")
    records: int = Field(description="Records that were compared; without the withheld ones if they are fewer than k.")
    released: int
    withheld: int | None = Field(description="None: fewer than k, because a difference could reveal what they had.")
    columns: list[Column]
    treatments: list[Treatment] = Field(default=[], description="Of kept and sensitive columns.")
    method: Method
    promise: Promise
    reached: Reached
    found: Found
    attacks: list[Attack] = Field(description="Tried on the released rows; empty if cells cannot be matched by text.")
    loss: Loss
    group_sizes: list[SizeBin]
    associations: list[Association]
    query_error: QueryError | None = None
    examples: Examples
    recipe: str = Field(description="The recipe file, to repeat the release.")
    warnings: list[str] = Field(default=[], description="Points to check before publishing this release.")


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a summary."""
    schema = Summary.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "shoal summary"
    return schema
