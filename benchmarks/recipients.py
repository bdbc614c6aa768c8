"""What recipients of a release can still find out: regressions, group means and cross tables, against those of the original table.

python -m benchmarks.recipients                  accuracy, coverage, guesses and time; writes results/recipients.md
python -m benchmarks.recipients --only accuracy  one part

Tables: UCI Adult (the folder SHOAL_DATA), and a medical and a survey table that statsmodels ships (RAND health insurance, Fair's survey).
The first 5,000 records of each, seven or eight quasi-identifiers; also with counts of groups (``counts="groups"``). Errors are in standard errors of the original estimate; overlap is that of the
two 95 % intervals (Karr et al. 2006, *A framework for evaluating the utility of data altered to protect confidentiality*).
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

import shoal
import shoal_reader
from benchmarks.measuring import Row, Table, cpu_seconds, data_folder, write_page

Floats = npt.NDArray[np.float64]
Estimates = dict[str, tuple[float, float]]
"""Estimate and standard error by name."""
SIZES = (5, 30)
FORMS = ("sets", "nodes")
RECORDS = 5_000
M = 10
MOST_MISSING = 0.2
"""The fraction of missing information from which the reader withholds an estimate."""
_EDUCATION = ["Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college",
              "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"]  # fmt: skip


@dataclass(frozen=True)
class Study:
    """A table and what its analysts ask."""

    name: str
    table: pd.DataFrame
    quasi_identifiers: list[str]
    design: Callable[[pd.DataFrame], pd.DataFrame]
    linear: Callable[[pd.DataFrame], Any]
    """The outcome of the linear regression."""
    logistic: Callable[[pd.DataFrame], Any]
    crosstabs: list[tuple[str, str]]
    means: list[tuple[str, str]]
    hierarchies: dict[str, str]

    @property
    def kept(self) -> list[str]:
        """The columns that are not quasi-identifiers."""
        return [str(name) for name in self.table if name not in self.quasi_identifiers]

    def release(self, k: int, form: str, table: pd.DataFrame | None = None, counts: Any = None) -> Any:
        """Release the table with its categories as sets or as nodes."""
        table = self.table if table is None else table
        texts = [name for name in self.quasi_identifiers if not pd.api.types.is_numeric_dtype(table[name])]
        choices = {name: self.hierarchies.get(name, "auto" if table[name].nunique() > 4 else "flat") for name in texts}
        with warnings.catch_warnings(action="ignore"):
            return shoal.anonymize(
                table,
                k=k,
                quasi_identifiers=self.quasi_identifiers,
                keep=self.kept,
                hierarchies=choices if form == "nodes" else None,
                effort="fast",
                counts=counts,
            )


def adult() -> Study:
    """Return UCI Adult."""
    path = data_folder() / "adult"
    table = pd.read_csv(path / "adult.csv", skipinitialspace=True)
    table = table[~(table == "?").any(axis=1)].reset_index(drop=True)
    known = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
    table = table[[*known, "hours-per-week", "salary-class", "capital-gain"]]
    degree = {name: place + 1.0 for place, name in enumerate(_EDUCATION)}

    def design(d: pd.DataFrame) -> pd.DataFrame:
        def among(column: str, *values: str) -> Any:
            return d[column].isin(values) * 1.0

        age = d["age"].astype(float)
        return pd.DataFrame({
            "age": age, "age2": age**2 / 100, "female": among("sex", "Female"), "black": among("race", "Black"),
            "married": among("marital-status", "Married-civ-spouse", "Married-AF-spouse"),
            "divorced": among("marital-status", "Divorced", "Separated"), "asian": among("race", "Asian-Pac-Islander"),
            "education": d["education"].map(degree).astype(float), "us": among("native-country", "United-States"),
            "self": among("workclass", "Self-emp-not-inc", "Self-emp-inc"),
            "government": among("workclass", "Federal-gov", "State-gov", "Local-gov"),
            "professional": among("occupation", "Exec-managerial", "Prof-specialty"),
            "manual": among("occupation", "Craft-repair", "Machine-op-inspct", "Transport-moving", "Handlers-cleaners", "Farming-fishing"),
        })  # fmt: skip

    return Study(
        "Adult",
        table,
        known,
        design,
        lambda d: d["hours-per-week"],
        lambda d: d["salary-class"] == ">50K",
        [("marital-status", "salary-class"), ("sex", "occupation")],
        [("education", "hours-per-week"), ("occupation", "age"), ("marital-status", "age")],
        {name: str(path / "hierarchies" / f"{name}.csv") for name in known if name != "age"},
    )


def medical() -> Study:
    """Return the RAND Health Insurance Experiment: visits to physicians by plan and health (Newhouse 1993), in statsmodels."""
    from statsmodels.datasets import randhie

    table = randhie.load_pandas().data.reset_index(drop=True)
    poor, fair, good = (table[name] == 1 for name in ("hlthp", "hlthf", "hlthg"))
    table["health"] = np.select([poor, fair, good], ["poor", "fair", "good"], "excellent")
    table = table.assign(
        disea=table["disea"].round(1), limited=np.where(table["physlm"] > 0, "yes", "no"), plan=table["lncoins"].round(2),
        individual=np.where(table["idp"] > 0, "yes", "no"), payment=table["lpi"].round(1), share=table["fmde"].round(1),
    )  # fmt: skip
    known = ["disea", "limited", "plan", "individual", "payment", "share", "health"]
    table = table[[*known, "mdvis"]].sample(frac=1, random_state=1).reset_index(drop=True)

    def design(d: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({
            "plan": d["plan"].astype(float), "individual": (d["individual"] == "yes") * 1.0, "payment": d["payment"].astype(float),
            "share": d["share"].astype(float), "limited": (d["limited"] == "yes") * 1.0, "diseases": d["disea"].astype(float),
            "good": (d["health"] == "good") * 1.0, "fair": (d["health"] == "fair") * 1.0, "poor": (d["health"] == "poor") * 1.0,
        })  # fmt: skip

    return Study(
        "RAND health",
        table,
        known,
        design,
        lambda d: np.log1p(d["mdvis"].astype(float)),
        lambda d: d["mdvis"] > 0,
        [("health", "limited"), ("health", "individual")],
        [("health", "mdvis"), ("limited", "disea"), ("individual", "payment")],
        {},
    )


def survey() -> Study:
    """Return answers of readers of a magazine on their marriages (Fair 1978), in statsmodels."""
    from statsmodels.datasets import fair

    table = fair.load_pandas().data.reset_index(drop=True)
    named = {"religious": "belief", "occupation": "work", "occupation_husb": "husband"}
    table = table.rename(columns=named).sample(frac=1, random_state=1).reset_index(drop=True)
    jobs = {one: f"group {one}" for one in range(1, 7)}
    table = table.assign(work=table["work"].map(jobs), husband=table["husband"].map(jobs))
    known = ["age", "yrs_married", "children", "belief", "educ", "work", "husband"]
    table = table[[*known, "rate_marriage", "affairs"]].assign(affairs=table["affairs"].round(2))

    def design(d: pd.DataFrame) -> pd.DataFrame:
        numbers = {name: d[name].astype(float) for name in ("age", "yrs_married", "children", "belief", "educ")}
        return pd.DataFrame({
            **numbers, "skilled": d["work"].isin(["group 4", "group 5", "group 6"]) * 1.0,
            "husband": d["husband"].isin(["group 5", "group 6"]) * 1.0,
        })  # fmt: skip

    return Study(
        "Fair survey",
        table,
        known,
        design,
        lambda d: d["rate_marriage"],
        lambda d: d["affairs"] > 0,
        [("work", "husband")],
        [("work", "rate_marriage"), ("husband", "educ"), ("work", "age")],
        {},
    )


def studies() -> Iterator[Study]:
    """Return the tables that are there, their texts as text."""
    for make in (adult, medical, survey):
        try:
            study = make()
        except (ImportError, FileNotFoundError):
            print(f"{make.__name__}: not there, left out")
            continue
        texts = {name: str for name in study.quasi_identifiers if not pd.api.types.is_numeric_dtype(study.table[name])}
        yield Study(**{**vars(study), "table": study.table.dropna().astype(texts).reset_index(drop=True)})


# --- estimates ---------------------------------------------------------------------------------------------------


def linear(design: pd.DataFrame, outcome: Any) -> Estimates:
    """Return least squares with their usual standard errors."""
    x, y = np.c_[design.to_numpy(), np.ones(len(design))], np.asarray(outcome, np.float64)
    inverse = np.linalg.pinv(x.T @ x)
    found = inverse @ (x.T @ y)
    rest = y - x @ found
    errors = np.sqrt(np.diag(inverse) * (rest @ rest) / (len(y) - x.shape[1]))
    return dict(zip(design.columns, zip(found, errors, strict=False), strict=False))


def logistic(design: pd.DataFrame, outcome: Any) -> Estimates:
    """Return the maximum likelihood estimates of a logistic regression, by Newton's method."""
    x, y = design.to_numpy(), np.asarray(outcome, np.float64)
    middle, scale = x.mean(axis=0), x.std(axis=0) + 1e-9
    z, found = np.c_[(x - middle) / scale, np.ones(len(x))], np.zeros(x.shape[1] + 1)
    for _ in range(25):
        chance = 1 / (1 + np.exp(-np.clip(z @ found, -30, 30)))
        curve = (z * (chance * (1 - chance) + 1e-9)[:, None]).T @ z + 1e-8 * np.eye(z.shape[1])
        step = np.linalg.solve(curve, z.T @ (y - chance))
        found = found + step
        if np.abs(step).max() < 1e-7:
            break
    errors = np.sqrt(np.diag(np.linalg.inv(curve)))
    return {str(name): (found[place] / scale[place], errors[place] / scale[place]) for place, name in enumerate(design)}


def analyses(study: Study, table: pd.DataFrame) -> dict[str, Estimates]:
    """Return all that is asked of a table."""
    design = study.design(table)
    shares: Estimates = {}
    means: Estimates = {}
    counts: Any
    for one, two in study.crosstabs:
        counts = table.groupby([one, two], observed=True).size()
        for cell, count in counts.items():
            share = count / len(table)
            shares[f"{one} {two} {cell}"] = (share, np.sqrt(share * (1 - share) / len(table)))
    for by, column in study.means:
        for value, group in table[column].astype(float).groupby(table[by], observed=True):
            if len(group) >= 30:
                means[f"{by} {column} {value}"] = (group.mean(), group.std() / np.sqrt(len(group)))
    return {
        "linear": linear(design, study.linear(table)),
        "logistic": logistic(design, study.logistic(table)),
        "means": means,
        "cross tables": shares,
    }


def pooled(results: list[dict[str, Estimates]], analysis: str) -> pd.DataFrame:
    """Pool one analysis; a combination that a table lacks has the share 0 there."""
    names = list(dict.fromkeys(name for one in results for name in one[analysis]))
    if len(results) == 1:
        rows = {name: results[0][analysis][name] for name in names}
        return pd.DataFrame(
            [(e, s, e - 1.96 * s, e + 1.96 * s, 0.0) for e, s in rows.values()],
            index=pd.Index(names),
            columns=["estimate", "error", "low", "high", "missing_information"],
        )
    lacking = (0.0, 0.0) if analysis == "cross tables" else (np.nan, np.nan)
    fits = []
    for one in results:
        pairs = [one[analysis].get(name, lacking) for name in names]
        fits.append((np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])))
    return shoal_reader.pool(fits, most_missing=1).set_axis(pd.Index(names))


def nearness(original: Estimates, found: pd.DataFrame, analysis: str) -> pd.DataFrame:
    """Return for each estimate how far it is from the original one, and how much the intervals overlap."""
    rows = []
    for name, (estimate, error) in original.items():
        if error == 0:
            continue
        one: Any = found.loc[name] if name in found.index else None
        if one is None or not np.isfinite(one["error"]):
            lost = min(estimate / error, 50.0) if analysis == "cross tables" else 10.0
            rows.append((lost, 0.0, 1.0))
            continue
        low, high = estimate - 1.96 * error, estimate + 1.96 * error
        common = max(0.0, min(high, one["high"]) - max(low, one["low"]))
        overlap = 0.5 * (common / (high - low) + common / max(one["high"] - one["low"], 1e-12))
        rows.append((min(abs(one["estimate"] - estimate) / error, 50.0), overlap, one["missing_information"]))
    return pd.DataFrame(rows, columns=["error", "overlap", "missing"])


# --- what is measured --------------------------------------------------------------------------------------------


def read_back(result: Any) -> shoal_reader.Release:
    """Write a release with its dictionary, and read it as a recipient does."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        result.save(Path(folder) / "release.csv", shuffle=False)
        return shoal_reader.read(Path(folder) / "release.csv")


def middles(release: shoal_reader.Release) -> pd.DataFrame:
    """Return what people do without help: the middle of a range, the first member of a set or node."""
    table = release.midpoints()
    for name, column in release.coarsened.items():
        if not column.measured:
            table[name] = np.array(column.values, object)[column.members.argmax(axis=1)][column.which]
    return table


def accuracy() -> tuple[list[Row], list[Row]]:
    """Compare estimates from midpoints and completions with those of the original tables."""
    parts = []
    for study in studies():
        study = Study(**{**vars(study), "table": study.table.iloc[:RECORDS]})  # noqa: PLW2901
        original = analyses(study, study.table)
        for form in FORMS:
            for k in SIZES:
                release = read_back(study.release(k, form))
                tables, seconds = cpu_seconds(partial(release.complete, m=M, seed=0))
                ways = {"midpoints": [middles(release)], "completed": tables}
                counted = read_back(study.release(k, form, counts="groups"))
                ways["completed, counts of groups"] = counted.complete(m=M, seed=0)
                for way, drawn in ways.items():
                    results = [analyses(study, table) for table in drawn]
                    for analysis, estimates in original.items():
                        near = nearness(estimates, pooled(results, analysis), analysis)
                        parts.append(near.assign(table=study.name, form=form, k=k, way=way, analysis=analysis))
                print(study.name, form, k, f"{seconds:.1f} s for {M} completions")
    every = pd.concat(parts, ignore_index=True)
    shown = every[(every["way"] == "completed") & (every["missing"] <= MOST_MISSING)].assign(
        way="completed, not withheld"
    )
    rows = []
    groups: Any = pd.concat([every, shown]).groupby(["form", "k", "way"])
    for (form, k, way), part in groups:
        row: Row = {"form": form, "k": int(k), "way": way}
        # each table counts alike, as do the estimates of a table
        by_table: Any = part.groupby(["analysis", "table"])[["error", "overlap"]].mean().groupby("analysis").mean()
        for analysis in original:
            row[f"{analysis}: error"], row[f"{analysis}: overlap"] = (
                float(by_table.at[analysis, one]) for one in ("error", "overlap")
            )
        of_all = every[(every["form"] == form) & (every["k"] == k) & (every["way"] == "completed")]
        row["shown"] = len(part) / len(of_all)
        rows.append(row)
    bins = pd.cut(every["missing"], [-0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 1])
    by_band: Any = every[every["way"] == "completed"].groupby(["k", bins], observed=True)
    bands = [
        {"k": int(k), "missing information": str(band), "estimates": len(part), "error": float(part["error"].mean()), "overlap": float(part["overlap"].mean())}
        for (k, band), part in by_band
    ]  # fmt: skip
    return rows, bands


def coverage(samples: int, k: int = 5, size: int = 2_000) -> list[Row]:
    """Release samples of each table, and count how often 95 % intervals hold the figure of the whole table."""
    rows: list[Row] = []
    for study in studies():
        target = {name: found for name, found in analyses(study, study.table).items() if name in {"linear", "logistic"}}
        held: dict[tuple[str, str], list[bool]] = {}
        for number in range(samples):
            rng = np.random.default_rng(100 + number)
            sample = study.table.iloc[rng.choice(len(study.table), size)].reset_index(drop=True)
            release = read_back(study.release(k, "sets", sample))
            ways = {
                "original sample": [sample],
                "midpoints": [middles(release)],
                "completed": release.complete(m=M, seed=number),
            }
            for way, drawn in ways.items():
                results = [analyses(study, table) for table in drawn]
                for analysis, estimates in target.items():
                    found = pooled(results, analysis)
                    for name, (estimate, _) in estimates.items():
                        one = found.loc[name]
                        held.setdefault((way, analysis), []).append(bool(one["low"] <= estimate <= one["high"]))
        rows += [
            {
                "table": study.name,
                "way": way,
                "analysis": analysis,
                "samples": samples,
                "intervals that hold": np.mean(one),
            }
            for (way, analysis), one in held.items()
        ]
        print(study.name, *rows[-2:])
    return rows


def guesses() -> list[Row]:
    """Count how often blurred values are guessed right: from cells alone, and from completions."""
    rows = []
    for study in studies():
        study = Study(**{**vars(study), "table": study.table.iloc[:RECORDS]})  # noqa: PLW2901
        for k in SIZES:
            release = read_back(study.release(k, "sets"))
            tables = release.complete(m=M, seed=0)
            for name, column in release.coarsened.items():
                wide = ~column.exact[column.which]
                if wide.mean() < 0.05 or not ((column.measured and column.points[2]) or not column.measured):
                    continue
                true = study.table[name].to_numpy()[wide]
                drawn = [table[name].to_numpy()[wide] for table in tables]
                likely = pd.DataFrame(drawn).mode().iloc[0].to_numpy()
                rows.append({
                    "table": study.name, "k": k, "column": name, "blurred": wide.mean(),
                    "from cells": (1 / column.widths[column.which][wide]).mean(),
                    "one completion": np.mean([(one == true).mean() for one in drawn]),
                    "commonest of all": (likely == true).mean(),
                })  # fmt: skip
    return rows


def speed() -> list[Row]:
    """Measure completions of 30,000 records and eight quasi-identifiers."""
    study = next(studies())
    release = read_back(Study(**{**vars(study), "table": study.table.iloc[:30_000]}).release(5, "sets"))
    _, seconds = cpu_seconds(lambda: release.complete(m=M, seed=0))
    return [{"records": release.records, "quasi-identifiers": 8, "completions": M, "CPU seconds": seconds}]


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["accuracy", "coverage", "guesses", "speed"])
    parser.add_argument("--samples", type=int, default=100, help="samples for coverage")
    options = parser.parse_args()

    def wanted(part: str) -> bool:
        return options.only in {None, part}

    tables = []
    if wanted("accuracy"):
        rows, bands = accuracy()
        tables.append(Table(
            "Estimates", "Mean error in standard errors, and overlap of intervals, of estimates from a release. Not withheld: those with at "
            f"most {MOST_MISSING:.0%} of missing information; their share is the last column.", rows,
        ))  # fmt: skip
        tables.append(
            Table(
                "Missing information",
                "How far estimates from completions are off, by the fraction that the reader states.",
                bands,
            )
        )
    if wanted("coverage"):
        text = "How many 95 % intervals from samples of 2,000 records (drawn with replacement), released with k = 5, hold the estimate of the whole table."
        tables.append(Table("Coverage", text, coverage(options.samples)))
    if wanted("guesses"):
        text = "Share of blurred values that are guessed right: by taking any value of the cell, from one completion, and as the commonest of all ten."
        tables.append(Table("Guesses", text, guesses()))
    if wanted("speed"):
        tables.append(Table("Time", "Completions of Adult, effort fast, k = 5; other programs were running.", speed()))
    part = "" if options.only is None else f"_{options.only}"
    command = "python -m benchmarks.recipients" + (f" --only {options.only}" if options.only else "")
    write_page(f"recipients{part}", "What recipients of a release can find out", tables, command)


if __name__ == "__main__":
    main()
