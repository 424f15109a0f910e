"""Comparisons: the same training on several datasets, one job each, with the results side by side.

A comparison passes through these modules, in this order:

- `comparison_routes`: the routes;
- `comparison_submission`: checks every training against its data;
- `candidates`: the datasets that a request names, or the first tables of a ranking;
- `comparison_queue_store`: stores the comparison, and queues all of its trainings or none;
- `comparison_json`: the response;
- `comparison_event_stream`: the same response again, whenever it changes.

Reading comparisons, and deciding which dataset trains best, is in `jobs/comparisons`, because reports do that as well.
"""
