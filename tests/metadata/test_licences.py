"""Licences become SPDX expressions where their words are certain, and keep their words in any case."""

import subprocess
import sys

import pytest

from touchstone.metadata.licences import combine_licences, is_unknown_licence, normalize_licence

FIRST_USE_BY_SEVERAL_THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from touchstone.metadata.licences import licence_alternatives

sys.setswitchinterval(1e-5)
expressions = ["MIT AND Apache-2.0", "Apache-2.0 AND MIT"] * 200
with ThreadPoolExecutor(4) as threads:
    print(*set(threads.map(licence_alternatives, expressions)))
"""


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("cc-by-4.0", "CC-BY-4.0"),
        ("CC BY-NC-SA 4.0", "CC-BY-NC-SA-4.0"),
        ("Creative Commons Attribution 4.0 International", "CC-BY-4.0"),
        ("Creative Commons Attribution-NonCommercial-ShareAlike 3.0 Unported", "CC-BY-NC-SA-3.0"),
        ("https://creativecommons.org/licenses/by-sa/4.0/deed.en", "CC-BY-SA-4.0"),
        ("http://creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0"),
        ("CC 0", "CC0-1.0"),
        ("https://choosealicense.com/licenses/odc-by/", "ODC-By-1.0"),
        ("Apache License 2.0", "Apache-2.0"),
        ("MIT License", "MIT"),
        ("gpl-3.0", "GPL-3.0-only"),
        ("ODC-PDDL-1.0", "PDDL-1.0"),
        ("mit OR apache-2.0", "MIT OR Apache-2.0"),
        ("Public Domain", "LicenseRef-PublicDomain"),
        ("Creative Commons Attribution 4.0 International (CC BY 4.0)", "CC-BY-4.0"),
        ("The MIT License (MIT)", "MIT"),
        ("CC0 1.0 Universal (CC0 1.0) Public Domain Dedication", "CC0-1.0"),
        ("http://publications.europa.eu/resource/authority/licence/CC_BY_4_0", "CC-BY-4.0"),
        ("http://publications.europa.eu/resource/authority/licence/CC_BYNCSA_4_0", "CC-BY-NC-SA-4.0"),
        ("http://publications.europa.eu/resource/authority/licence/ODC_BL", "ODbL-1.0"),
        ("https://opendatacommons.org/licenses/by/1-0/", "ODC-By-1.0"),
        ("Licence Ouverte / Open Licence version 2.0", "etalab-2.0"),
        ("http://dcat-ap.de/def/licenses/dl-by-de/2.0", "DL-DE-BY-2.0"),
        ("https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/", "OGL-UK-3.0"),
    ],
)
def test_certain_spellings(text: str, expression: str) -> None:
    licence = normalize_licence(text)
    assert (licence.spdx, licence.text) == (expression, text)


@pytest.mark.parametrize(
    "text",
    ["other", "Public", "cc-by", "CC BY-SA", "Custom", "Apache License", "LDC User Agreement", "OpenAI", "unknown",
     "CC BY 4.0 (UCI site terms; per-dataset)", "https://example.org/licenses/mit", "gfdl", "MIT (repo)", "cc-by-9.0",
     "GPL-2.0 (GPL-3.0)", "MIT (unknown)", "Licence Ouverte / Open Licence",
     "http://publications.europa.eu/resource/authority/licence/COM_REUSE"],
)  # fmt: skip
def test_words_that_are_not_certain_get_no_expression(text: str) -> None:
    assert normalize_licence(text).spdx is None


def test_several_licences_all_apply() -> None:
    licence = combine_licences(["mit", "unknown", "CC BY 4.0", "mit"])
    assert licence is not None
    assert (licence.spdx, licence.text) == ("MIT AND CC-BY-4.0", "mit; CC BY 4.0")


def test_one_uncertain_licence_makes_the_whole_uncertain() -> None:
    licence = combine_licences(["mit", "Custom"])
    assert licence is not None
    assert (licence.spdx, licence.text) == (None, "mit; Custom")


def test_no_licence_at_all() -> None:
    assert combine_licences(["unknown", "Unspecified", ""]) is None
    assert is_unknown_licence("Not found")
    assert is_unknown_licence("License not specified")


def test_openness_is_about_who_gets_the_data() -> None:
    assert normalize_licence("cc-by-nc-nd-4.0").is_open
    assert not normalize_licence("other").is_open


def test_threads_that_read_licences_at_the_same_time_agree() -> None:
    """The list of licences is loaded when a process first needs it, and no thread uses a part of it."""
    command = [sys.executable, "-c", FIRST_USE_BY_SEVERAL_THREADS]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert output == "('Apache-2.0 AND MIT',)\n"
