"""A step of fine-tuning both sides of OVEN's dual encoders: cached gradients, Adafactor."""

from typing import Any

import torch
from transformers.optimization import Adafactor

from isotope.models.multimodal import QUERY, TARGET
from isotope.params.multimodal import MultimodalRecipe
from isotope.train.batches import Batch
from isotope.train.step import Share, Stepper, Vectors


class MultimodalStepper(Stepper):
    """CLIP's loss within the batch, at the vectors of both sides; every parameter learns."""

    def _embed(self, piece: Batch) -> Vectors:
        pictures, words, shown, names = piece
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._half):
            queries = self._model.encode(QUERY, pictures, words)
            targets = self._model.encode(TARGET, shown, names)
        return [queries.float(), targets.float()]

    def _optimizer(self, recipe: Any, total: int) -> tuple[torch.optim.Optimizer, Share]:  # noqa: ANN401
        return adafactor(self._model, recipe), lambda done: recipe.rate(done) / recipe.learning_rate

    def _clip(self) -> None:
        """Leave gradients as they are: Adafactor clips its updates."""


# ASSUME Adafactor is T5's, whose transformers CLIP Fusion has: 11.1 names Shazeer & Stern [45]
# and a rate, and no other setting.
def adafactor(model: Any, recipe: MultimodalRecipe) -> Adafactor:  # noqa: ANN401
    """Return Adafactor as T5 is fine-tuned with it: the rate comes from outside.

    Factored second moments that decay with 1 - step^-0.8, no momentum, updates clipped to a root
    mean square of 1 and scaled by that of the parameter (Shazeer & Stern, Adafactor, ICML 2018,
    algorithms 4 to 6; Raffel et al., T5, JMLR 2020, section 3.1.2).
    """
    return Adafactor(
        model.parameters(),
        lr=recipe.learning_rate,
        eps=(1e-30, 1e-3),
        clip_threshold=1.0,
        decay_rate=-0.8,
        beta1=None,
        weight_decay=0.0,
        scale_parameter=True,
        relative_step=False,
        warmup_init=False,
    )
