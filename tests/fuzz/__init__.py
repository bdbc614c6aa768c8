"""The campaign against shoal: generated tables, signals at random moments. ``make fuzz`` runs it at length.

It lies among the tests because its short form is one (``test_campaign.py``), and because it may share nothing with what
it checks: ``checker.py`` reads released cells and counts groups with code of its own.
"""
