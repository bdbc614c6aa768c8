"""The two ways in: the function ``anonymize`` and the class ``Anonymizer`` behind it.

``anonymizer``  the class, a skin of ``shoal.request`` that scikit-learn knows
``function``    the class, called once
``run``         which engine makes the release
``memory``      a release in memory
``first_run``   whether the compiler must work first
"""

from shoal.api.anonymizer import Anonymizer
from shoal.api.first_run import compiles_first
from shoal.api.function import anonymize
from shoal.request import recipe_parameters

__all__ = ["Anonymizer", "anonymize", "compiles_first", "recipe_parameters"]
