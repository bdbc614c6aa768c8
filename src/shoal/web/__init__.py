"""The web interface: what the command line can do for one release, in a browser, on this machine only.

``guard`` says who may ask; ``workshop`` holds sessions, tables and workers, ``session`` the work on one table, ``draft`` the recipe in the making;
``jobs`` is work that never runs in the server; ``routes`` is one module a step. ``private`` is a folder that only this server reads. Called by ``shoal
serve``. It knows the API, results and reports, and nothing of how a release is made; no fault leaves a trace in the page.
"""
