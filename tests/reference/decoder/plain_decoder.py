"""A causal decoder with every encoding, from its formulas in plain PyTorch.

The block is GPT-NeoX's with sequential residuals. Parameters are a dict by che's names, linear maps are y = x w + b with w
(in, out). `reference.py` takes numbers of it in double precision, `bench/torch_decoder.py` times it.
"""

import math

import torch
import torch.nn.functional as F

BASES = ("alibi", "kerple", "fire", "t5", "sandwich")


def slopes(heads):
  """ALiBi's: those of a power of two, then every second one of the next power of two's."""
  power = 1 << (heads.bit_length() - 1)
  first = [2 ** (-8 * (h + 1) / power) for h in range(power)]
  return first + [2 ** (-8 * (h + 1) / (2 * power)) for h in range(0, 2 * power, 2)][: heads - power]


def bucket(distance):
  """T5's of a distance to the left, 32 in all: exact to 16, logarithmic to 128."""
  if distance < 16:
    return distance
  return min(31, 16 + int(16 * math.log(distance / 16) / math.log(8)))


def sinusoids(positions, width):
  frequencies = 10000.0 ** (-torch.arange(0, width, 2, dtype=positions.dtype) / width)
  angles = positions[:, None] * frequencies
  return torch.cat([angles.sin(), angles.cos()], 1)


class Decoder:
  """width, layers, heads, symbols; `encoding` is a name of che's, `options` its settings."""

  def __init__(self, encoding, width, layers, heads, symbols, hidden=32, length=64.0, rows=64, t5_scale="one"):
    self.encoding, self.width, self.layers, self.heads, self.symbols = encoding, width, layers, heads, symbols
    self.hidden, self.length, self.rows, self.t5_scale = hidden, length, rows, t5_scale
    self.has_dape = encoding.startswith("dape_")
    self.taps = 3 if encoding.startswith("dape_v2_") else 1
    self.base = encoding.removeprefix("dape_").removeprefix("v2_")

  def shapes(self):
    """The shape of every parameter."""
    d, shapes = self.width, {"embed.w": (self.symbols, self.width)}
    if self.base == "learned":
      shapes["pos.table"] = (self.rows, d)
    if self.base == "t5":
      shapes["pos.table"] = (self.heads, 32)
    for layer in range(self.layers):
      own = {f"attn.w{x}": (d, d) for x in "qkvo"} | {f"attn.b{x}": (d,) for x in "qkvo"}
      own |= {f"attn.{name}": shape for name, shape in self._encoding_shapes().items()}
      own |= {"ln1.scale": (d,), "ln1.offset": (d,), "ln2.scale": (d,), "ln2.offset": (d,)}
      own |= {"ffn.w1": (d, 4 * d), "ffn.b1": (4 * d,), "ffn.w2": (4 * d, d), "ffn.b2": (d,)}
      shapes |= {f"layer{layer}.{name}": shape for name, shape in own.items()}
    return shapes | {"ln_f.scale": (d,), "ln_f.offset": (d,), "out.w": (d, self.symbols)}

  def _encoding_shapes(self):
    heads, d = self.heads, self.width
    own = {}
    if self.base == "kerple":
      own = {"p": (heads,), "a": (heads,)}
    if self.base == "fire":
      own = {"c": (), "L_multiplier": (), "fire.w1": (1, self.hidden), "fire.b1": (self.hidden,)}
      own |= {"fire.w2": (self.hidden, heads), "fire.b2": (heads,)}
    if self.base == "relative":
      own = {"wr": (d, d), "u": (heads, d // heads), "v": (heads, d // heads)}
    if self.base == "cope":
      own = {"e_left": (d // heads, 64)}
    if self.has_dape:
      taps = () if self.taps == 1 else (self.taps,)
      inputs = heads if self.base == "none" else 2 * heads
      own |= {"dape.w1": (*taps, inputs, self.hidden), "dape.b1": (self.hidden,)}
      own |= {"dape.w2": (*taps, self.hidden, heads), "dape.b2": (heads,)}
    return own

  def bias(self, tokens, shared, own):
    """B of the encoding, (heads, tokens, tokens); keys on the right have distance 0."""
    like = shared["embed.w"]
    index = torch.arange(tokens, dtype=like.dtype)
    distance = (index[:, None] - index).clamp_min(0)
    if self.base == "alibi":
      return -torch.tensor(slopes(self.heads), dtype=like.dtype)[:, None, None] * distance
    if self.base == "kerple":
      return -own["p"][:, None, None] * torch.log(1 + own["a"][:, None, None] * distance)
    if self.base == "t5":
      buckets = torch.tensor([bucket(r) for r in range(tokens)])
      scale = math.sqrt(self.width // self.heads) if self.t5_scale == "sqrt_head" else 1
      return scale * shared["pos.table"][:, buckets[distance.long()]]
    if self.base == "sandwich":
      frequencies = 10000.0 ** (-2 * torch.arange(1, 65, dtype=like.dtype) / 128)
      near = torch.cos(distance[..., None] * frequencies).sum(-1) - 64
      return near / (8 * torch.arange(1, self.heads + 1, dtype=like.dtype) / self.heads)[:, None, None]
    psi = lambda x: torch.log(torch.abs(own["c"] * x) + 1)
    normalizer = torch.maximum(index, torch.abs(own["L_multiplier"] * self.length))[:, None]
    ratio = (psi(distance) / (psi(normalizer) + 1e-6))[..., None]
    active = F.leaky_relu if self.has_dape else F.relu
    return (active(ratio @ own["fire.w1"] + own["fire.b1"]) @ own["fire.w2"] + own["fire.b2"]).permute(2, 0, 1)

  def adapt(self, logits, own):
    """f of the logits and the bias, (batch, inputs, queries, keys)."""
    if self.taps == 1:
      hidden = F.leaky_relu(logits.permute(0, 2, 3, 1) @ own["dape.w1"] + own["dape.b1"])
      return (hidden @ own["dape.w2"] + own["dape.b2"]).permute(0, 3, 1, 2)
    # (taps, in, out) is (out, in, 1, taps) of a convolution. Keys on the right are zero before it, as released.
    convolve = lambda x, w, b: F.conv2d(x, own[w].permute(2, 1, 0)[:, :, None], own[b], padding=(0, 1))
    return convolve(F.leaky_relu(convolve(logits.tril(), "dape.w1", "dape.b1")), "dape.w2", "dape.b2")

  def rotate(self, x):
    """RoPE of (batch, heads, tokens, features), by pairs of neighbours."""
    tokens, features = x.shape[-2:]
    frequencies = 10000.0 ** (-torch.arange(0, features, 2, dtype=x.dtype) / features)
    angles = torch.arange(tokens, dtype=x.dtype)[:, None] * frequencies
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = (even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos())
    return torch.stack(turned, -1).flatten(-2)

  def logits_of(self, q, k, shared, own):
    """The logits before the mask, (batch, heads, queries, keys)."""
    tokens, features = q.shape[-2:]
    if self.base == "rope":
      q, k = self.rotate(q), self.rotate(k)
    a = q @ k.transpose(-1, -2) / math.sqrt(features)
    if self.base == "relative":
      index = torch.arange(tokens)
      rows = sinusoids(torch.arange(tokens, dtype=q.dtype), self.width) @ own["wr"]
      rows = rows.unflatten(1, (self.heads, features))[(index[:, None] - index).clamp_min(0)]
      content = (own["u"][:, None] * k).sum(-1)[:, :, None]
      return a + (content + torch.einsum("bhif,ijhf->bhij", q + own["v"][:, None], rows)) / math.sqrt(features)
    if self.base == "cope":
      gates = torch.sigmoid(a).tril()
      place = gates.flip(-1).cumsum(-1).flip(-1).clamp_max(63)
      floor, ceil, values = place.floor().long(), place.ceil().long(), q @ own["e_left"]
      fraction = place - floor
      return a + values.gather(-1, floor) * (1 - fraction) + values.gather(-1, ceil) * fraction
    if self.base not in BASES:
      return a + self.adapt(a, own) if self.has_dape else a
    b = self.bias(tokens, shared, own)
    f = self.adapt(torch.cat([a, b.expand_as(a)], 1), own) if self.has_dape else 0
    return a + b + f

  def forward(self, parameters, ids):
    """Logits (batch, tokens, symbols) of ids (batch, tokens)."""
    norm = lambda x, name: F.layer_norm(x, (self.width,), parameters[name + ".scale"], parameters[name + ".offset"])
    x = parameters["embed.w"][ids]
    tokens = ids.shape[1]
    if self.base == "sin_cos":
      x = x + sinusoids(torch.arange(tokens, dtype=x.dtype), self.width)
    if self.base == "learned":
      x = x + parameters["pos.table"][:tokens]
    later = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
    for layer in range(self.layers):
      prefix = f"layer{layer}."
      own = {name.removeprefix(prefix + "attn."): p for name, p in parameters.items() if name.startswith(prefix + "attn.")}
      n = norm(x, prefix + "ln1")
      q, k, v = ((n @ own[f"w{x}"] + own[f"b{x}"]).unflatten(2, (self.heads, -1)).transpose(1, 2) for x in "qkv")
      if self.base in ("none", "rope", "sin_cos", "learned") and not self.has_dape:
        q, k = (self.rotate(q), self.rotate(k)) if self.base == "rope" else (q, k)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
      else:
        weights = self.logits_of(q, k, parameters, own).masked_fill(later, -math.inf).softmax(-1)
        attended = weights @ v
      x = x + attended.transpose(1, 2).flatten(2) @ own["wo"] + own["bo"]
      hidden = F.gelu(norm(x, prefix + "ln2") @ parameters[prefix + "ffn.w1"] + parameters[prefix + "ffn.b1"])
      x = x + hidden @ parameters[prefix + "ffn.w2"] + parameters[prefix + "ffn.b2"]
    return norm(x, "ln_f") @ parameters["out.w"]

  def loss(self, parameters, ids, targets):
    return F.cross_entropy(self.forward(parameters, ids).flatten(0, 1), targets.flatten())
