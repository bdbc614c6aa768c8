"""The plan of a table: learned, cut into fragments by content, grouped fragment by fragment, combined, and counted as a whole.

Every engine takes these steps, and so finds the same groups; none of them cares where it runs. Called by ``engines`` and ``learning``; it
knows coded tables, methods and models, and neither recipes, files nor results::

    coding.py      learn_batch, merge_learned, make_coding -> Coding: codes of any batch
    contents.py    draw_sample: the distinct tuples of a batch that are in the sample, merge_samples; make_pilot; order_by_content
    copies.py      groups of equal records, which need no search
    steps.py       Job; sample_share, take_sample, cut_table -> Tree; tree.assign; count_batch; fragments_of; run_fragment
    cuts.py        the crossing rule
    fragments.py   Counts, which are added up; leaves that cannot stand alone are joined
    table.py       group_table: all steps for a table in memory
    pieces.py      release_fragment: released columns and statistics of one fragment; statistics are added up
    judged.py      what counted groups say about the models

What a fragment gives (``pieces.Piece``) are the released quasi-identifiers of its records and sums over its groups. The sums of all
fragments give the metrics; the recount of the rows, by value, is the engine's own and comes last.
"""
