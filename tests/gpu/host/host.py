#!/usr/bin/env python3
"""Runs che-compute, libche_cuda.so, libche_cuda_graphs.so and LibTorch's own CUDA part without a GPU: on a stand-in for
CUDA's runtime and cuBLAS (stand_in.h), and on libraries made here in which all other functions of CUDA end the process.

  tests/gpu/host/host.py CHE_COMPUTE TORCH_FOLDER WORK_FOLDER

No function of CUDA may return an error, so that every capture is valid, and one process at a time has the GPU. A
training step may start no more than BOUNDS says, copies once to the device and never waits. Values mean nothing. Exit
code 77 where nvcc or LibTorch's CUDA part is missing, or 1 if CHE_NEED_CUDA is set.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TORCH_LIBRARIES = ["libtorch_cuda.so", "libc10_cuda.so", "libtorch_nvshmem.so"]

# These bound how many launches, and fills and copies on the device, a step without graphs starts with the paper's
# model, by encoding, precision and replicas.
BOUNDS = {
  ("alibi", "fp32", 1): 213, ("alibi", "fp32", 9): 239, ("alibi", "bf16", 1): 304,
  ("dape_kerple", "fp32", 1): 323, ("dape_kerple", "fp32", 9): 364, ("dape_kerple", "bf16", 1): 414,
}  # fmt: skip
STEPS = 8
# Models and workloads beside encoders on tasks. Each has batches of one length, and so one graph.
OTHERS = """
name: others
base:
  model: {width: 32}
  training: {batch_size: 8, first_length: 16, last_length: 16}
axes:
  one:
    - {label: lstm, model.kind: lstm, task: parity_check, evaluation: {last_length: 41, samples: 64}}
    - {label: stack_rnn, model.kind: stack_rnn, task: reverse_string, evaluation: {last_length: 41, samples: 64}}
    - {label: tape_rnn, model.kind: tape_rnn, task: reverse_string, evaluation: {last_length: 41, samples: 64}}
    - {label: text, text: austen, encoding: dape_kerple, evaluation.lengths: [16]}
    - {label: documents, text: austen, encoding: fox, text.documents: separate, evaluation.lengths: [16]}
"""


def output(*command: str | Path) -> str:
  return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def build_program(program: Path, torch: Path, nvcc: str, work: Path) -> None:
  """Puts the program and what it loads for GPUs into `work`."""
  shutil.copy(program, work / "che-compute")
  options: list[str | Path] = ["-std=c++20", "-O1", "-shared", "-I", ROOT]
  kernels = sorted((ROOT / "models/ops").glob("*/*.cu"))
  hidden = ["-Xcompiler=-fPIC,-fvisibility=hidden", "-cudart", "shared", "-arch=sm_90"]
  output(nvcc, *options, *hidden, *kernels, "-o", work / "libche_cuda.so")
  headers = [torch / "include", torch / "include/torch/csrc/api/include", torch.parent / "nvidia/cu13/include"]
  output("g++", *options, "-fPIC", *(word for header in headers for word in ("-idirafter", header)),
         ROOT / "models/ops/device/cuda_graphs.cpp", *(torch / "lib" / name for name in TORCH_LIBRARIES[:2]),
         "-o", work / "libche_cuda_graphs.so")  # fmt: skip


def build_stand_ins(torch: Path, work: Path) -> list[Path]:
  """Makes the libraries that LibTorch's need, and returns them."""
  objects = []
  for source in sorted((ROOT / "tests/gpu/host").glob("*.cpp")):
    objects.append(work / f"{source.stem}.o")
    output("g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-fvisibility=hidden", "-I", ROOT,
           "-isystem", torch.parent / "nvidia/cu13/include", "-c", source, "-o", objects[-1])  # fmt: skip
  own = set(re.findall(r" T (c\w+|__cuda\w+)$", output("nm", "--defined-only", *objects), re.M))
  libraries = [torch / "lib" / name for name in TORCH_LIBRARIES]
  needed = set(re.findall(r"NEEDED.*\[(lib(?:cu|nccl|nvshmem).*)\]", output("readelf", "-d", *libraries)))
  # By version, which is the name of a library or a part of it. What has none may be anywhere.
  functions: defaultdict[str, set[str]] = defaultdict(set)
  for name, version in re.findall(r" U (\w+)@*(\S*)", output("nm", "-D", "--with-symbol-versions", *libraries)):
    if re.match("(__)?(cu|nccl|nvshmem)", name):
      functions[version or "libcudart.so.13"].add(name)
  stand_ins = []
  for library in sorted(needed, key=lambda name: (name != "libcudart.so.13", name)):
    versions = {version: names for version, names in functions.items() if version.lower() in library.lower()}
    ending = sorted(set().union(*versions.values()) - own)
    code: list[str | Path] = [work / f"{library}.c"]
    (work / f"{library}.c").write_text(
      "#include <stdio.h>\n#include <stdlib.h>\n"
      + "".join(f'void {name}(void) {{ fputs("{name} was called\\n", stderr); abort(); }}\n' for name in ending)
    )
    if library == "libcudart.so.13":
      code += [*objects, "-lstdc++"]
      blas = {name for name in own if name.startswith("cublas")}
      versions = {library: versions[library] | own - blas, "libcublas.so.13": blas}
    script = "".join(f"{version} {{ global: {'; '.join(names)}; }};\n" for version, names in versions.items())
    (work / f"{library}.map").write_text(script or "{ global: *; };")
    stand_ins.append(work / library)
    output("gcc", "-w", "-shared", "-fPIC", *code, f"-Wl,-soname,{library},--version-script={work / library}.map", "-o",
           stand_ins[-1])  # fmt: skip
  # The driver, whose functions the first one has.
  stand_ins.append(work / "libcuda.so.1")
  output("gcc", "-shared", "-Wl,--no-as-needed,-soname,libcuda.so.1", stand_ins[0], "-o", stand_ins[-1])
  return stand_ins


class Host:
  """The program on the stand-ins."""

  def __init__(self, work: Path, stand_ins: list[Path]) -> None:
    self.program = work / "che-compute"
    self.counts = work / "counts"
    self.work = work
    self.environment = os.environ | {
      "LD_PRELOAD": ":".join(map(str, stand_ins)),
      "CHE_HOST_COUNTS": str(self.counts),
      "CHE_HOST_LOCK": str(work / "lock"),
      "CUDA_VISIBLE_DEVICES": "0",
      "OMP_NUM_THREADS": "1",
    }

  def run(self, *arguments: str, codes: tuple[int, ...] = (0,)) -> Counter[str]:
    """What all processes of the command counted."""
    self.counts.unlink(missing_ok=True)
    words = [str(self.program), *arguments]
    ended = subprocess.run(words, cwd=self.work, env=self.environment, capture_output=True, text=True)
    told = self.counts.read_text().splitlines() if self.counts.exists() else []
    processes = [json.loads(line) for line in told]
    errors = [error for process in processes for error in process.pop("errors")]
    if ended.returncode not in codes or errors or not processes:
      sys.exit(f"{' '.join(words)}\nexit code {ended.returncode}; {errors}\n{ended.stdout}{ended.stderr}")
    return sum((Counter(process) for process in processes), Counter())

  def train(self, config: Path, steps: int, *settings: str) -> Counter[str]:
    shutil.rmtree(self.work / "results", ignore_errors=True)
    settings = (f"training.steps={steps}", "execution.device=cuda", "log.every_steps=64", *settings)
    return self.run("run", str(config), "-o", "results", *settings)

  def train_encoder(self, encoding: str, steps: int, *settings: str) -> Counter[str]:
    settings = (f"axes.encoding=[{encoding}]", "axes.task=[even_pairs]", "evaluation.last_length=41", *settings)
    return self.train(ROOT / "configs/table2.yaml", steps, "evaluation.samples=64", *settings)


def main() -> int:
  program, torch, work = (Path(argument).resolve() for argument in sys.argv[1:])
  nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
  if not nvcc or not (torch / "lib/libtorch_cuda.so").exists():
    print("skipped: needs nvcc of CUDA 13, and LibTorch from PyTorch's wheel for CUDA, which scripts/setup.sh installs")
    return 1 if "CHE_NEED_CUDA" in os.environ else 77
  shutil.rmtree(work, ignore_errors=True)
  work.mkdir(parents=True)
  build_program(program, torch, nvcc, work)
  host = Host(work, build_stand_ins(torch, work))
  failures = []
  for (encoding, precision, replicas), bound in BOUNDS.items():
    one = [] if replicas > 1 else ["axes.learning_rate=[1e-4]", "axes.seed=[0]"]
    settings = [*one, f"execution.replicas={replicas}", f"execution.precision={precision}"]
    eager = [*settings, "execution.graphs=false", "training.first_length=40"]
    few, many = (host.train_encoder(encoding, steps, *eager) for steps in (STEPS, 2 * STEPS))
    step = {name: (many[name] - few[name]) / STEPS for name in ("waits", "pinned copies", "pageable copies")}
    started = sum((many[name] - few[name]) / STEPS for name in ("launches", "fills", "copies on the device"))
    graphs = host.train_encoder(encoding, STEPS, *settings)
    told = f"{encoding}, {precision}, replicas {replicas}: a step starts {started:g}, {step}; "
    told += f"{graphs['captures']} captures; "
    told += f"peak {many['peak bytes'] >> 20} MiB, with graphs of 40 lengths {graphs['peak bytes'] >> 20} MiB"
    print(told, flush=True)
    least = BOUNDS[encoding, "fp32", replicas] + 1 if precision == "bf16" else 0
    if not least <= started <= bound or list(step.values()) != [0, 1, 0] or graphs["captures"] != 40:
      failures.append(told)
  # `run` measures in a process of its own, or the worker would find the GPU taken.
  host.train_encoder("alibi", STEPS, "execution.replicas=auto")
  (work / "others.yaml").write_text(OTHERS)
  captures = host.train(work / "others.yaml", STEPS)["captures"]
  if captures != OTHERS.count("label"):
    failures.append(f"other models and workloads: {captures} captures")
  report = work / "selftest.json"
  counts = host.run("selftest", "--no-times", "--json", str(report), codes=(0, 1))
  checks = json.loads(report.read_text())["checks"]
  print(f"selftest: {len(checks)} checks, {counts['captures']} captures, {counts['launches']} launches")
  problems = [f"selftest: {check['name']}: {check['problem']}" for check in checks if check["problem"]]
  failures += [problem for problem in problems if not problem.endswith(": a result is not a finite number")]
  print("\n".join(failures))
  return 1 if failures else 0


if __name__ == "__main__":
  sys.exit(main())
