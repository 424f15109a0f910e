"""The precision and recall of the extractor, compared with decisions that people made by the codebook.

A proposal is right if the decision is the same value, true or false. Precision is the share of proposals that are
right, and recall is the share of decisions for true or false that were proposed. The documents are split into two
halves by a hash of their path. The rules were written with the first half only, so the second half shows how they do on
documents that nobody looked at.
`python -m benchmarks.evidence_extraction [--gold LABELS.jsonl] [--documents FOLDER] [--mistakes]`
"""

import argparse
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.extraction_documents import read_sections
from touchstone.core.attributes import ETHICAL
from touchstone.metadata.documents import Claim, Section
from touchstone.metadata.extraction.proposals import propose_claims

GOLD: Final = Path(__file__).parent / "gold"
HALVES: Final = ("first", "second")
_STANDARD_NORMAL_975: Final = 1.959964


@dataclass(frozen=True, slots=True)
class Label:
    """The decision of a reader about one criterion of one document."""

    document: str
    criterion: str
    value: bool | None

    @property
    def half(self) -> str:
        """Return the half that the document belongs to, whatever other documents there are."""
        return HALVES[hashlib.sha256(self.document.encode()).digest()[0] % 2]


@dataclass(slots=True)
class Score:
    """The numbers of proposals, of decisions, and of proposals that agree with the decision."""

    right_count: int = 0
    proposal_count: int = 0
    decision_count: int = 0

    def count(self, decision: bool | None, proposal: bool | None) -> None:
        """Add one decision and the proposal for it; None stands for neither true nor false."""
        self.proposal_count += proposal is not None
        self.decision_count += decision is not None
        self.right_count += proposal is not None and proposal == decision

    def cells(self) -> str:
        """Return the cells of a table: the precision and the recall, each with counts and an interval."""
        return f"{_share(self.right_count, self.proposal_count)} | {_share(self.right_count, self.decision_count)}"


@dataclass(slots=True)
class Evaluation:
    """The scores of the given labels by criterion, and overall."""

    by_criterion: dict[str, Score] = field(default_factory=lambda: {name: Score() for name in ETHICAL})
    overall: Score = field(default_factory=Score)

    def count(self, label: Label, proposal: bool | None) -> None:
        """Add one label and the proposal for it."""
        for score in (self.by_criterion[label.criterion], self.overall):
            score.count(label.value, proposal)

    def table(self) -> str:
        """Return the scores as a table in Markdown."""
        rows = [f"| `{name}` | {score.cells()} |" for name, score in self.by_criterion.items()]
        header = "| criterion | precision (right / proposed) | recall (right / decided) |\n|---|---|---|"
        return "\n".join((header, *rows, f"| **all** | {self.overall.cells()} |"))


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson's method, which also holds for few trials and shares near 1."""
    quantile_squared = _STANDARD_NORMAL_975**2
    share = successes / trials
    scale = 1 + quantile_squared / trials
    centre = (share + quantile_squared / (2 * trials)) / scale
    variance = share * (1 - share) / trials + quantile_squared / (4 * trials * trials)
    margin = _STANDARD_NORMAL_975 * math.sqrt(variance) / scale
    return max(0.0, centre - margin), min(1.0, centre + margin)


def read_labels(path: Path) -> list[Label]:
    """Return the decisions in a file of JSON Lines."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Label(record["document"], record["criterion"], record["value"]) for record in records]


def bundled_documents(path: Path) -> dict[str, list[Section]]:
    """Return the passages of the documents that are distributed with the benchmark."""
    documents = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        documents[record["document"]] = [
            Section(tuple(section["path"]), section["text"], section["is_structured"]) for section in record["sections"]
        ]
    return documents


def evaluate(labels: Iterable[Label], proposals: Mapping[str, Mapping[str, Claim]]) -> Evaluation:
    """Compare labels with the proposals for their documents."""
    evaluation = Evaluation()
    for label in labels:
        claim = proposals[label.document].get(label.criterion)
        evaluation.count(label, bool(claim.value) if claim else None)
    return evaluation


def main() -> None:
    """Print the scores of both halves and of all labels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gold", type=Path, default=GOLD / "labels.jsonl", help="labels, as JSON Lines")
    parser.add_argument(
        "--documents", type=Path, help="folder with the labelled documents, by default the packaged ones"
    )
    parser.add_argument("--mistakes", action="store_true", help="list the mistakes in the first half")
    options = parser.parse_args()

    labels = read_labels(options.gold)
    paths = sorted({label.document for label in labels})
    if options.documents is None:
        documents = bundled_documents(GOLD / "documents.jsonl")
    else:
        documents = {path: read_sections(options.documents / path) for path in paths}
    proposals = {path: {claim.attribute: claim for claim in propose_claims(documents[path])} for path in paths}

    for half in HALVES:
        half_labels = [label for label in labels if label.half == half]
        print(f"\n## The {half} half\n\n{evaluate(half_labels, proposals).table()}")
    print(f"\n## All labels\n\n{evaluate(labels, proposals).table()}")
    if options.mistakes:
        _print_mistakes([label for label in labels if label.half == HALVES[0]], proposals)


def _print_mistakes(labels: list[Label], proposals: Mapping[str, Mapping[str, Claim]]) -> None:
    """Print the labels for which the extractor proposes another value."""
    for label in labels:
        claim = proposals[label.document].get(label.criterion)
        value = claim.value if claim else None
        if value != label.value:
            print(f"{label.document} {label.criterion}: {label.value}, proposed {value} {claim.quote if claim else ''}")


def _share(successes: int, trials: int) -> str:
    """Return a share with its counts and its interval."""
    if trials == 0:
        return "–"
    lower, upper = wilson_interval(successes, trials)
    return f"{successes / trials:.2f} ({successes} / {trials}; {lower:.2f}–{upper:.2f})"


if __name__ == "__main__":
    main()
