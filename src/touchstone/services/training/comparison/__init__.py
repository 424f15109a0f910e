"""Comparisons: the same training on several datasets, one job each, with the results side by side.

A comparison passes through these modules, in this order:

- `comparison_routes`: the routes;
- `submission`: checks the trainings, and queues all of them or none;
- `candidates`: the datasets that a request names, or the first tables of a ranking;
- `comparison_store`: the rows of comparisons, with their jobs and the results of these;
- `assessment`: which dataset trains best, and whether the difference can be chance;
- `comparison_json`: the response;
- `comparison_event_stream`: the same response again, whenever it changes.
"""
