"""Days of the week, months, languages and currencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from shoal.knowledge.reading import Reading, enough, fold, make_reading
from shoal.knowledge.tables import rows

_DAYS = """
monday mon mo montag lundi lun lunes lunedì
tuesday tue tues tu di dienstag mardi martes mar martedì
wednesday wed weds we mi mittwoch mercredi mer miércoles mié mercoledì
thursday thu thur thurs th do donnerstag jeudi jeu jueves jue giovedì gio
friday fri fr freitag vendredi ven viernes vie venerdì
saturday sat sa samstag sonnabend samedi sam sábado sáb sabato sab
sunday sun su so sonntag dimanche dim domingo dom domenica
"""
_MONTHS = """
january jan januar jänner janvier janv enero ene gennaio gen
february feb februar février févr fév febrero febbraio
march mar märz mär mrz mars marzo
april apr avril avr abril abr aprile
may mai mayo maggio mag
june jun juni juin junio giugno giu
july jul juli juillet juil julio luglio lug
august aug août agosto ago
september sep sept septembre septiembre settembre set
october oct oktober okt octobre octubre ottobre ott
november nov novembre noviembre
december dec dezember dez décembre déc diciembre dic dicembre
"""


def _places(table: str) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, names in enumerate(table.strip().splitlines()):
        for name in names.split():
            places.setdefault(fold(name), place)
    return places


def read_weekdays(texts: Sequence[str]) -> Reading | None:
    """Read days of the week: working days and the weekend."""
    known = _places(_DAYS)
    found = {text: known[fold(text)] for text in texts if fold(text) in known}
    if not enough(len(found), texts, 3):
        return None
    groups = {text: ("weekend" if place > 4 else "working day",) for text, place in found.items()}
    order = sorted(found, key=lambda text: (found[text], text))
    return make_reading("days of the week", texts, groups, order=order)


def read_month_names(texts: Sequence[str]) -> Reading | None:
    """Read names of months: quarters and halves of the year."""
    known = _places(_MONTHS)
    found = {text: known[fold(text)] for text in texts if fold(text) in known}
    if not enough(len(found), texts, 3):
        return None
    quarters = ("January to March", "April to June", "July to September", "October to December")
    groups = {
        text: (quarters[place // 3], f"{'first' if place < 6 else 'second'} half-year") for text, place in found.items()
    }
    order = sorted(found, key=lambda text: (found[text], text))
    return make_reading("months", texts, groups, order=order)


def read_calendar_names(texts: Sequence[str]) -> Reading | None:
    """Read days of the week or months, whichever they are."""
    return read_weekdays(texts) or read_month_names(texts)


def read_languages(texts: Sequence[str]) -> Reading | None:
    """Read names and ISO 639 codes of languages: their families."""
    known = _languages()
    found = {text: known[fold(text)] for text in texts if fold(text) in known}
    if not enough(len(found), texts, 3):
        return None
    groups = {text: tuple(label for label in (row["family"], row["above"]) if label) for text, row in found.items()}
    titles = {text: row["name"] for text, row in found.items() if fold(text) != fold(row["name"])}
    return make_reading("languages by family", texts, groups, titles=titles)


@cache
def _languages() -> dict[str, Mapping[str, str]]:
    known: dict[str, Mapping[str, str]] = {}
    for row in reversed(rows("languages.csv")):
        for word in (*row["names"].split("|"), row["alpha3"], row["alpha2"], row["name"]):
            if word:
                known[fold(word)] = row
    return known


def read_currencies(texts: Sequence[str]) -> Reading | None:
    """Read ISO 4217 codes of currencies: the part of the world whose countries pay with them."""
    known = _currencies()
    found = {text: known[text.strip().upper()] for text in texts if text.strip().upper() in known}
    if not enough(len(found), texts, 3):
        return None
    groups = {text: tuple(f"currencies of {label}" for label in dict.fromkeys(above)) for text, above in found.items()}
    return make_reading("currencies by region", texts, groups)


@cache
def _currencies() -> dict[str, tuple[str, str]]:
    """Return region and continent of each currency: those of the country it is named after, else of the first that has it."""
    known: dict[str, tuple[str, str]] = {"EUR": ("Western Europe", "Europe")}
    table = rows("countries.csv")
    for row in sorted(table, key=lambda row: row["currency"][:2] != row["alpha2"]):
        if row["currency"]:
            known.setdefault(row["currency"], (row["region"], row["continent"]))
    return known
