"""The Chomsky Hierarchy Evaluation benchmark for models in Python, sample for sample as che draws and scores them.

Symbols are ids, 0 .. number of symbols - 1; `list_tasks()` has the character of each. A model reads the input followed
by one empty token per output symbol, and predicts the output at these tokens. Accuracy is the share of right symbols
among those whose mask is 1, over a batch of 64 samples; a length's accuracy is the mean over its batches.

    import che_tasks
    batch = che_tasks.sample("bucket_sort", length=9, count=3)
    batch.input   # uint8, shape (3, 9)

`che_tasks.torch` has che's encoder in PyTorch, in which an encoding of your own takes the place of another.
"""

from . import _core
from .configs import Config, Run, config
from .predictions import Score, evaluate, score, write_predictions
from .suites import Suite, TestSets, list_suites, suite, test_sets
from .tasks import Batch, Batches, Task, evaluation_set, iter_batches, list_tasks, load_task, sample

__version__: str = _core.version

__all__ = [
  "Batch",
  "Batches",
  "Config",
  "Run",
  "Score",
  "Suite",
  "Task",
  "TestSets",
  "__version__",
  "config",
  "evaluate",
  "evaluation_set",
  "iter_batches",
  "list_suites",
  "list_tasks",
  "load_task",
  "sample",
  "score",
  "suite",
  "test_sets",
  "write_predictions",
]
