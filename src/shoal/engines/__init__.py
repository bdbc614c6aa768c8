"""Who runs the plan of a table: memory, stream, and (in ``shoal.spark``) a cluster. All find the same groups.

A large table is learned (columns, totals), cut into fragments by content, grouped fragment by fragment, combined, and counted again as a
whole. The functions an engine is made of, none of which cares where it runs::

    learning.py    learn_batch, merge_learned, make_coding -> Coding: codes of any batch
    contents.py    draw_sample: the distinct tuples of a batch that are in the sample, merge_samples; make_pilot; order_by_content
    copies.py      groups of equal records, which need no search
    plan.py        Job; sample_share, take_sample, cut_table -> Tree; tree.assign; count_batch; fragments_of; run_fragment
    cutting.py     the crossing rule
    fragments.py   Counts, which are added up; leaves that cannot stand alone are joined
    releasing.py   release_fragment: released columns and statistics of one fragment; statistics are added up
    memory.py      the engine for tables that fit into memory

What a fragment gives (``releasing.Piece``) are the released quasi-identifiers of its records and sums over its groups. The sums of all fragments
give the metrics; the re-count of the rows, by value, is the engine's own and comes last.
"""
