"""Tests suites, configs, predictions and scores of the installed package che_tasks. package_test.py CHE_PROGRAM"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import che_tasks
import numpy as np

PROGRAM = sys.argv.pop(1)
SOURCE = pathlib.Path(__file__).resolve().parents[2]


def che(*words):
  return subprocess.run([PROGRAM, *map(str, words)], check=True, capture_output=True, text=True).stdout


class Suites(unittest.TestCase):
  def test_are_those_of_the_program(self):
    listed = che("list", "suites")
    names = [suite.name for suite in che_tasks.list_suites()]
    self.assertEqual(names, re.findall(r"^([\w-]+/v\d+)", listed, re.MULTILINE))
    for suite in che_tasks.list_suites():
      self.assertEqual(che_tasks.suite(suite.name), suite)
    with self.assertRaisesRegex(ValueError, "quick/v1"):
      che_tasks.suite("quick")

  def test_have_the_samples_that_the_program_exports(self):
    with tempfile.TemporaryDirectory() as folder:
      che("export", "quick/v1", "--task", "reverse_string", "-o", folder)
      header, *rows = map(json.loads, (pathlib.Path(folder) / "reverse_string.jsonl").read_text().splitlines())
    sets = che_tasks.suite("quick/v1").test_sets("reverse_string")
    self.assertEqual(sets.header(), header)
    read = iter(rows)
    for batch in sets:
      for index in range(sets.samples):
        row = next(read)
        self.assertEqual((row["length"], row["index"]), (batch.length, index))
        self.assertEqual(row["input"], batch.input[index].tolist())
        self.assertEqual(row["output"], batch.output[index].tolist())
    self.assertEqual(list(read), [])

  def test_refuse_other_tasks_and_lengths(self):
    suite = che_tasks.suite("quick/v1")
    with self.assertRaisesRegex(ValueError, "has no task 'bucket_sort'; it has even_pairs"):
      suite.test_sets("bucket_sort")
    with self.assertRaisesRegex(ValueError, "length 18 is not measured; allowed: 17, "):
      suite.test_sets("even_pairs")[18]

  def test_batches_are_those_of_iter_batches(self):
    suite = che_tasks.suite("quick/v1")
    expected = next(che_tasks.iter_batches("even_pairs", last_length=suite.last_training_length, first_step=5))
    self.assertTrue(np.array_equal(suite.batches("even_pairs")[5].input, expected.input))


class Configs(unittest.TestCase):
  def test_expand_as_in_the_program(self):
    for config in sorted((SOURCE / "configs").glob("*.yaml")):
      if config.name.startswith("lm_"):  # The package brings no corpora.
        with self.assertRaisesRegex(ValueError, "base.text: there is no corpus 'austen'"):
          che_tasks.config(config)
        continue
      read = che_tasks.config(config)
      self.assertEqual(read.name, che("check", config, "--name").strip())
      printed = che("check", config)
      count = int(re.search(r"([\d,]+) runs?", printed).group(1).replace(",", ""))
      self.assertEqual(len(read.runs()), count, config.name)

  def test_settings_are_those_of_the_config(self):
    run = che_tasks.config(SOURCE / "configs/quick.yaml", "training.steps=7", "axes.encoding=[rope]").runs()[0]
    self.assertEqual((run.settings["training.steps"], run.encoding, run.seed, run.data_seed), (7, "rope", 0, 0))
    self.assertIs(run.settings["evaluation.eval_dropout"], False)
    self.assertIsInstance(run.settings["learning_rate"], float)
    self.assertEqual(run.with_settings("evaluation.lengths=[5, 17]").settings["evaluation.lengths"], [5, 17])
    batch = run.batches()[3]
    self.assertEqual(batch.input.shape[0], run.settings["training.batch_size"])
    self.assertLessEqual(batch.length, run.settings["training.last_length"])
    sets = run.test_sets()
    self.assertEqual(sets.lengths, che_tasks.suite("quick/v1").lengths)
    self.assertEqual(sets[17].input.shape, (run.settings["evaluation.samples"], 17))
    self.assertEqual(run.with_settings("seed=3").seed, 3)

  def test_declared_tasks(self):
    with tempfile.TemporaryDirectory() as folder:
      file = pathlib.Path(folder) / "own.yaml"
      task = f"{{file: {SOURCE / 'tasks/files/tomita_4.yaml'}}}"
      file.write_text(f"name: own\nbase: {{task: {task}, encoding: none, training: {{first_length: 3}}}}\n")
      run = che_tasks.config(file).runs()[0]
    self.assertEqual(run.task.name, "tomita_4")
    expected = che_tasks.evaluation_set(str(SOURCE / "tasks/files/tomita_4.yaml"), 50)
    self.assertTrue(np.array_equal(run.test_sets()[50].input, expected.input))

  def test_positions_are_drawn_where_they_are_randomized(self):
    config = SOURCE / "configs/quick.yaml"
    plain, drawn = (
      che_tasks.config(config, f"axes.encoding=[{name}]").runs()[0] for name in ("rope", "randomized_rope")
    )
    self.assertEqual(plain.training_positions(5, 0, 3), ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4]))
    tokens, offsets = drawn.training_positions(5, 0, 3)
    self.assertEqual((tokens, offsets[0]), (sorted(set(tokens)), 0))
    self.assertNotEqual(tokens, [0, 1, 2, 3, 4])
    self.assertEqual(drawn.training_positions(5, 0, 3), (tokens, offsets))
    self.assertNotEqual(drawn.training_positions(5, 1, 3), (tokens, offsets))
    self.assertNotEqual(drawn.test_positions(5, 0, 17, 0), drawn.test_positions(5, 0, 17, 1))

  def test_what_is_wrong_is_named(self):
    with self.assertRaisesRegex(ValueError, "training.step: unknown key; did you mean 'steps'"):
      che_tasks.config(SOURCE / "configs/quick.yaml", "training.step=7")
    with self.assertRaisesRegex(ValueError, "no_such.yaml"):
      che_tasks.config("no_such.yaml")

  def test_runs_of_texts_are_refused(self):
    with tempfile.TemporaryDirectory() as folder:
      config = pathlib.Path(folder) / "text.yaml"
      config.write_text(f"name: text\nbase: {{text: {SOURCE / 'data/text/austen'}, encoding: none}}\n")
      with self.assertRaisesRegex(ValueError, "text: che_tasks has no samples of texts, and a run models austen"):
        che_tasks.config(config)
    run = che_tasks.config(SOURCE / "configs/quick.yaml").runs()[0]
    with self.assertRaisesRegex(ValueError, "che_tasks has no samples of texts"):
      run.with_settings("encoding=none", f"text={SOURCE / 'data/text/austen'}")


class Predictions(unittest.TestCase):
  def setUp(self):
    self.folder = tempfile.TemporaryDirectory()
    self.addCleanup(self.folder.cleanup)
    self.path = pathlib.Path(self.folder.name)
    self.sets = che_tasks.test_sets("stack_manipulation", [20, 10], samples=128, seed=3)

  def write(self, predict, **changes):
    return che_tasks.write_predictions(self.path / "p.jsonl", predict, self.sets, **{"model": "mine", **changes})

  def test_scores_are_masked_accuracies_of_batches_of_64(self):
    def predict(batch):
      return np.zeros_like(batch.output)

    [score] = che_tasks.score(self.write(predict, model_seed=5))
    self.assertEqual((score.model, score.model_seed, score.task, score.samples, score.evaluation_seed),
                     ("mine", 5, "stack_manipulation", 128, 3))  # fmt: skip
    for batch in self.sets:
      right = (batch.output == 0) & (batch.mask == 1)
      halves = [right[i : i + 64].sum() / batch.mask[i : i + 64].sum() for i in (0, 64)]
      self.assertAlmostEqual(score.accuracy[batch.length], np.mean(halves), places=12)
    self.assertAlmostEqual(score.score, np.mean(list(score.accuracy.values())), places=12)
    self.assertEqual((score.options, score.definition), ({}, ""))

  def test_lengths_may_be_numpy_integers(self):
    self.sets = che_tasks.test_sets("parity_check", np.arange(50, 100, 25), 64)
    [score] = che_tasks.score(self.write(lambda batch: batch.output))
    self.assertEqual(score.accuracy, {50: 1, 75: 1})

  def test_scores_name_options_and_definitions(self):
    with self.assertRaisesRegex(ValueError, "lengths: got \\[20.5\\]; allowed: a list of whole numbers"):
      che_tasks.test_sets("odds_first", [20.5])
    for sets, options, printed in (
      (
        che_tasks.test_sets("odds_first", [20], 64, options={"order": "odd_first"}),
        ["order"],
        r"odds_first\(order=odd_first\)",
      ),
      (
        che_tasks.test_sets(str(SOURCE / "tasks/files/tomita_4.yaml"), [20], 64),
        [],
        r"tomita_4\(definition=[0-9a-f]{16}\)",
      ),
    ):
      self.sets = sets
      file = self.write(lambda batch: batch.output, data_seed=7)
      [score] = che_tasks.score(file)
      self.assertEqual(list(score.options), options)
      self.assertRegex(score.definition, "^[0-9a-f]{16}$" if not options else "^$")
      self.assertRegex(che("score", file), printed)
      self.assertRegex(che("score", file), " 7 +")

  def test_results_are_shown_by_the_program(self):
    file = self.write(lambda batch: batch.output)
    with self.assertRaisesRegex(ValueError, "results: is empty; allowed: a folder"):
      che_tasks.score([file], results="")
    [score] = che_tasks.score([file], results=self.path / "results")
    self.assertEqual(score.score, 1)
    self.assertRegex(che("table", self.path / "results"), "mine")

  def test_training_is_recorded_as_stated(self):
    training = {"steps": 1000, "learning_rate": 0.003, "training_accuracy": 0.998, "note": "on a whim"}
    file = self.write(lambda batch: batch.output, data_seed=2, training=training)
    che_tasks.score(file, results=self.path / "results")
    printed = che("table", self.path / "results", "--notes", "all")
    self.assertIn("mine: steps 1000, learning_rate 0.003, training_accuracy 0.998, on a whim, che's batches of "
                  "data_seed 2", re.sub(r"\s+", " ", printed))  # fmt: skip
    with self.assertRaisesRegex(ValueError, "unknown field 'step'.*steps"):
      che_tasks.score(self.write(lambda batch: batch.output, training={"step": 3}))

  def test_kept_predictions_are_scored_again(self):
    file = self.write(lambda batch: batch.output)
    results, bundle = self.path / "results", self.path / "b.tar.zst"
    che_tasks.score(file, results=results)
    che("bundle", results, "-o", bundle)
    che("verify", bundle)
    [kept] = results.glob("runs/*/predictions-*.jsonl.zst")
    [again] = che_tasks.score(kept)
    self.assertEqual(again.score, 1)
    # Predictions that give another accuracy than the one that is stored.
    other = self.write(lambda batch: np.zeros_like(batch.output))
    che_tasks.score(other, results=self.path / "other")
    [wrong] = (self.path / "other").glob("runs/*/predictions-*.jsonl.zst")
    kept.write_bytes(wrong.read_bytes())
    refused = subprocess.run([PROGRAM, "bundle", results, "-o", bundle], capture_output=True, text=True)
    self.assertEqual(refused.returncode, 2)
    self.assertIn("has the accuracy 1 (standard error 0) at length 10", refused.stderr)
    self.assertIn("and the kept predictions have 0.4", refused.stderr)

  def test_evaluate_goes_through_tasks_and_seeds(self):
    asked = []

    def predictor(task, seed):
      asked.append((task.name, seed))
      return lambda batch: batch.output

    tasks = ("reverse_string", "even_pairs")
    scores = che_tasks.evaluate(
      predictor, suite="quick/v1", model="mine", seeds=range(2), tasks=tasks, out=self.path / "out"
    )
    self.assertEqual(asked, [(task, seed) for seed in range(2) for task in tasks])
    self.assertEqual([(one.task, one.model_seed, one.suite, one.score) for one in scores],
                     [(task, seed, "quick/v1", 1) for seed in range(2) for task in tasks])  # fmt: skip

  def test_evaluate_is_the_only_one_that_writes_to_its_folder(self):
    def predictor(task, seed):
      with self.assertRaisesRegex(ValueError, f"out: another evaluation writes to {self.path}; name another"):
        evaluate(lambda task, seed: self.fail("a model was asked for"))
      return lambda batch: batch.output

    def evaluate(predictor):
      return che_tasks.evaluate(predictor, suite="quick/v1", model="mine", tasks=["even_pairs"], out=self.path)

    self.assertEqual(evaluate(predictor)[0].score, 1)

  def test_files_of_others_beside_predictions_are_kept(self):
    (self.path / "mine.jsonl.part").write_text("notes")
    sets = che_tasks.test_sets("even_pairs", [3], 64)
    for samples in (0, 65):
      with self.assertRaisesRegex(ValueError, f"samples: got {samples}; allowed: multiples of 64"):
        che_tasks.test_sets("even_pairs", [3], samples)

    def interrupted(batch):
      che_tasks.write_predictions(self.path / "mine.jsonl", lambda batch: batch.output, sets, model="other")
      return batch.output

    with self.assertRaisesRegex(ValueError, "mine.jsonl: holds predictions of 'other', not of 'mine'"):
      che_tasks.write_predictions(self.path / "mine.jsonl", interrupted, sets, model="mine")
    self.assertEqual(sorted(file.name for file in self.path.iterdir()), ["mine.jsonl", "mine.jsonl.part"])

  def test_evaluate_refuses_before_it_asks_for_a_model(self):
    for wrong, words in [
      ({"tasks": ["even_pairs", "even_pairs"]}, r"tasks: got \['even_pairs', 'even_pairs'\]; allowed: each once"),
      ({"seeds": [3, 3]}, r"seeds: got \[3, 3\]; allowed: each once"),
      ({"seeds": []}, "seeds: got none; allowed: one or more"),
      ({"tasks": "even_pairs"}, r"tasks: got 'even_pairs'; allowed: a list, such as \['even_pairs'\]"),
      ({"seeds": 3}, r"seeds: got 3; allowed: a list, such as \[3\]"),
      ({"seeds": [-1]}, "seed: got -1; allowed: whole numbers from 0 to 9007199254740992"),
      ({"seeds": [2**53 + 1]}, "seed: got 9007199254740993; allowed"),
      ({"seeds": [0.5]}, "seed: got 0.5; allowed"),
      ({"seeds": ["1"]}, "seed: got '1'; allowed"),
      ({"out": self.path / "caf\udce9"}, "is no text in UTF-8; name another"),
      ({"results": str(self.path / "a\0b")}, "has a NUL character; name another"),
    ]:
      with self.assertRaisesRegex(ValueError, words):
        che_tasks.evaluate(
          lambda task, seed: self.fail("a model was asked for"),
          **{"suite": "quick/v1", "model": "mine", "out": self.path / "out", **wrong},
        )  # fmt: skip

  def test_predictions_of_another_model_are_kept(self):
    def evaluate(model, predictor):
      che_tasks.evaluate(predictor, suite="quick/v1", model=model, tasks=["even_pairs"], out=self.path)

    for _ in range(2):
      evaluate("first", lambda task, seed: lambda batch: batch.output)
    file = self.path / "even_pairs-seed0.jsonl"
    kept = file.read_bytes()
    with self.assertRaisesRegex(ValueError, "seed0.jsonl: holds predictions of 'first', not of 'second'"):
      evaluate("second", lambda task, seed: self.fail("a model was asked for"))
    self.assertEqual(file.read_bytes(), kept)
    for text in ("notes", '{"model": "first", "epoch": 1}', '{"model": "first", "format": 1}', "[" * 200_000):
      file.write_text(text)
      with self.assertRaisesRegex(ValueError, "seed0.jsonl: holds no predictions"):
        evaluate("first", lambda task, seed: self.fail("a model was asked for"))

  def test_a_header_is_refused_before_predictions_are_asked_for(self):
    for changes, words in [
      ({"model": "rope"}, "'rope' is an encoding of che"),
      ({"training": {"step": 3}}, "unknown field 'step'"),
      ({"model_seed": -1}, "model_seed: "),
      ({"data_seed": 0.5}, "data_seed: "),
    ]:
      with self.assertRaisesRegex(ValueError, words):
        self.write(lambda batch: self.fail("predictions were asked for"), **changes)
    for sets, words in [
      (che_tasks.test_sets("stack_manipulation", [0, 10], samples=128), "length"),
      (list(self.sets), "test_sets: got list; allowed: TestSets, which `test_sets` returns"),
    ]:
      self.sets = sets
      with self.assertRaisesRegex(ValueError, words):
        self.write(lambda batch: self.fail("predictions were asked for"))

  def test_bad_predictions_are_named(self):
    for predict, words in [
      (lambda batch: batch.output[:, :-1], r"length 10: got shape \(128, 10\); allowed: \(128, 11\)"),
      (lambda batch: batch.output * 0.5, "got float64; allowed: whole numbers"),
      (lambda batch: batch.output + 3, "allowed: 0 to 2"),
    ]:
      with self.assertRaisesRegex(ValueError, words):
        self.write(predict)
      self.assertFalse((self.path / "p.jsonl").exists())
    with self.assertRaisesRegex(ValueError, "'rope' is an encoding of che"):
      che_tasks.score(self.write(lambda batch: batch.output, model="rope"))
    with self.assertRaisesRegex(ValueError, "no_such"):
      che_tasks.score(self.path / "no_such.jsonl")


class Program(unittest.TestCase):
  def test_is_shipped(self):
    version = subprocess.run([sys.executable, "-m", "che_tasks", "--version"], capture_output=True, text=True)
    self.assertEqual(version.returncode, 0)
    self.assertIn(f"che {che_tasks.__version__} ", version.stdout)


if __name__ == "__main__":
  unittest.main()
