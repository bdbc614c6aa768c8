"""The ways in: the function ``anonymize`` and the class ``Anonymizer`` behind it.

``anonymizer`` is the class, a skin of ``shoal.request`` that scikit-learn knows; ``function`` is the class, called once; ``run`` asks for an engine;
``first_run`` says whether the compiler must work first; ``arx`` reads projects of ARX. Called by users, the command line, the web interface and
``compare``. It does not know how a release is made.
"""

from shoal.api.anonymizer import Anonymizer
from shoal.api.first_run import compiles_first
from shoal.api.function import anonymize
from shoal.request import recipe_parameters

__all__ = ["Anonymizer", "anonymize", "compiles_first", "recipe_parameters"]
