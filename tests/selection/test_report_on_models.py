"""The section of the report on a project about which of the ranked datasets trains best."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx2
import pytest
import sqlalchemy as sa

from tests.selection.conftest import ADA, client_of, create_record
from tests.selection.test_selection_report import facts_of, plain_text, report_of
from touchstone.core.canonical_json import canonical_digest
from touchstone.database.engine import Database
from touchstone.database.tables import comparisons, job_artifacts, jobs
from touchstone.jobs import queue_store
from touchstone.jobs.comparisons import comparison_store
from touchstone.jobs.comparisons.comparison_records import NewComparedDataset, NewComparison, Refusal
from touchstone.jobs.job_kinds import EXPLANATION, TRAINING
from touchstone.jobs.job_records import JobSource, NewJob
from touchstone.jobs.job_states import JobState
from touchstone.messages.fairness import FAIRNESS
from touchstone.services.selection.app import Selection
from touchstone.services.selection.report.job_facts import MAX_JOBS
from touchstone.services.selection.report.limitations import WARNINGS_OF_GROUP_DIFFERENCES
from touchstone.services.training.comparison import comparison_queue_store

pytestmark = pytest.mark.anyio
OMITTED_DATASET = NewComparedDataset(
    dataset_id=9,
    dataset_name="Pictures",
    rank=2,
    refusal=Refusal(code="file_type_unknown", facts={"file_type": "zip", "known": "csv"}),
)
NO_BREAK_SPACES = str.maketrans(dict.fromkeys("\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}", " "))


def trained_dataset(name: str, rank: int, *, is_ranked: bool = True) -> NewComparedDataset:
    """Return a dataset that is trained on, which comes from a ranking or was named by the user."""
    job = NewJob(kind=TRAINING.name, owner=ADA, request={"target": "ill"}, digest=name, dataset_id=rank)
    known_rank = rank if is_ranked else None
    return NewComparedDataset(dataset_id=rank, dataset_name=name, rank=known_rank, target="ill", training=job)


async def store_comparison(
    database: Database,
    project: dict[str, Any],
    scores: dict[str, tuple[float, float, float]],
    *,
    is_ranked: bool = True,
) -> UUID:
    """Store a comparison of datasets, whose trainings have succeeded with these scores and intervals."""
    datasets = [trained_dataset(name, rank, is_ranked=is_ranked) for rank, name in enumerate(scores, start=1)]
    comparison_id = await comparison_queue_store.create_comparison(
        database,
        NewComparison(owner=ADA, request={}, digest="0", project_id=UUID(project["id"])),
        [*datasets, OMITTED_DATASET],
        waiting_limit=100,
    )
    async with database.reading() as connection:
        comparison = await comparison_store.load_comparison(connection, str(comparison_id), ADA)
    for dataset in comparison.trained:
        value, low, high = scores[dataset.dataset_name]
        metrics = {
            "metric": "balanced_accuracy",
            "holdout": {"balanced_accuracy": {"value": value, "low": low, "high": high}},
            "baseline": {"balanced_accuracy": {"value": 0.5}},
        }
        result = {"metrics": metrics, "model": {"algorithm": "linear"}, "warnings": []}
        values = {"status": JobState.SUCCEEDED, "result": result, "finished_at": datetime(2031, 5, 6, tzinfo=UTC)}
        async with database.writing() as transaction:
            await transaction.execute(sa.update(jobs).where(jobs.c.id == dataset.job_id).values(values))
    return comparison_id


async def new_project(client: httpx2.AsyncClient) -> dict[str, Any]:
    """Create a project without a choice."""
    project: dict[str, Any] = (await client.post("/projects", json={"name": "Screening"})).json()
    return project


async def store_training(
    database: Database, project: dict[str, Any], warning_code: str, dataset_id: int | None = None, **members: Any
) -> UUID:
    """Store a training in a project that has succeeded with metrics by group and one warning.

    `members` are further members of its result, or take the place of those given here.

    Returns:
        the id of the job.
    """
    new_job = NewJob(
        kind=TRAINING.name,
        owner=ADA,
        request={"target": "ill", "seed": 7, "name": "First", "project_id": project["id"]},
        digest=f"{warning_code} {dataset_id}",
        project_id=UUID(project["id"]),
        dataset_id=dataset_id,
    )
    job = await queue_store.enqueue(database, new_job)
    score = {"value": 0.8, "low": 0.7, "high": 0.9}
    result = {
        "model": {"target": "ill", "task": "classification", "algorithm": "linear"},
        "metrics": {
            "metric": "balanced_accuracy",
            "holdout": {"balanced_accuracy": score},
            "baseline": {"balanced_accuracy": {"value": 0.5}},
        },
        "group_metrics": [{"column": "sex", "groups": [], "gaps": {}}],
        "warnings": [{"code": warning_code, "text": {"fr": "Attention.", "en": "Take care."}}],
        **members,
    }
    values = {"status": JobState.SUCCEEDED, "result": result, "finished_at": datetime(2031, 5, 6, tzinfo=UTC)}
    async with database.writing() as transaction:
        await transaction.execute(sa.update(jobs).where(jobs.c.id == job.id).values(values))
    return job.id


async def store_explanation(database: Database, project: dict[str, Any], training_id: UUID, **members: Any) -> None:
    """Store an explanation of a model in a project that has succeeded.

    `members` take the place of members of its result.
    """
    new_job = NewJob(
        kind=EXPLANATION.name,
        owner=ADA,
        request={},
        digest="0",
        project_id=UUID(project["id"]),
        parent_job_id=training_id,
        source=JobSource(model_sha256="c" * 64),
    )
    job = await queue_store.enqueue(database, new_job)
    result = {
        "method": "shap",
        "global": [],
        "local": [],
        "narrative": {"fr": "…", "en": "…"},
        "limits": {"fr": [], "en": []},
        **members,
    }
    values = {"status": JobState.SUCCEEDED, "result": result, "finished_at": datetime(2031, 5, 7, tzinfo=UTC)}
    async with database.writing() as transaction:
        await transaction.execute(sa.update(jobs).where(jobs.c.id == job.id).values(values))


async def test_differences_between_groups_are_among_the_limitations(database: Database, selection: Selection) -> None:
    """A reader learns that a model treats groups differently without reading the warnings of every training."""
    async with client_of(selection) as client:
        dataset_id = (await create_record(client))["id"]
        project = await new_project(client)
        await store_training(database, project, "small_groups", dataset_id)
        assert "group_differences" not in (await facts_of(client, project))["limitations"]

        await store_training(database, project, "group_ratio", dataset_id)
        assert "group_differences" in (await facts_of(client, project))["limitations"]
        english = plain_text((await report_of(client, project, lang="en")).content)
    assert "treats groups of people differently" in english


async def test_without_a_dataset_no_training_is_missing(selection: Selection) -> None:
    """If no dataset matches the filters, the report does not say that no model was trained on one."""
    async with client_of(selection) as client:
        project = (await client.post("/projects", json={"name": "P", "criteria": {"year_min": 2025}})).json()
        assert "no_training" not in (await facts_of(client, project))["limitations"]

        await create_record(client, year=2025)
        assert "no_training" in (await facts_of(client, project))["limitations"]
        english = plain_text((await report_of(client, project, lang="en")).content)
    assert "No model has been trained in this project on the dataset whose evidence this report shows" in english


async def test_only_trainings_on_the_chosen_dataset_are_evidence(database: Database, selection: Selection) -> None:
    """Trainings on other datasets are listed, but say nothing about the chosen one, however many there are."""

    async def conclusions(project: dict[str, Any]) -> tuple[set[str], bool]:
        """Return what a report says about trainings: the limitations, and whether metrics by group are evidence."""
        report = await facts_of(client, project)
        [bias] = [point for point in report["evidence"]["ai_act"] if point["point"] == "ai_act_f"]
        limitations = {"no_training", "no_group_metrics", "group_differences"}.intersection(report["limitations"])
        return limitations, "group_metrics" in bias["parts"]

    async with client_of(selection) as client:
        chosen_id, other_id = [(await create_record(client, name=name))["id"] for name in ("Chosen", "Other")]
        chosen_project, other_project = [
            (await client.post("/projects", json={"name": "p", "chosen_dataset_id": dataset_id})).json()
            for dataset_id in (chosen_id, other_id)
        ]
        await store_training(database, chosen_project, "group_gap", other_id)
        assert await conclusions(chosen_project) == ({"no_training"}, False)
        assert len((await facts_of(client, chosen_project))["trainings"]) == 1

        await store_training(database, other_project, "small_groups", other_id)
        for number in range(6):
            await store_training(database, other_project, f"group_gap {number}", chosen_id)
        assert await conclusions(other_project) == (set(), True)
        trainings = (await facts_of(client, other_project))["trainings"]
        assert [training["dataset_id"] for training in trainings] == [chosen_id] * 5 + [other_id]


async def test_a_training_says_how_its_model_decides(database: Database, selection: Selection) -> None:
    """A mitigation, weights, thresholds by group and a later fit on all rows change what a model does."""

    def sentence(english: str) -> dict[str, Any]:
        """Return a member of a result with a sentence."""
        return {"text": {"fr": "…", "en": english}}

    thresholds = [{"group": "f", "threshold": 0.25}, {"group": None, "threshold": 0.5}]
    async with client_of(selection) as client:
        project = await new_project(client)
        await store_training(
            database,
            project,
            "small_groups",
            model={"target": "ill", "task": "classification", "algorithm": "linear", "fitted_on": "all_rows"},
            split={"folds": 5, "test_rows": None},
            task_choice=sentence("The values are classes."),
            weighting=sentence("The rows are weighted."),
            decision=sentence("The positive class is ill.") | {"threshold": 0.15167630727086046},
            mitigation=sentence("Each group has a threshold.") | {"columns": ["sex", "age"], "thresholds": thresholds},
        )
        [training] = (await facts_of(client, project))["trainings"]
        english = plain_text((await report_of(client, project, lang="en")).content)
        french = plain_text((await report_of(client, project, lang="fr")).content)

    assert (training["group_columns"], training["group_thresholds"]) == (["sex", "age"], thresholds)
    assert (training["folds"], training["learned_from_all_rows"]) == (5, True)
    assert training["threshold"] == 0.15167630727086046, "the sentences round it"
    for statement in (
        "Mean over 5 folds",
        "The values are classes. The rows are weighted. The positive class is ill. Each group has a threshold.",
        "it has not been evaluated itself",
        "Decision thresholds by group (sex, age) f: 0.25 all other groups: 0.5",
    ):
        assert statement in english.translate(NO_BREAK_SPACES)
    assert "Seuils de décision par groupe (sex, age) f : 0,25 tous les autres groupes : 0,5" in french.translate(
        NO_BREAK_SPACES
    )


async def test_models_are_identified(database: Database, selection: Selection) -> None:
    """A reader with the files of two trainings knows which figures and which explanation belong to which model."""
    digests = {"model.skops": "a" * 64, "predictions.parquet": "b" * 64, "split.json": "d" * 64}
    async with client_of(selection) as client:
        project = await new_project(client)
        training_id = await store_training(database, project, "small_groups")
        rows = [
            {
                "job_id": training_id,
                "name": name,
                "media_type": "text/plain",
                "bytes": 1,
                "sha256": sha256,
                "path": name,
            }
            for name, sha256 in digests.items()
        ]
        async with database.writing() as transaction:
            await transaction.execute(sa.insert(job_artifacts).values(rows))
        await store_explanation(database, project, training_id)
        report = await facts_of(client, project)
        english = plain_text((await report_of(client, project, lang="en")).content)

    [training], [explanation] = report["trainings"], report["explanations"]
    assert training["files"] == digests
    assert training["request"] == {"target": "ill", "seed": 7}
    assert (explanation["training_id"], explanation["model_sha256"]) == (str(training_id), "c" * 64)
    for statement in (
        f"Job id: {training_id}",
        'Request {"seed": 7, "target": "ill"} Sent to “POST /api/v1/ml/train” for the same file',
        f"model.skops: SHA-256 {digests['model.skops']}",
        f"predictions.parquet: SHA-256 {digests['predictions.parquet']}",
        f"the model of the job {training_id} model.skops: SHA-256 {'c' * 64}",
        "7 May 2031",
    ):
        assert statement in english


@pytest.mark.parametrize(
    ("members", "methods", "title"),
    [
        (
            {
                "method": "auto",
                "global": [
                    {"column": "age", "importance": {"mean": 0.1}, "shap": {"mean": 0.2}, "dependence": None},
                    {"column": "sex", "importance": {"mean": 0.1}, "shap": {"mean": 0.2}, "dependence": {"mean": []}},
                ],
                "local": [{"row": 0}],
            },
            ["permutation_importance", "shap", "partial_dependence"],
            "Permutation importance, Shapley values, Partial dependence",
        ),
        ({"method": "auto", "local": [{"row": 0}]}, ["shap"], "Shapley values"),
        ({"method": "counterfactual", "local": [{"row": 0}]}, ["counterfactual"], "Counterfactuals"),
    ],
)
async def test_an_explanation_has_the_title_of_the_methods_that_were_used(
    database: Database, selection: Selection, members: dict[str, Any], methods: list[str], title: str
) -> None:
    """The request may leave the methods to the service, which is of no interest to the reader of a report."""
    async with client_of(selection) as client:
        project = await new_project(client)
        training_id = await store_training(database, project, "small_groups")
        await store_explanation(database, project, training_id, **members)
        [explanation] = (await facts_of(client, project))["explanations"]
        english = plain_text((await report_of(client, project, lang="en")).content)

    assert (explanation["method"], explanation["methods"]) == (members["method"], methods)
    assert f"Explanation: {title} …" in english


async def test_trainings_that_are_not_described_are_counted(database: Database, selection: Selection) -> None:
    """A reader learns of the trainings that failed, were cancelled, or are older than those in the report."""
    async with client_of(selection) as client:
        project = await new_project(client)
        states = [*[JobState.SUCCEEDED] * 7, JobState.FAILED, JobState.FAILED, JobState.CANCELLED, JobState.RUNNING]
        for number, state in enumerate(states):
            job_id = await store_training(database, project, f"warning {number}")
            async with database.writing() as transaction:
                await transaction.execute(sa.update(jobs).where(jobs.c.id == job_id).values(status=state))
        report = await facts_of(client, project)
        english = plain_text((await report_of(client, project, lang="en")).content)
        french = plain_text((await report_of(client, project, lang="fr")).content)

    assert report["training_counts"] == {"succeeded": 7, "failed": 2, "cancelled": 1}
    assert len(report["trainings"]) == MAX_JOBS
    assert "deleted: 10, of which 7 succeeded, 2 failed and 1 was cancelled. 5 are described here" in english
    assert "10, dont 7 réussis, 2 échoués et 1 annulé." in french.translate(NO_BREAK_SPACES)


async def test_a_project_whose_only_training_failed_says_so(database: Database, selection: Selection) -> None:
    async with client_of(selection) as client:
        project = await new_project(client)
        job_id = await store_training(database, project, "small_groups")
        async with database.writing() as transaction:
            await transaction.execute(sa.update(jobs).where(jobs.c.id == job_id).values(status=JobState.FAILED))
        english = plain_text((await report_of(client, project, lang="en")).content)

    assert "deleted: 1, of which 0 succeeded, 1 failed and 0 were cancelled." in english
    assert "described here" not in english


def test_the_warnings_of_group_differences_exist() -> None:
    assert set(FAIRNESS) >= WARNINGS_OF_GROUP_DIFFERENCES


async def test_the_report_says_which_dataset_trains_best(database: Database, selection: Selection) -> None:
    """The facts and both languages contain scores, differences that may be chance, and what was left out."""
    async with client_of(selection) as client:
        project = await new_project(client)
        assert (await facts_of(client, project))["model_comparison"] is None
        text_without_comparison = plain_text((await report_of(client, project, lang="en")).content)
        scores = {"Cohort A": (0.71, 0.66, 0.76), "Cohort B": (0.78, 0.74, 0.82)}
        comparison_id = await store_comparison(database, project, scores)

        report = (await report_of(client, project, format="json")).json()
        english = plain_text((await report_of(client, project, lang="en")).content)
        french = plain_text((await report_of(client, project, lang="fr")).content)
        pdf = (await report_of(client, project, format="pdf", lang="fr")).content

    facts = report["report"]["model_comparison"]
    assert report["sha256"] == canonical_digest(report["report"])
    assert (facts["comparison_id"], facts["best_dataset_id"]) == (str(comparison_id), 2)
    assert [(model["name"], model["place"], model["value"]) for model in facts["models"]] == [
        ("Cohort B", 1, 0.78),
        ("Cohort A", 2, 0.71),
    ]
    assert [model["overlaps_best"] for model in facts["models"]] == [False, True]
    assert [omission["name"] for omission in facts["left_out"]] == ["Pictures"]

    assert "Which of them trains the best model?" not in text_without_comparison
    assert "“Cohort B” gives the best model: Balanced accuracy 0.78" in english
    assert "The difference from “Cohort A” may be chance" in english
    assert "the difference from the best may be chance" in english
    assert "6 May 2031" in english
    assert "« Cohort B » donne le meilleur modèle" in french.translate(NO_BREAK_SPACES)
    assert "Pictures: Files of type zip are not supported" in english
    assert "{" not in english + french
    assert pdf.startswith(b"%PDF-")


@pytest.mark.parametrize("is_ranked", [True, False])
async def test_named_datasets_are_not_called_the_first_of_the_ranking(
    database: Database, selection: Selection, is_ranked: bool
) -> None:
    """The table has ranks, which are those of the time of the comparison, only if the datasets come from a ranking."""
    async with client_of(selection) as client:
        project = await new_project(client)
        await store_comparison(database, project, {"Cohort A": (0.71, 0.66, 0.76)}, is_ranked=is_ranked)
        english = plain_text((await report_of(client, project, lang="en")).content)

    assert "The models of the compared datasets, the best first" in english
    assert ("Rank at that time" in english) is is_ranked


async def test_models_with_the_same_score_share_a_place(database: Database, selection: Selection) -> None:
    """The table writes a shared place as that of a ranking."""
    async with client_of(selection) as client:
        project = await new_project(client)
        same_score = (0.78, 0.74, 0.82)
        scores = {"Cohort A": same_score, "Cohort B": same_score, "Cohort C": (0.6, 0.55, 0.65)}
        await store_comparison(database, project, scores)
        models = (await facts_of(client, project))["model_comparison"]["models"]
        english = plain_text((await report_of(client, project, lang="en")).content)

    assert [(model["place"], model["tied_with"]) for model in models] == [(1, 1), (1, 1), (3, 0)]
    assert english.translate(NO_BREAK_SPACES).count("1 =") == 2


async def test_the_newest_comparison_that_has_ended_is_reported(database: Database, selection: Selection) -> None:
    """Neither an older one nor one whose trainings still wait."""
    async with client_of(selection) as client:
        project = await new_project(client)
        older_id = await store_comparison(database, project, {"Old": (0.6, 0.5, 0.7)})
        newer_id = await store_comparison(database, project, {"New": (0.7, 0.6, 0.8)})
        waiting_comparison = NewComparison(owner=ADA, request={}, digest="1", project_id=UUID(project["id"]))
        await comparison_queue_store.create_comparison(
            database, waiting_comparison, [trained_dataset("Waiting", 3)], waiting_limit=100
        )
        async with database.writing() as transaction:
            earlier_time = datetime(2020, 1, 1, tzinfo=UTC)
            await transaction.execute(
                sa.update(comparisons).where(comparisons.c.id == older_id).values({"created_at": earlier_time})
            )
        facts = await facts_of(client, project)
    assert facts["model_comparison"]["comparison_id"] == str(newer_id)
