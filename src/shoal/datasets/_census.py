"""Rough weights for a census like UCI Adult, made up for shoal; only the labels are those of that census."""

from __future__ import annotations

AGES = range(17, 91)
AGE_WEIGHTS = {17: 90, 20: 230, 25: 260, 36: 290, 47: 220, 60: 90, 70: 25, 80: 6, 90: 2}
AGE_BANDS = (20, 26, 36, 51, 65)  # a band ends before each of these ages, the last one is open

SEXES = ("Female", "Male")
SEX_WEIGHTS = (1, 2)

# One row an age band: the weights of education-num 1..16.
EDUCATION_BY_AGE = (
    (1, 2, 6, 12, 22, 50, 120, 40, 300, 240, 8, 6, 2, 0, 0, 0),
    (1, 4, 8, 12, 14, 24, 34, 18, 320, 400, 40, 30, 110, 8, 3, 1),
    (1, 4, 9, 13, 13, 22, 28, 11, 320, 210, 55, 42, 220, 48, 15, 9),
    (2, 5, 10, 17, 13, 23, 30, 9, 310, 205, 52, 38, 185, 82, 24, 20),
    (2, 9, 15, 45, 22, 34, 36, 9, 340, 165, 38, 24, 145, 84, 26, 24),
    (4, 16, 28, 95, 26, 40, 34, 8, 300, 150, 20, 16, 110, 60, 24, 26),
)
EDUCATION_BANDS = (9, 11, 14)  # no diploma, diploma, a college's or a bachelor's degree

MARITAL = {
    "spouse present": ("Married-civ-spouse", "Married-AF-spouse"),
    "spouse elsewhere": ("Married-spouse-absent", "Separated"),
    "no spouse": ("Divorced", "Never-married", "Widowed"),
}
# One row for each age band and sex, women first: weights in the order of MARITAL.
MARITAL_BY_AGE_AND_SEX = (
    (40, 1, 6, 8, 4, 940, 1),
    (15, 1, 4, 2, 1, 976, 1),
    (190, 2, 14, 34, 60, 698, 2),
    (160, 1, 12, 10, 18, 798, 1),
    (340, 2, 16, 56, 180, 400, 6),
    (500, 1, 14, 22, 90, 372, 1),
    (340, 1, 18, 56, 330, 210, 45),
    (690, 1, 14, 24, 150, 118, 3),
    (330, 1, 16, 40, 320, 105, 188),
    (780, 1, 12, 18, 130, 52, 7),
    (200, 1, 10, 14, 170, 95, 510),
    (790, 1, 12, 10, 80, 50, 57),
)

OCCUPATIONS = {
    "offices": ("Adm-clerical", "Exec-managerial", "Sales"),
    "professions": ("Prof-specialty", "Tech-support"),
    "services": ("Other-service", "Priv-house-serv", "Protective-serv", "Armed-Forces"),
    "manual work": ("Craft-repair", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Transport-moving"),
}
# One row for each education band and sex, women first: weights in the order of OCCUPATIONS.
OCCUPATION_BY_EDUCATION_AND_SEX = (
    (120, 40, 150, 20, 5, 380, 60, 8, 0, 25, 12, 30, 140, 10),
    (22, 40, 60, 10, 4, 110, 1, 20, 0, 270, 80, 125, 135, 123),
    (340, 110, 150, 50, 30, 190, 14, 12, 0, 25, 8, 16, 48, 7),
    (75, 110, 115, 35, 25, 65, 1, 36, 1, 275, 40, 70, 85, 67),
    (210, 190, 110, 330, 50, 70, 3, 8, 0, 10, 4, 4, 8, 3),
    (70, 260, 160, 220, 50, 30, 1, 28, 1, 100, 24, 18, 20, 18),
    (40, 190, 30, 690, 16, 16, 1, 4, 0, 4, 4, 1, 3, 1),
    (18, 290, 70, 550, 16, 8, 1, 10, 1, 16, 10, 2, 4, 4),
)

WORKCLASSES = {
    "private": ("Private", "Self-emp-inc", "Self-emp-not-inc", "Without-pay"),
    "government": ("Federal-gov", "Local-gov", "State-gov"),
}
# The weights of the workclasses by occupation; the last row serves every occupation not named.
WORKCLASS_BY_OCCUPATION = {
    "Adm-clerical": (760, 8, 14, 2, 85, 75, 66),
    "Exec-managerial": (660, 100, 100, 0, 45, 55, 45),
    "Sales": (820, 80, 90, 1, 3, 3, 4),
    "Prof-specialty": (550, 40, 95, 0, 45, 170, 100),
    "Protective-serv": (290, 5, 9, 0, 45, 470, 180),
    "Armed-Forces": (0, 0, 0, 0, 1, 0, 0),
    "Craft-repair": (780, 26, 130, 1, 16, 36, 14),
    "Farming-fishing": (450, 50, 440, 8, 8, 28, 15),
    "": (840, 10, 46, 1, 20, 55, 28),
}

RACES = ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")
RACE_WEIGHTS = (860, 93, 30, 9, 8)

# In each region the commonest first; the country of the census comes before all others.
HOME = "United-States"
COUNTRIES = {
    "North America": (HOME, "Mexico", "Canada", "Outlying-US(Guam-USVI-etc)"),
    "Central America": ("El-Salvador", "Guatemala", "Nicaragua", "Honduras"),
    "Caribbean": ("Puerto-Rico", "Cuba", "Jamaica", "Dominican-Republic", "Haiti", "Trinadad&Tobago"),
    "South America": ("Columbia", "Peru", "Ecuador"),
    "Europe": (
        *("Germany", "England", "Italy", "Poland", "Portugal", "Greece", "France", "Ireland"),
        *("Yugoslavia", "Scotland", "Hungary", "Holand-Netherlands"),
    ),
    "Asia": (
        *("Philippines", "India", "China", "South", "Vietnam", "Japan", "Taiwan", "Iran"),
        *("Hong", "Cambodia", "Thailand", "Laos"),
    ),
}
# By race the weight of being born in the country of the census, and of each other region.
BIRTHPLACES_BY_RACE = (
    (
        9300,
        {"North America": 300, "Central America": 60, "Caribbean": 120, "South America": 50, "Europe": 200, "Asia": 30},
    ),
    (
        9300,
        {"North America": 10, "Central America": 20, "Caribbean": 600, "South America": 10, "Europe": 30, "Asia": 30},
    ),
    (
        3300,
        {"North America": 40, "Central America": 10, "Caribbean": 20, "South America": 20, "Europe": 30, "Asia": 6580},
    ),
    (
        9500,
        {"North America": 350, "Central America": 40, "Caribbean": 10, "South America": 20, "Europe": 40, "Asia": 40},
    ),
    (
        5600,
        {
            "North America": 1700,
            "Central America": 700,
            "Caribbean": 1200,
            "South America": 600,
            "Europe": 60,
            "Asia": 140,
        },
    ),
)

INCOMES = ("<=50K", ">50K")
# People in a thousand with the larger income, by education band and age band; a tenth of it without a spouse present.
RICH_BY_EDUCATION_AND_AGE = (
    (1, 20, 90, 190, 200, 110),
    (2, 70, 280, 420, 420, 230),
    (5, 150, 500, 700, 690, 390),
    (10, 250, 620, 860, 860, 620),
)
