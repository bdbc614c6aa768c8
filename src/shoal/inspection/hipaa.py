"""The Safe Harbor of HIPAA: eighteen kinds of identifiers (45 CFR 164.514(b)(2)), each looked for and each with what removes it.

Safe Harbor also asks that nobody knows how the rest could identify a person, which no program can know. The rules remove columns, show years for dates, one value for ages
over 89 and no place smaller than a state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from shoal.frames import Frame, is_nested
from shoal.inspection.first_look import Inspection, inspect_table
from shoal.inspection.formats import ValueFinding, find_identifiers
from shoal.inspection.words import words_of

OLDEST = 89
Action = Literal["remove", "year", "top-code"]


@dataclass(frozen=True)
class Rule:
    """One of the eighteen kinds."""

    letter: str
    name: str
    words: frozenset[str] = frozenset()
    formats: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RuleFinding:
    """What one rule found, and what would be done."""

    letter: str
    name: str
    columns: dict[str, Action]
    """The columns it concerns, and what is done with each."""
    evidence: tuple[str, ...]
    """Why, in a phrase for each column; counts only."""


@dataclass(frozen=True)
class SafeHarbor:
    """What all eighteen rules found in a table."""

    findings: tuple[RuleFinding, ...]
    inspection: Inspection

    @property
    def actions(self) -> dict[str, Action]:
        """What is done with each column; removal wins."""
        done: dict[str, Action] = {}
        for one in self.findings:
            for name, action in one.columns.items():
                done[name] = "remove" if "remove" in (action, done.get(name)) else action
        return done


def _rule(letter: str, name: str, words: str = "", formats: str = "") -> Rule:
    return Rule(letter, name, frozenset(words.split()), frozenset(filter(None, formats.split("|"))))


RULES = (
    _rule(
        "A",
        "names",
        "name names surname firstname lastname forename fullname nickname vorname nachname prenom nom apellido nombre maiden first last initials",
        "name of a person",
    ),
    _rule(
        "B",
        "places smaller than a state",
        "zip zipcode postcode postal plz address street strasse city town village municipality county district ward tract block parish borough neighborhood neighbourhood precinct lat latitude lon lng longitude coordinates gps location geocode ort gemeinde residence",
        "pair of coordinates|street address",
    ),
    _rule("C", "dates but the year, and ages over 89", formats="date of birth|age over 89"),
    _rule("D", "telephone numbers", "phone telephone tel telefon mobile handy cell", "telephone number"),
    _rule("E", "fax numbers", "fax telefax"),
    _rule("F", "e-mail addresses", "email mail", "e-mail address"),
    _rule(
        "G",
        "social security numbers",
        "ssn nino nir pesel cpf bsn dni nie ahv personnummer",
        "social security number (US)|social security number (FR)|number of the NHS (GB)|tax number (DE)|AHV number (CH)|codice fiscale (IT)|DNI or NIE (ES)|CPF (BR)|PESEL (PL)|personal number (SE)|citizen service number (NL)",
    ),
    _rule("H", "medical record numbers", "mrn chart hadm subject encounter accession", "record number"),
    _rule("I", "health plan numbers", "beneficiary member subscriber policy insured bene"),
    _rule("J", "account numbers", "account acct konto iban card", "IBAN|credit card number"),
    _rule("K", "certificate and license numbers", "license licence certificate passport drivers permit"),
    _rule(
        "L",
        "vehicles and plates",
        "plate vin vehicle kennzeichen registration",
        "vehicle identification number|number plate",
    ),
    _rule("M", "devices and serial numbers", "device serial imei udi mac implant", "MAC address"),
    _rule("N", "web addresses", "url website homepage web uri", "web address"),
    _rule("O", "IP addresses", "ip ipaddress", "IP address"),
    _rule("P", "biometric identifiers", "fingerprint iris retina voice voiceprint biometric dna genome"),
    _rule("Q", "photographs", "photo photograph image picture portrait face scan"),
    _rule("R", "other unique numbers, codes and free text"),
)


def safe_harbor(data: Frame | pa.Table) -> SafeHarbor:
    """Look for the eighteen kinds in a table."""
    found = inspect_table(data)
    frame = data if isinstance(data, Frame) else Frame(data)
    values = find_identifiers(frame)
    findings = [_look(rule, frame, found, values) for rule in RULES[:-1]]
    taken = {name for one in findings for name, action in one.columns.items() if action == "remove"}
    return SafeHarbor((*findings, _others(found, taken)), found)


def _look(rule: Rule, frame: Frame, found: Inspection, values: list[ValueFinding]) -> RuleFinding:
    columns: dict[str, Action] = {}
    evidence = []
    if rule.letter == "C":
        return _dates_and_ages(rule, frame, found, values)
    for column in found.columns:
        word = next((one for one in words_of(column.name) if one in rule.words), None)
        seen = [one for one in values if one.column == column.name and one.format in rule.formats]
        binary = rule.letter == "Q" and _is_bytes(frame.table.schema.field(column.name).type)
        if seen:
            where = "inside text" if seen[0].inside else "as whole cells"
            evidence.append(f"{column.name}: {seen[0].values:,} of {seen[0].looked_at:,} values looked at, {where}")
        elif binary:
            evidence.append(f"{column.name}: bytes")
        elif word and _may_be(rule, column.distinct, found.records, column.type):
            evidence.append(f"{column.name}: by its name")
        else:
            continue
        columns[column.name] = "remove"
    return RuleFinding(rule.letter, rule.name, columns, tuple(evidence))


def _may_be(rule: Rule, distinct: int, records: int, kind: str) -> bool:
    """Return whether a column whose name fits a rule may hold such values: flags and counts do not."""
    if rule.letter == "B":
        return True
    return kind in {"text", "whole number"} and distinct > 2 and distinct >= records / 20


def _is_bytes(kind: pa.DataType) -> bool:
    return is_nested(kind) and not pa.types.is_nested(kind)


def _dates_and_ages(rule: Rule, frame: Frame, found: Inspection, held: list[ValueFinding]) -> RuleFinding:
    columns: dict[str, Action] = {}
    evidence = []
    for column in found.columns:
        if column.type in {"date", "time"}:
            columns[column.name] = "year"
            evidence.append(f"{column.name}: dates")
        elif "age" in words_of(column.name) and column.type in {"whole number", "number"}:
            values = frame.typed(column.name)
            over = values.filter(pc.fill_null(pc.greater(values, OLDEST), fill_value=False))
            old, shown = len(over), pc.unique(over).to_pylist()
            if len(shown) > 1 or any(
                age > OLDEST + 1 for age in shown
            ):  # one value for all of them is what the rule asks for
                columns[column.name] = "top-code"
                evidence.append(f"{column.name}: {old:,} records over {OLDEST}")
    for one in held:
        if one.format in rule.formats and one.inside:
            columns[one.column] = "remove"
            evidence.append(
                f"{one.column}: {one.format} inside text, {one.values:,} of {one.looked_at:,} values looked at"
            )
    return RuleFinding(rule.letter, rule.name, columns, tuple(evidence))


def _others(found: Inspection, taken: set[str]) -> RuleFinding:
    rule = RULES[-1]
    columns: dict[str, Action] = {
        one.name: "remove" for one in found.columns if one.role == "identifier" and one.name not in taken
    }
    reasons = {one.name: one.reason for one in found.columns}
    return RuleFinding(rule.letter, rule.name, columns, tuple(f"{name}: {reasons[name]}" for name in columns))
