"""Error messages say what is wrong with a value and what is accepted, in French and in English."""

import json
import re
from datetime import UTC, datetime

import httpx2
import pytest

from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.services.selection.datasets.listing import LIST_PARAMETERS

# Symbols that error messages must not use instead of words.
SIGNS = re.compile(r"[×≤≥≠∞…{}\[\]^$]|None")
LIMIT = ("un nombre entier de 1 à 1000 est attendu", "an integer from 1 to 1000 is expected")


async def error_details(client: httpx2.AsyncClient, method: str, path: str, body: object = None) -> tuple[str, str]:
    """Return the sentence of an error in French and in English, after checking that all other parts agree."""
    details = []
    for language in ("fr", "en"):
        answer = await client.request(method, path, json=body, headers={"Accept-Language": language})
        assert answer.status_code == 422, (path, body, answer.text)
        # Expected texts are written as people type them: without typographic apostrophes and no-break spaces.
        error_body = json.loads(answer.text.replace("’", "'").translate({0xA0: " ", 0x202F: " "}))
        assert not SIGNS.search(error_body["detail"]), error_body["detail"]
        assert error_body["errors"], path
        assert all(len(error["msg"]) > 5 for error in error_body["errors"])
        assert error_body["errors"][0]["msg"] in error_body["detail"]
        details.append(error_body["detail"])
    assert details[0] != details[1], details
    return details[0], details[1]


@pytest.mark.parametrize(
    ("query", "french", "english"),
    [
        ("limit=1&limit=2", "pour limit : donné 2 fois", "for limit: given 2 times"),
        ("limit=0", *LIMIT),
        ("limit=x", *LIMIT),
        ("limit=1001", *LIMIT),
        ("limit=99999999999999999999", *LIMIT),
        ("skip=-1", "un nombre entier d'au moins 0", "an integer of at least 0"),
        ("skip=99999999999999999999", "le nombre est trop grand", "the number is too large"),
        ("year_min=abc", "pour year_min : un nombre entier est attendu", "for year_min: an integer is expected"),
        ("ethical_score_min=101", "un nombre de 0 à 100 est attendu", "a number from 0 to 100 is expected"),
        ("is_split=perhaps", "true ou false est attendu", "true or false is expected"),
        ("dataset_name=" + "x" * 1001, "1000 caractères au plus", "at most 1000 characters"),
        ("dataset_name=%FF", "UTF-8", "UTF-8"),
        ("split=true&is_split=false", "désignent la même chose", "mean the same thing"),
        ("sort_order=up", "sont admis : asc, desc", "accepted: asc, desc"),
        ("sort_by=YEAR", "n'est pas une valeur admise pour sort_by ; le plus proche : year", "nearest: year"),
        (
            "name=Adult",
            "« name » est inconnu ; le plus proche : dataset_name",
            "“name” is unknown; nearest: dataset_name",
        ),
        ("year=2020", "le plus proche : year_max, year_min", "nearest: year_max, year_min"),
        ("PAGE=1", "« PAGE » est inconnu ; le plus proche : page", "“PAGE” is unknown; nearest: page"),
        ("pageSize=1", "le plus proche : page_size", "nearest: page_size"),
        ("ethical-score-min=1", "le plus proche : ethical_score_min", "nearest: ethical_score_min"),
        ("yeer_min=1", "year_min", "year_min"),
    ],
)
async def test_a_refused_query_says_what_is_accepted(
    reader: httpx2.AsyncClient, query: str, french: str, english: str
) -> None:
    """The cases cover every type of parameter, with typical mistakes."""
    details = await error_details(reader, "GET", f"/datasets/?{query}")
    assert french in details[0], details[0]
    assert english in details[1], details[1]


@pytest.mark.parametrize(
    ("path", "body", "french", "english"),
    [
        ("score", [], "le corps de la requête : un objet JSON est attendu", "the request body: a JSON object"),
        ("score", {"filters": []}, "pour filters : un objet JSON est attendu", "for filters: a JSON object"),
        ("score", {"Filters": {}}, "« Filters » est inconnu ; le plus proche : filters", "nearest: filters"),
        ("score", {"filters": {"Year_Min": 1}}, "le plus proche : year_min", "nearest: year_min"),
        ("score", {"filters": {"year_min": "2000"}}, "un nombre entier est attendu", "an integer is expected"),
        ("score", {"filters": {"domain": 5}}, "une liste de textes", "a list of texts"),
        ("score", {"filters": {"visibility": 5}}, "valeurs possibles : public", "possible values: public"),
        ("score", {"filters": {"dataset_name": 5}}, "un texte est attendu", "text is expected"),
        ("score", {"weights": {}}, "pour weights : une liste est attendue", "for weights: a list is expected"),
        (
            "score",
            {"weights": [1]},
            "un objet avec criterion_name et weight",
            "an object with criterion_name and weight",
        ),
        ("score", {"profile": "ethics"}, "le plus proche : ethical", "nearest: ethical"),
        (
            "score",
            {"weights": [{"criterion_name": "Year", "weight": 1}]},
            "« Year » n'est pas une valeur admise pour weights.0.criterion_name ; le plus proche : year",
            "nearest: year",
        ),
        (
            "score",
            {"weights": [{"criterion_name": "year", "weight": -1}]},
            "Poids invalide pour year : un poids ne peut pas être négatif",
            "Invalid weight for year: a weight cannot be negative",
        ),
        (
            "score",
            {"weights": [{"criterion_name": "year", "weight": 0}]},
            "au moins un poids doit dépasser zéro",
            "at least one weight must be above zero",
        ),
        ("", {}, "pour name : ce champ est obligatoire", "for name: this field is required"),
        ("", {"name": " "}, "pour name : ne peut pas être vide", "for name: cannot be empty"),
        ("", {"name": "x", "Description": ""}, "le plus proche : description", "nearest: description"),
        ("search", {"min_rows": "x"}, "pour min_rows : un nombre entier est attendu", "for min_rows: an integer"),
        ("search", {"ethical_tags": ["transparancy"]}, "le plus proche : transparency", "nearest: transparency"),
    ],
)
async def test_a_refused_body_says_what_is_accepted(
    reader: httpx2.AsyncClient, path: str, body: object, french: str, english: str
) -> None:
    """The cases cover every type of member, and keys in another case."""
    details = await error_details(reader, "POST", f"/datasets/{path}", body)
    assert french in details[0], details[0]
    assert english in details[1], details[1]


async def test_every_parameter_in_capitals_suggests_its_own_name(ada: httpx2.AsyncClient) -> None:
    """The suggestion for a name in another case is exactly that name."""
    for name in LIST_PARAMETERS.by_name:
        french, _ = await error_details(ada, "GET", f"/datasets/?{name.upper()}=1")
        assert french.endswith(f" : {name}"), french
    for name in CRITERION_NAMES:
        body = {"weights": [{"criterion_name": name.upper(), "weight": 1}]}
        assert (await error_details(ada, "POST", "/datasets/score", body))[0].endswith(f" : {name}")


async def test_a_year_is_from_1900_to_the_next_one(ada: httpx2.AsyncClient) -> None:
    """An impossible year is refused with the possible range; the first and the last year are accepted."""
    last_year = datetime.now(UTC).year + 1
    record = {"name": "x", "description": "", "file_path": "", "file_type": "csv"}
    for year in (3000, last_year + 1, 1899, 0):
        french, english = await error_details(ada, "POST", "/datasets/", {**record, "year": year})
        assert f"pour year : une année de 1900 à {last_year} est attendue" in french
        assert f"for year: a year from 1900 to {last_year} is expected" in english
    for valid_year in (1900, last_year, None):
        assert (await ada.post("/datasets/", json={**record, "year": valid_year})).status_code == 201
