"""The client against the whole service: comparisons, lifts and stability."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from tests.serving import Service
from touchstone.client import AsyncTouchstone, Dataset, Identity, InProcess
from touchstone.client.fields import Filters

pytestmark = pytest.mark.anyio
PASSWORD = "correct horse battery"
WEIGHTS = {"transparency": 3, "year": 1}


@pytest.fixture
async def client(service: Service) -> AsyncIterator[AsyncTouchstone]:
    """Return a client of a user who is signed in."""
    async with AsyncTouchstone("http://touchstone", transport=InProcess(service.app), locale="en") as guest:
        email = f"{uuid4().hex}@example.org"
        await guest.register(email, PASSWORD)
        client = guest.with_identity(Identity(locale="en"))
        await client.login(email, PASSWORD)
        yield client


@pytest.fixture
async def datasets(client: AsyncTouchstone) -> list[Dataset]:
    """Create two datasets that have the same objective, which no other dataset has."""
    objective = uuid4().hex
    alpha = await client.create_dataset("Alpha", objective=objective, transparency=True, year=2000)
    beta = await client.create_dataset("Beta", objective=objective, year=2012)
    return [alpha, beta]


def filters_for(datasets: list[Dataset]) -> Filters:
    """Return the filters that only these datasets match."""
    return {"objective": datasets[0].objective}


async def test_two_datasets_are_compared(client: AsyncTouchstone, datasets: list[Dataset]) -> None:
    """The pair has its differences, the weight that reverses it, and one sentence; ids may be UUIDs."""
    alpha, beta = datasets
    comparison = await client.compare_datasets(
        [beta.dataset_id, alpha.id], weights=WEIGHTS, filters=filters_for(datasets)
    )

    assert [(dataset.dataset_name, dataset.rank) for dataset in comparison.datasets] == [("Alpha", 1), ("Beta", 2)]
    [pair] = comparison.pairs
    assert (pair.above, pair.below, pair.lead) == (alpha.id, beta.id, 0.625)
    assert {difference.criterion_name: difference.points for difference in pair.differences if difference.points} == {
        "transparency": 0.75,
        "year": -0.125,
    }
    assert pair.reversal is not None
    assert (pair.reversal.criterion_name, pair.reversal.weight, pair.reversal.change) == ("transparency", 0.5, -2.5)
    assert pair.sentence.startswith("“Alpha” (0.750) ranks above “Beta” (0.125) because of “Transparency” (+0.75)")

    documented_comparison = await client.compare_datasets([alpha.id, beta.id], weights=WEIGHTS, assurance="documented")
    assert (documented_comparison.assurance, documented_comparison.pairs[0].lead) == ("documented", 0.0)


async def test_lifts_say_what_would_raise_a_dataset(client: AsyncTouchstone, datasets: list[Dataset]) -> None:
    """Each attribute has its gain, and with a rank there is a smallest set that reaches it."""
    lifts = await client.get_lifts(datasets[1].id, weights=WEIGHTS, filters=filters_for(datasets), rank=1)

    assert (lifts.rank, lifts.total_count, lifts.target_rank) == (2, 2, 1)
    lift = lifts.lifts[0]
    assert (lift.attribute, lift.value, lift.current, lift.gain, lift.rank) == ("transparency", True, None, 0.75, 1)
    assert lifts.smallest_set is not None
    assert (lifts.smallest_set.attributes, lifts.smallest_set.rank) == (["transparency"], 1)
    assert lifts.sentence == "“Beta” would rise from rank 2 to rank 1 if “Transparency” (yes) were established."
    assert (lifts.profile, lifts.assurance) == (None, "declared")

    documented_lifts = await client.get_lifts(datasets[1].id, weights="ethical", assurance="documented")
    assert (documented_lifts.profile, documented_lifts.assurance) == ("ethical", "documented")
    assert documented_lifts.sentence is None


async def test_stability_is_a_verdict_for_each_of_the_first(client: AsyncTouchstone, datasets: list[Dataset]) -> None:
    """The options arrive, and every dataset has its share, its verdict and a sentence."""
    stability = await client.get_stability(
        filters_for(datasets), weights=WEIGHTS, k=1, samples=20, spread=0.1, seed=7, unknown_ranks=True
    )

    assert (stability.k, stability.samples, stability.spread, stability.seed) == (1, 20, 0.1, 7)
    [dataset] = stability.datasets
    assert (dataset.dataset_name, dataset.share, dataset.verdict, dataset.worst_rank) == ("Alpha", 1.0, "robust", 1)
    assert dataset.unknown_ranks is not None
    assert "it ranks first of 2 in 20 of 20 samples" in dataset.sentence

    stability = await client.get_stability(
        filters_for(datasets), weights=WEIGHTS, gates={"transparency": "declared"}, gate="pass", samples=5
    )
    assert (stability.total_count, [item.dataset_name for item in stability.datasets]) == (1, ["Alpha"])
