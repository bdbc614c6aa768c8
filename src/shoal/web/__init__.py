"""The local page: everything the command line can do for one release, in a browser, on this machine only.

============  ===============================================================================================
``guard``     who may ask: token, cookie, Host, Origin, bounds, headers; no fault leaves a trace
``private``   the folder only this server reads; removed at the end, or by the next start after a crash
``folder``    files in the folder the page was started in, and nothing outside it
``draft``     the recipe while it is being made, and how each click changes it
``history``   undo and redo
``workshop``  what a server works on: sessions, tables that were read, workers
``session``   the work on one table: drafts, releases, running jobs
``identity``  what tells one content of a table from another
``jobs``      worker processes: what takes long never runs in the server
``routes``    one module a step of the page
============  ===============================================================================================
"""
