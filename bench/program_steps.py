#!/usr/bin/env python3
"""Times training steps of the released program (google-deepmind/neural_networks_chomsky_hierarchy) under JAX.

A folder with the program's clone belongs on the PYTHONPATH; tests/reference/machines.py says which commit and packages.
Prints JSON. Example: bench/program_steps.py --model stack_rnn --task reverse_string --steps 10
"""

import functools

import haiku as hk
import jax
import jax.numpy as jnp
import optax
from neural_networks_chomsky_hierarchy.experiments import constants, training, utils
from timed_steps import parser_of, report

MEMORY = {"stack_rnn": ("stack_cell_size", "stack_size"), "tape_rnn": ("memory_cell_size", "memory_size")}


def loss_fn(task, output, target):
  return jnp.mean(jnp.sum(task.pointwise_loss_fn(output, target), axis=-1)), {}


def accuracy_fn(task, output, target):
  mask = task.accuracy_mask(target)
  return jnp.sum(mask * task.accuracy_fn(output, target)) / jnp.sum(mask)


def main():
  parser = parser_of(__doc__, warmup=3)  # With the compilation.
  parser.add_argument("--model", default="stack_rnn", help="rnn, lstm, stack_rnn or tape_rnn")
  options = parser.parse_args()
  task = constants.TASK_BUILDERS[options.task]()
  memory = dict(zip(MEMORY.get(options.model, ()), (8, 40), strict=False))
  builder = constants.MODEL_BUILDERS[options.model]
  model = builder(hidden_size=options.width, output_size=task.output_size, return_all_outputs=True, **memory)
  single = task.output_length(10) == 1
  model = hk.transform(utils.make_model_with_empty_targets(model, task, 0, single))
  keys = hk.PRNGSequence(0)
  params = model.init(next(keys), task.sample_batch(next(keys), length=10, batch_size=options.batch)["input"])
  optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
  state = optimizer.init(params)
  loss, accuracy = functools.partial(loss_fn, task), functools.partial(accuracy_fn, task)

  def step():
    nonlocal params, state
    batch = task.sample_batch(next(keys), length=options.length, batch_size=options.batch)
    params, state, metrics = training._update_parameters(
      params, next(keys), batch, model.apply, loss, accuracy, optimizer, state
    )
    jax.block_until_ready((params, state, metrics))

  parameters = sum(parameter.size for parameter in jax.tree.leaves(params))
  report(step, options, parameters=parameters, jax=jax.__version__)


if __name__ == "__main__":
  main()
