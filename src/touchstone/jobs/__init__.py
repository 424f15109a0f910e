"""Jobs: long work that is queued as a row, executed in a process of its own, and followed by its owner.

Requests come in through `routes` and `start`, are queued by `queue_store`, claimed by a `dispatcher`, and executed by
what `execution` contains. `kinds` is the table of the kinds of jobs.
"""
