"""Words of column names, in the main European languages, and what they say about a column.

Words are compared without accents and in small letters. A *word* must stand alone in the name (``age`` is in ``age_years``, not
in ``wage``); a *stem* may stand inside a word (``geburt`` in ``Geburtsdatum``), for languages that write words together.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

Role = Literal["identifier", "quasi-identifier", "sensitive", "other"]

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


@dataclass(frozen=True)
class Topic:
    """What a column can be about, and the words that tell it."""

    name: str
    role: Role
    words: frozenset[str] = frozenset()
    stems: tuple[str, ...] = ()
    category: bool = False
    """Numbers in such a column are codes for categories."""


def _topic(name: str, role: Role, words: str = "", stems: str = "", *, category: bool = False) -> Topic:
    return Topic(name, role, frozenset(words.split()), tuple(stems.split()), category)


NAMING = (
    _topic(
        "contact",
        "identifier",
        "email mail phone telephone tel telefon telefono telefone telephone mobile handy gsm fax url website ip login username user account konto compte cuenta conto iban bic passport passeport pasaporte reisepass licence license plate matricule twitter",
        "email telefon kennzeichen",
    ),
    _topic(
        "name of a person",
        "identifier",
        "surname firstname lastname forename fullname nickname vorname nachname familienname prenom nom nombre apellido apellidos nome cognome sobrenome voornaam achternaam imie nazwisko fornamn efternamn first last",
        "nachname vorname achternaam apellid cognome nazwisk familienname",
    ),
    _topic("address", "identifier", "address street strasse str adresse adresa adres direccion indirizzo endereco rue calle via rua straat ulica gata adress anschrift hausnummer", "strasse anschrift hausnummer"),
    _topic("number of a person", "identifier", "ssn nino nhs mrn pesel dni nif nie nir cpf bsn uuid guid cpr personnummer codicefiscale steuerid svnr ahv subject", "personnummer sozialversicherung codicefiscale patientid patientnr personid"),
)  # fmt: skip
"""What names a person by itself."""

KNOWN = (
    _topic(
        "age",
        "quasi-identifier",
        "age ages alter edad eta idade leeftijd wiek alder aar ar agegroup agecat yob jahrgang",
        "altersgr lebensalter leeftijd geburtsjahr anneenaiss agegroup",
    ),
    _topic(
        "birth",
        "quasi-identifier",
        "birth birthday birthdate dob born naissance nacimiento nascita nascimento urodzenia fodelse fodt foedt nee geboren yearofbirth birthyear",
        "geburt geboort birth naissan nacimien nascit nascimen urodz fodels",
    ),
    _topic("death", "quasi-identifier", "death died dod deceased deces muerte morte tod overlijden zgon", "sterbe todes deathdate"),
    _topic(
        "sex",
        "quasi-identifier",
        "sex gender sexe sexo sesso genere genero genre geschlecht geslacht plec kon kjonn kon koen gndr male female man woman boy girl homme femme",
        "geschlecht geslacht",
        category=True,
    ),
    _topic(
        "place",
        "quasi-identifier",
        "zip zipcode postcode postal plz cap cep city town village municipality county state region district country cntry province departement department land pays pais paese stadt ort gemeinde kreis bundesland ville commune cp  ciudad municipio provincia comunidad comune citta regione stato cidade bairro estado uf freguesia concelho distrito stad gemeente woonplaats provincie wijk buurt miasto wojewodztwo powiat gmina kommun lan ort postnummer by kanton canton quartier barrio neighborhood neighbourhood borough place location residence residency wohnort nuts lau fips tract block msa puma lat latitude lon lng long longitude coordinates coord geo geom geometry breite laenge easting northing urban rural rur embarked metro area",
        "zamieszk wohnort postleitzahl postcode postal codepostal municip provinc gemeinde landkreis bundesland woonplaats wojewodz latitud longitud zipcode geohash birthplace residen",
        category=True,
    ),
    _topic(
        "origin",
        "quasi-identifier",
        "race raca ethnicity ethnic ethnie etnia etniciteit nation nationality nationalite nacionalidad nazionalita nacionalidade nationaliteit narodowosc citizenship citizen cittadinanza ciudadania native immigrant immigration migration migrant origin foreign foreigner ancestry tribe caste black white hispanic hispan hisp asian latino nonwhite minority language langue lengua idioma lingua sprache taal jezyk herkunft",
        "nationalit staatsangeh staatsburg staatsbuerg ethni migration obywatel staatsang muttersprach hispan",
        category=True,
    ),
)  # fmt: skip
"""What an outsider may know, whatever else the name says: the age at a diagnosis is an age."""

SENSITIVE = (
    _topic(
        "health",
        "sensitive",
        "diagnosis diagnoses diagnose diagnostic diagnostico diagnosi diag disease illness sickness icd icd9 icd10 dx dgns condition conditions comorbidity comorbidities symptom symptoms complaint treatment treated treat trt therapy therapie traitement tratamiento trattamento tratamento behandlung behandeling leczenie medication medications medicine drug drugs dose insulin procedure procedures surgery operation hiv aids cancer tumor tumour stroke diabetes hypertension asthma depression anxiety mental psychiatric disability disabled handicap invalidity health hlth healthstatus vital outcome cause survival survived recurrence relapse remission stage grade metastasis nodes biopsy histology krankheit krankheiten erkrankung maladie enfermedad malattia doenca ziekte choroba sjukdom sygdom smoking smoker smoke tobacco alcohol drinking pregnancy pregnant gravidity parity abortion contraception blood bmi chol cholesterol glucose hba hba1c bp trestbps pressure pulse heart thalach ecg restecg albumin albumin bili bilirubin platelet protime creatinine hemoglobin alk ast copper trig ascites hepato spiders edema karno ecog meal genotype gene gen dna snp mutation allele lab labs test tests result results score scores readmitted readmission severity injury vaccine vaccination vaccinated covid infection infected allergy disorder arm rx los mortality expire suicid fever pain",
        "hlth patolog patholog diagno krankheit erkrankung behandl maladie enfermedad malatt doenc ziekte chorob sjukdom medikament medicament medicat therap symptom disabil behinder handicap cholest glucose hemoglob genotyp schwanger smok rauch fumeur fumador alcohol depress cancer diabet psychia",
        category=True,
    ),
    _topic(
        "money",
        "sensitive",
        "salary salaries income wage wages pay payment fare earnings earning debt debts loan loans credit capital gain loss balance default defaulted savings saving wealth assets pension benefit benefits bonus tax taxes bill bills charge charges insurance payer premium claim claims einkommen gehalt lohn schulden vermoegen rente revenu revenus salaire dette patrimoine ingresos ingreso salario renta renda sueldo deuda reddito stipendio inkomen salaris loon schuld dochod dochody wynagrodzenie zarobki inkomst lon loen indkomst stockoption",
        "einkommen lohn gehalt salair salari inkomen dochod income salary earning wage wynagrodz vermog vermoeg schulden kredit",
    ),
    _topic("law", "sensitive", "crime crimes offence offense offences conviction convicted arrest arrested arrests prison jail sentence sentenced recid recidivism decile priors probation bail juv strafe straftat delit delito reato verurteilung charge", "recidiv criminal convict straf", category=True),
    _topic(
        "belief and opinion",
        "sensitive",
        "religion religious faith church denomination belief party vote voted voting political politics ideology union unionised orientation sexuality lgbt gay opinion satisfaction religione religiao konfession kirche partei wahl gewerkschaft parti syndicat partido sindicato partito sindacato vakbond partia religia",
        "religi konfession gewerksch politi sexualorient",
        category=True,
    ),
    _topic("performance", "sensitive", "performance performancerating rating mark marks note noten nota voto ocena attrition dismissed fired failures absences absence gpa sat exam points evaluation appraisal discipline", "leistung prufung bewertung"),
)  # fmt: skip

PERHAPS_KNOWN = (
    _topic(
        "family",
        "quasi-identifier",
        "marital married marriage civil spouse partner relationship relation household hh hhsize famsize family familie familienstand children child kids kinder enfants hijos figli filhos kinderen dzieci barn ehe verheiratet divorced widowed single siblings sibling parents parent guardian mstatus pstatus matrimonial",
        "famili familienst haushalt burgerlijke civilst houshold household marital menage hogar matrimon",
        category=True,
    ),
    _topic(
        "education",
        "quasi-identifier",
        "education educ edu school schooling degree nodegree diploma college university study studies bildung schule abschluss ausbildung formation etudes estudios educacion istruzione titolo escolaridade educacao opleiding onderwijs wyksztalcenie utbildning utdanning medu fedu",
        "schulabschl etude estudio bildungs ausbildung escolar wykszta educat opleiding",
    ),
    _topic(
        "work",
        "quasi-identifier",
        "job jobs occupation occup profession employer employment employed employee workclass work worker working industry sector company position role rank title tenure hours hoursperweek experience exper manager military veteran beruf arbeitgeber arbeit branche stellung metier emploi profesion ocupacion empleo trabajo professione occupazione lavoro profissao ocupacao emprego beroep werk zawod praca yrke jobb businesstravel shift mjob fjob selfemployed retired student housewife isco naics soc",
        "beruf occupat profes erwerb arbeits employ zawod",
        category=True,
    ),
    _topic(
        "body as seen",
        "quasi-identifier",
        "height weight size shoe eye hair groesse gewicht taille poids altura peso estatura altezza lengte wzrost waga langd vikt stature handedness",
        "koerpergr korpergr gewicht",
    ),
    _topic(
        "event that others see",
        "quasi-identifier",
        "stay doctor physician consultant gp practice arzt hausarzt medecin medico hospital clinic inst institution site center centre ward admission admitted admit admittime discharge dischtime visit date day month year yr yrs week quarter dates datum jahr monat tag aufnahme entlassung annee mois jour sortie entree fecha ano mes dia alta data anno mese giorno admissao opname ontslag jaar maand rok ar manad dato started hired joined enrolled enrollment accident deathdate arrival departure travel trip",
        "aufnahmedat entlassungsdat datum",
    ),
    _topic("home and goods", "quasi-identifier", "cabin class pclass socioeconomic ses car cars vehicle house housing home homeowner tenant dwelling property wohnung logement vivienda abitazione woning mieszkanie rooms pets internet dependents dependants", "wohnung", category=True),
    _topic("distance", "quasi-identifier", "distance distancefromhome commute traveltime", "entfernung distanc"),
)  # fmt: skip
"""What an outsider may know, unless the name also says something sensitive: the size of a tumour is no size."""

KEYS = frozenset(
    [
        "name",
        "names",
        "id",
        "ids",
        "nr",
        "nbr",
        "no",
        "num",
        "number",
        "key",
        "record",
        "identifier",
        "nummer",
        "numero",
        "numer",
        "kennung",
        "pid",
        "row",
        "rownames",
        "index",
        "unnamed",
        "caseid",
        "idno",
        "ticket",
    ]
)
"""Words that often stand for a person's number or name, and often for something else."""
KEY_STEMS = ("nummer", "numero")
PERSONS = frozenset(
    [
        "patient",
        "person",
        "persona",
        "personne",
        "osoba",
        "client",
        "kunde",
        "klient",
        "customer",
        "proband",
        "participant",
        "respondent",
        "case",
    ]
)
"""Words that name a person's key where they are the whole name."""

QUANTITIES = _topic(
    "quantity",
    "other",
    "num number count n nb no anzahl total years yrs year jahre annees anni anos size hhsize famsize children child kids kinder enfants hijos figli "
    "filhos kinderen dzieci barn siblings sibsp parch rooms car cars vehicle pets employees dependents dependants hours hoursperweek experience exper tenure "
    "rank grade level score decile priors class pclass ses lat latitude lon lng long longitude easting northing breite laenge",
).words
"""Words by which numbers are counted or have an order, so that ranges of them mean something, whatever else the name says."""
HARMLESS = frozenset(
    [
        "fnlwgt",
        "pweight",
        "wgt",
        "wght",
        "weights",
        "surveyweight",
        "wave",
        "version",
        "imputed",
        "batch",
        "fold",
        "campaign",
    ]
)
"""Words about how the table was made, not about the person."""
HARMLESS_STEMS = ("wght", "wgt")


def plain(text: str) -> str:
    """Return text in ASCII without accents: ``Größe`` and ``Groesse`` differ still, ``Âge`` is ``Age``."""
    text = text.replace("ß", "ss").replace("ł", "l").replace("Ł", "L").replace("ø", "o").replace("æ", "ae")
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def words_of(name: str) -> list[str]:
    """Return the words of a column name: ``birthDate``, ``birth_date`` and ``BIRTH-DATE`` have the same."""
    return [word.lower() for word in _WORD.findall(plain(name))]
