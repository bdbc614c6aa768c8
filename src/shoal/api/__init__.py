"""The two ways in: the function ``anonymize`` and the class ``Anonymizer`` behind it.

``anonymizer``  the class: its parameters and the job
``function``    the class, called once
``bars``        what progress=True draws
``checks``      what parameters must be
``roles``       which column is what
``settings``    parameters to recipe and back
``first_run``   whether the compiler must work first
"""

from shoal.api.anonymizer import Anonymizer
from shoal.api.first_run import compiles_first
from shoal.api.function import anonymize
from shoal.api.settings import recipe_parameters

__all__ = ["Anonymizer", "anonymize", "compiles_first", "recipe_parameters"]
