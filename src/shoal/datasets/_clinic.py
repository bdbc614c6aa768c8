"""Who is how old, works as what and falls ill with what: rough weights, made up for shoal."""

from __future__ import annotations

from typing import NamedTuple

OLDEST = 101
AGES = range(OLDEST + 1)

# Weight of each age: first among people admitted to a hospital, then among people who vote.
PATIENT_AGES = {0: 1400, 5: 500, 15: 600, 30: 900, 50: 1300, 65: 2200, 76: 2600, 85: 1800, 95: 300, 102: 0}
VOTER_AGES = {0: 0, 17: 0, 18: 1200, 30: 1300, 50: 1400, 65: 1100, 80: 600, 95: 60, 102: 0}
# Women per hundred people of an age: births bring young women in, and women live longer.
PATIENT_WOMEN = {0: 46, 14: 47, 20: 58, 35: 60, 48: 52, 65: 49, 80: 55, 95: 70, OLDEST: 74}
VOTER_WOMEN = {18: 49, 60: 51, 80: 57, 95: 70, OLDEST: 75}

WEEKDAYS = (125, 118, 112, 108, 96, 62, 58)  # Monday first: planned stays begin early in the week
MONTHS = (116, 110, 106, 98, 97, 94, 88, 86, 96, 102, 106, 108)


class Job(NamedTuple):
    """A job, where it belongs, and its weight among women and men at work of at least the youngest age."""

    name: str
    field: str
    sector: str
    women: int
    men: int
    youngest: int = 18


# People in a thousand of an age who are not at work, the rest have one of the jobs.
STATUSES = {
    "pre-school child": {0: 1000, 5: 1000, 6: 0},
    "pupil": {5: 0, 6: 1000, 15: 1000, 17: 800, 18: 200, 20: 0},
    "student": {17: 0, 18: 400, 20: 420, 24: 200, 28: 50, 32: 5, 33: 0},
    "retired": {57: 0, 60: 80, 63: 250, 66: 800, 70: 950, 75: 990, 80: 1000},
}
STATUS_FIELDS = {
    "pre-school child": "in childhood",
    "pupil": "in education",
    "student": "in education",
    "retired": "in retirement",
}
OUTSIDE = "outside paid work"
JOBS = (
    Job("homemaker", "at home", OUTSIDE, 90, 8),
    Job("seeking work", "at home", OUTSIDE, 45, 52),
    Job("nurse", "care", "health", 62, 9, 21),
    Job("care worker", "care", "health", 66, 14),
    Job("physician", "medicine", "health", 13, 15, 27),
    Job("dentist", "medicine", "health", 4, 4, 27),
    Job("pharmacist", "medicine", "health", 7, 4, 25),
    Job("primary teacher", "schools", "education", 44, 10, 23),
    Job("secondary teacher", "schools", "education", 25, 20, 24),
    Job("lecturer", "universities", "education", 6, 8, 28),
    Job("researcher", "universities", "education", 5, 6, 26),
    Job("clerk", "administration", "office", 88, 34),
    Job("civil servant", "administration", "office", 32, 27, 20),
    Job("accountant", "finance", "office", 26, 21, 22),
    Job("bank adviser", "finance", "office", 17, 16, 20),
    Job("lawyer", "law", "office", 8, 10, 26),
    Job("judge", "law", "office", 1, 2, 35),
    Job("manager", "management", "office", 22, 46, 28),
    Job("software developer", "computing", "technology", 9, 38, 20),
    Job("system administrator", "computing", "technology", 4, 19, 20),
    Job("mechanical engineer", "engineering", "technology", 4, 27, 23),
    Job("civil engineer", "engineering", "technology", 4, 16, 23),
    Job("laboratory technician", "engineering", "technology", 12, 8, 19),
    Job("bricklayer", "building", "crafts", 1, 27, 16),
    Job("electrician", "building", "crafts", 2, 36, 16),
    Job("painter", "building", "crafts", 4, 17, 16),
    Job("car mechanic", "workshops", "crafts", 2, 32, 16),
    Job("carpenter", "workshops", "crafts", 2, 20, 16),
    Job("machine operator", "factories", "crafts", 19, 52),
    Job("shop assistant", "shops", "services", 78, 32, 16),
    Job("cashier", "shops", "services", 30, 9, 16),
    Job("cook", "restaurants", "services", 18, 22, 16),
    Job("waiter", "restaurants", "services", 24, 12, 16),
    Job("hairdresser", "personal services", "services", 19, 3, 16),
    Job("cleaner", "personal services", "services", 47, 15),
    Job("police officer", "safety", "services", 6, 16, 20),
    Job("firefighter", "safety", "services", 1, 8, 20),
    Job("lorry driver", "road transport", "transport and land", 3, 48, 21),
    Job("bus driver", "road transport", "transport and land", 4, 14, 24),
    Job("warehouse worker", "storage", "transport and land", 16, 40),
    Job("farmer", "farming", "transport and land", 7, 19),
    Job("gardener", "farming", "transport and land", 6, 14, 16),
)


class Diagnosis(NamedTuple):
    """A diagnosis: its chapter, who has it at which age, how much likelier it is in winter, what it costs."""

    name: str
    chapter: str
    women: int
    men: int
    at_ages: tuple[int, int, int, int, int, int, int]
    cost: int
    youngest: int = 0
    oldest: int = OLDEST
    winter: int = 100


KNOTS = (0, 15, 30, 45, 60, 75, 90)  # the ages of Diagnosis.at_ages
WINTER_MONTHS = (12, 1, 2, 3)
DIAGNOSES = (
    Diagnosis("influenza", "infections", 10, 10, (30, 14, 10, 9, 12, 20, 28), 2400, winter=260),
    Diagnosis("gastroenteritis", "infections", 10, 10, (60, 20, 12, 9, 9, 12, 16), 1900, winter=130),
    Diagnosis("hepatitis", "infections", 7, 11, (1, 2, 6, 8, 6, 3, 1), 5200),
    Diagnosis("sepsis", "infections", 9, 11, (5, 1, 2, 4, 10, 20, 30), 14800),
    Diagnosis("HIV disease", "infections", 4, 14, (0, 1, 4, 4, 2, 1, 0), 9600, youngest=15, oldest=85),
    Diagnosis("breast cancer", "cancers", 20, 0, (0, 0, 3, 16, 24, 20, 12), 11200, youngest=25),
    Diagnosis("prostate cancer", "cancers", 0, 20, (0, 0, 0, 2, 22, 30, 20), 9800, youngest=40),
    Diagnosis("lung cancer", "cancers", 9, 13, (0, 0, 1, 5, 20, 22, 8), 13600, youngest=25),
    Diagnosis("bowel cancer", "cancers", 9, 11, (0, 0, 2, 6, 17, 22, 16), 12900, youngest=25),
    Diagnosis("leukaemia", "cancers", 9, 11, (6, 4, 2, 3, 6, 9, 7), 21500),
    Diagnosis("diabetes", "metabolism", 9, 11, (4, 8, 8, 14, 22, 22, 16), 4300),
    Diagnosis("thyroid disorder", "metabolism", 16, 4, (1, 3, 8, 12, 10, 7, 4), 4700),
    Diagnosis("depression", "mental disorders", 13, 8, (0, 24, 26, 24, 16, 10, 8), 6100, youngest=10),
    Diagnosis("alcohol dependence", "mental disorders", 5, 16, (0, 6, 14, 22, 14, 5, 1), 3900, youngest=15),
    Diagnosis("schizophrenia", "mental disorders", 8, 11, (0, 6, 14, 11, 6, 3, 1), 8800, youngest=15),
    Diagnosis("dementia", "mental disorders", 11, 9, (0, 0, 0, 0, 3, 24, 60), 7700, youngest=55),
    Diagnosis("epilepsy", "nervous system", 10, 10, (16, 12, 8, 7, 8, 10, 10), 3600),
    Diagnosis("migraine", "nervous system", 15, 5, (1, 8, 12, 10, 4, 1, 0), 2100, youngest=6),
    Diagnosis("multiple sclerosis", "nervous system", 14, 6, (0, 2, 9, 8, 4, 1, 0), 5900, youngest=15),
    Diagnosis("cataract", "eyes and ears", 11, 9, (1, 0, 1, 4, 24, 46, 34), 1700),
    Diagnosis("ear infection", "eyes and ears", 10, 10, (50, 9, 4, 3, 2, 2, 1), 1500, winter=140),
    Diagnosis("heart attack", "circulation", 7, 14, (0, 0, 1, 14, 36, 44, 42), 9900, youngest=22),
    Diagnosis("heart failure", "circulation", 10, 10, (1, 0, 1, 5, 20, 58, 90), 5600),
    Diagnosis("stroke", "circulation", 9, 11, (0, 1, 2, 8, 24, 46, 56), 8700),
    Diagnosis("high blood pressure", "circulation", 11, 9, (0, 0, 3, 10, 18, 24, 24), 2300, youngest=15),
    Diagnosis("varicose veins", "circulation", 14, 6, (0, 1, 6, 14, 14, 8, 2), 2700, youngest=15),
    Diagnosis("asthma", "lungs", 10, 10, (60, 26, 10, 7, 6, 4, 2), 2500, winter=130),
    Diagnosis("pneumonia", "lungs", 9, 11, (46, 10, 6, 10, 20, 42, 70), 4900, winter=190),
    Diagnosis("chronic bronchitis", "lungs", 9, 11, (0, 0, 1, 8, 30, 36, 22), 4100, youngest=25, winter=150),
    Diagnosis("appendicitis", "digestion", 9, 11, (16, 44, 22, 12, 7, 4, 2), 5300),
    Diagnosis("gallstones", "digestion", 14, 7, (0, 4, 22, 24, 24, 20, 14), 5100, youngest=10),
    Diagnosis("hernia", "digestion", 4, 17, (18, 4, 10, 18, 26, 22, 10), 3800),
    Diagnosis("back pain", "bones and joints", 11, 10, (0, 6, 22, 34, 32, 22, 12), 3300, youngest=8),
    Diagnosis("arthritis of the hip", "bones and joints", 11, 9, (0, 0, 2, 10, 34, 44, 18), 8200, youngest=20),
    Diagnosis("kidney stones", "kidneys and urine", 6, 14, (0, 4, 16, 20, 16, 10, 4), 3500, youngest=8),
    Diagnosis("kidney failure", "kidneys and urine", 9, 11, (1, 1, 3, 7, 14, 24, 24), 7900),
    Diagnosis("pregnancy and birth", "pregnancy", 26, 0, (0, 10, 240, 20, 0, 0, 0), 4600, youngest=15, oldest=49),
    Diagnosis("miscarriage", "pregnancy", 8, 0, (0, 4, 60, 20, 0, 0, 0), 2600, youngest=15, oldest=49),
    Diagnosis("fracture of the arm", "injuries", 10, 11, (34, 30, 14, 12, 16, 18, 20), 3900),
    Diagnosis("fracture of the hip", "injuries", 15, 7, (0, 1, 1, 2, 8, 34, 84), 11700),
    Diagnosis("concussion", "injuries", 9, 12, (44, 34, 14, 9, 10, 14, 20), 1600),
)
