"""Columns of every kind, and for one value of each the groups that a person would draw above it."""

from __future__ import annotations

from datetime import date

ADULT_EDUCATION = [
    "Preschool",
    "1st-4th",
    "5th-6th",
    "7th-8th",
    "9th",
    "10th",
    "11th",
    "12th",
    "HS-grad",
    "Some-college",
    "Assoc-voc",
    "Assoc-acdm",
    "Bachelors",
    "Masters",
    "Prof-school",
    "Doctorate",
]

FIFTEEN = {
    "diagnosis": (
        ["E11.9", "E11.2", "E10.1", "I10", "I25.1", "I21.0", "J45.9", "J44.1", "C50.9", "C34.1", "F32.9", "F41.1", "M54.5", "K21.0"],
        "E11.9", ("E11*", "E10-E14", "E00-E90"),
    ),
    "country": (
        ["Germany", "France", "Italy", "United-States", "Mexico", "China", "India", "Brazil", "Nigeria", "Japan", "Poland", "Holand-Netherlands"],
        "Italy", ("Southern Europe", "Europe"),
    ),
    "iso": (["DE", "FR", "IT", "US", "MX", "CN", "IN", "BR", "NG", "JP", "PL", "NL", "GB"], "BR", ("South America", "Americas")),
    "education": (ADULT_EDUCATION, "9th", ("lower secondary school", "below upper secondary")),
    "soc": (
        ["11-1011", "11-2021", "11-2022", "29-1141", "29-1171", "35-2014", "35-3031", "53-3032", "47-2061"],
        "29-1141", ("29-114*", "29-1***", "29-****"),
    ),
    "postcode": (
        ["SW1A 1AA", "SW1A 2AB", "EC1A 1BB", "M1 1AE", "M60 1NW", "B33 8TH", "CR2 6XH", "DN55 1PT", "W1A 0AX"],
        "SW1A 1AA", ("SW1A 1**", "SW1A ***", "SW*"),
    ),
    "age band": (["<18", "18-24", "25-34", "35-44", "45-54", "55-64", "65+"], "55-64", ("45-64", "45 or more")),
    "answer": (
        ["Agree", "Neutral", "Strongly agree", "Disagree", "Strongly disagree"],
        "Agree", ("Agree to Strongly agree",),
    ),
    "month": (["2023-11", "2023-12", "2024-01", "2024-02", "2024-03", "2024-07"], "2024-02", ("2024-Q1", "2024", "2020s")),
    "job": (
        ["nurse", "teacher", "carpenter", "software engineer", "bus driver", "doctor", "lawyer", "waiter", "cleaner",
         "accountant", "farmer", "policeman", "courier", "optician", "therapist"],
        "nurse", ("Health professionals", "Professionals"),
    ),
    "path": (["a/b/c", "a/b/d", "a/e/f", "g/h/i", "g/h/j"], "a/b/c", ("a/b/*", "a/*")),
    "zip": (["40213", "40217", "51107"], "40213", ("4021*", "402**", "40***", "4****")),
    "age": (list(range(18, 90)), "37", ("[35-39]", "[30-39]", "[20-39]")),
    "born": ([date(1980, 1, 1), date(1981, 5, 1)], "1980-01-01", ("1980-01", "1980", "1980s")),
    "income": (
        [int(1.05**step * 1000) for step in range(120)],
        "1215", ("below 1400", "below 2000", "below 4500"),
    ),
}  # fmt: skip
"""The columns that people bring most often."""

OTHERS = {
    "mail": (["a@x.de", "b@x.de", "c@y.org"], "a@x.de", ("@x.de", "@*.de")),
    "url": (
        ["https://www.bbc.co.uk/news/1", "http://x.org/a", "https://x.org/b/c"],
        "https://x.org/b/c", ("x.org/b/*", "x.org/*", "*.org"),
    ),
    "address": (
        ["10.0.0.1", "10.0.0.7", "10.0.9.1", "192.168.1.1"],
        "10.0.0.7", ("10.0.0.0/24", "10.0.0.0/16", "10.0.0.0/8"),
    ),
    "new address": (
        ["2001:db8::1", "2001:db8::2", "2001:db8:1::1"],
        "2001:db8::1", ("2001:db8::/64", "2001:db8::/48", "2001:db8::/32"),
    ),
    "time": (
        ["08:15", "08:20", "09:30", "5:45 pm", "23:59"],
        "5:45 pm", ("17:30-17:59", "17:00-17:59", "12:00-17:59 (afternoon)"),
    ),
    "point": (
        ["52.52, 13.40", "52.53, 13.41", "48.1, 11.5"],
        "52.52, 13.40", ("cell 52.5 to 52.6, 13.4 to 13.5", "cell 52 to 53, 13 to 14", "cell 50 to 60, 10 to 20"),
    ),
    "southern point": (
        ["-33.86, 151.2", "-33.87, 151.2", "-37.8, 144.9"],
        "-33.86, 151.2", ("cell -33.9 to -33.8, 151.2 to 151.3", "cell -34 to -33, 151 to 152", "cell -40 to -30, 150 to 160"),
    ),
    "code": (["AB12", "AB1", "AB13x", "C7", "C71"], "AB12", ("AB1*",)),
    "leading zeros": (["01", "011", "012", "02"], "012", ("01*", "0*")),
    "language": (["German", "english", "Polish", "Arabic"], "english", ("Germanic", "Indo-European")),
    "language code": (["de", "fr", "it", "es"], "fr", ("Romance", "Indo-European")),
    "month name": (["Jan", "Feb", "March", "dez"], "dez", ("October to December", "second half-year")),
    "weekday": (["Monday", "Samstag", "dimanche", "Tue"], "dimanche", ("weekend",)),
    "nuts": (["DE212", "DE21", "FR101", "FR10", "AT13"], "DE212", ("DE21*", "DE2**", "DE***")),
    "currency": (["EUR", "USD", "GBP", "JPY"], "GBP", ("currencies of Northern Europe", "currencies of Europe")),
    "medicine": (["A10BA02", "C09AA05", "N02BE01", "A10BB"], "A10BA02", ("A10BA*", "A10B*", "A10*", "A*")),
    "state": (["NY", "TX", "california"], "TX", ("West South Central", "South")),
    "quarter": (["2024-Q1", "Q2 2024", "2023-Q4"], "Q2 2024", ("2024", "2020s")),
    "month in words": (["March 2024", "Apr 2024", "Dez 2023"], "Apr 2024", ("2024-Q2", "2024", "2020s")),
    "often": (["nie", "selten", "manchmal", "oft", "immer"], "oft", ("oft to immer",)),
    "number word": (["one", "two", "three", "four"], "three", ("three to four",)),
    "grade": (["A+", "A", "B-", "C"], "C", ("C to B-",)),
    "size": (["XL", "S", "M", "L"], "S", ("S to M",)),
    "count": (["0", "1", "2", "9", "10+"], "10+", ("9 or more",)),
    "money": (["$0-$9,999", "$10,000-$19,999", "$20,000 or more"], "$0-$9,999", ("0-19,999",)),
    "interval": (["[0, 10)", "[10, 20)", "[20, 30)", "[30, 40)"], "[10, 20)", ("0-20",)),
    "german bands": (["unter 18", "18 bis 29", "30 bis 49", "ab 50"], "ab 50", ("30 or more",)),
    "old diagnosis": (["250.00", "250.1", "401.9", "V58.1", "E880.9"], "250.1", ("250.*", "240-279")),
    "branch": (["C10.1", "C10.2", "G47.11", "Q86"], "G47.11", ("G47.1*", "G47.*", "section G")),
    "Polish postcode": (["00-950", "00-951", "31-100"], "00-950", ("0095*", "009**", "00***", "0****")),
    "Canadian postcode": (["K1A 0B1", "K1A 0B2", "M5V 3L9"], "K1A 0B1", ("K1A ***", "K1* ***", "K** ***")),
    "Dutch postcode": (["1012 AB", "1012 AC", "3011 XY"], "1012 AB", ("1012 **", "10** **", "1*** **")),
}  # fmt: skip
"""Columns of the other kinds that are recognized."""
