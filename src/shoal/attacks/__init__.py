"""What an intruder finds in a table or a release, tried on the steward's own rows.

Every attack returns a ``Finding``: how often it works, how often a guess would (the control), both with a 95 % interval. Called by users, the
command line and the summary of a release. Attacks know tables and released cells, and neither methods nor requests. Examples are row numbers;
no attack shows a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.attacks.base import Finding, Rate, as_frame
from shoal.attacks.composition import two_releases
from shoal.attacks.derived import derived
from shoal.attacks.inference import homogeneity
from shoal.attacks.linkage import linkage
from shoal.attacks.people import companions
from shoal.attacks.ranges import downcoding
from shoal.attacks.remains import leftovers, row_order
from shoal.attacks.representatives import distance_linkage, representative_columns
from shoal.attacks.row_owners import released_owner
from shoal.encoding import HierarchyChoice, check_hierarchies, load_hierarchy
from shoal.validation import check_int, check_keys, check_names

__all__ = [
    "Finding",
    "Rate",
    "companions",
    "derived",
    "distance_linkage",
    "downcoding",
    "homogeneity",
    "leftovers",
    "linkage",
    "row_order",
    "run_attacks",
    "two_releases",
]


def run_attacks(
    original: Any,
    release: Any,
    on: Sequence[str],
    *,
    sensitive: Sequence[str] = (),
    person: str | None = None,
    known: Any = None,
    previous: Any = None,
    k: int = 2,
    hierarchies: Mapping[str, HierarchyChoice] | None = None,
    seed: int = 0,
) -> list[Finding]:
    """Try every attack for which there is enough to go by, and return what each found.

    ``person`` is the column that identifies the person a record belongs to: attacks then count people. ``known`` is a list of people, ``previous`` an earlier release of the same people. Downcoding and,
    for representatives that are numbers, distance linkage are tried only if the release is still in the order of the
    original, because only then can their guesses be checked.

    Examples
    --------
    >>> import shoal
    >>> patients = shoal.datasets.hospital(n=300, seed=1).patients.select(["birth_date", "sex", "diagnosis"])
    >>> known = ["birth_date", "sex"]
    >>> result = shoal.anonymize(patients, k=5, quasi_identifiers=known, sensitive=["diagnosis"], method="mondrian")
    >>> [one.attack for one in shoal.attacks.run_attacks(patients, result, known, sensitive=["diagnosis"])]
    ['linkage', 'homogeneity', 'derived', 'row order', 'leftovers', 'downcoding']
    """
    on, sensitive = check_names("run_attacks", "on", on), check_names("run_attacks", "sensitive", sensitive)
    check_int("run_attacks", "k", k, least=2)
    check_int("run_attacks", "seed", seed, least=0)
    choices = check_hierarchies("run_attacks", hierarchies)
    trees = {name: load_hierarchy(name, choice) for name, choice in choices.items()}
    own, published = as_frame(original), as_frame(release)
    check_keys("hierarchies", choices, own.names, "column of the original")
    people: dict[str, Any] = {"hierarchies": trees, "seed": seed}
    if person is not None:
        people |= {"person": person, "owner": released_owner(own, published, on, person, trees)}
    found = [linkage(own, published, on, known=known, **people)]
    found += [homogeneity(own, published, on, name, **people) for name in sensitive]
    if person is not None:
        found.append(companions(own, published, on, **people))
    found.append(derived(own, published, on, **people))
    if previous is not None:
        found.append(two_releases(original, previous, release, on, k=k, hierarchies=trees, seed=seed))
    order = row_order(original, release, on, hierarchies=trees, seed=seed)
    found += [order, leftovers(original, release, on)]
    if order.figures["order_kept"] and own.records == published.records:
        numbers = representative_columns(own, published, on)
        if numbers:
            found.append(distance_linkage(own, published, numbers))
        else:
            found.append(downcoding(own, published, on, hierarchies=trees))
    return found
