"""Compares what TensorBoard reads from a run's event file with the run's CSV files.

usage: read_scalars.py RUN_FOLDER
"""
import csv
import math
import pathlib
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

run = pathlib.Path(sys.argv[1])
events = EventAccumulator(str(run))
events.Reload()


def rows(name):
    with open(run / name, newline="") as file:
        return list(csv.DictReader(file))


def compare(group, file, step, columns):
    expected = rows(file)
    assert expected, f"{file} has no rows"
    for column in columns:
        scalars = events.Scalars(f"{group}/{column}")
        assert [s.step for s in scalars] == [int(row[step]) for row in expected], (group, column)
        for scalar, row in zip(scalars, expected):
            assert math.isclose(scalar.value, float(row[column]), rel_tol=1e-6), (group, column, scalar, row)


compare("training", "metrics.csv", "step", ["loss", "accuracy", "gradient_norm"])
compare("evaluation", "evaluation.csv", "length", ["accuracy", "loss"])
print("TensorBoard reads", ", ".join(events.Tags()["scalars"]))
