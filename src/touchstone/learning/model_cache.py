"""The models that a process has loaded, so that further predictions with them need not load them again."""

import io
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from touchstone.learning.artifacts import model_artifact
from touchstone.learning.prediction import RowPredictor
from touchstone.learning.task_interface import ModelFile

MAX_CACHED_BYTES: Final = 128 * 2**20  # Of model files; a loaded model takes several times the size of its file.


@dataclass(frozen=True, slots=True)
class _CachedModel:
    """A model that is prepared for predictions, and the size of its file."""

    predictor: RowPredictor
    file_bytes: int


@dataclass(slots=True)
class ModelCache:
    """Loaded models by the digest of their file; those used least recently make room for others."""

    max_bytes: int = MAX_CACHED_BYTES
    _models: OrderedDict[str, _CachedModel] = field(default_factory=OrderedDict)

    def load(self, model_file: ModelFile) -> RowPredictor:
        """Return the model of a file, prepared for predictions.

        The file is read and checked only if the model is not in the cache. Raises `LearningError` if the file is
        damaged or contains objects that are not allowed.
        """
        cached_model = self._models.get(model_file.sha256)
        if cached_model is not None:
            self._models.move_to_end(model_file.sha256)
            return cached_model.predictor

        predictor = RowPredictor.of(model_artifact.load(model_file))
        file_bytes = model_file.stream.seek(0, io.SEEK_END)
        self._models[model_file.sha256] = _CachedModel(predictor, file_bytes)
        self._remove_excess()
        return predictor

    def _remove_excess(self) -> None:
        """Remove the models used least recently until the others fit."""
        cached_bytes = sum(cached_model.file_bytes for cached_model in self._models.values())
        while cached_bytes > self.max_bytes:
            _digest, removed_model = self._models.popitem(last=False)
            cached_bytes -= removed_model.file_bytes
