"""The Prometheus metrics of the process, which are served by a separate listener."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY: Final = CollectorRegistry()
REQUEST_COUNTER: Final = Counter(
    "touchstone_requests_total", "Requests answered, by method and status.", ("method", "status"), registry=REGISTRY
)
REQUEST_SECONDS: Final = Histogram(
    "touchstone_request_seconds", "Time to answer a request, in seconds.", registry=REGISTRY
)
CLOSED_CONNECTIONS: Final = Counter(
    "touchstone_connections_closed_total",
    "Connections closed by the service, by reason.",
    ("reason",),
    registry=REGISTRY,
)
RANKING_COUNTER: Final = Counter(
    "touchstone_rankings_total", "Rankings computed, by the plan that was chosen.", ("plan",), registry=REGISTRY
)
CATALOG_RECORDS: Final = Gauge("touchstone_catalog_records", "Records in the catalog's columns.", registry=REGISTRY)
JOB_MOVES: Final = Counter(
    "touchstone_job_moves_total", "Moves of jobs, by the state reached.", ("status",), registry=REGISTRY
)
