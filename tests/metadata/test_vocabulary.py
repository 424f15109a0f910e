"""Spellings of tasks and domains fold to one value."""

from touchstone.core.vocabulary import fold_domain, fold_domains, fold_language, fold_task, fold_tasks, known_domains


def test_spellings_of_one_task() -> None:
    assert fold_tasks(["question-answering", "Question Answering", "question_answering", "QA"]) == [
        "question-answering"
    ]


def test_finer_tasks_stay_apart() -> None:
    assert fold_task("Extractive-QA") == "extractive-question-answering"


def test_the_prefix_of_the_hub_is_no_part_of_the_task() -> None:
    assert fold_task("text-classification-other-hate-speech-detection") == "hate-speech-detection"
    assert fold_task("other-other-raw-dataset") == "raw-dataset"


def test_a_word_in_two_spellings() -> None:
    assert fold_tasks(["Dialog Turn Prediction", "dialogue-turn-prediction"]) == ["dialogue-turn-prediction"]
    assert fold_task("Language Modelling") == "language-modeling"


def test_words_in_parentheses_explain() -> None:
    assert fold_task("Named Entity Recognition (NER)") == "named-entity-recognition"


def test_spellings_of_one_domain() -> None:
    assert fold_domains(["Health and Medicine", "medicine", "Healthcare", "Santé"]) == ["health"]


def test_values_that_name_nothing_are_left_out() -> None:
    assert fold_tasks(["other", "Misc.", "", "Regression"]) == ["regression"]
    assert fold_domain("Other") is None


def test_only_known_domains_are_taken_from_keywords() -> None:
    assert known_domains(["wine", "City of Example", "finance"]) == ["food", "finance"]


def test_codes_and_names_of_one_language() -> None:
    assert {fold_language(text) for text in ("de", "DEU", "de-AT", "German", "allemand")} == {"de"}
    assert fold_language("xyzzy") is None
