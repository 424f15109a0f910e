"""The tables that the demo catalog carries: which record each belongs to, its target and its sensitive columns."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demo_sources import Record


@dataclass(frozen=True)
class TableRow:
    """A table and what its source says of it. `facts`: attribute to (value, evidence), for sources without a record."""

    path: str
    source: str
    key: str
    licence: list[str]
    target: str | None = None
    sensitive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    name: str = ""
    url: str = ""
    facts: dict[str, tuple[Any, str]] = field(default_factory=dict)
    note: str = ""

    @property
    def file_name(self) -> str:
        """The name in the package."""
        return Path(self.path).name

    def record(self) -> Record:
        """The record of a table whose source has no metadata of its own."""
        record = Record(self.source, self.key, self.name, self.url)
        for attribute, (value, evidence) in self.facts.items():
            record.put(attribute, value, evidence)
        record.put("dataset_name", self.name, "title in the package")
        record.put("is_public", True, "published with the package")
        return record

    def hints(self, columns: Sequence[str]) -> dict[str, Any]:
        """Suggestions for training: only columns that are in the file."""
        hints: dict[str, Any] = {"target": self.target} if self.target in columns else {}
        hints["sensitive_columns"] = [name for name in self.sensitive if name in columns]
        if dropped := [name for name in self.drop if name in columns]:
            hints["exclude_columns"] = dropped
        return hints | ({"note": self.note} if self.note else {})


def table_rows(folder: Path) -> Iterator[TableRow]:
    """All tables, FairGround's from its annotations, the others from the list below."""
    dropped = {Path(t["file"]).name: tuple(t["drop"]) for t in json.loads((folder / "tables/TASKS.json").read_text())}
    with (folder / "metadata/fairground/annotations.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            path = f"fairground/{row['ann_new_dataset_id']}.parquet"
            if (folder / "tables" / path).exists():
                yield fairground_row(row, path, dropped.get(Path(path).name, ()))
    yield from OTHERS


def fairground_row(row: dict[str, str], path: str, drop: tuple[str, ...]) -> TableRow:
    """The typical target and sensitive columns as FairGround annotates them."""
    key = row["ann_new_dataset_id"]
    sensitive = tuple(dict.fromkeys(re.findall(r'"([^"]+)"\s*:', row["ann_typical_col_sensitive"])))
    target = row["ann_typical_col_target"].removeprefix("?")
    return TableRow(path, "fairground", key, [row["ann_license"]], target, sensitive, drop, note=NOTES.get(key, ""))


NOTES = {"adult": "This copy has 32 560 rows: the first of the original 32 561 was once read as a header and lost."}

PUBLIC_DOMAIN = ["public domain"]
_SM = "https://www.statsmodels.org/stable/datasets/generated/{}.html"
_SK = "https://scikit-learn.org/stable/datasets/toy_dataset.html"


def _statsmodels(key: str, name: str, objective: str, year: int | None, domain: str, **more: Any) -> TableRow:
    facts: dict[str, tuple[Any, str]] = {
        "objective": (objective, "DESCRLONG and NOTE of the dataset's module"),
        "year": (year, "last year covered, as the dataset's module states"),
        "domain": ([domain], "subject stated in the dataset's module"),
        "metadata_provided_with_dataset": (True, "NOTE: definition of every variable"),
        "external_documentation_available": (True, "SOURCE of the dataset's module"),
    }
    if task := more.pop("task", None):
        facts["task"] = ([task], "endogenous variable of the dataset's loader")
    return TableRow(
        f"statsmodels/{key}.csv", "statsmodels", key, PUBLIC_DOMAIN, name=name, url=_SM.format(key), facts=facts, **more
    )


def _sklearn(file: str, name: str, objective: str, target: str, domain: str) -> TableRow:
    facts: dict[str, tuple[Any, str]] = {
        "objective": (objective, "dataset description in the package"),
        "task": (["classification"], "dataset description in the package"),
        "domain": ([domain], "dataset description in the package"),
        "metadata_provided_with_dataset": (True, "dataset description in the package"),
        "external_documentation_available": (True, "references in the dataset description"),
    }
    return TableRow(
        f"sklearn/{file}.csv", "sklearn", file, ["BSD-3-Clause"], target=target, name=name, url=_SK, facts=facts
    )


OTHERS = (
    _sklearn("iris", "Iris", "Sepal and petal sizes of 150 iris flowers of three species.", "species", "botany"),
    _sklearn("wine_data", "Wine", "Chemical analysis of 178 wines of three cultivars.", "cultivar", "chemistry"),
    _sklearn(
        "breast_cancer",
        "Breast Cancer Wisconsin (Diagnostic)",
        "Measurements of cell nuclei in images of breast masses, each malignant or benign.",
        "diagnosis",
        "medicine",
    ),
    TableRow(
        "palmerpenguins/penguins.csv",
        "vega",
        "penguins.json",
        ["CC0-1.0"],
        target="species",
        sensitive=(),
        name="Palmer penguins",
    ),
    _statsmodels(
        "anes96",
        "American National Election Survey 1996",
        "Answers of 944 voters of 1996: news habits, political leanings, income, expected vote.",
        1996,
        "politics",
        target="PID",
        sensitive=("age",),
        task="classification",
    ),
    _statsmodels(
        "modechoice",
        "Travel mode choice",
        "Choices between plane, train, bus and car for 210 trips between Sydney, Canberra and Melbourne.",
        1987,
        "transport",
        target="choice",
        drop=("individual",),
        task="classification",
    ),
    _statsmodels(
        "statecrime",
        "Statewide crime data 2009",
        "Violent crime, poverty, schooling and family figures of the US states in 2009.",
        2009,
        "crime",
        target="murder",
        drop=("state",),
        task="regression",
    ),
    _statsmodels(
        "grunfeld",
        "Grunfeld investment data",
        "Investment, market value and capital of eleven US firms from 1935 to 1954.",
        1954,
        "economics",
        target="invest",
        task="regression",
    ),
    _statsmodels(
        "longley",
        "Longley",
        "Highly collinear US macroeconomic series from 1947 to 1962, used to test least squares routines.",
        1962,
        "economics",
        target="TOTEMP",
        drop=("Obs",),
        task="regression",
    ),
    _statsmodels(
        "macrodata",
        "United States macroeconomic data",
        "Quarterly US macroeconomic series from 1959 to 2009.",
        2009,
        "economics",
    ),
    _statsmodels(
        "elnino",
        "El Nino sea surface temperatures",
        "Mean monthly sea surface temperature of the eastern Pacific from 1950 to 2010.",
        2010,
        "climate",
    ),
    *(
        TableRow(f"vega/{path}", "vega", path, [])
        for path in (
            "birdstrikes.csv",
            "co2-concentration.csv",
            "gapminder-health-income.csv",
            "global-temp.csv",
            "iowa-electricity.csv",
            "population_engineers_hurricanes.csv",
            "seattle-weather-hourly-normals.csv",
            "species.csv",
        )
    ),
)
