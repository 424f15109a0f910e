"""Cost against size, one line an engine, on logarithmic scales."""

from pathlib import Path

from matplotlib import rcParams
from matplotlib.figure import Figure

Figures = dict[str, dict[str, float]]


def plot(figures_by_size: dict[int, Figures], path: Path) -> None:
    """Plot two panels, without and with filters; do nothing for a single size."""
    if len(figures_by_size) < 2:
        return
    rcParams["svg.hashsalt"] = "ranking"  # the same figures make the same bytes
    picture = Figure(figsize=(10, 4), layout="constrained")
    panels = picture.subplots(1, 2, sharey=True)
    for panel, question in zip(panels, ("W1 top 20", "W2 filters, top 20"), strict=True):
        for engine in next(iter(figures_by_size.values())):
            line = {size: figures[engine][question] for size, figures in figures_by_size.items() if engine in figures}
            width = 2.5 if engine == "Touchstone" else 1.2
            panel.loglog(list(line), list(line.values()), marker="o", linewidth=width, label=engine)
        panel.set(title=question, xlabel="records", ylabel="median ms")
        panel.grid(visible=True, alpha=0.3)
    picture.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, metadata={"Date": None})
