"""The sources of the demo catalog, whose licences allow redistribution of their metadata, and their files."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final
from urllib.parse import quote

from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.verbatim_quotes import document_texts


@dataclass(frozen=True, slots=True)
class CatalogSource:
    """A collection of documents with one origin and one licence.

    Attributes:
        key: its stable name, which is used to derive the identifiers of records.
        name: its display name.
        folder: the folder of its documents in the collected metadata.
        documents: the glob pattern of its main documents.
        address: the address of a document in this version, with the placeholder `{path}` for its path in the folder.
        version: the collected version of the source.
        licence: the licence of the documents.
        companions: the names of additional files in the folder of each document.
        skipped: the pattern for paths of documents to skip, or None.
        merges: whether its datasets are identical to datasets of the same name in other merging sources. Sources that
            do not merge publish cleaned, encoded or shortened copies.
        name_prefix: the prefix for the names of datasets, if the documents only name the parts of a collection.
    """

    key: str
    name: str
    folder: str
    documents: str
    address: str
    version: str
    licence: str
    companions: tuple[str, ...] = ()
    skipped: re.Pattern[str] | None = None
    merges: bool = False
    name_prefix: str = ""


_GITHUB: Final = "https://github.com/"
# Examples of the format that are not real datasets.
_CROISSANT_SAMPLES: Final = re.compile(
    r"/(?:recipes__|simple-|audio_test|image_test|json-join|huggingface-levanti|huggingface-rag-dataset|coco2014-mini"
    r"|huggingface-lmms-eval-lite|commoncrawl-.*-draft)"
)
_DATA_PACKAGE_SAMPLES: Final = re.compile(
    r"^/(?:geo-location|geopoint|geo-lat|text-file|simple-geojson|donation|cpi-data-via-url|vega-datasets)"
)

# In the order of preference: the first source with a dataset determines its name.
SOURCES: Final = (
    CatalogSource(
        key="fairground",
        name="FairGround",
        folder="fairground",
        documents="metadata.json",
        address=f"{_GITHUB}reliable-ai/fairground/tree/fc013e243cd3597de15e0a9c1fd08fdd3bd8a676",
        version="commit fc013e24",
        licence="CC-BY-4.0",
    ),
    CatalogSource(
        key="hf_cards",
        name="Hugging Face datasets",
        folder="hf_cards",
        documents="*/README.md",
        companions=("dataset_infos.json",),
        address=f"{_GITHUB}huggingface/datasets/blob/d7dfbc83d68e87ba002c5eb2555f7a932e59038a/datasets/{{path}}",
        version="commit d7dfbc83 (3 October 2022)",
        licence="Apache-2.0",
        merges=True,
    ),
    CatalogSource(
        key="cv_datasheets",
        name="Common Voice datasheets",
        folder="cv_datasheets",
        documents="en/*.md",
        address=f"{_GITHUB}common-voice/cv-datasheets/tree/72a666550c2a45d9e4efbe5725c6ae4169687041",
        version="commit 72a66655",
        licence="MPL-2.0",
        name_prefix="Common Voice Scripted Speech 23.0: ",
    ),
    CatalogSource(
        key="croissant",
        name="Croissant examples",
        folder="croissant",
        documents="*/*/metadata.json",
        address=f"{_GITHUB}mlcommons/croissant/blob/401f6fff81db26a49c0d1704f02bffc4e4fa8fe2/datasets/{{path}}",
        version="commit 401f6fff",
        licence="Apache-2.0",
        skipped=_CROISSANT_SAMPLES,
        merges=True,
    ),
    CatalogSource(
        key="vega",
        name="vega-datasets",
        folder="datapackage/vega-datasets",
        documents="datapackage.json",
        address=f"{_GITHUB}vega/vega-datasets/blob/cad85578e232704bb0453544742440038038c6a2/{{path}}",
        version="3.2.1 (commit cad85578)",
        licence="BSD-3-Clause",
    ),
    CatalogSource(
        key="datapackage",
        name="Frictionless data packages",
        folder="datapackage",
        documents="*/datapackage.json",
        address=f"{_GITHUB}frictionlessdata/example-data-packages/blob/8c492276e9184d518643af54a96848da1ffd0ebc/{{path}}",
        version="commit 8c492276",
        licence="MIT",
        skipped=_DATA_PACKAGE_SAMPLES,
    ),
    CatalogSource(
        key="dcat_us_philly",
        name="City of Philadelphia",
        folder="dcat_us",
        documents="philadelphia_data.json",
        address=f"{_GITHUB}GSA/datagov-harvester/tree/e04f7de82a54817f18d1a03d66b983c858318ca8",
        version="commit e04f7de8 of the data.gov harvester",
        licence="US Government work or CC0-1.0",
    ),
    CatalogSource(
        key="tfds",
        name="TensorFlow Datasets",
        folder="tfds",
        documents="*/README.md",
        companions=("TAGS.txt", "CITATIONS.bib"),
        address="https://pypi.org/project/tensorflow-datasets/4.9.10/",
        version="4.9.10",
        licence="Apache-2.0",
        merges=True,
    ),
    CatalogSource(
        key="dpi",
        name="Data Provenance Initiative",
        folder="dpi",
        documents="data_summaries*/*.json",
        address=f"{_GITHUB}Data-Provenance-Initiative/Data-Provenance-Collection/blob/"
        "ce6662deccf011574427b6f112df479d261960b8/{path}",
        version="commit ce6662de",
        licence="Apache-2.0",
        skipped=re.compile(r"/_template\.json$"),
        merges=True,
    ),
    # Their counts come from shortened test fixtures (ten instances of Adult), so only descriptions are read.
    CatalogSource(
        key="openml",
        name="OpenML",
        folder="openml_api",
        documents="id_*/api-v1-jd-[0-9]*.json",
        address="https://pypi.org/project/scikit-learn/1.9.1/",
        version="replies in scikit-learn 1.9.1",
        licence="CC-BY-4.0",
    ),
    CatalogSource(
        key="pmlb",
        name="Penn Machine Learning Benchmarks",
        folder="pmlb",
        documents="*/metadata.yaml",
        address=f"{_GITHUB}EpistasisLab/pmlb/blob/7c1f4bdc00136dc2e55c87fa6b8ba6e8af6d1a68/datasets/{{path}}",
        version="commit 7c1f4bdc",
        licence="MIT",
    ),
    CatalogSource(
        key="pmlb",
        name="Penn Machine Learning Benchmarks",
        folder="pmlb",
        documents="all_summary_stats.tsv",
        address=f"{_GITHUB}EpistasisLab/pmlb/blob/7c1f4bdc00136dc2e55c87fa6b8ba6e8af6d1a68/pmlb/{{path}}",
        version="commit 7c1f4bdc",
        licence="MIT",
    ),
)


@dataclass(frozen=True)
class SourceFile:
    """One collected file of a source.

    Attributes:
        source: the source of the file.
        path: its path in the folder of the source.
        content: the bytes of the file.
    """

    source: CatalogSource
    path: str
    content: bytes

    @property
    def name(self) -> str:
        """The name of the file without its folders."""
        return Path(self.path).name

    @cached_property
    def sha256(self) -> str:
        """The digest of the file."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def url(self) -> str:
        """The address of this version of the file."""
        return self.source.address.format(path=quote(self.path))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The raw text and the decoded strings of the file, which are searched for quotes."""
        return document_texts(SourceDocument(self.content, self.path))


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """A main document and its companion files."""

    main: SourceFile
    companions: tuple[SourceFile, ...]

    def as_document(self) -> SourceDocument:
        """Convert the files to the input of readers."""
        companions = {companion.name: companion.content for companion in self.companions}
        return SourceDocument(self.main.content, self.main.path, companions)

    def all(self) -> tuple[SourceFile, ...]:
        """Return the main document and its companions."""
        return (self.main, *self.companions)


def read_source_files(source: CatalogSource, metadata_folder: Path) -> Iterator[SourceFiles]:
    """Yield the main documents of a source with their companions, sorted by path."""
    folder = metadata_folder / source.folder
    for path in sorted(folder.glob(source.documents)):
        relative_path = path.relative_to(folder).as_posix()
        if source.skipped is not None and source.skipped.search(f"/{relative_path}"):
            continue
        companions = tuple(
            SourceFile(source, sibling.relative_to(folder).as_posix(), sibling.read_bytes())
            for name in source.companions
            if (sibling := path.with_name(name)).exists()
        )
        yield SourceFiles(SourceFile(source, relative_path, path.read_bytes()), companions)
