"""Tests of the module che_tasks.   tasks_test.py CHE_PROGRAM"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import che_tasks
import numpy as np

PROGRAM = sys.argv.pop(1)
FILES = pathlib.Path(__file__).resolve().parents[2] / "tasks" / "files"


def printed(*arguments):
  """What `che sample ARGUMENTS --format jsonl` prints, as a list of dictionaries."""
  result = subprocess.run([PROGRAM, "sample", *arguments, "--format", "jsonl"], check=True, capture_output=True, text=True)
  return [json.loads(line) for line in result.stdout.splitlines()]


class Tasks(unittest.TestCase):

  def test_samples_are_those_of_the_program(self):
    for task in che_tasks.list_tasks():
      batch = che_tasks.sample(task.name, length=11, count=5, seed=3)
      rows = printed(task.name, "--length", "11", "--count", "5", "--seed", "3")
      self.assertEqual(batch.input.tolist(), [row["input"] for row in rows], task.name)
      self.assertEqual(batch.output.tolist(), [row["output"] for row in rows], task.name)
      self.assertEqual(batch.mask.tolist(), [row["mask"] for row in rows], task.name)

  def test_files_declare_tasks(self):
    for name in ("tomita_4", "s5"):
      file = str(FILES / f"{name}.yaml")
      task = che_tasks.load_task(file)
      self.assertEqual((task.name, task.version), (name, 1))
      self.assertEqual(len(task.output_symbols), {"tomita_4": 2, "s5": 120}[name])
      batch = che_tasks.sample(file, length=9, count=5, seed=3)
      rows = printed(file, "--length", "9", "--count", "5", "--seed", "3")
      self.assertEqual(batch.input.tolist(), [row["input"] for row in rows], name)
      self.assertEqual(batch.output.tolist(), [row["output"] for row in rows], name)
      self.assertEqual(next(che_tasks.iter_batches(file, batch_size=4, first_length=3)).input.shape[0], 4)
    with self.assertRaises(ValueError) as raised:
      che_tasks.sample("missing.yaml", length=3)
    self.assertIn("missing.yaml", str(raised.exception))
    with self.assertRaises(ValueError):
      che_tasks.sample(file, length=3, options={"order": "up"})

  def test_exported_arrays_are_the_test_samples(self):
    with tempfile.TemporaryDirectory() as folder:
      subprocess.run([PROGRAM, "export", "quick/v1", "-o", folder, "--task", "reverse_string", "--format", "npz"], check=True,
                     capture_output=True)
      with np.load(f"{folder}/reverse_string.npz") as file:
        header = json.loads(bytes(file["header"]))
        self.assertEqual(header["lengths"], file["lengths"].tolist())
        for length in header["lengths"]:
          batch = che_tasks.evaluation_set("reverse_string", length, header["samples"], header["seed"])
          for name in ("input", "output", "mask"):
            array = file[f"{name}_{length}"]
            self.assertEqual(array.dtype, np.uint8)
            self.assertTrue(np.array_equal(array, getattr(batch, name)), f"{name} of length {length}")

  def test_arrays_are_bytes_of_the_stated_shapes(self):
    batch = che_tasks.sample("binary_addition", length=9, count=4)
    self.assertEqual((batch.input.shape, batch.output.shape, batch.mask.shape), ((4, 9), (4, 10), (4, 10)))
    self.assertTrue(all(array.dtype == np.uint8 for array in (batch.input, batch.output, batch.mask)))
    self.assertTrue((batch.mask == 0).any(), "behind the terminator nothing counts")

  def test_symbols_lie_in_the_alphabets(self):
    tasks = che_tasks.list_tasks()
    self.assertIn("bucket_sort", [task.name for task in tasks])
    self.assertEqual([task.name for task in tasks], sorted(task.name for task in tasks))
    for task in tasks:
      batch = che_tasks.evaluation_set(task.name, length=20, samples=64)
      self.assertLess(batch.input.max(), len(task.input_symbols), task.name)
      self.assertLess(batch.output.max(), len(task.output_symbols), task.name)
      self.assertEqual(task.chance, 1 / len(task.output_symbols.rstrip(".")), task.name)

  def test_training_and_test_samples_differ(self):
    drawn = che_tasks.sample("reverse_string", length=50, count=64)
    tested = che_tasks.evaluation_set("reverse_string", length=50, samples=64)
    self.assertFalse((drawn.input == tested.input).all(axis=1).any())

  def test_batches_resume_at_any_step(self):
    arguments = dict(batch_size=3, first_length=2, last_length=9, data_seed=5)
    batches = list(che_tasks.iter_batches("duplicate_string", steps=40, **arguments))
    self.assertEqual(set(range(2, 10)), {batch.length for batch in batches})
    later = next(che_tasks.iter_batches("duplicate_string", first_step=39, **arguments))
    self.assertTrue((later.input == batches[39].input).all())

  def test_options(self):
    batch = che_tasks.sample("odds_first", length=6, count=2, options=dict([ODD_FIRST]))
    for symbols, output in zip(batch.input.tolist(), batch.output.tolist()):
      self.assertEqual(symbols[0::2] + symbols[1::2], output)

  def test_bad_arguments_are_named(self):
    for arguments, words in [
        (dict(task="bucket_sot", length=3), "bucket_sort"),
        (dict(task="bucket_sort", length=0), "1 .. 1000000"),
        (dict(task="bucket_sort", length=3, count=0), "count"),
        (dict(task="bucket_sort", length=3, seed=-1), "seed"),
        (dict(task="bucket_sort", length=3, options={"order": "up"}), "order"),
    ]:
      with self.assertRaises(ValueError, msg=arguments) as raised:
        che_tasks.sample(**arguments)
      self.assertIn(words, str(raised.exception))
    for arguments, words in [(dict(first_length=5, last_length=4), "first_length"), (dict(first_step=2**32), "0 to 4294967295")]:
      with self.assertRaises(ValueError) as raised:
        next(che_tasks.iter_batches("bucket_sort", **arguments))
      self.assertIn(words, str(raised.exception))

  def test_batches_are_equal_to_themselves_alone(self):
    batch = che_tasks.sample("bucket_sort", length=3)
    self.assertEqual(batch, batch)
    self.assertNotEqual(batch, copy.deepcopy(batch))

  def test_threads_draw_the_same_samples(self):
    expected = che_tasks.sample("solve_equation", length=100, count=500).input
    results = [None] * 4

    def draw(index):
      results[index] = che_tasks.sample("solve_equation", length=100, count=500).input

    threads = [threading.Thread(target=draw, args=(index,)) for index in range(4)]
    for thread in threads:
      thread.start()
    for thread in threads:
      thread.join()
    for result in results:
      self.assertTrue((result == expected).all())


ODD_FIRST = ("order", "odd_first")

if __name__ == "__main__":
  unittest.main()
