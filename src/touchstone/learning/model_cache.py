"""A cache of loaded models, so that further predictions need not load them again."""

import io
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from touchstone.learning.artifacts import model_artifact
from touchstone.learning.prediction import RowPredictor
from touchstone.learning.task_interface import ModelFile

MAX_CACHED_BYTES: Final = 128 * 2**20  # The total size of the files. Loaded models need several times as much memory.


@dataclass(frozen=True, slots=True)
class _CachedModel:
    """A model prepared for predictions, and the size of its file."""

    predictor: RowPredictor
    file_bytes: int


@dataclass(slots=True)
class ModelCache:
    """A least recently used (LRU) cache of loaded models by the digest of their files."""

    max_bytes: int = MAX_CACHED_BYTES
    _models: OrderedDict[str, _CachedModel] = field(default_factory=OrderedDict)

    def load(self, model_file: ModelFile) -> RowPredictor:
        """Return the model of a file, prepared for predictions.

        The file is only read and verified if the model is not in the cache.

        Raises:
            LearningError: the file is damaged or contains objects that are not allowed.
        """
        cached_model = self._models.get(model_file.sha256)
        if cached_model is not None:
            self._models.move_to_end(model_file.sha256)
            return cached_model.predictor

        predictor = RowPredictor.from_model(model_artifact.load(model_file))
        file_bytes = model_file.stream.seek(0, io.SEEK_END)
        self._models[model_file.sha256] = _CachedModel(predictor, file_bytes)
        self._evict_excess()
        return predictor

    def _evict_excess(self) -> None:
        """Evict the least recently used models until the others fit."""
        cached_bytes = sum(cached_model.file_bytes for cached_model in self._models.values())
        while cached_bytes > self.max_bytes:
            _digest, evicted_model = self._models.popitem(last=False)
            cached_bytes -= evicted_model.file_bytes
