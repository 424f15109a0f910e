"""The tables of the demo catalog, with their records, target columns and sensitive columns."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.demo_catalog.entries import CatalogEntry


@dataclass(frozen=True)
class DemoTable:
    """A table of the demo catalog with information from its source.

    Attributes:
        path: its path in the folder of collected tables.
        source, key: the source of its record, and the key of the record in it.
        licence: the licence of the table, or an empty string if its record states it.
        target: the usual target column, or None.
        sensitive: columns with sensitive information about people.
        excluded: columns that a training should not use, such as identifiers.
        name, url: the name and address of a table from a source without metadata.
        facts: values of attributes, for a source without metadata.
        note: a sentence about this copy of the table.
    """

    path: str
    source: str
    key: str
    licence: str
    target: str | None = None
    sensitive: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    name: str = ""
    url: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    note: str = ""

    @property
    def file_name(self) -> str:
        """The name of the file in the package."""
        return Path(self.path).name

    def create_entry(self) -> CatalogEntry:
        """Create an entry for a table from a source without metadata.

        Its values were taken from the package manually. They only count as declared, because there is no document to
        quote.
        """
        entry = CatalogEntry(self.source, self.key, self.name)
        entry.source = {"kind": "package", "name": PACKAGE_NAMES[self.source], "url": self.url, "key": self.key}
        entry.facts = {attribute: value for attribute, value in self.facts.items() if value is not None}
        entry.facts["is_public"] = True
        return entry

    def training_suggestions(self, column_names: Sequence[str]) -> dict[str, Any]:
        """Return the suggestions for the training form, limited to columns that exist in the file."""
        suggestions: dict[str, Any] = {}
        if self.target in column_names:
            suggestions["target"] = self.target
        suggestions["sensitive_columns"] = [name for name in self.sensitive if name in column_names]

        excluded_columns = [name for name in self.excluded if name in column_names]
        if excluded_columns:
            suggestions["exclude_columns"] = excluded_columns
        if self.note:
            suggestions["note"] = self.note
        return suggestions


def read_tables(folder: Path) -> Iterator[DemoTable]:
    """Yield the FairGround tables according to their annotations, and the tables in `OTHER_TABLES`."""
    tasks = json.loads((folder / "tables/TASKS.json").read_text())
    excluded_columns = {Path(task["file"]).name: tuple(task["drop"]) for task in tasks}

    with (folder / "metadata/fairground/annotations.csv").open(encoding="utf-8", newline="") as file:
        for annotation in csv.DictReader(file):
            path = f"fairground/{annotation['ann_new_dataset_id']}.parquet"
            if (folder / "tables" / path).exists():
                yield fairground_table(annotation, path, excluded_columns.get(Path(path).name, ()))

    yield from OTHER_TABLES


def fairground_table(annotation: dict[str, str], path: str, excluded_columns: tuple[str, ...]) -> DemoTable:
    """Create a table with the target and sensitive columns of a FairGround annotation."""
    key = annotation["ann_new_dataset_id"]
    sensitive_columns = re.findall(r'"([^"]+)"\s*:', annotation["ann_typical_col_sensitive"])
    return DemoTable(
        path=path,
        source="fairground",
        key=key,
        licence=annotation["ann_license"],
        target=annotation["ann_typical_col_target"].removeprefix("?"),
        sensitive=tuple(dict.fromkeys(sensitive_columns)),
        excluded=excluded_columns,
        note=NOTES.get(key, ""),
    )


PACKAGE_NAMES = {"statsmodels": "statsmodels", "sklearn": "scikit-learn"}
NOTES = {"adult": "This copy has 32 560 rows: the first of the original 32 561 was once read as a header and lost."}

PUBLIC_DOMAIN = "public domain"
_STATSMODELS_URL = "https://www.statsmodels.org/stable/datasets/generated/{}.html"
_SKLEARN_URL = "https://scikit-learn.org/stable/datasets/toy_dataset.html"


def _statsmodels(key: str, name: str, objective: str, year: int | None, domain: str, **options: Any) -> DemoTable:
    """Create a table of statsmodels. `options` are the `task` and further attributes of a `DemoTable`."""
    facts: dict[str, Any] = {
        "objective": objective,
        "year": year,
        "domain": [domain],
        "task": [options.pop("task")] if "task" in options else [],
        "metadata_provided_with_dataset": True,
        "external_documentation_available": True,
    }
    return DemoTable(
        f"statsmodels/{key}.csv",
        "statsmodels",
        key,
        PUBLIC_DOMAIN,
        name=name,
        url=_STATSMODELS_URL.format(key),
        facts=facts,
        **options,
    )


def _sklearn(key: str, name: str, objective: str, target: str, domain: str) -> DemoTable:
    """Create a table of scikit-learn with the task classification."""
    facts: dict[str, Any] = {
        "objective": objective,
        "task": ["classification"],
        "domain": [domain],
        "metadata_provided_with_dataset": True,
        "external_documentation_available": True,
    }
    return DemoTable(
        f"sklearn/{key}.csv", "sklearn", key, "BSD-3-Clause", target=target, name=name, url=_SKLEARN_URL, facts=facts
    )


OTHER_TABLES = (
    _sklearn("iris", "Iris", "Sepal and petal sizes of 150 iris flowers of three species.", "species", "biology"),
    _sklearn("wine_data", "Wine", "Chemical analysis of 178 wines of three cultivars.", "cultivar", "chemistry"),
    _sklearn(
        "breast_cancer",
        "Breast Cancer Wisconsin (Diagnostic)",
        "Measurements of cell nuclei in images of breast masses, each malignant or benign.",
        "diagnosis",
        "health",
    ),
    DemoTable(
        "palmerpenguins/penguins.csv",
        "vega",
        "vega-datasets/penguins",
        "CC0-1.0",
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
        "transportation",
        target="choice",
        excluded=("individual",),
        task="classification",
    ),
    _statsmodels(
        "statecrime",
        "Statewide crime data 2009",
        "Violent crime, poverty, schooling and family figures of the US states in 2009.",
        2009,
        "crime",
        target="murder",
        excluded=("state",),
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
        excluded=("Obs",),
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
        "environment",
    ),
    *(
        DemoTable(f"vega/{path}", "vega", f"vega-datasets/{Path(path).stem.replace('-', '_')}", "")
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
