"""Tests `che_tasks.torch`: numbers of the published programs (tests/reference), and che's own training.

torch_test.py CHE_PROGRAM
"""

import copy
import json
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

import che_tasks
import che_tasks.torch as ct
import numpy as np
import torch
from torch import nn

# A worker process of a loader imports this file again.
PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else ""
REFERENCE = pathlib.Path(__file__).parents[1] / "reference"
ENCODINGS = {
  "NONE": "none", "SIN_COS": "sin_cos", "LEARNT": "learned", "ROTARY": "rope", "RELATIVE": "relative", "ALIBI": "alibi",
}  # fmt: skip
CONFIG = """
name: small
base:
  task: {task}
  model: {{width: 16, layers: 2, heads: 2}}
  learning_rate: 1e-3
  training: {{steps: 20, batch_size: 8, last_length: 9, dropout: 0}}
  evaluation: {{first_length: 10, last_length: 30, length_step: 10, samples: 128, predictions: true}}
  log: {{every_steps: 1}}
axes:
  encoding: [{encodings}]
"""
# Those that che computes and `che_tasks.torch` has; `learned` has fewer rows to be quick.
TRAINED = (
  "none, sin_cos, {name: learned, rows: 60}, rope, relative, alibi, kerple, fire, dape_alibi, dape_kerple, dape_fire, "
  "randomized_sin_cos, randomized_rope, randomized_relative, randomized_alibi, randomized_kerple, randomized_fire, "
  "randomized_dape_kerple, randomized_dape_fire, {name: kerple, direction: left_only}, "
  "{name: fire, normalizer: query, randomized_distance: per_position, positions: randomized}"
)


def tensor(stored):
  return torch.tensor(stored["values"]).reshape(stored["shape"])


def files(folder):
  found = sorted((REFERENCE / folder).glob("*.json"))
  assert found, folder
  return [json.loads(file.read_text()) for file in found]


def reference_model(file, parameters):
  sizes = file["config"]
  shape = ct.Shape(sizes["embedding_dim"], sizes["num_layers"], sizes["num_heads"], sizes["widening_factor"])
  name = ENCODINGS[file["encoding"]]
  options = {"rows": parameters["pos.table"]["shape"][0]} if name == "learned" else {}
  make = ct.encodings.CLASSES[name]
  model = ct.Encoder(
    sizes["input_vocab"], sizes["output_classes"], lambda of: make(of, **options), shape, sizes["dropout"]
  )
  ct.load_parameters(model, {key: tensor(value) for key, value in parameters.items()})
  return model


def rounding_away(model, seed):
  """Moves the parameters of `model` by about one rounding each and returns it.

  Where gradients are tiny, as those of DAPE's and FIRE's networks are, Adam makes steps of their rounding. Two programs
  may differ by a few times what such a model and the original do.
  """
  generator = torch.Generator().manual_seed(seed)
  with torch.no_grad():
    for parameter in model.parameters():
      parameter.mul_(1 + 2**-23 * torch.randn(parameter.shape, generator=generator))
  return model


class References(unittest.TestCase):
  """The released JAX program of arXiv 2305.16843."""

  def close(self, actual, expected, tolerance, what=""):
    error = float((actual - expected).detach().abs().max())
    self.assertTrue(error <= tolerance, f"{what}: {error} is more than {tolerance}")

  def test_logits(self):
    for file in files("model"):
      model = reference_model(file, file["params"]).eval()
      tokens, outputs = tensor(file["input_tokens_with_empty"]).long(), file["config"]["output_length"]
      self.close(model(tokens, outputs), tensor(file["logits"]), 1e-5, file["encoding"])

  def test_randomized_logits(self):
    seen = 0
    for file in files("model"):
      drawn = file.get("randomized")
      if drawn is None:
        continue
      tokens, outputs = tensor(file["input_tokens_with_empty"]).long(), file["config"]["output_length"]
      count = tokens.shape[1]

      def positions(_, layer, device, drawn=drawn, count=count):
        if "distances_per_layer" in drawn:
          offsets = torch.tensor([0, *drawn["distances_per_layer"][layer]][:count])
          return ct.Positions(torch.arange(count), offsets, contiguous=False)
        lists = drawn.get("positions_per_layer")
        of_tokens = torch.tensor(drawn["positions"] if lists is None else lists[layer])
        return ct.Positions(of_tokens, torch.arange(count), contiguous=False)

      model = reference_model(file, file["params"]).eval()
      expected = tensor(drawn.get("logits_intended", drawn.get("logits")))
      self.close(model(tokens, outputs, positions), expected, 1e-5, file["encoding"])
      seen += 1
    self.assertGreaterEqual(seen, 5)

  def test_twenty_steps(self):
    for file in files("training"):
      with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "small.yaml"
        config.write_text(CONFIG.format(task=file["task"], encodings="none"))
        run = che_tasks.config(config).runs()[0]
      model = reference_model(file, file["initial_params"])
      trainer = ct.Trainer(run, model)
      rows = []
      for step, stored in enumerate(file["batches"]):
        arrays = [np.asarray(stored[key], np.uint8) for key in ("input", "output", "mask")]
        batch = ct.to_tensors(che_tasks.Batch(file["length"], *arrays), file["config"]["empty_token_id"])
        if step == 0:
          gradients = self.gradients(model, batch)
          for name, value in file["step0_gradients_before_clip"].items():
            self.close(gradients[name], tensor(value), 1e-5, name)
        rows.append([float(value) for value in trainer.step(batch)])
      measured = torch.tensor(rows, dtype=torch.float64)
      for column, (name, tolerance) in enumerate([("loss", 1e-5), ("accuracy", 1e-6), ("grad_norm_before_clip", 5e-4)]):
        self.close(measured[:, column], torch.tensor(file[name], dtype=torch.float64), tolerance, name)
      parameters = {ct.encoder.che_name(name): value for name, value in model.named_parameters()}
      for name, value in file["final_tensors"].items():
        self.close(parameters[name].detach(), tensor(value), 1e-3 if name.endswith(".wr") else 1e-5, name)

  def gradients(self, model, batch):
    logits = model(batch.tokens, batch.target.shape[1])
    nn.functional.cross_entropy(logits.flatten(0, 1), batch.target.flatten()).backward()
    return {ct.encoder.che_name(name): value.grad.clone() for name, value in model.named_parameters()}


class Program(unittest.TestCase):
  """che's own models: the same start, batches and positions give the same twenty steps and predictions."""

  def test_every_encoding_trains_as_in_che(self):
    with tempfile.TemporaryDirectory() as name:
      folder = pathlib.Path(name)
      config = folder / "small.yaml"
      config.write_text(CONFIG.format(task="reverse_string", encodings=TRAINED))

      def che(*words):
        return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True, cwd=folder).stdout

      # A run that has hardly moved has the initial parameters.
      che("run", "small.yaml", "-o", "start", "training.steps=1", "learning_rate=1e-12")
      che("run", "small.yaml", "-o", "trained")
      runs = che_tasks.config(config).runs()
      self.assertEqual(len(runs), 21)
      for run in runs:
        with self.subTest(run.encoding):
          hardly_moved = run.with_settings("training.steps=1", "learning_rate=1e-12")
          self.compare(run, che, folder / "start/runs" / hardly_moved.id, folder / "trained/runs" / run.id)

  def test_schedules_and_weight_decay_are_those_of_che(self):
    settings = ("schedule=cosine", "final_rate=0.3", "warmup_steps=3", "beta2=0.9", "weight_decay=1")
    changed = [f"training.{setting}" for setting in settings]
    with tempfile.TemporaryDirectory() as name:
      folder = pathlib.Path(name)
      config = folder / "small.yaml"
      config.write_text(CONFIG.format(task="reverse_string", encodings="kerple"))

      def che(*words):
        return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True, cwd=folder).stdout

      che("run", "small.yaml", "-o", "start", "training.steps=1", "learning_rate=1e-12")
      che("run", "small.yaml", "-o", "trained", *changed)
      [plain] = che_tasks.config(config).runs()
      [run] = che_tasks.config(config, *changed).runs()
      start = plain.with_settings("training.steps=1", "learning_rate=1e-12").id
      self.compare(run, che, folder / "start/runs" / start, folder / "trained/runs" / run.id)

  def compare(self, run, che, start, trained):
    model = ct.make_encoder(run)
    folder = start.parents[2]
    che("export-model", str(start), "-o", str(folder / "start.safetensors"))
    ct.load_parameters(model, folder / "start.safetensors")
    twins = [rounding_away(copy.deepcopy(model), seed) for seed in range(3)]
    trainer = ct.Trainer(run, model)
    metrics = np.genfromtxt(trained / "metrics.csv", delimiter=",", names=True, comments="#")
    for step, row in enumerate(metrics):
      loss, accuracy, norm = (float(value) for value in trainer.step())
      self.assertAlmostEqual(loss, row["loss"], delta=2e-5)
      self.assertAlmostEqual(accuracy, row["accuracy"], delta=1e-6)
      # Parameters whose gradient is only rounding reach the norm later on.
      self.assertAlmostEqual(norm, row["gradient_norm"], delta=(1e-4, *[1e-3] * 4, *[1e-2] * 15)[step] * max(1, norm))
    self.assertEqual(trainer.steps_made, 20)
    for twin in twins:
      twin_trainer = ct.Trainer(run, twin)
      for _ in metrics:
        twin_trainer.step()
    # The parameters and what they predict.
    che("export-model", str(trained), "-o", str(folder / "trained.safetensors"))
    theirs = ct.make_encoder(run)
    ct.load_parameters(theirs, folder / "trained.safetensors")
    of_all = (one.parameters() for one in (theirs, *twins))
    for (name, mine), other, *others in zip(model.named_parameters(), *of_all):
      error = float((mine - other).detach().abs().max())
      spread = max(float((mine - twin).detach().abs().max()) for twin in others)
      allowed = min(max(2e-4, 5 * spread), 1e-2)
      self.assertTrue(error <= allowed, f"{name}: {error}")
    stored = [json.loads(line) for line in (trained / "predictions.jsonl").read_text().splitlines()[1:]]
    for batch in run.test_sets():
      expected = [one["output"] for one in stored if one["length"] == batch.length]
      agreement = (ct.predict(run, theirs, batch) == np.array(expected)).mean()
      self.assertGreater(agreement, 0.999, f"length {batch.length}")


class Interface(unittest.TestCase):
  def config_of(self, folder, task="even_pairs"):
    config = pathlib.Path(folder) / "small.yaml"
    config.write_text(CONFIG.format(task=task, encodings="none, rope"))
    return config

  def test_initial_values_have_the_distributions_of_che(self):
    torch.manual_seed(0)
    model = ct.Encoder(20, 2, ct.encodings.CLASSES["kerple"], ct.Shape(width=256, layers=1, heads=8))
    layer = model.layers[0]
    for values, sigma in ((model.embed.w, 0.02), (layer.attn.wq, 1 / 16), (layer.ffn.w2, 1 / 32)):
      self.assertLessEqual(float(values.detach().abs().max()), 2 * sigma)
      # The deviation of a normal that is cut at two sigma.
      self.assertAlmostEqual(float(values.detach().std()) / sigma, 0.8796, delta=0.02)
    self.assertEqual(float(layer.ffn.b1.detach().abs().max()), 0)

  def test_dropout_is_where_che_has_it(self):
    shape = ct.Shape(width=16, layers=1, heads=2)
    tokens = torch.zeros(1, 5, dtype=torch.long)
    for name, sites in (("none", 2), ("sin_cos", 3)):
      model = ct.Encoder(2, 2, ct.encodings.CLASSES[name], shape, dropout=0.5)
      calls = []
      for module in model.modules():
        if isinstance(module, nn.Dropout):
          module.register_forward_hook(lambda *_, calls=calls: calls.append(1))
      model(tokens, 1)
      self.assertEqual(len(calls), sites, name)

  def test_an_encoding_of_ones_own_is_trained_and_scored(self):
    class Near(ct.Encoding):
      def __init__(self, shape):
        super().__init__(shape)
        self.slope = nn.Parameter(torch.ones(shape.heads, 1, 1))

      def bias(self, q, k, positions):
        assert q.shape == k.shape == (len(q), 2, len(positions.tokens), 8)
        return -self.slope * positions.distances().abs()

    class Turned(ct.Encoding):
      def rotate(self, q, k, positions):
        angle = positions.tokens[:, None] * 0.1
        return q * angle.cos(), k * angle.cos()

    with tempfile.TemporaryDirectory() as folder:
      config = self.config_of(folder, "odds_first")
      results = pathlib.Path(folder) / "results"
      for encoding, positions in ((Near, "contiguous"), (Turned, "randomized")):
        scores = ct.train(
          config, encoding, seeds=range(2), positions=positions, out=f"{folder}/{positions}", results=results
        )
        name = {"contiguous": "Near", "randomized": "randomized_Turned"}[positions]
        self.assertEqual([(one.task, one.model, one.model_seed) for one in scores],
                         [("odds_first", name, seed) for seed in range(2)])  # fmt: skip
        self.assertEqual(list(scores[0].accuracy), [10, 20, 30])
        self.assertTrue(0 < scores[0].score < 1)
      table = subprocess.run([PROGRAM, "table", results], check=True, capture_output=True, text=True).stdout
      self.assertRegex(table, "Near")
      self.assertRegex(table, "randomized_Turned")
      # Trained again, it replaces its predictions; trained otherwise, it replaces nothing.
      out = pathlib.Path(folder) / "contiguous"
      ct.train(config, Near, seeds=range(2), out=out)
      kept = {file.name: file.read_bytes() for file in out.iterdir()}
      longer = che_tasks.config(config, "training.steps=21")
      for read, words, message in (
        (
          config,
          {"positions": "randomized", "model": "Near"},
          "note contiguous positions, .*, not randomized positions, .*",
        ),
        (che_tasks.config(config, "data_seed=5"), {}, "data_seed 0, not 5"),
        (che_tasks.config(config, "training.last_length=8"), {}, "note .* lengths 1 to 9, .*, not .* 1 to 8, .*"),
        (config, {"learning_rate": 0.5}, "learning_rate 0.001, not 0.5"),
        (longer, {}, "steps 20, not 21"),
        (che_tasks.config(config, "task.order=odd_first"), {}, "options .*even_first.*, not .*odd_first.*"),
        (che_tasks.config(config, "evaluation.seed=3"), {}, "seed 0, not 3"),
        (che_tasks.config(config, "model.ffn_multiple=1"), {}, "note .* settings .*, not .* settings .*"),
      ):
        with self.assertRaisesRegex(
          ValueError, f"odds_first-seed1.jsonl: .* 'Near' whose header has {message}; name another"
        ):
          ct.train(read, Near, seeds=[1], out=out, **words)
      self.assertEqual({file.name: file.read_bytes() for file in out.iterdir()}, kept)

  def test_a_bias_of_any_type_is_added(self):
    class Within(ct.Encoding):
      def bias(self, q, k, positions):
        return positions.distances().abs() <= 1

    class AsNumbers(Within):
      def bias(self, q, k, positions):
        return super().bias(q, k, positions).float()

    class AsIntegers(Within):
      def bias(self, q, k, positions):
        return super().bias(q, k, positions).int()

    outputs = []
    for encoding in (AsNumbers, Within, AsIntegers):
      torch.manual_seed(0)
      outputs.append(ct.Encoder(2, 2, encoding, ct.Shape(width=16, layers=1, heads=2))(torch.ones(1, 5).long(), 1))
    for other in outputs[1:]:
      self.assertTrue(torch.equal(outputs[0], other))

  def test_randomized_positions_have_the_limit_of_the_config(self):
    seen = []

    class Seeing(ct.Encoding):
      def bias(self, q, k, positions):
        seen.append(int(positions.tokens.max()))
        return -positions.distances().abs() * 0.1

    with tempfile.TemporaryDirectory() as folder:
      encodings = "rope, {name: rope, positions: randomized, max_position: 40}"
      config = pathlib.Path(folder) / "small.yaml"
      config.write_text(CONFIG.format(task="even_pairs", encodings=encodings))
      ct.train(config, Seeing, positions="randomized", out=folder)
      self.assertTrue(30 < max(seen) < 40, max(seen))
      config.write_text(CONFIG.format(task="even_pairs", encodings=encodings + ", randomized_alibi"))
      with self.assertRaisesRegex(ValueError, "several values of encoding.max_position, 40, 2048; choose one"):
        ct.train(config, Seeing, positions="randomized", out=folder)

  def test_a_config_with_lists_is_trained(self):
    with tempfile.TemporaryDirectory() as folder:
      config = pathlib.Path(folder) / "small.yaml"
      lists = CONFIG.replace(
        "first_length: 10, last_length: 30, length_step: 10", "lengths: [12, 25], at_steps: [5, 10]"
      )
      config.write_text(lists.format(task="even_pairs", encodings="none, rope"))
      scores = ct.train(config, ct.Encoding, out=folder)
      self.assertEqual([list(one.accuracy) for one in scores], [[12, 25]])

  def test_variants_of_a_task_have_files_of_their_own(self):
    with tempfile.TemporaryDirectory() as folder:
      config = pathlib.Path(folder) / "small.yaml"
      orders = "{name: binary_addition, bit_order: %s_first}"
      for final in "01":
        (config.parent / f"ends_{final}.yaml").write_text(
          f'name: ends\nautomaton: "0 0 a\\n0 1 b\\n1 0 a\\n1 1 b\\n{final}"\n'
          "symbols: [a, b]\nanswer: accept\nsample: balanced\n"
        )
      tasks = ", ".join([orders % "least", orders % "most", "{file: ends_0.yaml}", "{file: ends_1.yaml}"])
      text = CONFIG.replace("task: {task}", "seed: 3").replace("steps: 20", "steps: 2") + "  task: [{task}]\n"
      config.write_text(text.format(task=tasks, encodings="alibi"))
      predictions = pathlib.Path(folder) / "predictions"
      scores = ct.train(config, ct.Encoding, out=predictions)
      self.assertEqual([one.task for one in scores], 2 * ["binary_addition"] + 2 * ["ends"])
      names = sorted(file.name for file in predictions.iterdir())
      self.assertEqual(len(names), 4)
      self.assertEqual(
        names[:2],
        [f"binary_addition-bit_order{order}_first-seed3.jsonl" for order in ("least", "most")],
      )
      self.assertTrue(all(len(name) < 40 for name in names[2:]), names)

  def test_what_is_wrong_is_named(self):
    class Misspelt(ct.Encoding):
      def biass(self, q, k, positions):
        return -positions.distances().abs()

    class Short(ct.Encoding):
      def bias(self, q, k, positions):
        return torch.where(positions.distances().abs() < 16, 0.0, torch.nan)

    with tempfile.TemporaryDirectory() as folder:
      config = self.config_of(folder)
      with self.assertRaisesRegex(FloatingPointError, "the model's logits at length (10|20) are not numbers"):
        ct.train(config, Short, out=folder)
      with self.assertRaisesRegex(ValueError, "encoding Misspelt: overrides none of bias, rotate and logits"):
        ct.train(config, Misspelt, out=folder)
      with self.assertRaisesRegex(ValueError, "derive it from che_tasks.torch.Encoding"):
        ct.train(config, lambda shape: nn.Linear(1, 1), model="mine", out=folder)
      with self.assertRaisesRegex(ValueError, "encoding: None makes no encoding"):
        ct.train(config, None, out=folder)
      with self.assertRaisesRegex(ValueError, "allowed: contiguous, randomized"):
        ct.train(config, ct.Encoding, positions="random", out=folder)
      run = che_tasks.config(config, "axes.encoding=[cope]").runs()[0]
      with self.assertRaisesRegex(ValueError, "encoding cope: is not in che_tasks.torch; allowed: none, sin_cos"):
        ct.make_encoder(run)
      run = che_tasks.config(config, "axes.encoding=[{name: kerple, dape: {variant: concat}}]").runs()[0]
      with self.assertRaisesRegex(ValueError, "encoding.dape.variant: concat"):
        ct.make_encoder(run)
      for setting in ("attention_scale: ssmax", "kind: power", "window: 5"):
        overrides = f"axes.encoding=[{{name: kerple, {setting}}}]", "model.heads=4"
        run = che_tasks.config(config, *overrides).runs()[0]
        with self.assertRaisesRegex(ValueError, f"encoding.{setting} is not in che_tasks.torch"):
          ct.make_encoder(run)
      run = che_tasks.config(config, "axes.encoding=[{name: rope, frequencies: evq}]").runs()[0]
      with self.assertRaisesRegex(ValueError, "encoding.frequencies: evq"):
        ct.make_encoder(run)
      with self.assertRaisesRegex(ValueError, "model.block: pre_norm"):
        ct.make_encoder(run.with_settings("encoding=rope", "model.block=pre_norm"))
      for name in ("pope", "fox", "position_mlp", "selective_rope"):
        run = che_tasks.config(config, f"axes.encoding=[{name}]").runs()[0]
        with self.assertRaisesRegex(ValueError, f"encoding {name}: is not in che_tasks.torch"):
          ct.make_encoder(run)
      for positions in ("equal_mean", "randomized_real"):
        stretched = che_tasks.config(config, f"axes.encoding=[{{name: rope, positions: {positions}}}]")
        with self.assertRaisesRegex(ValueError, f"encoding.positions: {positions} is not in che_tasks.torch"):
          ct.make_encoder(stretched.runs()[0])
      with self.assertRaisesRegex(ValueError, "evaluation.eval_dropout"):
        ct.make_encoder(run.with_settings("encoding=rope", "evaluation.eval_dropout=true"))
      for precision, device in (("bf16", "cpu"), ("tf32", "cuda")):
        overrides = f"execution.precision={precision}", f"execution.device={device}"
        rounded = run.with_settings("encoding=rope", *overrides)
        with self.assertRaisesRegex(ValueError, f"execution.precision: {precision} is not in .* allowed: fp32"):
          ct.Trainer(rounded, ct.make_encoder(rounded))
      with self.assertRaisesRegex(ValueError, "training.steps: got 0"):
        ct.train(che_tasks.config(config, "training.steps=0"), ct.Encoding, out=folder)
      rates = che_tasks.config(config, "axes.learning_rate=[1e-3, 1e-4]")
      with self.assertRaisesRegex(ValueError, "several values of learning_rate"):
        ct.train(rates, ct.Encoding, out=folder)
      widths = che_tasks.config(config, "axes.model.layers=[1,2]")
      with self.assertRaisesRegex(ValueError, "several values of model.layers, 1, 2; choose one"):
        ct.train(widths, ct.Encoding, out=folder)
      arms = "arm: [{label: a, encoding: none}, {label: b, encoding: rope, evaluation.seed: 1}]"
      samples = pathlib.Path(folder) / "samples.yaml"
      samples.write_text(config.read_text().replace("encoding: [none, rope]", arms))
      with self.assertRaisesRegex(ValueError, "has several runs of one task, seed and data_seed, .* evaluation.seed"):
        ct.train(samples, ct.Encoding, out=folder)
      with self.assertRaisesRegex(ValueError, r"seeds: got \[0, 0\]; allowed: each once"):
        ct.train(config, ct.Encoding, seeds=[0, 0], out=folder)
      with self.assertRaisesRegex(ValueError, "seed: got '1'; allowed: whole numbers"):
        ct.train(config, ct.Encoding, seeds=[1, "1"], out=folder)
      data = che_tasks.config(config, "axes.data_seed=[3,4]")
      scores = ct.train(data, ct.Encoding, seeds=[7], out=pathlib.Path(folder) / "data")
      self.assertEqual([(score.model_seed, score.data_seed) for score in scores], [(7, 7)])
      draws = "draw: [{label: 0, seed: 0, evaluation.seed: 0}, {label: 1, seed: 1, evaluation.seed: 1}]"
      samples.write_text(config.read_text().replace("encoding: [none, rope]", f"encoding: [none]\n  {draws}"))
      scores = ct.train(samples, ct.Encoding, seeds=[1, 7], out=pathlib.Path(folder) / "draws")
      self.assertEqual([(score.model_seed, score.evaluation_seed) for score in scores], [(1, 1), (7, 7)])
      many = che_tasks.config(config, "evaluation.lengths=[1000,1500]", "evaluation.samples=999936")
      with self.assertRaisesRegex(ValueError, "the samples have .* symbols; allowed: up to 2000000000"):
        ct.train(many, lambda shape: self.fail("an encoding was asked for"), model="mine", out=folder)
      orders = che_tasks.config(config, "axes.task=[odds_first, {name: odds_first, order: odd_first}]")
      for seeds, seed in (([0], 0), ([7], 7)):
        ct.train(orders, ct.Encoding, seeds=seeds, out=folder)
        files = sorted(file.name for file in pathlib.Path(folder).glob(f"odds_first*seed{seed}.jsonl"))
        self.assertEqual(files, [f"odds_first-order{order}_first-seed{seed}.jsonl" for order in ("even", "odd")])
      with self.assertRaisesRegex(ValueError, "is no folder"):
        ct.train(config, ct.Encoding, out=config)
      with self.assertRaisesRegex(ValueError, "model: got 'rope'; 'rope' is an encoding of che"):
        ct.train(config, ct.Encoding, model="rope", out=folder)

  def test_a_loader_gives_the_batches_in_order(self):
    with tempfile.TemporaryDirectory() as folder:
      run = che_tasks.config(self.config_of(folder, task="reverse_string")).runs()[0]
    again = pickle.loads(pickle.dumps(run._run))
    self.assertEqual(again.settings(), run.settings)
    expected = [ct.to_tensors(run.batches()[step], 2) for step in range(7)]
    for workers in (0, 2):
      dataset = ct.BatchDataset(run.batches(), steps=7)
      context = "spawn" if workers else None
      loader = torch.utils.data.DataLoader(
        dataset, batch_size=None, num_workers=workers, multiprocessing_context=context
      )
      batches = list(loader)
      self.assertEqual(len(batches), 7)
      for one, other in zip(batches, expected):
        self.assertTrue(torch.equal(one.tokens, other.tokens) and torch.equal(one.target, other.target))


if __name__ == "__main__":
  torch.set_num_threads(1)
  unittest.main()
