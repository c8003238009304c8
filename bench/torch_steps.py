#!/usr/bin/env python3
"""Times training steps, or evaluated batches of 64, in PyTorch: che's encoder (`che_tasks.torch`) or an nn.LSTM.

Prints JSON. Example: bench/torch_steps.py --task reverse_string --encoding dape_kerple --length 40 --steps 10
"""

import pathlib
import tempfile

import che_tasks
import che_tasks.torch
import torch
from timed_steps import parser_of, report

CONFIG = """
name: bench
base:
  task: {task}
  encoding: {encoding}
  model: {{width: {width}}}
  training: {{first_length: {length}, last_length: {length}, batch_size: {batch}}}
  evaluation: {{first_length: {length}, last_length: {length}, samples: 64}}
"""


def run_of(options):
  with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "bench.yaml"
    file.write_text(CONFIG.format(**vars(options)))
    return che_tasks.config(file).runs()[0]


class Lstm(torch.nn.Module):
  """The recurrent network of che's `lstm` around PyTorch's layer; called as an encoder is."""

  def __init__(self, symbols, width, classes):
    super().__init__()
    self.symbols = symbols
    self.lstm = torch.nn.LSTM(symbols, width, batch_first=True)
    self.out = torch.nn.Linear(width, classes)

  def forward(self, tokens, outputs, _positions):
    hidden, _ = self.lstm(torch.nn.functional.one_hot(tokens, self.symbols).float())
    return self.out(torch.relu(hidden[:, -outputs:]))


def model_of(run, options):
  if options.model == "encoder":
    return che_tasks.torch.make_encoder(run)
  # A token behind the input stands for each output symbol.
  return Lstm(len(run.task.input_symbols) + 1, options.width, len(run.task.output_symbols))


def main():
  parser = parser_of(__doc__, warmup=5)
  parser.add_argument("--model", default="encoder", choices=["encoder", "lstm"], help="encoder unless given")
  parser.add_argument(
    "--encoding", default="dape_kerple", help="an encoding of che_tasks.torch, such as randomized_rope"
  )
  parser.add_argument("--threads", type=int, default=1, help="of PyTorch (default 1)")
  parser.add_argument("--device", default="cpu", help="where PyTorch computes (default cpu)")
  parser.add_argument("--evaluate", action="store_true", help="evaluate batches of 64 instead")
  parser.add_argument("--bf16", action="store_true", help="under PyTorch's autocast to bf16")
  parser.add_argument("--tf32", action="store_true", help="with TF32 products on a GPU")
  parser.add_argument("--compile", action="store_true", help="let PyTorch compile; the warm-up has the compilation")
  options = parser.parse_args()
  torch.set_num_threads(options.threads)
  torch.manual_seed(0)
  torch.set_float32_matmul_precision("high" if options.tf32 else "highest")
  run = run_of(options)
  model = model_of(run, options)
  if options.compile:
    if options.device == "cpu" and options.encoding.endswith(("dape_alibi", "dape_kerple")):
      # Inductor of torch 2.11 stores 16 lanes into a buffer of 8 heads, which corrupts the heap (cf. pytorch#196681).
      from torch._inductor import config as inductor

      inductor.cpp.simdlen = 256
    model.compile()
  trainer = che_tasks.torch.Trainer(run, model, options.device)
  work = trainer.step
  if options.evaluate:
    batch = run.test_sets()[options.length]

    def work():
      che_tasks.torch.predict(run, model, batch, options.device)

  def step():
    with torch.autocast(options.device.split(":")[0], torch.bfloat16, enabled=options.bf16):
      work()
    if options.device.startswith("cuda"):
      torch.cuda.synchronize()

  parameters = sum(parameter.numel() for parameter in model.parameters())
  report(step, options, parameters=parameters, torch=torch.__version__)


if __name__ == "__main__":
  main()
