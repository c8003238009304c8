#!/usr/bin/env python3
"""Takes the barriers out of the CUDA kernels, one at a time, and runs the kernels' tests without it.

    tests/gpu/mutations.py BUILD_FOLDER [FILE ...]

The folder holds a build of gpu_kernel_tests; with ThreadSanitizer, every missing barrier must make a test fail. FILEs
are names of sources in models/ops/. Fails where the tests pass without a barrier, or where they fail with all of them.
"""
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
KERNELS = {path.name: path for path in (ROOT / "models/ops").glob("*/*.cu")}
HEADERS = {"attention_backward_mlp.h": "attention_backward.cu"}  # With barriers, and who includes them.
# Tests of a file that has barriers.
TESTS = {
    "adam.cu": "AdamKernel*",
    "attention_backward.cu": "Shapes/AttentionBackward*:AttentionBackwardKernel*",
    "attention_backward_mlp.h": "Shapes/AttentionBackward*:AttentionBackwardKernel*",
    "attention_forward.cu": "Shapes/AttentionForward*:AttentionForwardKernel.Runs*:AttentionForwardKernel.Keeps*",
    "batch_score.cu": "BatchScoreKernel*",
    "bias_relu.cu": "BiasReluKernel*",
    "embedding.cu": "EmbeddingKernel*",
    "residual_norm.cu": "Shapes/ResidualNorm*:ResidualNormKernel*",
}
BARRIER = re.compile(r"__sync(threads|warp)\(\);")


def commands(build):
    """Those that make gpu_kernel_tests; the last one links it."""
    lines = subprocess.run(["ninja", "-C", build, "-t", "commands", "gpu_kernel_tests"], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return [shlex.split(line.removeprefix(": && ").removesuffix(" && :")) for line in lines]


def survives(build, name, mutated):
    """Whether all tests of the file pass with this source."""
    made_by = commands(build)
    kernel = KERNELS[HEADERS.get(name, name)]
    changed = build / "mutated" / (kernel.parent / name).relative_to(ROOT)
    changed.parent.mkdir(parents=True, exist_ok=True)
    changed.write_text(mutated)
    compile_command = next(words for words in made_by if str(kernel) in words and "-c" in words)
    replaced = {compile_command[compile_command.index("-o") + 1]: "mutated.o", "gpu_kernel_tests": "mutated_tests"}
    if name in HEADERS:
        compile_command[1:1] = ["-I", str(build / "mutated")]
    else:
        replaced[str(kernel)] = str(changed)
    for command in (compile_command, made_by[-1]):
        subprocess.run([replaced.get(word, word) for word in command], cwd=build, check=True)
    changed.unlink()
    # The first race is enough.
    environment = os.environ | {"TSAN_OPTIONS": "halt_on_error=1:exitcode=66"}
    run = subprocess.run(["setarch", "-R", build / "mutated_tests", "--gtest_fail_fast", f"--gtest_filter={TESTS[name]}"],
                         capture_output=True, text=True, env=environment)
    return run.returncode == 0


def main():
    build = Path(sys.argv[1]).resolve()
    survivors = 0
    for name in sys.argv[2:] or sorted(TESTS):
        source = (KERNELS[HEADERS.get(name, name)].parent / name).read_text()
        barriers = list(BARRIER.finditer(source))
        if barriers and not survives(build, name, source):
            sys.exit(f"{name}: its tests fail with all barriers in place")
        for barrier in barriers:
            line = source.count("\n", 0, barrier.start()) + 1
            survived = survives(build, name, source[:barrier.start()] + ";" + source[barrier.end():])
            survivors += survived
            print(f"{name}:{line}: without {barrier[0]} {'ALL TESTS PASS' if survived else 'a test fails'}", flush=True)
    sys.exit(survivors > 0)


main()
