"""Comparisons, which run the same training on several datasets with one job per dataset.

A comparison passes through these modules in this order:

- `comparison_routes`: the routes;
- `comparison_submission`: checks every training against its data;
- `candidates`: loads the datasets named by a request, or the first tables of a ranking;
- `comparison_queue_store`: stores the comparison, and queues either all of its trainings or none;
- `comparison_json`: creates the response;
- `comparison_event_stream`: sends the response again whenever it changes.

Reading comparisons and assessing their results is in `jobs/comparisons`, because reports need it as well.
"""
