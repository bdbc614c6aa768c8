"""What may be published besides the released rows: the data dictionary, the codebook and the public report.

Everything here is a function of two things, the released rows and what the recipe and the user declare. The one declared exception are
counts of exact values, if the recipe asks for them: they come pooled and rounded from ``release.counts``. Called by the results and the
engines. No function knows the original table or anything that was computed from it, and an import contract keeps the modules that hold one away.
"""

from shoal.publication.code_labels import LABELLINGS, Labelling, labelled, labels_in_file
from shoal.publication.codebook import CODEBOOK_FORMS, codebook_rows, codebook_text
from shoal.publication.counts import groups_path, renamed_groups, with_groups
from shoal.publication.declared import About, Declared
from shoal.publication.dictionary import (
    DICTIONARY_KEY,
    dictionary_path,
    dictionary_text,
    make_dictionary,
    rename_fields,
    with_dictionary,
)
from shoal.publication.report import PublicReport, public_report_form
from shoal.publication.trees import public_trees

__all__ = [
    "CODEBOOK_FORMS",
    "DICTIONARY_KEY",
    "LABELLINGS",
    "About",
    "Declared",
    "Labelling",
    "PublicReport",
    "codebook_rows",
    "codebook_text",
    "dictionary_path",
    "dictionary_text",
    "groups_path",
    "labelled",
    "labels_in_file",
    "make_dictionary",
    "public_report_form",
    "public_trees",
    "rename_fields",
    "renamed_groups",
    "with_dictionary",
    "with_groups",
]
