"""che's encoder in PyTorch (post-norm, no mask, arXiv 2305.16843), with parameters named and shaped as che's.

Layer by layer

    a  = LN1(x + drop(Attention(x))),  x' = LN2(a + drop(W2 relu(W1 a + b1) + b2)).

Linear maps are y = x W + b, W (in, out). Initial values have che's distributions: truncated normal with sigma
1 / sqrt(fan-in), cut at two sigma, 0.02 for the embedding; biases 0.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .encodings import AbsoluteEncoding, Encoding, Positions, Shape, normal

__all__ = ["Encoder", "contiguous", "load_parameters"]

# Gives what a layer sees of positions: (tokens, layer, device) -> Positions; layer -1 is the embedding.
PositionSource = Callable[[int, int, torch.device], Positions]


def contiguous(tokens: int, layer: int, device: torch.device) -> Positions:
  """0, 1, 2, ... in every layer."""
  numbers = torch.arange(tokens, device=device)
  return Positions(numbers, numbers)


class LayerNorm(nn.Module):
  def __init__(self, width: int) -> None:
    super().__init__()
    self.scale, self.offset = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

  def forward(self, x: Tensor) -> Tensor:
    return F.layer_norm(x, self.scale.shape, self.scale, self.offset, 1e-5)


class FeedForward(nn.Module):
  def __init__(self, width: int, hidden: int) -> None:
    super().__init__()
    self.w1, self.b1 = normal(width, hidden, sigma=width**-0.5), nn.Parameter(torch.zeros(hidden))
    self.w2, self.b2 = normal(hidden, width, sigma=hidden**-0.5), nn.Parameter(torch.zeros(width))

  def forward(self, x: Tensor) -> Tensor:
    return F.linear(F.relu(F.linear(x, self.w1.t(), self.b1)), self.w2.t(), self.b2)


class Attention(nn.Module):
  def __init__(self, shape: Shape, encoding: Encoding) -> None:
    super().__init__()
    self.shape, self.encoding = shape, encoding
    self.wq, self.wk, self.wv, self.wo = (normal(shape.width, shape.width, sigma=shape.width**-0.5) for _ in range(4))

  def forward(self, x: Tensor, positions: Positions) -> Tensor:
    qkv = F.linear(x, torch.cat((self.wq, self.wk, self.wv), 1).t())
    # (batch, heads, tokens, head_width) each
    q, k, v = qkv.unflatten(-1, (3, self.shape.heads, self.shape.head_width)).permute(2, 0, 3, 1, 4)
    encoding = self.encoding
    q, k = encoding.rotate(q, k, positions)
    logits = encoding.logits(q, k, positions)
    if logits is not None:
      attended = torch.softmax(logits, -1) @ v
    else:
      bias = encoding.bias(q, k, positions)
      if bias is not None:
        tokens = q.shape[2]
        bias = bias.to(q.dtype)  # PyTorch takes booleans for a mask.
        bias = bias.expand(*q.shape[:2], tokens, tokens) if bias.dim() < 3 else bias[(None,) * (4 - bias.dim())]
      attended = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    return F.linear(attended.transpose(1, 2).flatten(2), self.wo.t())


class Layer(nn.Module):
  def __init__(self, shape: Shape, encoding: Encoding, dropout: float) -> None:
    super().__init__()
    self.attn, self.ffn = Attention(shape, encoding), FeedForward(shape.width, shape.width * shape.ffn_multiple)
    self.ln1, self.ln2, self.dropout = LayerNorm(shape.width), LayerNorm(shape.width), nn.Dropout(dropout)

  def forward(self, x: Tensor, positions: Positions) -> Tensor:
    a = self.ln1(x + self.dropout(self.attn(x, positions)))
    return self.ln2(a + self.dropout(self.ffn(a)))


class Encoder(nn.Module):
  """Reads tokens and predicts a class at the last of them.

  `encoding` makes an encoding from a `Shape`: a class derived from `Encoding`, of which every layer has an instance,
  or from `AbsoluteEncoding`, of which there is one. `inputs` and `outputs` are the numbers of symbols of the task; the
  empty token has the id `inputs`. Raises ValueError for heads that do not divide the width, for what makes no encoding,
  and for a class that overrides nothing.
  """

  def __init__(
    self,
    inputs: int,
    outputs: int,
    encoding: Callable[[Shape], nn.Module],
    shape: Shape = Shape(),  # noqa: B008 (immutable)
    dropout: float = 0.1,
  ) -> None:
    super().__init__()
    if shape.width % shape.heads != 0:
      raise ValueError(f"width {shape.width}: is no multiple of the {shape.heads} heads")
    self.shape, self.inputs, self.outputs = shape, inputs, outputs
    first = encoding(shape)
    if not isinstance(first, (Encoding, AbsoluteEncoding)):
      raise ValueError(f"encoding: made {type(first).__name__}; derive it from che_tasks.torch.Encoding")
    if isinstance(first, Encoding) and type(first) is not Encoding and not first.changes_attention():
      raise ValueError(
        f"encoding {type(first).__name__}: overrides none of bias, rotate and logits; "
        "override one, or pass che_tasks.torch.Encoding for a model without encoding"
      )
    self.embed = nn.Module()
    self.embed.w = normal(inputs + 1, shape.width, sigma=0.02)
    self.pos: AbsoluteEncoding | None = None
    if isinstance(first, AbsoluteEncoding):
      self.pos, encoding = first, Encoding
      first = Encoding(shape)
    encodings = [first, *(encoding(shape) for _ in range(shape.layers - 1))]
    self.layers = nn.ModuleList(Layer(shape, one, dropout) for one in encodings)  # type: ignore[arg-type]
    self.out = nn.Module()
    self.out.w = normal(shape.width, outputs, sigma=shape.width**-0.5)
    self.out.b = nn.Parameter(torch.zeros(outputs))
    self.dropout = nn.Dropout(dropout)

  def forward(self, tokens: Tensor, outputs: int, positions: PositionSource = contiguous) -> Tensor:
    """Logits of the last `outputs` tokens, (batch, outputs, classes), from tokens (batch, tokens) of type long."""
    length, device = tokens.shape[1], tokens.device
    x = F.embedding(tokens, self.embed.w) * self.shape.width**0.5
    if self.pos is not None:
      x = self.dropout(x + self.pos(positions(length, -1, device)))
    for index, layer in enumerate(self.layers):
      x = layer(x, positions(length, index, device))
    return F.linear(x[:, -outputs:], self.out.w.t(), self.out.b)

  @torch.no_grad()
  def project(self) -> None:
    """Brings parameters of the encoding back into their range; called before each forward pass of training."""
    for layer in self.layers:
      layer.attn.encoding.project()  # type: ignore[union-attr, operator]


def che_name(name: str) -> str:
  """A parameter's name in che and in the files that `che export-model` writes: "layer0.attn.wq"."""
  return name.replace("layers.", "layer").replace("attn.encoding.base.", "attn.").replace("attn.encoding.", "attn.")


def load_parameters(model: Encoder, parameters: str | os.PathLike[str] | Mapping[str, Any]) -> None:
  """Gives the model the parameters of a run of che: a file of `che export-model`, or tensors by che's names.

  A file needs the package safetensors. Raises ValueError for names or shapes that are not the model's.
  """
  if not isinstance(parameters, Mapping):
    from safetensors.torch import load_file

    parameters = load_file(os.fspath(parameters))
  own = {che_name(name): parameter for name, parameter in model.named_parameters()}
  if own.keys() != parameters.keys():
    raise ValueError(f"parameters: {sorted(own.keys() ^ parameters.keys())} are not in both the model and the file")
  for name, parameter in own.items():
    if parameter.shape != parameters[name].shape:
      raise ValueError(f"{name}: got shape {tuple(parameters[name].shape)}; the model has {tuple(parameter.shape)}")
  for name, parameter in own.items():
    parameter.data.copy_(parameters[name])
