#!/usr/bin/env python3
"""Writes tests/reference/machines/*.json: numbers of the recurrent machines, made with the released program.

The program is google-deepmind/neural_networks_chomsky_hierarchy at commit 2b8eb4b, unmodified. From a folder that
contains its clone under that name:

    pip install jax==0.10.2 dm-haiku==0.0.17 optax==0.2.8 numpy==2.4.6 einshape chex absl-py tqdm
    PYTHONPATH=. python machines.py OUTPUT_FOLDER

README.md in this folder says what the files contain.
"""

import functools
import json
import pathlib
import sys

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
from neural_networks_chomsky_hierarchy.experiments import constants, training, utils
from neural_networks_chomsky_hierarchy.models import rnn

STEPS = 20
BATCH = 5
LENGTHS = (1, 2, 3, 4, 5, 6, 7)  # Memories of five cells overflow, and jumps go around the tape.
TASKS = {
    "rnn": "even_pairs",
    "lstm": "reverse_string",
    "gru": "cycle_navigation",
    "stack_rnn": "stack_manipulation",
    "stack_lstm": "reverse_string",
    "tape_rnn": "duplicate_string",
}
WIDTH, MEMORY_CELL, MEMORY_SIZE, MEMORY_SIZE_TEST = 6, 3, 5, 11

# Names of the harness for the program's parameters.
NAMES = {
    "vanilla_rnn/linear": "core.input",
    "vanilla_rnn/linear_1": "core.hidden",
    "lstm/linear": "core",
    "gru": "core",
    "stack_rnn_core/linear": "write0",
    "stack_rnn_core/linear_1": "actions",
    "tape_input_length_jump_core/mlp/~/linear_0": "write0",
    "tape_input_length_jump_core/mlp/~/linear_1": "write1",
    "tape_input_length_jump_core/mlp/~/linear_2": "write2",
    "tape_input_length_jump_core/linear": "actions",
    "linear": "out",
}


def model_of(kind, task, memory_size):
    # The program has no name for a GRU; its builder takes haiku's.
    builders = {"gru": functools.partial(rnn.make_rnn, rnn_core=hk.GRU), **constants.MODEL_BUILDERS}
    options = {"hidden_size": WIDTH, "output_size": task.output_size, "return_all_outputs": True}
    if kind.startswith("stack"):
        options |= {"stack_cell_size": MEMORY_CELL, "stack_size": memory_size}
    if kind.startswith("tape"):
        options |= {"memory_cell_size": MEMORY_CELL, "memory_size": memory_size}
    single = task.output_length(10) == 1
    return hk.transform(utils.make_model_with_empty_targets(builders[kind](**options), task, 0, single))


def named(tree):
    """Parameters by the harness's names: "core.input.w"."""
    result = {}
    for module, parameters in tree.items():
        inner = module.removeprefix("stack_rnn_core/~/").removeprefix("tape_input_length_jump_core/~/")
        for name, value in parameters.items():
            result[f"{NAMES[inner]}.{name}"] = np.asarray(value)
    return result


def number(value):
    return float(f"{float(value):.9g}")


def tensor(value):
    value = np.asarray(value)
    return {"shape": list(value.shape), "values": [number(x) for x in value.ravel()]}


def tensors(tree):
    return {name: tensor(value) for name, value in named(tree).items()}


def sums(tree):
    """The sums and the sums of squares of a tree's tensors."""
    result = {}
    for name, value in named(tree).items():
        exact = value.astype(np.float64)
        result[name] = [number(exact.sum()), number((exact**2).sum())]
    return result


def batches_of(task):
    random = np.random.default_rng(1)
    keys = jax.random.split(jax.random.PRNGKey(2), STEPS)
    np.random.seed(3)
    lengths = [LENGTHS[-1], *random.choice(LENGTHS, STEPS - 1)]
    return [task.sample_batch(key, length=int(n), batch_size=BATCH) for key, n in zip(keys, lengths, strict=True)]


def symbols(one_hot):
    ids = np.argmax(np.asarray(one_hot), axis=-1)
    return ids.reshape(ids.shape[0], -1).tolist()  # A task with one output has no dimension for it.


def loss_fn(task, output, target):
    return jnp.mean(jnp.sum(task.pointwise_loss_fn(output, target), axis=-1)), {}


def accuracy_fn(task, output, target):
    mask = task.accuracy_mask(target)
    return jnp.sum(mask * task.accuracy_fn(output, target)) / jnp.sum(mask)


def record(kind, task, batches, start, dtype):
    """Everything that depends on the precision."""

    def cast(tree):
        return jax.tree.map(lambda x: jnp.asarray(x, dtype), tree)

    model = model_of(kind, task, MEMORY_SIZE)
    loss = functools.partial(loss_fn, task)
    accuracy = functools.partial(accuracy_fn, task)
    params = cast(start)
    gradient = jax.jit(
        jax.value_and_grad(
            lambda p, batch: training._apply_loss_and_metrics_fn(
                p, jax.random.PRNGKey(0), batch, model.apply, loss, accuracy
            )[0]
        )
    )
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
    state = optimizer.init(params)
    first = cast(batches[0])
    result = {
        "logits": tensor(model.apply(params, None, first["input"])),
        "logits_test": tensor(model_of(kind, task, MEMORY_SIZE_TEST).apply(params, None, first["input"])),
        "loss": [],
        "accuracy": [],
        "gradient_norm": [],
    }
    for step, batch in enumerate(batches):
        _, gradients = gradient(params, cast(batch))
        result["gradient_norm"].append(number(optax.global_norm(gradients)))
        if step == 0:
            result["gradients"] = tensors(gradients)
        params, state, (value, _, share) = training._update_parameters(
            params, jax.random.PRNGKey(0), cast(batch), model.apply, loss, accuracy, optimizer, state
        )
        result["loss"].append(number(value))
        result["accuracy"].append(number(share))
    small = {
        module: {name: value for name, value in parameters.items() if np.size(value) < 256}
        for module, parameters in params.items()
    }
    return result | {"final": tensors(small), "final_sums": sums(params)}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for kind, task_name in TASKS.items():
        task = constants.TASK_BUILDERS[task_name]()
        batches = batches_of(task)
        model = model_of(kind, task, MEMORY_SIZE)
        start = model.init(jax.random.PRNGKey(7), batches[0]["input"])
        # Biases start at 0, which would hide some mistakes.
        random = np.random.default_rng(5)
        start = jax.tree.map(
            lambda x, draw=random: x if np.any(x) else np.asarray(draw.normal(0, 0.3, x.shape), np.float32), start
        )
        stored = {
            "kind": kind,
            "task": task_name,
            "width": WIDTH,
            "memory_cell": MEMORY_CELL,
            "memory_size": MEMORY_SIZE,
            "memory_size_test": MEMORY_SIZE_TEST,
            "input_symbols": task.input_size,
            "classes": task.output_size,
            "learning_rate": 1e-3,
            "clip_norm": 1.0,
            "batches": [
                {
                    "input": symbols(batch["input"]),
                    "output": symbols(batch["output"]),
                    "mask": np.reshape(task.accuracy_mask(batch["output"]), (BATCH, -1)).astype(int).tolist(),
                }
                for batch in batches
            ],
            "parameters": tensors(start),
            "float": record(kind, task, batches, start, np.float32),
        }
        with jax.enable_x64(True):
            stored["double"] = record(kind, task, batches, start, np.float64)
            del stored["double"]["gradients"]
        lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in stored.items())
        (folder / f"{kind}.json").write_text("{\n" + lines + "\n}\n")
        print(kind, {name: value.shape for name, value in named(start).items()})


if __name__ == "__main__":
    main()
