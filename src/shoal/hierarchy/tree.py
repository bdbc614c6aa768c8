"""The hierarchy: how one is made, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.errors import HierarchyError, ParameterError
from shoal.hierarchy import links
from shoal.hierarchy.derived import date_chains, prefix_chains
from shoal.hierarchy.draw import draw
from shoal.hierarchy.files import Source, read_chains, read_text, write_chains
from shoal.hierarchy.intervals import interval_chains
from shoal.hierarchy.numbered import NumberedTree
from shoal.hierarchy.regular import read_regular
from shoal.hierarchy.suggest import suggested
from shoal.hierarchy.texts import distinct_values, match_texts, value_text
from shoal.notebook import safely, text_card
from shoal.validation import check_float, check_int, nearest_hint

HINT_LIMIT = 10_000
"""Looking for the nearest label among more than this many takes longer than it helps."""


class Hierarchy(NumberedTree):
    """A rooted ordered tree whose leaves are the texts of a column's values.

    Make one with ``from_csv``, ``from_dict``, ``from_parents``, ``from_prefixes``, ``from_intervals``,
    ``from_dates`` or ``flat``, or have one suggested for a column (``suggest``). It cannot be changed.

    Examples
    --------
    >>> import shoal
    >>> zips = shoal.Hierarchy.from_prefixes(["40213", "40217", "51107"], [3, 0])
    >>> zips.levels, zips.n_leaves
    (3, 3)
    >>> jobs = shoal.Hierarchy.from_dict({"*": {"health": ["nurse", "doctor"], "craft": ["baker", "smith"]}})
    >>> print(jobs.show())
    * (4)
    ├── health (2)
    │   ├── nurse
    │   └── doctor
    └── craft (2)
        ├── baker
        └── smith
    """

    # ------------------------------------------------------------------ making one

    @classmethod
    def from_dict(cls, nested: Mapping[Any, Any] | Sequence[Any]) -> Hierarchy:
        """Read nested dicts and lists, as in ``{"*": {"North": ["a", "b"], "South": ["c"]}}``.

        One key at the top is the root; several get the root ``*``. A list may mix values and dicts, and a key
        with the value None is a leaf.
        """
        return cls._from_links(links.links_from_nested(nested))

    @classmethod
    def from_parents(cls, child_to_parent: Mapping[Any, Any]) -> Hierarchy:
        """Read a mapping of each node but the root to its parent."""
        return cls._from_links(links.links_from_parents(child_to_parent))

    @classmethod
    def from_csv(cls, source: Source, separator: str | None = None, encoding: str | None = None) -> Hierarchy:
        """Read a file (a path or an open file) with one line ``leaf;parent;…;root`` for each leaf.

        This is the format of ARX. The separator (semicolon, tab, bar or comma) is found unless given; lines may
        differ in length; if they end in different groups, a root ``*`` is added.
        """
        text, mark = read_text(source, separator, encoding)
        regular = read_regular(text, mark)
        return cls._from_links(links.links_from_chains(read_chains(text, mark))) if regular is None else cls(*regular)

    @classmethod
    def from_prefixes(cls, values: Iterable[Any], lengths: Iterable[int] | int) -> Hierarchy:
        """Group codes by their first characters: ``lengths=[4, 3, 0]`` gives ``12345``, ``1234*``, ``123**``, ``*``."""
        return cls._from_links(links.links_from_chains(prefix_chains(distinct_values(values), lengths)))

    @classmethod
    def from_intervals(
        cls, values: Iterable[Any], width: Any = None, *, cuts: Sequence[Any] | None = None, origin: float = 0
    ) -> Hierarchy:
        """Group numbers into intervals, from ``width`` or from explicit ``cuts``.

        ``width`` is a number or several, each a multiple of the one before, counted from ``origin``:
        ``[5, 10]`` puts 7 into [5-9] and [0-9]. ``cuts`` is a list of bounds, or several lists of which each
        is part of the one before: ``[0, 18, 65, 120]`` gives [0-17], [18-64] and [65-120]; a bound opens the
        interval above it, the last one closes the last interval. Both ends of a label belong to the interval.
        """
        chains = interval_chains(distinct_values(values), width, cuts, origin)
        return cls._from_links(links.links_from_chains(chains))

    @classmethod
    def from_dates(
        cls, values: Iterable[Any], levels: Iterable[str] = ("day", "month", "quarter", "year", "decade")
    ) -> Hierarchy:
        """Group dates (or ISO texts): 2024-03-01, 2024-03, 2024-Q1, 2024, 2020s, ``*``."""
        return cls._from_links(links.links_from_chains(date_chains(distinct_values(values), levels)))

    @classmethod
    def flat(cls, values: Iterable[Any]) -> Hierarchy:
        """Put all values directly below the root ``*``, in the order they first appear."""
        chains = (links.Chain((value_text(value), links.ROOT)) for value in distinct_values(values))
        return cls._from_links(links.links_from_chains(chains))

    @classmethod
    def suggest(cls, values: Iterable[Any] | Mapping[str, Any], name: str = "") -> Hierarchy:
        """Make a hierarchy for a column from its values, as a start to look at and change.

        Dates are grouped by month, year and decade, numbers in round steps, texts with an order (age bands, answers, grades, months) along that
        order, what is known about the world as it is known (countries, postcodes, diagnoses, occupations), and paths, codes and addresses by
        their structure; all other values are placed directly below the root. ``reading`` says what was recognized and what was not. A mapping says
        what texts mean that the table writes in its own way: ``{"01.03.2024": date(2024, 3, 1), "NA": None}``. The ``name`` of the column
        explains codes that nothing else explains, such as ``isco``.

        Examples
        --------
        >>> import shoal
        >>> shoal.Hierarchy.suggest([23, 37, 41, 68]).path(37)
        ('37', '[35-39]', '[30-39]', '[20-39]', '*')
        >>> shoal.Hierarchy.suggest(["40213", "51107"]).levels
        6
        >>> shoal.Hierarchy.suggest(["Chile", "Peru", "Norway"]).path("Peru")
        ('Peru', 'South America', 'Americas', '*')
        """
        given = values if isinstance(values, Mapping) else {value_text(one): one for one in distinct_values(values)}
        if not all(isinstance(text, str) for text in given):
            raise ParameterError("A mapping given to Hierarchy.suggest must have texts as keys. Got another type.")
        chains, reading = suggested(given, name)
        tree = cls._from_links(links.links_from_chains(chains))
        return tree if reading is None else replace(tree, reading=reading)

    def weighted(self, weights: Mapping[str, float]) -> Hierarchy:
        """Return the same tree with weights on its nodes, by label (Xu et al. 2006, section 3.2.2).

        A node then costs the weights of itself and of all nodes below it, as a share of those of all nodes; by default a leaf has the weight 1
        and an inner node 0, which counts leaves. A heavy leaf makes every node above it more expensive, a heavy inner node only itself and those above.
        """
        given = np.repeat([1.0, 0.0], [self.n_leaves, self.n_nodes - self.n_leaves])
        for label, weight in weights.items():
            given[self.node(label)] = check_float(
                "Hierarchy.weighted", f"weights[{label!r}]", weight, least=0.0, most=1e6
            )
        if given.sum() <= 0:
            raise HierarchyError("A hierarchy must have at least one node with a weight above 0. All are 0.")
        given.flags.writeable = False
        return type(self)(self.labels, self.parent, self.n_leaves, given, self.reading)

    # ------------------------------------------------------------------ the tree as texts

    def node(self, label: str) -> int:
        """Return the number of the node with this label."""
        number = self._nodes.get(label)
        if number is None:
            raise self._unknown(label, "node", self.labels)
        return number

    def size(self, label: str) -> int:
        """Return the number of leaves below a node (1 for a leaf)."""
        return int(self._sizes[self.node(label)])

    def leaves_below(self, label: str) -> tuple[str, ...]:
        """Return the leaves below a node (a leaf itself)."""
        node = self.node(label)
        return self.labels[self.low[node] : self.high[node] + 1]

    def children(self, label: str) -> tuple[str, ...]:
        """Return the labels right below a node, in order; none for a leaf."""
        return tuple(self.labels[child] for child in self._children.get(self.node(label), ()))

    def path(self, leaf: Any) -> tuple[str, ...]:
        """Return the labels from a leaf up to the root."""
        node = self._leaf(leaf)
        path = [self.labels[node]]
        while node != self.root:
            node = int(self.parent[node])
            path.append(self.labels[node])
        return tuple(path)

    def level(self, leaf: Any, level: int) -> str:
        """Return the label ``level`` steps above a leaf, or the root if there are fewer steps."""
        steps = check_int("Hierarchy.level", "level", level, least=0)
        path = self.path(leaf)
        return path[min(steps, len(path) - 1)]

    def common_ancestor(self, values: Iterable[Any]) -> str:
        """Return the label of the closest node above all the values (a value itself if there is only one)."""
        codes = [self._leaf(value) for value in ([values] if isinstance(values, str) else values)]
        if not codes:
            raise HierarchyError("No values have no common ancestor.", hint="give at least one value")
        node, last = min(codes), max(codes)
        while self.high[node] < last:
            node = int(self.parent[node])
        return self.labels[node]

    def to_csv(self, target: Source) -> None:
        """Write one line ``leaf;parent;…;root`` for each leaf, to a path or an open text file."""
        write_chains(target, map(self.path, self.leaves))

    def to_dict(self) -> dict[str, Any]:
        """Return nested dicts and lists that :meth:`from_dict` reads back."""
        below: list[Any] = [None] * self.n_nodes
        for node in range(self.n_leaves, self.n_nodes):
            children = self._children[node]
            if all(child >= self.n_leaves for child in children):
                below[node] = {self.labels[child]: below[child] for child in children}
            else:
                below[node] = [
                    self.labels[child] if child < self.n_leaves else {self.labels[child]: below[child]}
                    for child in children
                ]
        return {self.labels[self.root]: below[self.root]}

    def show(self, max_leaves: int | None = None) -> str:
        """Return the tree drawn with box characters, all of it or its first ``max_leaves`` leaves."""
        if max_leaves is not None:
            check_int("Hierarchy.show", "max_leaves", max_leaves, least=1)
        return draw(self, max_leaves)

    def __str__(self) -> str:
        return self.show(max_leaves=40)

    def __repr__(self) -> str:
        return f"<Hierarchy {self.labels[self.root]!r}: {self.n_leaves} leaves, {self.n_nodes} nodes, {self.levels} levels>"

    @safely
    def _repr_html_(self) -> str:
        return text_card(f"{self!r}\n{self}")

    def _leaf(self, value: Any) -> int:
        text = value_text(value)
        code = self._leaf_numbers.get(text, -1)
        if code < 0:
            code = match_texts(self._leaf_numbers, [text])[0]
        if code < 0:
            raise self._unknown(text, "leaf", self.leaves)
        return code

    def _unknown(self, label: str, what: str, known: tuple[str, ...]) -> HierarchyError:
        hint = nearest_hint(label, known) if len(known) <= HINT_LIMIT else None
        return HierarchyError(
            f"{label!r} is not a {what} of this hierarchy.", hint=hint or "print the hierarchy to see its labels"
        )
