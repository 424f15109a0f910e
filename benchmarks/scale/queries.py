"""Two kinds of rankings over HTTP, with and without filters, compared with a small catalog."""

from typing import Final

from benchmarks.scale.measured_catalog import MeasuredCatalog, sign_in
from benchmarks.scale.questions import QuestionSender, filtered_ranking, medians_in_turn, ranking
from benchmarks.scale.report import Figure, Target, print_figure, print_heading

_REPEATS: Final = 500
_MAX_GROWTH: Final = 1.5
_QUESTIONS: Final = {"W1, top 20": ranking, "W2, four filters, top 20": filtered_ranking}


def measure_queries(catalog: MeasuredCatalog, small_catalog: MeasuredCatalog) -> None:
    """Print the time of the top 20, and the growth over a small catalog."""
    print_heading(f"Rankings over HTTP, {catalog.label}")

    with (
        catalog.serving() as server,
        small_catalog.serving() as small_server,
        QuestionSender(server.address, sign_in(server)) as sender,
        QuestionSender(small_server.address, sign_in(small_server)) as small_sender,
    ):
        for name, question in _QUESTIONS.items():
            time, small_time = medians_in_turn([sender, small_sender], question, _REPEATS)
            print_figure(Figure(f"{name}, median", time, "ms", f"{small_time:.3g} ms with {small_catalog.label}"))
            print_figure(Figure(f"{name}, growth", time / small_time, "×", "", Target(_MAX_GROWTH)))
