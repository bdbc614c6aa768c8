"""Sentences of the report, the same in every rendering."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shoal.hierarchy.draw import branches
from shoal.summary import Summary
from shoal.summary.schema import Column, Distribution, Node, QueryError, Tree

FORMS = {
    "range": "as ranges",
    "node": "as broader terms of a hierarchy",
    "set": "as sets",
    "representative": "as one typical value for each group",
    "unchanged": "unchanged",
    "treated": "treated, see below",
    "token": "as tokens made with a key",
    "removed": "not released",
}


HOLDER = (
    "For the holder of the original table, not for publication: this report compares the release with the original. "
    "A public report says what may go out."
)
"""The first line of every rendering."""


def released_form(column: Column) -> str:
    """Return how a column is released; ranges, terms or sets that lost nothing are the values themselves."""
    if column.loss == 0 and column.released_as in {"range", "node", "set"}:
        return "as its own values, nothing lost"
    return FORMS[column.released_as] + (f" such as {column.example}" if column.example else "")


def released_from(column: Column) -> str:
    """Return how a column is released, and how its text was understood if that is not plain."""
    read = f"; read as {column.read_as}" if column.read_as else ""
    ends = f", ends at {column.ends}" if column.ends else ""
    return f"{released_form(column)}{ends}{read}"


_LIMITS = (
    (
        "Only the columns named as quasi-identifiers were protected.",
        "Any other released column that an outsider knows works like one, and nothing was counted for it.",
    ),
    (
        "k hides who, not what.",
        "If all records of a group share a diagnosis, it does not matter which of them is the person.",
    ),
    (
        "Every further table about the same people weakens the protection.",
        "Two releases, each safe by itself, can be joined; release once.",
    ),
    (
        "There is no differential privacy guarantee.",
        "Nothing bounds what somebody with arbitrary other knowledge can learn.",
    ),
    (
        "Whether the release is anonymous in the sense of a law is for people to decide.",
        "This report can support that judgement and does not replace it.",
    ),
)


_RECORDS_COUNTED = (
    "k counts records, not people.",
    "If a person has several records, name the column that tells people apart (person), and people are counted.",
)
_PEOPLE_COUNTED = (
    "k counts people only if the table identifies them.",
    "A person who is listed under two numbers counts as two.",
)


def limits(summary: Summary) -> Iterator[tuple[str, str]]:
    """Yield what the release does not promise: each time in short, then in a sentence."""
    yield from _LIMITS
    yield _RECORDS_COUNTED if summary.reached.persons is None else _PEOPLE_COUNTED


def percent(part: float, whole: float = 1.0) -> str:
    """Return a share that never rounds something to nothing or nearly all to all."""
    if not whole:
        return "–"
    share = 100 * part / whole
    if 0 < share < 0.1:
        return "< 0.1 %"
    if 99.9 < share < 100:
        return "> 99.9 %"
    text = f"{share:.1f}"
    return f"{text.removesuffix('.0')} %"


def listed(names: Sequence[str]) -> str:
    """Return names as people list them."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def chance(risk: float) -> str:
    """Return a risk as ``1 in n``, rounded towards the worse."""
    return "none" if risk <= 0 else f"1 in {int(1 / risk + 1e-9):,}"


def verdict(summary: Summary) -> str:
    """Return in one sentence whether the promise holds."""
    if not summary.released:
        return "Every record was withheld; the release holds no rows."
    return (
        f"Every released record shares its quasi-identifiers with at least {summary.reached.k - 1:,} others; "
        "this was counted on the finished rows, independently of the method that made them."
    )


def _shared_by(summary: Summary) -> str:
    """Return how often a released combination occurs, in records or in people."""
    k, reached = summary.promise.k, summary.reached
    if reached.persons is None and reached.households is None:
        return f"occurs at least {k:,} times"
    whom = [
        f"{k:,} of {count:,} {name}"
        for count, name in ((reached.persons, "people"), (reached.households, "households"))
        if count is not None
    ]
    return f"belongs to at least {' and '.join(whom)}"


def done(summary: Summary) -> Iterator[str]:
    """Yield what was done, for a reader without training."""
    names = {role: [one.name for one in summary.columns if one.role == role] for role in _roles(summary)}
    yield f"The table had {counted(summary.records, 'record')} in {counted(len(summary.columns), 'column')}."
    if "identifier" in names:
        yield f"Columns named as identifiers were removed: {listed(names['identifier'])}."
    yield (
        f"Columns an outsider may know ({listed(names['quasi-identifier'])}) were made coarser, until every combination "
        f"of released values {_shared_by(summary)}. The groups were found by the method {summary.method.name}."
    )
    if "sensitive" in names:
        yield f"Columns with what must not be tied to a person were kept: {listed(names['sensitive'])}."
    kept = [one for one in summary.columns if one.role == "kept"]
    averaged = [one.name for one in kept if one.released_as == "representative"]
    changed = {*averaged, *(one.column for one in summary.treatments)}
    if {one.name for one in kept} - changed:
        yield f"Passed through unchanged: {listed([one.name for one in kept if one.name not in changed])}."
    if averaged:
        yield f"Survey weights ({listed(averaged)}) were released as the mean of each group, so that their sums stay."
    yield from (f"{one.column} {one.words} (ISO/IEC 20889, {one.technique})." for one in summary.treatments)
    if "pseudonym" in names:
        yield f"Released as tokens made with a secret key, pseudonymous but not anonymous: {listed(names['pseudonym'])}."
    if "left out" in names:
        yield f"Left out, because they were given no role: {listed(names['left out'])}."
    yield from (f"Beyond k: {sentence}" for sentence in summary.promise.models)
    yield withheld(summary)


def _roles(summary: Summary) -> set[str]:
    return {column.role for column in summary.columns}


def withheld(summary: Summary) -> str:
    """Return how many records were withheld."""
    if summary.withheld is None:
        return f"Fewer than {summary.promise.k} records were withheld, because they fit no group; this report leaves them out."
    if not summary.withheld:
        return "No record was withheld."
    share = percent(summary.withheld, summary.records)
    return f"{counted(summary.withheld, 'record was', 'records were')} withheld ({share}), because they fit no group."


def kept(summary: Summary) -> str:
    """Return what a reader feels of the loss: exact cells, values of a typical cell, released columns."""
    released = sum(column.released_as != "removed" for column in summary.columns)
    columns = f"{released} of {counted(len(summary.columns), 'column is', 'columns are')} released."
    return " ".join([*felt_sentences(summary.loss.exact, summary.loss.typical), columns])


def felt_sentences(exact: float | None, typical: float | None) -> list[str]:
    """Return how many recoded cells are exact, and how many values the others stand for."""
    if exact is None:
        return []
    if typical is None:
        return ["All recoded cells are exact."]
    values = counted(round(typical), "value", "values")
    return [f"{percent(exact)} of the recoded cells are exact; a typical other cell stands for {values} of its column."]


FELT = ("exact", "values of a typical cell", "different cells", "left to guess")
"""Headings of what a reader feels of the loss in a column."""


def felt_cells(column: Column) -> tuple[str, str, str, str]:
    """Return these figures of a column; nothing for one that is not recoded."""
    if column.exact is None or column.guess is None or column.typical is None or column.different is None:
        return "", "", "", ""
    return percent(column.exact), f"{column.typical:,.0f}", f"{column.different:,}", percent(column.guess)


def cost(summary: Summary) -> str:
    """Return what was lost, and how little could be lost if that is known."""
    loss = summary.loss
    known = f" No grouping can lose less than {percent(loss.lower_bound)}." if loss.lower_bound is not None else ""
    return f"{kept(summary)} Measured by the width of cells as a share of their column, {percent(loss.ncp)} of the detail of the quasi-identifiers is gone.{known}"


def apart(summary: Summary, name: str) -> list[str]:
    """Return what the picture of a column leaves out."""
    column = next(column for column in summary.columns if column.name == name)
    spread = column.distribution
    notes = []
    if spread is None:
        return (
            [f"No picture: no value is shared by {summary.promise.k} people."]
            if column.released_as != "removed"
            else []
        )
    rest = spread.bins[-1] if spread.pooled else None
    if rest is not None:
        notes.append(
            f"{counted(spread.pooled, 'rarer value')} not drawn: {rest.before:,.0f} {whose(summary)} before, {rest.after:,.0f} after"
        )
    if spread.hidden_after:
        notes.append(f"cells that show nothing (*): {spread.hidden_after:,}")
    if spread.missing_before is None:
        notes.append(f"missing: fewer than {summary.promise.k}")
    elif spread.missing_before:
        notes.append(f"missing: {spread.missing_before:,} before, {spread.missing_after:,} after")
    if summary.withheld:
        notes.append(f"withheld records: {summary.withheld:,}")
    return notes


FIGURES = {
    "l": "fewest different values in a group",
    "entropy_l": "the same, with rare values counting less",
    "t": "largest distance of a group from the whole table, 0 to 1",
    "alpha": "largest share of one value in a group",
    "beta": "largest gain of a value's share over the whole table, relative",
    "c": "how many times as often the most frequent value occurs as the rare ones together, at worst",
    "delta": "largest logarithm of a value's share in a group over its share in the table",
}


def sensitive_keys(summary: Summary) -> list[str]:
    """Return what was measured on sensitive columns."""
    return list(dict.fromkeys(key for figures in summary.reached.sensitive.values() for key in figures))


def sensitive_headings(summary: Summary) -> list[str]:
    """Return the headings of the table of sensitive columns."""
    return ["sensitive column", *(key.replace("_", " ") for key in sensitive_keys(summary))]


def sensitive_rows(summary: Summary) -> list[list[str]]:
    """Return what each sensitive column promises."""
    return [
        [name, *(_bounded(figures.get(key)) for key in sensitive_keys(summary))]
        for name, figures in summary.reached.sensitive.items()
    ]


def sensitive_meanings(summary: Summary) -> list[str]:
    """Return what the figures of sensitive columns mean."""
    return [f"{key.replace('_', ' ')}: {FIGURES[key]}" for key in sensitive_keys(summary) if key in FIGURES]


def people_rows(summary: Summary) -> list[tuple[str, str]]:
    """Return how many people of the population fit the worst group, if a model asks for it."""
    names = {
        "k_map": "fewest people of the population who fit a group",
        "presence_least": "least share of them who are in the table",
        "presence_most": "largest share of them who are in the table",
        "left_out": "people of the population who fit no group, and are known not to be in the table",
    }
    return [(names.get(key, key), _bounded(value)) for key, value in summary.reached.people.items()]


def _bounded(value: float | None) -> str:
    return "no bound" if value is None else f"{value:,.3g}"


TREATMENT_HEADINGS = (
    "column",
    "what was done",
    "cells changed",
    "moved by",
    "alone with their value",
    "what is still found",
)


def treatment_rows(summary: Summary) -> list[tuple[str, ...]]:
    """Return what treatments of kept columns changed and left."""
    return [
        (
            one.column,
            f"{one.words} ({one.technique})",
            percent(one.changed),
            "–" if one.moved is None else f"{one.moved:.2f} standard deviations",
            f"{one.unique_before:,} before, {one.unique_after:,} after",
            one.remains,
        )
        for one in summary.treatments
    ]


ATTACK_HEADINGS = ("an intruder asks", "is right for", "without the release", "what it means")


def attack_rows(summary: Summary) -> list[tuple[str, ...]]:
    """Return what attacks on the released rows achieve."""
    return [
        (
            one.question,
            f"{percent(one.share)} ({percent(one.low)} to {percent(one.high)})",
            "–" if one.control is None else percent(one.control),
            one.verdict,
        )
        for one in summary.attacks
    ]


def attack_note(summary: Summary) -> str:
    """Return how attacks were tried."""
    return f"Tried on {counted(summary.attacks[0].tried, 'person', 'people')} of the original; in brackets the 95 % interval."


def number(value: float) -> str:
    """Return a measured number as people read it, a large one without an exponent."""
    return f"{value:,.6g}" if abs(value) < 1_000_000 else f"{value:,.0f}"


def whose(summary: Summary) -> str:
    """Return what values are counted in: people, or their records if a person has several."""
    return "people" if summary.reached.persons is None else "records"


SIZE_HEADINGS = ("size", "people, original", "people, released")
"""The heading above the sizes of groups."""


def size_note(summary: Summary) -> str:
    """Return what the sizes of groups count: people, those whose records are in several groups once in each."""
    several = (
        "" if summary.reached.persons is None else "Somebody whose records are in several groups counts once in each. "
    )
    return (
        f"How many people are in groups of each size; a group has the same quasi-identifiers. {several}"
        "In the release nobody is left of the line at k."
    )


def spread_headings(summary: Summary) -> tuple[str, str, str]:
    """Return the headings above the values of a column."""
    return ("value", *_before_and_after(summary))


def _before_and_after(summary: Summary) -> tuple[str, str]:
    return f"{whose(summary)}, original", f"{whose(summary)}, released"


TREE_NOTE = "The terms that the released cells show, in the order of the hierarchy. Behind each term stands how many records are released as this term itself."


def drawn_tree(tree: Tree) -> str:
    """Return what a release shows of a hierarchy, one line a term."""
    lines = [f"{before}{_on_one_line(node)}" for before, node in branches(tree.root, lambda node: node.below)]
    return "\n".join([*lines, *([f"… {tree.more:,} more"] if tree.more else [])])


def _on_one_line(node: Node) -> str:
    label = " ".join(node.label.split())
    return f"{label} · {counted(node.records, 'record')}" if node.records else label


ASSOCIATION_HEADINGS = ("columns", "measure", "original", "released")


def size_rows(summary: Summary) -> list[tuple[str, ...]]:
    """Return how many are in groups of which size."""
    return [
        (_size_text(one.low, one.high), f"{one.before:,}", f"{one.after:,}")
        for one in summary.group_sizes
        if one.before or one.after
    ]


def _size_text(low: int, high: int | None) -> str:
    if high is None:
        return f"{low:,} or more"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def spread_rows(spread: Distribution) -> list[tuple[str, ...]]:
    """Return how many have which values."""
    return [(one.label, f"{one.before:,.0f}", f"{one.after:,.0f}") for one in spread.bins]


def association_rows(summary: Summary) -> list[tuple[str, ...]]:
    """Return how strongly columns go together."""
    return [
        (f"{one.first} · {one.second}", one.measure, f"{one.before:.2f}", f"{one.after:.2f}")
        for one in summary.associations
    ]


COMMAND = "shoal anonymize TABLE.csv --recipe recipe.toml -o release.csv"


def query_sentence(error: QueryError) -> str:
    """Return how well counting questions are answered."""
    return (
        f"{counted(error.questions, 'random counting question')} (“how many people are 30 to 40 and live here?”, two columns "
        f"each) were asked of the release: half of the answers are off by at most {percent(error.median)}, "
        f"{percent(error.within_tenth)} of them by at most 10 %, and the mean error is {percent(error.mean)}."
    )
