"""Analyses before and after a release, which show the holder of the original table what recipients will find.

In it: questions (regressions, cross tables, survival), their estimates on exact, averaged and completed tables, and the verdict.
Called by users as ``shoal.analyses`` and by the command line. It knows results and the reader of recipients, no method and no kernel;
what it finds compares with the original, so none of it is for publication.
"""

from shoal.evaluation.analyses import Analyses, analyses

__all__ = ["Analyses", "analyses"]
