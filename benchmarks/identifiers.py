"""Identifiers by their values: shoal beside the pattern recognizers of Presidio, on invented cells of known kinds.

python -m benchmarks.identifiers PYTHON       PYTHON is an interpreter with presidio-analyzer; needs faker (pip install faker tzdata)

The package Faker invents the identifiers, so that neither tool's own check digits decide what is right. Each kind is a column of whole cells and one
of sentences; ordinary columns hold none. A finding is right if it names the kind of its cell, or of its column. Presidio's names of people and places
need a model of a language, so they are not part of this.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measuring import Row, Table, write_page
from shoal.frames import to_frame
from shoal.inspection import find_identifiers

CELLS = 40
KINDS = {
    "e-mail address": [("en_US", "email")],
    "web address": [("en_US", "url")],
    "IP address": [("en_US", "ipv4"), ("en_US", "ipv6")],
    "MAC address": [("en_US", "mac_address")],
    "IBAN": [("en_GB", "iban"), ("de_DE", "iban")],
    "credit card number": [("en_US", "credit_card_number")],
    "social security number (US)": [("en_US", "ssn")],
    "codice fiscale (IT)": [("it_IT", "ssn")],
    "DNI or NIE (ES)": [("es_ES", "nif"), ("es_ES", "nie")],
    "PESEL (PL)": [("pl_PL", "pesel")],
    "personal number (SE)": [("sv_SE", "ssn")],
    "telephone number": [(one, "phone_number") for one in ("en_US", "en_GB", "de_DE", "fr_FR")],
    "number plate": [("en_GB", "license_plate"), ("fr_FR", "license_plate")],
    "social security number (FR)": [("fr_FR", "ssn")],
    "AHV number (CH)": [("de_CH", "ssn")],
    "CPF (BR)": [("pt_BR", "cpf")],
    "citizen service number (NL)": [("nl_NL", "ssn")],
    "vehicle identification number": [("en_US", "vin")],
    "street address": [("en_US", "street_address"), ("de_DE", "street_address")],
}
"""Kinds of shoal, and who invents them."""
ENTITIES = {
    "EMAIL_ADDRESS": "e-mail address",
    "URL": "web address",
    "IP_ADDRESS": "IP address",
    "MAC_ADDRESS": "MAC address",
    "IBAN_CODE": "IBAN",
    "CREDIT_CARD": "credit card number",
    "US_SSN": "social security number (US)",
    "IT_FISCAL_CODE": "codice fiscale (IT)",
    "ES_NIF": "DNI or NIE (ES)",
    "ES_NIE": "DNI or NIE (ES)",
    "PL_PESEL": "PESEL (PL)",
    "SE_PERSONNUMMER": "personal number (SE)",
    "PHONE_NUMBER": "telephone number",
    "UK_VEHICLE_REGISTRATION": "number plate",
    "DE_KFZ": "number plate",
}
"""Presidio's entities by the kinds of shoal; all other entities count as findings of another kind, except moments."""
MOMENT = "DATE_TIME"
ORDINARY = (
    "city",
    "job",
    "country",
    "date",
    "time",
    "postcode",
    "color_name",
    "month_name",
    "file_extension",
    "sentence",
)
SENTENCE = "The family was asked again, {} is what they wrote down."


class Column(NamedTuple):
    """A column of invented cells; its kind is blank if it holds no identifiers."""

    kind: str
    inside: bool
    cells: list[str]


class Told(NamedTuple):
    """What a tool says: kinds for each cell, and for each column."""

    cells: list[list[set[str]]]
    columns: list[set[str]]
    seconds: float


def columns(seed: int = 0) -> list[Column]:
    """Return the invented columns."""
    from faker import Faker

    Faker.seed(seed)
    made = []
    for kind, sources in KINDS.items():
        for locale, provider in sources:
            invent: Callable[[], Any] = getattr(Faker(locale), provider)
            cells = [" ".join(str(invent()).split()) for _ in range(CELLS)]
            made += [Column(kind, False, cells), Column(kind, True, [SENTENCE.format(one) for one in cells])]
    english = Faker("en_US")
    made += [Column("", False, [str(getattr(english, name)()) for _ in range(CELLS)]) for name in ORDINARY]
    random = np.random.default_rng(seed)
    made += [Column("", False, [str(one) for one in random.integers(10 ** (size - 1), 10**size, CELLS)]) for size in (3, 5, 8, 9, 10, 11)]  # fmt: skip
    made.append(Column("", False, [f"{one:.2f}" for one in random.uniform(0, 10**5, CELLS)]))
    return made


def ask_shoal(made: Iterable[Column]) -> Told:
    """Return what shoal says, of cells by themselves and of whole columns."""
    made = list(made)
    begin = time.process_time()
    found = [_named([column.cells])[0] for column in made]
    seconds = time.process_time() - begin
    return Told([_named([[cell] for cell in column.cells]) for column in made], found, seconds)


def _named(cells: list[list[str]]) -> list[set[str]]:
    """Return the kinds found in each of some columns of cells."""
    kinds: list[set[str]] = [set() for _ in cells]
    for place, column in enumerate(cells):
        kinds[place] |= {one.format for one in find_identifiers(to_frame({"x": column}))}
    return kinds


def ask_presidio(made: Iterable[Column], python: str, least: float) -> tuple[Told, str]:
    """Return what Presidio says with scores of at least ``least``, and its version; columns are judged by shoal's rule."""
    made = list(made)
    cells = json.dumps([cell for column in made for cell in column.cells])
    job = Path(__file__).parent / "peers" / "presidio.py"
    done = subprocess.run([python, "-W", "ignore", str(job)], input=cells, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.strip().splitlines()[-1])
    hits = iter(told["found"])
    by_cell, by_column = [], []
    for column in made:
        found = [
            [(ENTITIES.get(entity, entity), whole) for entity, whole, score in next(hits) if score >= least and entity != MOMENT]
            for _ in column.cells
        ]  # fmt: skip
        by_cell.append([{kind for kind, _ in one} for one in found])
        kinds = {kind for one in found for kind, _ in one}
        whole = {kind for kind in kinds if sum((kind, True) in one for one in found) * 2 >= len(found)}
        by_column.append(whole or kinds)
    return Told(by_cell, by_column, told["CPU s"]), told["version"]


def compare(made: list[Column], tools: dict[str, Told]) -> tuple[list[Row], list[Row]]:
    """Return precision and recall of each tool, and the share of the cells of each kind that it finds."""
    both = set(ENTITIES.values())
    overall = []
    for tool, told in tools.items():
        for inside in (False, True):
            places = [place for place, one in enumerate(made) if one.inside == inside]
            pairs = [({made[place].kind} - {""}, kinds) for place in places for kinds in told.cells[place]]
            wanted = [({made[place].kind} - {""}, told.columns[place]) for place in places]
            shared = [(right & both, kinds) for right, kinds in pairs]
            overall.append(
                {
                    "cells": "sentences" if inside else "whole",
                    "tool": tool,
                    "precision": _share(pairs, of_said=True),
                    "recall": _share(pairs, of_said=False),
                    "recall, kinds that both know": _share(shared, of_said=False),
                    "columns: precision": _share(wanted, of_said=True),
                    "columns: recall": _share(wanted, of_said=False),
                    "CPU s of all columns": told.seconds,
                }
            )
    kinds = [
        {"kind": kind}
        | {
            f"{tool}, {'sentences' if inside else 'whole'}": _share(
                [({kind}, found) for place, one in enumerate(made) if (one.kind, one.inside) == (kind, inside) for found in told.cells[place]],
                of_said=False,
            )
            for tool, told in tools.items()
            for inside in (False, True)
        }
        for kind in KINDS
    ]  # fmt: skip
    return overall, kinds


def _share(pairs: list[tuple[set[str], set[str]]], *, of_said: bool) -> float:
    """Return the share of the kinds said that are right, or of the right ones that are said."""
    right = sum(len(real & said) for real, said in pairs)
    return right / max(sum(len(said if of_said else real) for real, said in pairs), 1)


def main() -> None:
    """Compare, and keep the page."""
    made = columns()
    strict, version = ask_presidio(made, sys.argv[1], 0.5)
    tools = {
        "shoal": ask_shoal(made),
        "Presidio from 0.5": strict,
        "Presidio, any score": ask_presidio(made, sys.argv[1], 0.0)[0],
    }
    overall, kinds = compare(made, tools)
    note = f"{CELLS} cells a column; {sum(1 for one in made if one.kind and not one.inside)} columns of {len(KINDS)} kinds, each once as whole cells and once in sentences, and {sum(not one.kind for one in made)} ordinary ones. shoal judges whole columns; of cells, each is a column of its own here. Presidio's score of 0.5 leaves out patterns that it trusts little without words around them."
    pages = [Table("Right and found", note, overall), Table("Cells found, by kind", "", kinds)]
    write_page(
        "identifiers",
        f"Identifiers by values: shoal beside Presidio {version}",
        pages,
        "python -m benchmarks.identifiers PYTHON",
    )


if __name__ == "__main__":
    main()
