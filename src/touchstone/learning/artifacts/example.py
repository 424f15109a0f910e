"""Predict rows with the model in `model.skops`. Only the packages in `environment.txt` are needed.

    python -m venv model-environment
    model-environment/bin/pip install --requirement environment.txt
    model-environment/bin/python example.py             predict the example rows that the model file contains
    model-environment/bin/python example.py rows.json   predict the rows of a JSON file: [{"column": value, ...}, ...]

Values may be strings as in the data file ("$1,234.00", "45%", "31/12/2024"), JSON numbers, dates in ISO 8601, or null
for missing values. The predictions are printed as JSON Lines.
"""

import json
import math
import re
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import skops.io

MODEL: Final = Path(__file__).with_name("model.skops")
TOLERANCE: Final = 1e-6  # Rounding differs between processors.

# The types that a model file may contain, in addition to the types that skops trusts by default.
TRUSTED_TYPES: Final = (
    "collections.OrderedDict",
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "lightgbm.sklearn.LGBMRegressor",
    "numpy.dtype",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.feature_selection._univariate_selection.f_regression",
    "sklearn.model_selection._split.KFold",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
    "skrub._datetime_encoder.DatetimeEncoder",
    "skrub._string_encoder.StringEncoder",
    "skrub._to_str.ToStr",
)

# The notation of cells, as in the reader of data files.
MISSING_MARKS: Final = ("", "?", "na", "n/a", "#n/a", "<na>", "nan", "null", "-", "--", ".")
DASHES: Final = ("-", "--")  # In a column that also has plus signs, dashes are values.
MISSING_NUMBER_MARKS: Final = ("none", "missing", "unknown")
BOOLEANS: Final = ("true", "false")
LARGEST_NUMBER: Final = 1e30
PLAIN_NUMBER: Final = r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?"
PARENTHESES: Final = r"^([^()\d]*)\(([^()+-]*)\)([^()\d]*)$"  # In accounting, (5) is -5.
THOUSANDS_MARKS: Final = {",": ",", ".": r"\.", " ": r"\s", "'": "['’]"}
DIGIT_GROUPS: Final = {
    ",": r"[+-]?[1-9]\d{0,2}(,\d{2,3})*,\d{3}(\.\d*)?",
    ".": r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?",
    " ": r"[+-]?[1-9]\d{0,2}(\s\d{3})+([.,]\d*)?",
    "'": r"[+-]?[1-9]\d{0,2}(['’]\d{3})+([.,]\d*)?",
}

Json = dict[str, Any]


def load_model(path: Path) -> tuple[Any, Json]:
    """Load the fitted pipeline and the record of its training, without running code from the file."""
    pipeline = skops.io.load(path, trusted=list(TRUSTED_TYPES))
    with zipfile.ZipFile(path) as archive:
        record: Json = json.loads(archive.read("record.json"))
    return pipeline, record


def predict(pipeline: Any, record: Json, rows: Sequence[Json]) -> list[Json]:
    """Return the prediction for each row and, for classes, their probabilities."""
    frame = build_frame(record["features"], rows)
    matrix = np.asarray(pipeline.named_steps["prepare"].transform(frame), dtype=np.float64)
    model = pipeline.named_steps["model"]

    classes = record["classes"]
    if not classes:
        return [{"prediction": float(number)} for number in model.predict(matrix)]

    # Classes that did not occur in the training rows are unknown to the model and have the probability 0.
    probabilities = np.zeros((len(rows), len(classes)))
    probabilities[:, model.classes_] = model.predict_proba(matrix)
    predicted_codes = decide(record, rows, probabilities)
    return [
        {"prediction": classes[code], "probabilities": dict(zip(map(str, classes), shares, strict=True))}
        for code, shares in zip(predicted_codes, probabilities.tolist(), strict=True)
    ]


def decide(record: Json, rows: Sequence[Json], probabilities: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Return the position of the predicted class in the list of classes for each row.

    If there are two classes, the second one is predicted if its probability reaches the threshold, which may depend on
    the group of people. With more classes, the most probable one is predicted, after multiplication by class weights.
    """
    decision = record["decision"]
    class_count = probabilities.shape[1]
    if class_count > 2:
        weights = decision["class_weights"] or [1.0] * class_count
        return np.asarray((probabilities * weights).argmax(axis=1))

    by_group = record["group_thresholds"]
    thresholds = [group_threshold(by_group, row) if by_group else decision["threshold"] for row in rows]
    return np.where(probabilities[:, 1] >= np.array(thresholds), 1, 0)


def group_threshold(by_group: Json, row: Json) -> float:
    """Return the decision threshold of the positive class for the group of a row."""
    names = [group_name(column, row) for column in by_group["columns"]]
    threshold: float = by_group["by_group"].get(" × ".join(names), by_group["default"])
    return threshold


def group_name(column: Json, row: Json) -> str:
    """Return the name of a row's group in one sensitive column: a category, a range of numbers, or a year."""
    schema, groups, borders = column["schema"], column["groups"], column["borders"]
    cell = build_frame([schema], [row])[schema["name"]].iloc[0]
    if cell == "" or pd.isna(cell):
        return "–"

    if schema["kind"] == "date":
        return str(cell.year)
    if schema["kind"] != "number":
        return cell if cell in groups else "…"
    if len(groups) == len(borders) + 1:
        return str(groups[np.searchsorted(borders, cell, side="right")])
    return str(np.format_float_positional(cell + 0.0, trim="-"))  # The sum turns -0.0 into 0.0.


def build_frame(columns: Sequence[Json], rows: Sequence[Json]) -> pd.DataFrame:
    """Build the input table of the pipeline. Values that a row does not contain are missing."""
    return pd.DataFrame({column["name"]: read_column(column, rows) for column in columns})


def read_column(column: Json, rows: Sequence[Json]) -> "pd.Series[Any]":
    """Return the cells of a column, converted to the type used in training."""
    cells = [row.get(column["name"]) for row in rows]
    if column["kind"] == "number":
        return pd.Series([read_number(column, cell) for cell in cells], dtype="float64")
    if column["kind"] == "date":
        return pd.Series([read_date(column, cell) for cell in cells], dtype="datetime64[us]")
    if column["kind"] == "boolean":
        return pd.Series([read_boolean(column, cell) for cell in cells], dtype="object")
    return pd.Series([read_word(column, cell) for cell in cells], dtype="object")


def read_number(column: Json, cell: Any) -> float:
    """Read a number in the notation of the data file, such as "45%" or "1.234,50", or NaN if missing."""
    if isinstance(cell, bool | int | float):
        number = float(cell)
    else:
        text = read_word(column, cell).replace("\N{MINUS SIGN}", "-")
        is_missing = text == "" or text.casefold() in MISSING_NUMBER_MARKS
        number = math.nan if is_missing else parse_number(column, text)
    return math.copysign(LARGEST_NUMBER, number) if abs(number) > LARGEST_NUMBER else number


def parse_number(column: Json, text: str) -> float:
    """Parse a number in the notation of a column; see `missing_word` for other strings."""
    if text.casefold() in BOOLEANS:
        return float(text.casefold() == "true")

    # The unit or currency of the column may precede or follow the number, or be left out.
    unit = re.escape(column["unit"])
    text_with_sign = re.sub(PARENTHESES, r"\1-\2\3", text)
    amount = re.sub(rf"^([+-]?)\s?(?:{unit})?\s?|\s?(?:{unit})?$", r"\1", text_with_sign, flags=re.IGNORECASE)
    digits, exponent_mark, exponent = amount.lower().partition("e")

    thousands = column["thousands"]
    if thousands and re.fullmatch(DIGIT_GROUPS[thousands], digits):
        digits = re.sub(THOUSANDS_MARKS[thousands], "", digits)
    if column["decimal_comma"]:
        digits = digits.replace(",", ".")

    number = digits + exponent_mark + exponent
    return float(number) if re.fullmatch(PLAIN_NUMBER, number) else missing_word(column, text, math.nan)


def read_date(column: Json, cell: Any) -> Any:
    """Return a date in the format of the data file or in ISO 8601, in UTC, or NaT if it is missing."""
    text = read_word(column, cell)
    if text == "":
        return pd.NaT

    for date_format in (column["date_format"], "ISO8601"):
        timestamp = pd.to_datetime(text, format=date_format, errors="coerce", utc=True)
        if timestamp is not pd.NaT:
            return timestamp.tz_localize(None)
    return missing_word(column, text, pd.NaT)


def missing_word(column: Json, text: str, missing: Any) -> Any:
    """Return the missing value for a word in a column of numbers or dates, and print a warning.

    Raises ValueError if the data file had no words in this column, because the word is probably a mistake.
    """
    message = f"The column {column['name']} has {column['kind']}s, but {text!r} is none."
    if not column["mixed"]:
        raise ValueError(message)
    print(f"{message} It counts as missing, as in the data file.", file=sys.stderr)
    return missing


def read_boolean(column: Json, cell: Any) -> str:
    """Return "true" or "false" (also for 1 or 0), or an empty string if the value is missing."""
    text = read_word(column, cell).casefold()
    return {"1": "true", "1.0": "true", "0": "false", "0.0": "false"}.get(text, text)


def read_word(column: Json, cell: Any) -> str:
    """Return a cell as a string in the notation of the data file, or an empty string if it is missing."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))

    text = str(cell).strip()
    is_value = column.get("has_plus", False) and text in DASHES
    return "" if text.lower() in MISSING_MARKS and not is_value else text


def differs(predicted: Json, expected: Json) -> bool:
    """Return whether a prediction differs from the prediction made when the model was trained."""
    if "probabilities" not in expected:
        return not np.isclose(predicted["prediction"], expected["prediction"], rtol=TOLERANCE)

    is_same_class = predicted["prediction"] == expected["prediction"]
    probabilities, expected_probabilities = (list(answer["probabilities"].values()) for answer in (predicted, expected))
    return not (is_same_class and np.allclose(probabilities, expected_probabilities, atol=TOLERANCE))


def main(arguments: Sequence[str]) -> int:
    """Predict the rows of a JSON file, or verify the predictions for the example rows."""
    pipeline, record = load_model(MODEL)
    if arguments:
        rows = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
        expected = []
    else:
        rows = [example["row"] for example in record["examples"]]
        expected = [example["answer"] for example in record["examples"]]

    answers = predict(pipeline, record, rows)
    for answer in answers:
        print(json.dumps(answer, ensure_ascii=False))

    if any(map(differs, answers, expected)):
        print("These predictions differ from the predictions made when the model was trained.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
