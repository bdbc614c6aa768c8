"""Work: occupations (ISCO-08, SOC) and branches (NACE)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from shoal.knowledge.reading import Reading, enough, fold, make_reading
from shoal.knowledge.tables import lines, titled

Groups = tuple[str, ...]
_SOC = re.compile(r"(\d\d)-?(\d)(\d)(\d)(\d)(?:\.\d\d)?")
_NACE = re.compile(r"([A-U])?\.?(\d\d)(?:\.(\d)(\d)?)?")
_PLURAL = ("ies", "es", "s")
_ENDINGS = re.compile(r"(?:\(.*\)|/.*|,.*|:in(?:nen)?|\*in(?:nen)?| in| innen)$")


def read_job_titles(texts: Sequence[str]) -> Reading | None:
    """Read names of occupations in English and German: sub-major and major groups of ISCO-08."""
    found = {text: code for text in texts if (code := _occupation(text)) is not None}
    if not enough(len(found), texts, 3):
        return None
    titles = _isco()
    groups = {
        text: tuple(dict.fromkeys(titles[code[:length]] for length in (2, 1) if length <= len(code)))
        for text, code in found.items()
    }
    return make_reading("occupations by ISCO-08", texts, _without_values(groups, texts))


def _without_values(groups: dict[str, Groups], texts: Sequence[str]) -> dict[str, Groups]:
    """Return the groups, those that are called like a value renamed."""
    values = set(texts)
    return {
        text: tuple(f"{label} (all)" if label in values else label for label in labels)
        for text, labels in groups.items()
    }


def _occupation(text: str) -> str | None:
    """Return the group of ISCO-08 of a job: by its whole name, its singular, or its last words."""
    known = _jobs()
    words = fold(_ENDINGS.sub("", text.strip())).split()
    for first in range(len(words)):
        name = " ".join(words[first:])
        for one in (
            name,
            *(name.removesuffix(end) + ("y" if end == "ies" else "") for end in _PLURAL if name.endswith(end)),
        ):
            if one in known:
                return known[one]
    return None


@cache
def _jobs() -> dict[str, str]:
    known: dict[str, str] = {}
    for line in lines("occupations.txt"):
        code, rest = line.split(" ", 1)
        title, _, names = rest.partition(": ")
        for name in (title, *names.split("|")):
            known.setdefault(fold(name), code)
    return known


@cache
def _isco() -> dict[str, str]:
    return {code: rest.partition(": ")[0] for code, rest in titled("occupations.txt").items()}


def read_isco(texts: Sequence[str]) -> Reading | None:
    """Read codes of ISCO-08; digits alone say little, so they are read as such only for a column of that name."""
    found = {text: text.strip() for text in texts if re.fullmatch(r"\d{1,4}", text.strip())}
    titles = _isco()
    known = {text: code for text, code in found.items() if code[:1] in titles and (len(code) < 2 or code[:2] in titles)}
    if not enough(len(known), texts):
        return None
    groups = {
        text: tuple(code[:length].ljust(4, "*") for length in range(len(code) - 1, 0, -1))
        for text, code in known.items()
    }
    used = {label.rstrip("*") for above in groups.values() for label in above}
    named = {code.ljust(4, "*"): title for code, title in titles.items() if code in used}
    return make_reading("occupations by ISCO-08", texts, groups, titles=named)


def read_soc(texts: Sequence[str]) -> Reading | None:
    """Read codes of the Standard Occupational Classification: broad, minor and major groups."""
    found = {text: match for text in texts if "-" in text and (match := _SOC.fullmatch(text.strip()))}
    majors = titled("soc.txt")
    known = {text: match for text, match in found.items() if match[1] in majors}
    if not enough(len(known), texts, 2):
        return None
    groups = {text: (f"{m[1]}-{m[2]}{m[3]}{m[4]}*", f"{m[1]}-{m[2]}***", f"{m[1]}-****") for text, m in known.items()}
    titles = {f"{code}-****": title for code, title in majors.items() if any(m[1] == code for m in known.values())}
    return make_reading("occupations by SOC", texts, groups, titles=titles)


def read_nace(texts: Sequence[str], *, named: bool = False) -> Reading | None:
    """Read codes of NACE Rev. 2 with their section in front (C10.1), of three sections or more; others only for a column of that name.

    C10.1 is a diagnosis too, but diagnoses of three chapters would hardly agree with the sections.
    """
    found = {text: match for text in texts if (match := _NACE.fullmatch(text.strip().upper()))}
    sections = _nace_sections()
    known = {
        text: match
        for text, match in found.items()
        if match[2] in sections and (match[1] == sections[match[2]] if match[1] else named)
    }
    if not enough(len(known), texts, 2) or not (named or len({match[1] for match in known.values()}) > 2):
        return None
    groups = {text: _nace_groups(match, sections[match[2]]) for text, match in known.items()}
    titles = {f"section {line[0]}": line.split(" ", 2)[2] for line in lines("nace.txt")}
    used = {above[-1] for above in groups.values()}
    return make_reading(
        "branches by NACE Rev. 2",
        texts,
        groups,
        titles={label: title for label, title in titles.items() if label in used},
    )


def _nace_groups(match: re.Match[str], section: str) -> Groups:
    front = match[1] or ""
    division = (f"{front}{match[2]}.*",) if match[3] else ()
    group = (f"{front}{match[2]}.{match[3]}*",) if match[4] else ()
    return (*group, *division, f"section {section}")


@cache
def _nace_sections() -> dict[str, str]:
    """Return the section of each division."""
    spans = [(line[0], *line.split(" ", 2)[1].split("-")) for line in lines("nace.txt")]
    return {f"{number:02d}": letter for letter, first, last in spans for number in range(int(first), int(last) + 1)}
