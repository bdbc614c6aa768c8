"""Lengths of time as texts: ``10 min``, ``2 weeks``, ``P6M``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shoal.hierarchy.halves import halving_groups, run_name
from shoal.knowledge.reading import Reading, enough, make_reading

DURATIONS = "lengths of time"
_MINUTE, _DAY, _MONTH = 60.0, 86_400.0, 2_629_746.0
"""Seconds; a month is a twelfth of the mean year."""
_SECONDS = {
    word: seconds
    for seconds, words in (
        (1.0, "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos secondo secondi"),
        (_MINUTE, "min mins minute minutes minuten minuto minutos minuti"),
        (60 * _MINUTE, "h hr hrs hour hours std stunde stunden heure heures hora horas ora ore"),
        (_DAY, "d day days tag tage tagen jour jours día días giorno giorni"),
        (7 * _DAY, "w wk wks week weeks woche wochen semaine semaines semana semanas settimana settimane"),
        (_MONTH, "mo mon month months monat monate monaten mois mes meses mese mesi"),
        (12 * _MONTH, "y yr yrs year years jahr jahre jahren an ans année années año años anno anni"),
    )
    for word in words.split()
}
_PLAIN = re.compile(r"(?P<number>\d+(?:[.,]\d+)?)\s*(?P<unit>[^\W\d_]+)\.?")
_ISO = re.compile(
    r"P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)
_ISO_SECONDS = (12 * _MONTH, _MONTH, 7 * _DAY, _DAY, 60 * _MINUTE, _MINUTE, 1.0)


def read_durations(texts: Sequence[str]) -> Reading | None:
    """Return the order of lengths of time, whatever their units; None if too few texts are any."""
    found = {text: length for text in texts if (length := seconds_of(text)) is not None}
    if not enough(len(found), texts, 3):
        return None
    order = sorted(found, key=lambda text: (found[text], text))
    return make_reading(DURATIONS, texts, halving_groups(order, run_name), order=order)


def seconds_of(text: str) -> float | None:
    """Return a length of time in seconds."""
    bare = text.strip()
    if match := _PLAIN.fullmatch(bare):
        unit = _SECONDS.get(match["unit"].casefold())
        return None if unit is None else float(match["number"].replace(",", ".")) * unit
    if match := _ISO.fullmatch(bare):
        return sum(float(part or 0) * unit for part, unit in zip(match.groups(), _ISO_SECONDS, strict=True))
    return None
