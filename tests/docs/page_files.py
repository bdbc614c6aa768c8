"""The files that pages of the documentation speak of: a table about patients in many forms."""

from __future__ import annotations

import duckdb
import pandas as pd
import pyreadstat

import shoal
from tests.api.projects import write_project

RECIPE = """k = 10
quasi_identifiers = ["birth_date", "sex", "zip", "job"]
sensitive = ["diagnosis"]
identifiers = ["name", "admission_date"]
keep = ["cost"]
method = "mondrian"
"""
MAPPING = """format = "shoal generalization 1"
k = 10
keep = ["diagnosis"]

[columns.sex.values]
female = "female"
male = "male"
"""
JOBS = "Nurse;Health;*\nSurgeon;Health;*\nTeacher;Education;*\n"


def patients(records=400):
    """Return the register and the voter list as ``shoal demo`` writes them, with fewer people."""
    register = shoal.datasets.hospital(n=records, seed=3)
    dates = ["birth_date", "admission_date"]
    frame = register.patients.to_pandas()
    return frame.assign(**{name: frame[name].astype(str) for name in dates}), register.voters.to_pandas()


def panel(people):
    """Return three waves of the same people."""
    person = [number for number in range(people) for _ in range(3)]
    wave = [1, 2, 3] * people
    age = [20 + number % 40 + one for number, one in zip(person, wave, strict=True)]
    married = [number % 2 for number in person]
    ill = [("flu", "gout", "none")[(number + one) % 3] for number, one in zip(person, wave, strict=True)]
    return pd.DataFrame({"nr": person, "wave": wave, "age": age, "married": married, "ill": ill})


def write_files(folder):
    """Write them all, and return the folder."""
    frame, voters = patients()
    frame.to_csv(folder / "patients.csv", index=False)
    frame.to_csv(folder / "february.csv", index=False)
    frame.to_parquet(folder / "patients.parquet")
    voters.to_csv(folder / "voters.csv", index=False)
    visits = pd.DataFrame({"born": "04/05/1992", "sex": frame["sex"]})  # a date that can be read in two ways
    visits.to_csv(folder / "visits.csv", index=False)
    with pd.ExcelWriter(folder / "patients.xlsx") as book:
        frame.head(1).to_excel(book, sheet_name="Sheet 1", index=False)
        frame.to_excel(book, sheet_name="Sheet 2", index=False)
    connection = duckdb.connect(str(folder / "registry.duckdb"))
    connection.register("frame", frame)
    connection.execute("CREATE TABLE patients AS SELECT * FROM frame")
    connection.close()
    age = 2024 - pd.to_datetime(frame["birth_date"]).dt.year
    survey = pd.DataFrame({"age": age, "sex": frame["sex"], "region": frame["zip"].str[:1]})
    survey = survey.assign(religion=["a", "b", "c", "d"] * 100, income=range(400))
    pyreadstat.write_sav(survey, folder / "survey.sav")
    survey.assign(w=1.5).to_csv(folder / "survey.csv", index=False)
    panel(200).to_csv(folder / "panel.csv", index=False)
    (folder / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    (folder / "trees.toml").write_text(
        RECIPE + '[hierarchies]\nbirth_date = "suggest"\nsex = "flat"\nzip = "suggest"\njob = "flat"\n',
        encoding="utf-8",
    )
    write_project(folder / "project.deid")
    (folder / "mapping.toml").write_text(MAPPING, encoding="utf-8")
    (folder / "job.csv").write_text(JOBS, encoding="utf-8")
    return folder
