"""Cost against size, one line for each engine, on logarithmic scales."""

from pathlib import Path

from matplotlib import rcParams
from matplotlib.figure import Figure

TimesByEngine = dict[str, dict[str, float]]
"""By engine and question, the median time in milliseconds."""

_QUESTIONS = ("W1 top 20", "W2 filters, top 20")


def plot_costs(times_by_size: dict[int, TimesByEngine], path: Path) -> None:
    """Write an SVG file with two panels, one without and one with filters.

    Nothing is written if only a single size was measured, because there would be no lines.
    """
    if len(times_by_size) < 2:
        return

    rcParams["svg.hashsalt"] = "ranking"  # the same times make the same bytes
    figure = Figure(figsize=(10, 4), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    engines = list(next(iter(times_by_size.values())))

    for panel, question in zip(panels, _QUESTIONS, strict=True):
        for engine in engines:
            times = {size: times[engine][question] for size, times in times_by_size.items() if engine in times}
            line_width = 2.5 if engine == "Touchstone" else 1.2
            panel.loglog(list(times), list(times.values()), marker="o", linewidth=line_width, label=engine)
        panel.set(title=question, xlabel="records", ylabel="median ms")
        panel.grid(visible=True, alpha=0.3)

    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
