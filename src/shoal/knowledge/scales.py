"""Words in an order: answers of questionnaires, grades, sizes, school levels, numbers as words.

A scale is a list of levels from the least to the greatest, each with the words for it in several languages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from shoal.knowledge.reading import fold

_SCALES = {
    "answers from disagreement to agreement": """
strongly disagree|disagree strongly|totally disagree|completely disagree|fully disagree|stimme gar nicht zu|stimme überhaupt nicht zu|trifft gar nicht zu|trifft überhaupt nicht zu|pas du tout d'accord|tout à fait en désaccord|totalmente en desacuerdo|muy en desacuerdo|completamente in disaccordo|fortemente in disaccordo
mostly disagree|disagree|stimme nicht zu|trifft nicht zu|pas d'accord|plutôt pas d'accord|en désaccord|en desacuerdo|in disaccordo|oneens
somewhat disagree|slightly disagree|tend to disagree|rather disagree|stimme eher nicht zu|trifft eher nicht zu|plutôt en désaccord|algo en desacuerdo
neither agree nor disagree|neither|neutral|undecided|no opinion|neither nor|weder noch|teils teils|teils/teils|unentschieden|ni d'accord ni pas d'accord|neutre|ni de acuerdo ni en desacuerdo|neutro|né d'accordo né in disaccordo|neutraal
somewhat agree|slightly agree|tend to agree|rather agree|stimme eher zu|trifft eher zu|plutôt d'accord|algo de acuerdo
agree|mostly agree|stimme zu|trifft zu|d'accord|de acuerdo|d'accordo|eens
strongly agree|agree strongly|totally agree|completely agree|fully agree|stimme voll zu|stimme völlig zu|stimme voll und ganz zu|trifft voll zu|trifft voll und ganz zu|tout à fait d'accord|totalmente de acuerdo|muy de acuerdo|completamente d'accordo|fortemente d'accordo""",
    "how often": """
never|not at all|nie|niemals|jamais|nunca|mai|nooit
almost never|hardly ever|very rarely|fast nie|sehr selten|presque jamais|casi nunca|quasi mai
rarely|seldom|selten|rarement|rara vez|raramente|zelden
occasionally|once in a while|now and then|gelegentlich|ab und zu|occasionnellement|de vez en cuando|occasionalmente
sometimes|manchmal|parfois|quelquefois|a veces|algunas veces|a volte|qualche volta|soms
often|frequently|oft|häufig|souvent|a menudo|frecuentemente|spesso|vaak
usually|very often|mostly|most of the time|meistens|sehr oft|sehr häufig|très souvent|la plupart du temps|muy a menudo|molto spesso
almost always|nearly always|fast immer|presque toujours|casi siempre|quasi sempre
always|immer|toujours|siempre|sempre|altijd""",
    "how often in time": """
never|nie|jamais|nunca|mai
less often|less than yearly|seltener|moins souvent|rarely|selten
yearly|annually|once a year|jährlich|annuel|anual
quarterly|every quarter|vierteljährlich|trimestriel|trimestral
monthly|once a month|monatlich|mensuel|mensual|several times a year
fortnightly|biweekly|every two weeks|zweiwöchentlich|several times a month
weekly|once a week|wöchentlich|hebdomadaire|semanal|settimanale
several times a week|mehrmals pro woche|mehrmals wöchentlich|plusieurs fois par semaine|varias veces por semana
daily|every day|once a day|täglich|jeden tag|quotidien|tous les jours|diario|cada día|ogni giorno|giornaliero
several times a day|mehrmals täglich|mehrmals am tag|plusieurs fois par jour""",
    "quality": """
very poor|very bad|terrible|awful|sehr schlecht|très mauvais|muy malo|muy mal|pessimo
poor|bad|schlecht|mauvais|malo|mal|cattivo|scarso
below average|unterdurchschnittlich
fair|average|acceptable|okay|ok|so so|mittelmäßig|mittel|durchschnittlich|moyen|passable|regular|medio|discreto
above average|überdurchschnittlich
good|gut|bon|bueno|bien|buono
very good|sehr gut|très bon|muy bueno|muy bien|molto buono
premium
excellent|outstanding|ideal|exceptional|ausgezeichnet|hervorragend|exzellent|excelente|eccellente|ottimo""",
    "German school marks": """
sehr gut
gut
befriedigend
ausreichend
mangelhaft
ungenügend""",
    "satisfaction": """
very dissatisfied|very unsatisfied|extremely dissatisfied|completely dissatisfied|sehr unzufrieden|très insatisfait|muy insatisfecho|molto insoddisfatto
dissatisfied|unsatisfied|unzufrieden|insatisfait|insatisfecho|insoddisfatto
somewhat dissatisfied|rather dissatisfied|eher unzufrieden|plutôt insatisfait|algo insatisfecho
neutral|neither|neither satisfied nor dissatisfied|weder noch|teils teils|neutre|neutro|ni satisfecho ni insatisfecho
somewhat satisfied|rather satisfied|eher zufrieden|plutôt satisfait|algo satisfecho
satisfied|zufrieden|satisfait|satisfecho|soddisfatto
very satisfied|extremely satisfied|completely satisfied|sehr zufrieden|très satisfait|muy satisfecho|molto soddisfatto""",
    "likelihood": """
very unlikely|extremely unlikely|sehr unwahrscheinlich|très improbable|muy improbable
unlikely|unwahrscheinlich|improbable|poco probable
somewhat unlikely|eher unwahrscheinlich
neutral|neither|as likely as not|possible|möglich|posible
somewhat likely|eher wahrscheinlich
likely|probable|wahrscheinlich
very likely|extremely likely|highly likely|certain|sehr wahrscheinlich|très probable|muy probable""",
    "importance": """
not important|not at all important|unimportant|unwichtig|überhaupt nicht wichtig|pas important|nada importante
slightly important|less important|weniger wichtig|peu important|poco importante
moderately important|somewhat important|neutral|mäßig wichtig|moyennement important|algo importante
important|wichtig|importante
very important|sehr wichtig|très important|muy importante
extremely important|essential|äußerst wichtig|essentiel|esencial""",
    "levels from low to high": """
none|no|keine|aucun|ninguno|nessuno
very low|minimal|sehr niedrig|sehr gering|très faible|très bas|muy bajo|molto basso
low|niedrig|gering|faible|bas|bajo|basso|laag
lower middle|low medium|medium low|eher niedrig|mittel niedrig
medium|moderate|middle|average|normal|mittel|moyen|modéré|medio|moderado|moderato|gemiddeld
upper middle|medium high|eher hoch|mittel hoch
high|elevated|hoch|élevé|haut|alto|elevado|hoog
very high|sehr hoch|très élevé|muy alto|molto alto
extreme|extremely high|critical|extrem|extrême|extremo""",
    "severity": """
none|absent|no symptoms|keine|aucun|ninguno
minimal|trace|very mild|sehr leicht
mild|slight|leicht|léger|leve|lieve
moderate|mäßig|mittelschwer|mittel|modéré|moderado|moderato
severe|serious|schwer|sévère|grave
very severe|critical|sehr schwer|très sévère|muy grave|life threatening
fatal|tödlich|mortel|mortal""",
    "how much": """
not at all|gar nicht|überhaupt nicht|pas du tout|nada|per niente
a little|a little bit|slightly|ein wenig|ein bisschen|etwas|un peu|un poco
somewhat|moderately|mäßig|mittelmäßig|moyennement|moderadamente|abbastanza
quite a bit|very|a lot|very much|ziemlich|sehr|beaucoup|mucho|molto
extremely|completely|totally|äußerst|völlig|extrêmement|extremadamente|moltissimo""",
    "sizes": """
xxxs|3xs
xxs|2xs
xs|extra small|very small|tiny|sehr klein|winzig|très petit|muy pequeño
s|small|klein|petit|pequeño|piccolo
m|medium|mittel|mittelgroß|moyen|mediano|medio
l|large|big|groß|grand|grande
xl|extra large|very large|huge|sehr groß|très grand|muy grande
xxl|2xl|enormous|riesig
xxxl|3xl
xxxxl|4xl""",
    "size of a firm": """
micro|kleinst
small|klein|petite
medium|mid size|medium sized|mittel|moyenne
large|groß|grande""",
    "ages of life": """
newborn|neonate|neugeborenes
infant|baby|säugling
toddler|kleinkind
child|kid|kind|enfant|niño
adolescent|teenager|teen|jugendlicher|adolescente
young adult|junger erwachsener|jeune adulte
adult|erwachsener|adulte|adulto
middle aged|mittleres alter
senior|elderly|elder|old|older adult|senioren|personne âgée|anciano""",
    "places in a row": """
zeroth
first|1st|erster|erste|1re|1er|premier|première|primero|primera|primo
second|2nd|zweiter|zweite|2e|2ème|deuxième|segundo|segunda|secondo
third|3rd|dritter|dritte|3e|3ème|troisième|tercero|tercera|terzo
fourth|4th|vierter|vierte|4e|quatrième|cuarto|cuarta|quarto
fifth|5th|fünfter|fünfte|5e|cinquième|quinto|quinta
sixth|6th|sechster|sechste|sixième|sexto|sesto
seventh|7th|siebter|siebte|septième|séptimo|settimo
eighth|8th|achter|achte|huitième|octavo|ottavo
ninth|9th|neunter|neunte|neuvième|noveno|nono
tenth|10th|zehnter|zehnte|dixième|décimo|decimo
11th|eleventh
12th|twelfth""",
    "Roman numerals": "i\nii\niii\niv\nv\nvi\nvii\nviii\nix\nx\nxi\nxii",
    "numbers as words": """
zero|none|null|kein|zéro|cero
one|eins|ein|eine|un|une|uno|una
two|zwei|deux|dos|due
three|drei|trois|tres|tre
four|vier|quatre|cuatro|quattro
five|fünf|cinq|cinco|cinque
six|sechs|seis|sei
seven|sieben|sept|siete|sette
eight|acht|huit|ocho|otto
nine|neun|neuf|nueve|nove
ten|zehn|dix|diez|dieci
eleven|elf|onze|once|undici
twelve|zwölf|douze|doce|dodici
thirteen|dreizehn|treize|trece
fourteen|vierzehn|quatorze|catorce
fifteen|fünfzehn|quinze|quince
sixteen|sechzehn|seize
seventeen|siebzehn
eighteen|achtzehn
nineteen|neunzehn
twenty|zwanzig|vingt|veinte
more|more than twenty|mehr|plus|más""",
    "letter grades": "f\ne-\ne\ne+\nd-\nd\nd+\nc-\nc\nc+\nb-\nb\nb+\na-\na\na+",
}
"""Each scale from its least level to its greatest, a line a level."""

SCHOOLING = {
    "no schooling": "none|no schooling|no education|no formal education|illiterate|ohne schule|sans scolarité|sin estudios|never attended",
    "pre-school": "preschool|pre school|nursery|nursery school|kindergarten|early childhood education|vorschule|maternelle|isced 0|0",
    "primary, first years": "1st 4th|1 4|grades 1 4|some primary|some elementary|incomplete primary",
    "primary": "5th 6th|primary|primary school|primary education|elementary|elementary school|grundschule|primarschule|primaire|école primaire|primaria|isced 1",
    "lower secondary, first years": "7th 8th|7 8|middle school",
    "lower secondary": "9th|lower secondary|lower secondary education|junior high|junior high school|hauptschule|hauptschulabschluss|collège|brevet|secundaria|eso|isced 2|less than high school|some secondary|basic",
    "intermediate secondary": "10th|realschule|realschulabschluss|mittlere reife|mittlerer schulabschluss|gcse|gcses|o level|o levels",
    "upper secondary, eleventh year": "11th|some high school",
    "upper secondary, twelfth year": "12th|fachhochschulreife|fachabitur",
    "upper secondary": "hs grad|high school|high school graduate|high school diploma|secondary|secondary school|secondary education|upper secondary|upper secondary education|a level|a levels|ged|abitur|hochschulreife|gymnasium|matura|lycée|baccalauréat|bac|bachillerato|liceo|isced 3|12 years",
    "vocational training": "vocational|vocational training|apprenticeship|trade school|lehre|ausbildung|berufsausbildung|duale ausbildung|cap|bep|formación profesional|post secondary|post secondary non tertiary|isced 4|technical",
    "some college": "some college|some university|some post secondary|college no degree|studium ohne abschluss",
    "associate degree, vocational": "assoc voc|associate vocational|meister|techniker|bts|dut|short cycle tertiary|isced 5|higher national diploma|hnd|foundation degree|professional",
    "associate degree": "assoc acdm|associate|associates|associate degree|associates degree|associate academic|associate s degree|college|diploma",
    "bachelor": "bachelors|bachelor|bachelor degree|bachelors degree|bachelor s degree|ba|bsc|bs|undergraduate|university|university degree|university education|tertiary|higher education|graduate|college graduate|fachhochschule|fh|licence|licenciatura|grado|isced 6|4 year college",
    "master": "masters|master|master degree|masters degree|master s degree|ma|msc|ms|mba|magister|diplom|staatsexamen|universität|hochschule|maîtrise|máster|maestría|isced 7|postgraduate|graduate degree|post graduate",
    "professional degree": "prof school|professional school|professional degree|jd|md|advanced degree",
    "doctorate": "doctorate|doctoral|doctor|phd|dphil|promotion|doktor|doctorat|doctorado|dottorato|isced 8",
}
"""Levels of schooling from the least to the greatest, in the order of ISCED 2011."""

SCHOOL_GROUPS = {
    "below upper secondary": (
        "no schooling", "pre-school", "primary, first years", "primary", "lower secondary, first years",
        "lower secondary", "intermediate secondary", "upper secondary, eleventh year", "upper secondary, twelfth year",
    ),
    "upper secondary to associate degree": (
        "upper secondary", "vocational training", "some college", "associate degree, vocational", "associate degree",
    ),
    "bachelor or more": ("bachelor", "master", "professional degree", "doctorate"),
}  # fmt: skip
SCHOOL_PARTS = {
    "no schooling or pre-school": ("no schooling", "pre-school"),
    "primary school": ("primary, first years", "primary"),
    "lower secondary school": ("lower secondary, first years", "lower secondary", "intermediate secondary"),
    "upper secondary school, not completed": ("upper secondary, eleventh year", "upper secondary, twelfth year"),
    "upper secondary or training": ("upper secondary", "vocational training"),
    "college below a bachelor": ("some college", "associate degree, vocational", "associate degree"),
    "master or more": ("master", "professional degree", "doctorate"),
}

_SCHOOL_WORDS = {"degree", "level", "diploma", "education"}


@cache
def scales() -> dict[str, dict[str, int]]:
    """Return for each scale the rank of each word of it."""
    return {
        name: {_key(word): rank for rank, level in enumerate(text.strip().split("\n")) for word in level.split("|")}
        for name, text in _SCALES.items()
    }


_OPEN_END = re.compile(r" (?:(?:or|and|oder|und|ou|y|o) (?:more|mehr|plus|mas|piu))$")


def _key(word: str) -> str:
    """Return a word as scales are compared, without the open end of "three or more"; the sign of a grade stays."""
    return _OPEN_END.sub("", fold(word)) + {"+": "+", "-": "-"}.get(word[-1:], "")


def read_scale(texts: Sequence[str]) -> tuple[str, dict[str, int]] | None:
    """Return the scale that has the words of a column, and their ranks on it; None if there is none."""
    keys = {text: _key(text) for text in texts}
    for name, ranks in scales().items():
        if all(key in ranks for key in keys.values()):
            found = {text: ranks[key] for text, key in keys.items()}
            if _is_scale(name, texts, set(found.values())):
                return name, found
    return None


def _is_scale(name: str, texts: Sequence[str], ranks: set[int]) -> bool:
    """Return whether the words are enough for a scale: three levels, and for grades a sign, because plain letters may name anything."""
    signed = name != "letter grades" or any(text.strip()[-1:] in "+-" for text in texts)
    return signed and len(ranks) > 2


@cache
def schooling() -> dict[str, str]:
    """Return the level of schooling that each word stands for."""
    return {fold(word): level for level, words in SCHOOLING.items() for word in (level, *words.split("|"))}


def read_schooling(texts: Sequence[str]) -> dict[str, str] | None:
    """Return the level of schooling of each text that is one; None if too few are, or only one level is meant."""
    known = schooling()
    found: dict[str, str] = {}
    for text in texts:
        level = known.get(fold(text)) or known.get(_bare(text))
        if level is not None:
            found[text] = level
    return found if len(set(found.values())) > 2 and len(found) >= 0.8 * len(texts) else None


def _bare(text: str) -> str:
    """Return a text without the words that names of degrees have in common."""
    return " ".join(word for word in fold(text).split() if word not in _SCHOOL_WORDS)
