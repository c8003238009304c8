"""che's encoder in PyTorch, with one function to replace for an encoding of your own; see examples/my_encoding.py."""

try:
  import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
  raise ModuleNotFoundError("che_tasks.torch needs PyTorch: pip install torch") from error

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
