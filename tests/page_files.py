"""The files that pages of the documentation speak of: a table about patients in many forms."""

from __future__ import annotations

import duckdb
import pandas as pd
import pyreadstat

import shoal

RECIPE = """k = 10
quasi_identifiers = ["age", "sex", "zip"]
sensitive = ["diagnosis"]
identifiers = ["name"]
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
    register = shoal.datasets.hospital(n=records, seed=3)
    frame = register.patients.to_pandas()
    born = pd.to_datetime(frame["birth_date"])
    return frame.assign(
        age=2024 - born.dt.year,
        admitted=frame["admission_date"].astype(str),
        born="04/05/1992",  # a date that can be read in two ways
        year=2024,
        birth_date=frame["birth_date"].astype(str),
        admission_date=frame["admission_date"].astype(str),
    ), register.voters.to_pandas()


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
    born = pd.to_datetime(voters["birth_date"])
    voters.assign(age=2024 - born.dt.year).to_csv(folder / "voters.csv", index=False)
    with pd.ExcelWriter(folder / "patients.xlsx") as book:
        frame.head(1).to_excel(book, sheet_name="Sheet 1", index=False)
        frame.to_excel(book, sheet_name="Sheet 2", index=False)
    connection = duckdb.connect(str(folder / "registry.duckdb"))
    connection.register("frame", frame)
    connection.execute("CREATE TABLE patients AS SELECT * FROM frame")
    connection.close()
    survey = pd.DataFrame({"age": frame["age"], "sex": frame["sex"], "region": frame["zip"].str[:1]})
    survey = survey.assign(religion=["a", "b", "c", "d"] * 100, income=range(400))
    pyreadstat.write_sav(survey, folder / "survey.sav")
    survey.assign(w=1.5).to_csv(folder / "survey.csv", index=False)
    panel(200).to_csv(folder / "panel.csv", index=False)
    (folder / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    (folder / "mapping.toml").write_text(MAPPING, encoding="utf-8")
    (folder / "job.csv").write_text(JOBS, encoding="utf-8")
    return folder
