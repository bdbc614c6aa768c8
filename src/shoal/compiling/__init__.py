"""How kernels are compiled, kept on disk and compiled ahead. A reader of kernels needs ``@kernel()`` from ``decorator`` and nothing else.

``disk_cache`` keeps compiled kernels, in ``folders`` that nobody else may write; ``linking`` is the only module that uses numba's
internals; ``signatures`` records how kernels are called, so that ``warm_up`` can compile them ahead, for this machine or a wheel. Called by all
kernels and by ``shoal warm-up``. Except for the jobs of ``warm_up`` it does not know what the kernels are for.
"""
