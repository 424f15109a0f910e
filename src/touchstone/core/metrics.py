"""Prometheus metrics of the process, which a separate listener serves."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY: Final = CollectorRegistry()
REQUESTS: Final = Counter(
    "touchstone_requests_total", "Requests answered, by method and status.", ("method", "status"), registry=REGISTRY
)
SECONDS: Final = Histogram("touchstone_request_seconds", "Time to answer a request, in seconds.", registry=REGISTRY)
CLOSED: Final = Counter(
    "touchstone_connections_closed_total",
    "Connections closed by the service, by reason.",
    ("reason",),
    registry=REGISTRY,
)
RANKINGS: Final = Counter(
    "touchstone_rankings_total", "Rankings computed, by the plan that was chosen.", ("plan",), registry=REGISTRY
)
RECORDS: Final = Gauge("touchstone_catalog_records", "Records in the catalog's columns.", registry=REGISTRY)
JOBS: Final = Counter(
    "touchstone_job_moves_total", "Moves of jobs, by the state reached.", ("status",), registry=REGISTRY
)
