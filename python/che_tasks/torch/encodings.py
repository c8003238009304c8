"""Positional encodings in PyTorch: the interface of one of your own, and those of the benchmark's table.

Shapes: q and k are (batch, heads, tokens, head_width), logits (batch, heads, tokens, tokens), queries before keys.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Callable

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
  from ..configs import Run

__all__ = ["AbsoluteEncoding", "Encoding", "Positions", "Shape", "encoding_of"]


@dataclasses.dataclass(frozen=True)
class Shape:
  """The sizes of an encoder: features of a token, layers, heads of attention, and the FFN's width over `width`."""

  width: int = 256
  layers: int = 5
  heads: int = 8
  ffn_multiple: int = 4

  @property
  def head_width(self) -> int:
    return self.width // self.heads


@dataclasses.dataclass(frozen=True)
class Positions:
  """What an encoding sees of positions in one layer and one forward pass, both (tokens,) and ascending.

  `tokens` are the positions of the tokens and `offsets` the distances of tokens 0, 1, ... apart: 0, 1, 2, ... both,
  unless positions are randomized (arXiv 2305.16843), where they are two draws from 0 .. 2047.
  """

  tokens: Tensor
  offsets: Tensor
  contiguous: bool = True

  @property
  def indices(self) -> Tensor:
    """0, 1, 2, ... whatever the positions are."""
    return torch.arange(len(self.tokens), device=self.tokens.device)

  def distances(self) -> Tensor:
    """Key minus query, (tokens, tokens), negative for keys on the left; one draw per offset if randomized."""
    steps = self.indices - self.indices[:, None]
    return steps if self.contiguous else steps.sign() * self.offsets[steps.abs()]

  def differences(self) -> Tensor:
    """Key minus query, (tokens, tokens), as the difference of the tokens' positions."""
    return self.tokens - self.tokens[:, None]


class Encoding(nn.Module):
  """An encoding inside attention. Every layer has an instance of its own, made by `MyEncoding(shape)`.

  Override `bias` or `rotate`; `logits` where both are too little. Scores of the attention are
  softmax(q k^T / sqrt(head_width) + bias).
  """

  def __init__(self, shape: Shape) -> None:
    super().__init__()
    self.shape = shape

  def rotate(self, q: Tensor, k: Tensor, positions: Positions) -> tuple[Tensor, Tensor]:
    """Queries and keys as attention multiplies them, of the same shapes."""
    return q, k

  def bias(self, q: Tensor, k: Tensor, positions: Positions) -> Tensor | None:
    """Is added to the scaled logits: broadcastable to (batch, heads, tokens, tokens). None adds nothing.

    `q` and `k` are rotated and not scaled.
    """
    return None

  def logits(self, q: Tensor, k: Tensor, positions: Positions) -> Tensor | None:
    """Takes the place of q k^T / sqrt(head_width) + bias unless it is None: (batch, heads, tokens, tokens)."""
    return None

  def changes_attention(self) -> bool:
    """Whether the class overrides one of the three, or the instance has its own."""
    hooks = ("rotate", "bias", "logits")
    return any(getattr(getattr(self, hook), "__func__", None) is not getattr(Encoding, hook) for hook in hooks)

  def project(self) -> None:
    """Brings parameters back into their range, in place; called before each step of training and each test."""


class AbsoluteEncoding(nn.Module):
  """An encoding that is added to the embedding: `forward` takes positions and returns (tokens, width)."""

  def __init__(self, shape: Shape) -> None:
    super().__init__()
    self.shape = shape

  def forward(self, positions: Positions) -> Tensor:
    raise NotImplementedError


def uniform(*shape: int, bound: float, low: float | None = None) -> nn.Parameter:
  return nn.Parameter(torch.empty(shape).uniform_(-bound if low is None else low, bound))


def normal(*shape: int, sigma: float, truncated: bool = True) -> nn.Parameter:
  """Normal, cut at two standard deviations unless told otherwise."""
  values = torch.empty(shape)
  if truncated:
    nn.init.trunc_normal_(values, std=sigma, a=-2 * sigma, b=2 * sigma)
  else:
    nn.init.normal_(values, std=sigma)
  return nn.Parameter(values)


def sinusoid(positions: Tensor, width: int) -> Tensor:
  """sin(p w_k), then cos(p w_k), w_k = 10000^(-2k/width): (positions, width)."""
  rates = 10000.0 ** (-torch.arange(0, width, 2, device=positions.device).double() / width)
  angles = positions.double()[:, None] * rates
  return torch.cat((angles.sin(), angles.cos()), 1).float()


class SinCos(AbsoluteEncoding):
  def forward(self, positions: Positions) -> Tensor:
    return sinusoid(positions.tokens, self.shape.width)


class Learned(AbsoluteEncoding):
  def __init__(self, shape: Shape, rows: int = 2048) -> None:
    super().__init__(shape)
    self.table = normal(rows, shape.width, sigma=1)

  def forward(self, positions: Positions) -> Tensor:
    return self.table[positions.tokens]


class Rope(Encoding):
  def rotate(self, q: Tensor, k: Tensor, positions: Positions) -> tuple[Tensor, Tensor]:
    sin, cos = sinusoid(positions.tokens, self.shape.head_width).to(q.dtype).chunk(2, 1)

    def turn(x: Tensor) -> Tensor:
      even, odd = x[..., ::2], x[..., 1::2]
      return torch.stack((even * cos - odd * sin, odd * cos + even * sin), -1).flatten(-2)

    return turn(q), turn(k)


class Relative(Encoding):
  """Transformer-XL's: ((q + u) k^T + (q + v) (W_r R_r)^T) / sqrt(head_width), R_r the sinusoid of the distance."""

  def __init__(self, shape: Shape) -> None:
    super().__init__(shape)
    self.wr = normal(shape.width, shape.width, sigma=shape.width**-0.5)
    self.u, self.v = (normal(shape.heads, shape.head_width, sigma=0.02, truncated=False) for _ in range(2))

  def logits(self, q: Tensor, k: Tensor, positions: Positions) -> Tensor:
    tokens, shape = q.shape[2], self.shape
    scale = shape.head_width**-0.5
    # The sinusoids of -tokens .. tokens - 1 apart, of which the first is never read.
    apart = torch.cat((-positions.offsets[:1], -positions.offsets.flip(0)[:-1], positions.offsets))
    r = (sinusoid(apart, shape.width).to(q.dtype) @ self.wr).view(2 * tokens, shape.heads, shape.head_width)
    shifted = torch.einsum("bhtd,shd->bhts", (q + self.v[:, None]) * scale, r)
    shifted = shifted.flatten(2)[..., tokens:].unflatten(2, (tokens, 2 * tokens - 1))[..., :tokens]
    return ((q + self.u[:, None]) * scale) @ k.transpose(-2, -1) + shifted


class DistanceBias(Encoding):
  """A bias on the distance; see DistanceOptions of che for `direction` and `randomized_distance`."""

  def __init__(self, shape: Shape, direction: str = "symmetric", randomized_distance: str = "per_offset") -> None:
    super().__init__(shape)
    self.direction, self.per_position = direction, randomized_distance == "per_position"

  def distance(self, positions: Positions) -> Tensor:
    r = positions.differences() if self.per_position else positions.distances()
    if self.direction == "left_only":
      return (-r).clamp_min(0).float()
    return (r.abs().float() - (0.5 * (r < 0) if self.direction == "half_offset" else 0)).clamp_min(0)


class Alibi(DistanceBias):
  def __init__(self, shape: Shape, direction: str = "half_offset", randomized_distance: str = "per_offset") -> None:
    super().__init__(shape, direction, randomized_distance)
    power = 2 ** int(math.log2(shape.heads))

    def geometric(count: int) -> Tensor:
      return 2.0 ** (-8 * torch.arange(1, count + 1) / count)

    slopes = torch.cat((geometric(power), geometric(2 * power)[::2]))[: shape.heads]
    self.register_buffer("slopes", slopes[:, None, None], persistent=False)

  def bias(self, q: Tensor, k: Tensor, positions: Positions) -> Tensor:
    return -self.slopes * self.distance(positions)


class Kerple(DistanceBias):
  """-p log(1 + a |r|) with learned p and a of each head."""

  def __init__(self, shape: Shape, direction: str = "symmetric", randomized_distance: str = "per_offset") -> None:
    super().__init__(shape, direction, randomized_distance)
    self.p, self.a = uniform(shape.heads, low=0, bound=2), uniform(shape.heads, low=0, bound=1)

  def bias(self, q: Tensor, k: Tensor, positions: Positions) -> Tensor:
    return -self.p[:, None, None] * torch.log1p(self.a[:, None, None] * self.distance(positions))

  def project(self) -> None:
    for parameter in (self.p, self.a):
      parameter.data.clamp_min_(0.01)


class Mlp(nn.Module):
  """W2 act(W1 x + b1) + b2, uniform in +-1 / sqrt(fan-in) as PyTorch's Linear."""

  def __init__(self, inputs: int, hidden: int, outputs: int, leaky: bool) -> None:
    super().__init__()
    self.w1, self.b1 = uniform(inputs, hidden, bound=inputs**-0.5), uniform(hidden, bound=inputs**-0.5)
    self.w2, self.b2 = uniform(hidden, outputs, bound=hidden**-0.5), uniform(outputs, bound=hidden**-0.5)
    self.active = nn.LeakyReLU(0.01) if leaky else nn.ReLU()

  def forward(self, x: Tensor) -> Tensor:
    hidden = self.active(nn.functional.linear(x, self.w1.t(), self.b1))
    return nn.functional.linear(hidden, self.w2.t(), self.b2)


class Fire(DistanceBias):
  """MLP(psi(|r|) / (psi(max(i, j, |L_m L_0|)) + 1e-6)), psi(x) = log(|c x| + 1)."""

  def __init__(
    self,
    shape: Shape,
    hidden: int = 32,
    length: float = 512,
    normalizer: str = "max_index",
    direction: str = "symmetric",
    randomized_distance: str = "per_offset",
    leaky: bool = False,
  ) -> None:
    super().__init__(shape, direction, randomized_distance)
    self.length, self.normalizer = length, normalizer
    self.c, self.L_multiplier = nn.Parameter(torch.tensor(0.1)), nn.Parameter(torch.tensor(1.0))
    self.fire = Mlp(1, hidden, shape.heads, leaky)

  def largest(self, distance: Tensor, positions: Positions) -> Tensor:
    if not positions.contiguous and not self.per_position:
      return distance.max()
    queries = positions.tokens[:, None]
    return queries if self.normalizer == "query" else torch.maximum(queries, positions.tokens)

  def bias(self, q: Tensor, k: Tensor, positions: Positions) -> Tensor:
    def psi(x: Tensor) -> Tensor:
      return torch.log1p((self.c * x).abs())

    distance = self.distance(positions)
    least = (self.L_multiplier * self.length).abs()
    ratio = psi(distance) / (psi(torch.maximum(self.largest(distance, positions).to(least.dtype), least)) + 1e-6)
    return self.fire(ratio[..., None]).permute(2, 0, 1)


class Dape(Encoding):
  """A + B + f([A; B]) across heads (arXiv 2405.14722): A the scaled logits, B the bias of `base`."""

  def __init__(self, shape: Shape, base: Encoding, hidden: int = 64) -> None:
    super().__init__(shape)
    self.base, self.dape = base, Mlp(2 * shape.heads, hidden, shape.heads, leaky=True)

  def logits(self, q: Tensor, k: Tensor, positions: Positions) -> Tensor:
    a = (q * self.shape.head_width**-0.5) @ k.transpose(-2, -1)
    b = self.base.bias(q, k, positions)
    z = torch.cat((a, b.expand(len(a), -1, -1, -1)), 1).permute(0, 2, 3, 1)
    return a + b + self.dape(z).permute(0, 3, 1, 2)

  def project(self) -> None:
    self.base.project()


CLASSES = {
  "none": Encoding, "sin_cos": SinCos, "learned": Learned, "rope": Rope, "relative": Relative, "alibi": Alibi,
  "kerple": Kerple, "fire": Fire,
}  # fmt: skip
OPTIONS = ("direction", "randomized_distance", "hidden", "length", "normalizer", "rows")
# Settings that are read elsewhere, or that matter only with a scaling.
OTHERS = ("name", "positions", "max_position", "window_heads", "dape.hidden", "beta_fast", "beta_slow")
# Settings with one value here.
FIXED = {"attention_scale": "sqrt_d", "window": "all", "fraction": 1, "frequencies": "geometric", "kind": "log",
         "scaling": "none", "randomized_relative": "intended", "dape.variant": "concat_residual",
         "dape.kernel": "1x1"}  # fmt: skip


def encoding_of(run: Run) -> Callable[[Shape], nn.Module]:
  """What makes the encoding that the run's config names.

  Raises ValueError for an encoding, or a setting of one, that only che has.
  """
  prefix = "encoding."
  settings: dict[str, Any] = {
    key[len(prefix) :]: value for key, value in run.settings.items() if key.startswith(prefix)
  }
  name = settings["name"]
  if name not in CLASSES:
    raise ValueError(f"encoding {run.encoding}: is not in che_tasks.torch; allowed: {', '.join(CLASSES)}, and DAPE")
  for key, value in settings.items():
    if key not in OPTIONS and key not in OTHERS and value != FIXED.get(key):
      raise ValueError(f"encoding.{key}: {value} is not in che_tasks.torch; allowed: {FIXED.get(key, 'no such key')}")
  options = {key: settings[key] for key in OPTIONS if key in settings}
  if "dape.hidden" not in settings:
    return lambda shape: CLASSES[name](shape, **options)
  hidden = settings["dape.hidden"]
  if name == "fire":
    options |= {"hidden": hidden, "leaky": True}
  return lambda shape: Dape(shape, CLASSES[name](shape, **options), hidden)
