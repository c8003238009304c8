"""che's encoder in PyTorch, with one function to replace for an encoding of your own.

    import torch
    import che_tasks.torch

    class Ramp(che_tasks.torch.Encoding):
      def __init__(self, shape):
        super().__init__(shape)
        self.slope = torch.nn.Parameter(torch.ones(shape.heads, 1, 1))

      def bias(self, q, k, positions):
        return -self.slope * positions.distances().abs()

    che_tasks.torch.train("configs/quick.yaml", Ramp, seeds=range(4), results="results/ramp")

`che table results/quick results/ramp` then shows it beside che's encodings.
"""

from .encoder import Encoder, contiguous, load_parameters
from .encodings import AbsoluteEncoding, Encoding, Positions, Shape, encoding_of
from .training import BatchDataset, TensorBatch, Trainer, make_encoder, predict, to_tensors, train

__all__ = [
  "AbsoluteEncoding",
  "BatchDataset",
  "Encoder",
  "Encoding",
  "Positions",
  "Shape",
  "TensorBatch",
  "Trainer",
  "contiguous",
  "encoding_of",
  "load_parameters",
  "make_encoder",
  "predict",
  "to_tensors",
  "train",
]
