"""A ranking is decoded while it arrives, however its bytes are divided."""

from typing import Any

import msgspec
import pytest

from touchstone.client.errors import TouchstoneError
from touchstone.client.export_calls import RankedDatasets


def dataset(rank: int, name: str) -> dict[str, Any]:
    """Return a ranked dataset as the API describes it."""
    return {
        "dataset_id": "00000000-0000-0000-0000-000000000001",
        "dataset_name": name,
        "score": 0.5,
        "ethical_score": 0.1,
        "technical_score": 0.2,
        "popularity_score": 0.3,
        "instances_number": None,
        "features_number": 7,
        "objective": "a ] and a , and a {",
        "id": rank,
        "rank": rank,
        "place": rank,
        "tied_with": 0,
        "known": 1,
        "ethical_interval": [0.1, 1.0],
    }


NAMES = ["plain", 'with "quotes", commas and \\', "Données géographiques 数据 🌍", "[brackets]"]
RANKING = msgspec.json.encode([dataset(rank, name) for rank, name in enumerate(NAMES, 1)])


def read(content: bytes, size: int) -> list[str]:
    """Return the names of the datasets in a ranking that arrives in chunks of a size."""
    datasets = RankedDatasets()
    chunks = [content[start : start + size] for start in range(0, len(content), size)]
    names = [item.dataset_name for chunk in chunks for item in datasets.read_chunk(chunk)]
    datasets.check_completeness()
    return names


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100, 433, 10**6])
def test_chunks_may_end_anywhere(size: int) -> None:
    assert read(RANKING, size) == NAMES
    assert read(RANKING.replace(b"},{", b"} ,\n{"), size) == NAMES
    assert read(b"[]", size) == []


@pytest.mark.parametrize("content", [b"", b"[", RANKING[:-1], RANKING[:-2], RANKING[: len(RANKING) // 2]])
def test_an_interrupted_ranking_is_refused(content: bytes) -> None:
    with pytest.raises(TouchstoneError):
        read(content, 100)


@pytest.mark.parametrize("content", [b"[5]", b'[{"dataset_name": "x"}]', b'["x"]'])
def test_other_elements_are_refused(content: bytes) -> None:
    with pytest.raises(TouchstoneError):
        read(content, 100)
