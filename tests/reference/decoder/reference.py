"""Writes decoder.json: numbers of the released causal modules, of GPT-NeoX and of plain_decoder.py, in double precision.

  python3 reference.py RELEASE

RELEASE is a clone of github chuanyang-Zheng/DAPE at bde344a. Needs torch 2.11 and transformers 4.57 (GPTNeoXForCausalLM). Its
modules run unmodified. The file has no inputs: numbers() makes them here and in the test that reads it.
"""

import ast
import importlib.util
import json
import math
import pathlib
import sys
import types

import numpy as np
import torch
from plain_decoder import Decoder
from torch import nn

MASK = (1 << 64) - 1
CASES = [(heads, tokens) for heads in (4, 12) for tokens in (1, 17, 40)]
HEAD_WIDTH, BATCH, HIDDEN, FIRE_LENGTH = 4, 2, 32, 24
ENCODINGS = ["none", "sin_cos", "learned", "rope", "relative", "t5", "t5_sqrt_head", "alibi", "kerple", "fire", "cope", "sandwich",
             "dape_none", "dape_alibi", "dape_kerple", "dape_fire", "dape_t5", "dape_sandwich", "dape_v2_kerple", "dape_v2_none"]


def numbers(name, shape):
  """Uniform over [-1, 1): SplitMix64 from the FNV-1a hash of `name`."""
  seed = 0xCBF29CE484222325
  for byte in name.encode():
    seed = ((seed ^ byte) * 0x100000001B3) & MASK
  count = math.prod(shape)
  with np.errstate(over="ignore"):
    z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
  return torch.from_numpy((z >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1).reshape(shape)


# Centre and half width of a parameter's values by the last part of its name.
RANGES = {"p": (1.1, 0.9), "a": (0.55, 0.45), "c": (0.2, 0.1), "L_multiplier": (1, 0.2), "scale": (1, 0.2)}


def parameter(name, shape):
  centre, half = RANGES.get(name.replace(" ", ".").rsplit(".", 1)[-1], (0, 0.3))
  return centre + half * numbers(name, shape)


def projections(name, value):
  """Products with three directions, which tell a tensor from another one."""
  return [(value * numbers(f"direction {k} of {name}", value.shape)).sum().item() for k in range(3)]


def released(folder):
  """The release's modules, as namespaces."""
  torch.cuda.current_device = lambda: "cpu"

  def load(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

  layers = folder / "megatron/mpu/layers.py"
  stubs = {"torch": torch, "math": math, "F": nn.functional, "init": nn.init, "Parameter": nn.Parameter, "divide": lambda a, b: a // b,
           "get_model_parallel_world_size": lambda: 1, "get_model_parallel_rank": lambda: 0,
           "_initialize_affine_weight_gpu": lambda *_, **__: None}
  found = [node for node in ast.parse(layers.read_text()).body if getattr(node, "name", "") == "ParallelRelativePositionBias"]
  exec(compile(ast.Module(found, []), layers, "exec"), stubs)
  return load(folder / "DAPE.py"), load(folder / "megatron/model/positional_embeddings.py"), stubs["ParallelRelativePositionBias"]


def module_cases(folder):
  single, model, t5_class = released(folder)

  def arguments(heads, pos_emb):
    return types.SimpleNamespace(num_attention_heads=heads, pos_emb=pos_emb, params_dtype=torch.float64, mlp_width=HIDDEN,
                                 noise_seq_length=512, dapev2_kernel=3, use_cpu_initialization=False)

  linear = lambda w: w.T
  convolution = lambda w: w.permute(2, 1, 0)[:, :, None]
  column = lambda x: x[:, None, None]
  same = lambda x: x
  point = lambda x: x.reshape(1)  # So that it is not converted to the single precision of the distances.
  kerple = {"p": ("bias_p", column), "a": ("bias_a", column)}
  fire = {"c": ("c", point), "L_multiplier": ("L_multiplier", point), "fire.w1": ("mlp.0.weight", linear),
          "fire.b1": ("mlp.0.bias", same), "fire.w2": ("mlp.2.weight", linear), "fire.b2": ("mlp.2.bias", same)}
  of_f = lambda weights: {"dape.w1": ("mlp2.0.weight", weights), "dape.b1": ("mlp2.0.bias", same),
                          "dape.w2": ("mlp2.2.weight", weights), "dape.b2": ("mlp2.2.bias", same)}
  f, f3 = of_f(linear), of_f(convolution)
  # By a name of che's: the module of so many heads, and its tensors by che's names.
  return {
    "alibi": (lambda h: single.AliBi(h, mp_rank=0), {}),
    "kerple": (lambda h: single.ParallelKerpleLog(arguments(h, "kerple")), kerple),
    "fire": (lambda h: model.FIRE(h, HIDDEN, init_L=FIRE_LENGTH), fire),
    "dape_alibi": (lambda h: single.AliBi_DAPE(h, mp_rank=0, mlp_width=HIDDEN), f),
    "dape_kerple": (lambda h: single.ParallelKerpleLog_DAPE(arguments(h, "kerple"), 0), kerple | f),
    "dape_fire": (lambda h: model.FIRE_C(h, HIDDEN, init_L=FIRE_LENGTH), fire | f),
    "dape_none": (lambda h: model.Nope_C(arguments(h, "none")), f),
    "dape_v2_kerple": (lambda h: model.Kerple_DAPEV2(arguments(h, "kerple"), 0), kerple | f3),
    "dape_v2_none": (lambda h: model.DAPEV2(arguments(h, "none")), f3),
    "t5_sqrt_head": (lambda h: t5_class(arguments(h, "rpe"), math.sqrt(HEAD_WIDTH), heads=h), {"table": ("weight", linear)}),
    "cope": (lambda h: model.CoPE(64, HEAD_WIDTH), {"e_left": ("pos_emb", lambda x: x[None])}),
    "relative": (lambda h: model.RelativePositionalEncodingLayer(h, HEAD_WIDTH, scale_factor=HEAD_WIDTH**-0.5, train_length=512),
                 {"wr": ("r_net.weight", linear), "u": ("r_w_bias", same), "v": ("r_r_bias", same)}),
  }


def set_tensor(module, path, value):
  *parents, name = path.split(".")
  for parent in parents:
    module = getattr(module, parent)
  setattr(module, name, nn.Parameter(value))


def module_case(name, make, tensors, heads, tokens):
  """Lower triangles of a module's logits, and gradients of everything along one direction of them."""
  width = heads * HEAD_WIDTH
  own = {k: v for k, v in Decoder(name.removesuffix("_sqrt_head"), width, 1, heads, 1, HIDDEN)._encoding_shapes().items()}
  if name.startswith("t5"):
    own = {"table": (heads, 32)}
  label = f"{name} {heads} {tokens}"
  leaves = {key: parameter(f"{label} {key}", shape).requires_grad_() for key, shape in own.items()}
  inputs = {"A": (BATCH, heads, tokens, tokens), "q": (BATCH, heads, tokens, HEAD_WIDTH), "k": (BATCH, heads, tokens, HEAD_WIDTH)}
  leaves |= {key: (2 * numbers(f"{label} {key}", shape)).requires_grad_() for key, shape in inputs.items()}
  module = make(heads).double()
  assert sorted(own) == sorted(tensors), (name, sorted(own), sorted(tensors))
  for key, (path, layout) in tensors.items():
    set_tensor(module, path, layout(leaves[key].detach()).contiguous())
  a, q, k = (leaves[key] for key in "Aqk")
  if name == "relative":
    # The release has the frequencies in single precision.
    module.pos_emb.inv_freq = 10000.0 ** (-torch.arange(0.0, width, 2.0, dtype=torch.float64) / width)
    out = module(q.permute(2, 0, 1, 3), k.permute(2, 0, 1, 3))
  elif name == "cope":
    out = module(q, a)
  elif name.startswith("t5"):
    out = a + module(tokens, tokens)
  else:
    out = module(a)
  out = out.tril()
  rows = (out * numbers(f"direction of {label}", out.shape)).sum((0, 1, 3))
  rows.sum().backward()
  gradients = {key: leaf.grad for key, leaf in leaves.items() if leaf.grad is not None}
  moved = dict(module.named_parameters())
  for key, (path, layout) in tensors.items():
    shape = leaves[key].shape
    # A layout only permutes, so that it tells where each value of the gradient belongs.
    order = layout(torch.arange(math.prod(shape)).reshape(shape)).reshape(-1)
    gradients[key] = torch.empty(math.prod(shape), dtype=torch.float64).index_put((order,), moved[path].grad.reshape(-1)).reshape(shape)
  return {"encoding": name, "heads": heads, "tokens": tokens, "rows": rows.tolist(),
          "gradients": {key: projections(f"{label} {key}", value) for key, value in gradients.items()}}


def decoder_of(name, **sizes):
  return Decoder(name.removesuffix("_sqrt_head"), **sizes, length=12.0, t5_scale="sqrt_head" if name.endswith("_sqrt_head") else "one")


SIZES = {"width": 32, "layers": 2, "heads": 4, "symbols": 257}
TOKENS = 24


def batch():
  ids = lambda name: ((numbers(name, (BATCH, TOKENS)) + 1) / 2 * SIZES["symbols"]).long()
  return ids("ids"), ids("targets")


def result_of(name, logits, loss, gradients):
  rows = (logits * numbers(f"direction of {name}", logits.shape)).sum(-1)
  return {"encoding": name, "logits": rows.flatten().tolist(), "loss": loss.item(),
          "gradients": {key: projections(key, value) for key, value in gradients.items()}}


def decoder_case(name):
  decoder = decoder_of(name, **SIZES)
  leaves = {key: parameter(key, shape).requires_grad_() for key, shape in decoder.shapes().items()}
  ids, targets = batch()
  loss = decoder.loss(leaves, ids, targets)
  loss.backward()
  return result_of(name, decoder.forward(leaves, ids).detach(), loss, {key: leaf.grad for key, leaf in leaves.items()})


class GptNeoX:
  """GPTNeoXForCausalLM with the parameters of the decoder with rope."""

  def __init__(self):
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

    width, heads = SIZES["width"], SIZES["heads"]
    config = GPTNeoXConfig(vocab_size=SIZES["symbols"], hidden_size=width, num_hidden_layers=SIZES["layers"], num_attention_heads=heads,
                           intermediate_size=4 * width, hidden_act="gelu", rotary_pct=1.0, use_parallel_residual=False,
                           layer_norm_eps=1e-5, tie_word_embeddings=False, attn_implementation="eager")
    self.model = GPTNeoXForCausalLM(config).double()
    # Its names by ours, and whether a matrix is transposed.
    self.places = {"embed.w": ("gpt_neox.embed_in.weight", False), "out.w": ("embed_out.weight", True),
                   "ln_f.scale": ("gpt_neox.final_layer_norm.weight", False), "ln_f.offset": ("gpt_neox.final_layer_norm.bias", False)}
    for i in range(SIZES["layers"]):
      their, own = f"gpt_neox.layers.{i}.", f"layer{i}."
      for kind, weight, bias in (("attention.dense", "attn.wo", "attn.bo"), ("mlp.dense_h_to_4h", "ffn.w1", "ffn.b1"),
                                 ("mlp.dense_4h_to_h", "ffn.w2", "ffn.b2")):
        self.places |= {own + weight: (f"{their}{kind}.weight", True), own + bias: (f"{their}{kind}.bias", False)}
      for kind, norm in (("input_layernorm", "ln1"), ("post_attention_layernorm", "ln2")):
        self.places |= {f"{own}{norm}.scale": (f"{their}{kind}.weight", False), f"{own}{norm}.offset": (f"{their}{kind}.bias", False)}
    values = {key: parameter(key, shape) for key, shape in Decoder("rope", **SIZES).shapes().items()}
    theirs = dict(self.model.named_parameters())
    for key, (path, transposed) in self.places.items():
      theirs[path].data.copy_(values[key].T if transposed else values[key])
    for i, n, letter, features in self._parts():
      of_letter = (theirs[self._of_attention(i, kind)].data.view(heads, 3, width // heads, -1)[:, n] for kind in ("weight", "bias"))
      for to, value in zip(of_letter, (values[f"layer{i}.attn.w{letter}"].T, values[f"layer{i}.attn.b{letter}"]), strict=True):
        to.copy_(value[features].reshape(to.shape))

  def by_our_names(self, tensor_of):
    """tensor_of(parameter) for each of its parameters, in our names and layout."""
    width, heads = SIZES["width"], SIZES["heads"]
    theirs = {path: tensor_of(value) for path, value in self.model.named_parameters()}
    ours = {key: theirs[path].T if transposed else theirs[path] for key, (path, transposed) in self.places.items()}
    for i, n, letter, features in self._parts():
      weight, bias = (theirs[self._of_attention(i, kind)].reshape(heads, 3, width // heads, -1)[:, n].reshape(width, -1)
                      for kind in ("weight", "bias"))
      back = torch.argsort(features)
      ours[f"layer{i}.attn.w{letter}"], ours[f"layer{i}.attn.b{letter}"] = weight[back].T, bias[back, 0]
    assert sorted(ours) == sorted(Decoder("rope", **SIZES).shapes())
    return ours

  def loss(self, ids, targets):
    return nn.functional.cross_entropy(self.model(ids).logits.flatten(0, 1), targets.flatten())

  @staticmethod
  def _of_attention(layer, kind):
    return f"gpt_neox.layers.{layer}.attention.query_key_value.{kind}"

  @staticmethod
  def _parts():
    """What a layer's joint projection has: queries, keys and values of each head, and our number of each of its features.

    It turns features k and k + width/2 of a head, che turns 2k and 2k + 1.
    """
    order = torch.arange(SIZES["width"]).reshape(SIZES["heads"], -1, 2).transpose(1, 2).reshape(-1)
    for i in range(SIZES["layers"]):
      for n, letter in enumerate("qkv"):
        yield i, n, letter, order if letter != "v" else torch.arange(SIZES["width"])


def gpt_neox():
  program = GptNeoX()
  ids, targets = batch()
  loss = program.loss(ids, targets)
  loss.backward()
  return result_of("rope", program.model(ids).logits.detach(), loss, program.by_our_names(lambda parameter: parameter.grad))


def main():
  modules = module_cases(pathlib.Path(sys.argv[1]))
  report = {
    "modules": [module_case(name, make, tensors, *case) for name, (make, tensors) in modules.items() for case in CASES],
    "decoders": [decoder_case(name) for name in ENCODINGS],
    "gpt_neox": [gpt_neox()],
  }
  # A case a line.
  lists = [f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in cases) + "\n]" for name, cases in report.items()]
  pathlib.Path(__file__).with_name("decoder.json").write_text("{\n" + ",\n".join(lists) + "\n}\n")


if __name__ == "__main__":
  main()
