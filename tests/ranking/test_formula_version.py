"""A change of the formulas has a new version, so that saved choices and snapshots can tell it from changed data."""

from typing import Any
from uuid import UUID

from touchstone.core.attributes import ATTRIBUTES
from touchstone.core.canonical_json import canonical_digest
from touchstone.ranking.columns.segment import CatalogRow, SegmentWriter
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.formula_version import FORMULA_VERSION
from touchstone.ranking.weight_profiles import PROFILES
from touchstone.ranking.weighted_mean import score_segment

# The digest of the criteria and scores of RECORDS under each version. A change of the formulas adds a version.
DIGESTS = {"1": "d1b926942601c1cb389519abfdc631d15b2bff79c4d13b51f1a0a7fee0864c45"}
UNKNOWN_ATTRIBUTES: dict[str, Any] = dict.fromkeys(attribute.name for attribute in ATTRIBUTES)
RECORDS: tuple[dict[str, Any], ...] = (
    {},
    {"year": 2012, "citations": 40, "instances_number": 1234, "features_number": 7, "is_split": True},
    {"year": 1990, "citations": 1, "instances_number": 10, "features_number": 60, "has_missing_values": False},
    {"year": 2030, "citations": 5000, "instances_number": 10**9, "features_number": 400, "has_missing_values": True},
    {"missing_values_percentage": 12.5, "has_missing_values": True, "external_documentation_available": True},
    {"metadata_provided_with_dataset": True, "informed_consent": True, "transparency": False, "user_control": True},
    {"anonymization_applied": True, "transparency": True, "accountability_defined": True, "features_number": 5000},
)


def test_the_formulas_are_those_of_their_version() -> None:
    """The criteria, and the scores by every profile, of some records are those that this version has always given."""
    writer = SegmentWriter(is_searchable=False)
    writer.extend([catalog_row(index, values) for index, values in enumerate(RECORDS, start=1)])
    segment = writer.segment()

    columns = [segment.criteria[name].tolist() for name in CRITERION_NAMES]
    columns += [score_segment(segment, slice(None), profile.weights).tolist() for profile in PROFILES.values()]
    # The last digit of a logarithm depends on the processor.
    rounded_columns = [[round(value, 12) for value in column] for column in columns]
    assert canonical_digest(rounded_columns) == DIGESTS[FORMULA_VERSION]


def catalog_row(id_: int, values: dict[str, Any]) -> CatalogRow:
    """Return a record with these known values only."""
    attributes = UNKNOWN_ATTRIBUTES | {"dataset_name": f"d{id_}"} | values
    return CatalogRow(
        id=id_,
        dataset_id=UUID(int=id_),
        owner=None,
        visibility="public",
        description="",
        file_path="",
        file_type="",
        created_at=0,
        updated_at=0,
        **attributes,
    )
