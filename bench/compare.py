"""Runs che and a peer alternately on one core and writes the comparison; see compare.sh."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

CHE = "build/che"
TORCH = "bench/torch_steps.py"
PROGRAM = "bench/program_steps.py"
# A language model's decoder, which both programs build for themselves.
CHE_DECODER = "build/decoder_steps"
TORCH_DECODER = "bench/torch_decoder.py"
DECODER = "decoder"

# task, length, width, encoding or recurrent network, training or evaluation of a batch of 64
ROWS = [
    ("even_pairs", 40, 256, "alibi", "training"),
    ("even_pairs", 40, 256, "rope", "training"),
    ("even_pairs", 40, 256, "dape_kerple", "training"),
    ("reverse_string", 40, 256, "alibi", "training"),
    ("reverse_string", 40, 256, "dape_kerple", "training"),
    ("even_pairs", 40, 64, "alibi", "training"),
    ("even_pairs", 40, 64, "dape_kerple", "training"),
    ("even_pairs", 200, 256, "alibi", "evaluation"),
    ("even_pairs", 200, 256, "dape_kerple", "evaluation"),
    ("even_pairs", 40, 256, "lstm", "training"),
    ("reverse_string", 40, 256, "stack_rnn", "training"),
    ("reverse_string", 40, 256, "tape_rnn", "training"),
    (DECODER, 128, 128, "none", "training"),
    (DECODER, 128, 128, "kerple", "training"),
    (DECODER, 128, 128, "dape_kerple", "training"),
]
# Recurrent networks, with the peer of each: PyTorch's layer, or the released program under JAX.
MACHINES = {"lstm": "PyTorch", "stack_rnn": "JAX", "tape_rnn": "JAX"}

# With --precisions: training rows, and the programs beside each other, with the further words of their commands.
PRECISION_ROWS = [("even_pairs", 40, width, encoding, "training") for width in (256, 64) for encoding in ("alibi", "dape_kerple")]
CHE_PRECISIONS = {"che fp32": [], "che bf16": ["execution.precision=bf16"]}
TORCH_PRECISIONS = {
    "PyTorch": [],
    "PyTorch compiled": ["--compile"],
    "PyTorch autocast": ["--bf16"],
    "PyTorch compiled, autocast": ["--compile", "--bf16"],
}


def start(command, core, **variables):
    environment = dict(os.environ, OMP_NUM_THREADS="1", **variables)
    return subprocess.Popen(["taskset", "-c", str(core), *command], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, env=environment)


def finish(process):
    _, errors = process.communicate()
    if process.returncode != 0:
        sys.exit(f"compare: {' '.join(process.args)} failed:\n{errors}")


def run(command, **variables):
    finish(start(command, core=0, **variables))


def che_command(row, steps, file, further=()):
    task, length, width, encoding, mode = row
    if task == DECODER:
        return [CHE_DECODER, encoding, str(steps), file]
    command = [CHE, "bench", "--task", task, "--length", str(length), "--steps", str(steps)]
    command += [f"model.kind={encoding}"] if encoding in MACHINES else ["--encoding", encoding]
    if mode == "evaluation":
        command.append("--evaluate")
    return [*command, "--json", file, f"model.width={width}", *further]


def che_result(file):
    return json.loads(pathlib.Path(file).read_text())["rows"][0]


def che_row(row, steps, file, further=()):
    run(che_command(row, steps, file, further))
    return che_result(file)


def peer_name(row):
    return MACHINES.get(row[3], "PyTorch")


def peer_row(row, steps, file, further):
    task, length, width, encoding, mode = row
    options = ["--task", task, "--length", str(length), "--width", str(width), "--steps", str(steps), "--json", file]
    if peer_name(row) == "JAX":
        program = os.environ["CHE_PROGRAM"]
        run([f"{program}/venv/bin/python", PROGRAM, "--model", encoding, *options], PYTHONPATH=program,
            XLA_FLAGS="--xla_cpu_multi_thread_eigen=false")
    elif task == DECODER:
        run([sys.executable, TORCH_DECODER, encoding, str(steps), file, *further])
    else:
        command = [sys.executable, TORCH, *options]
        command += ["--model", encoding, "--encoding", "none"] if encoding in MACHINES else ["--encoding", encoding]
        if mode == "evaluation":
            command += ["--evaluate", "--warmup", "1"]
        run([*command, *further])
    report = json.loads(pathlib.Path(file).read_text())
    return {"milliseconds": 1e3 * report["step_seconds"], "peak_mib": report["peak_rss_mib"]}


def precision_table(steps, repetitions, text, folder):
    """Medians of training steps in milliseconds, and of the ratios to che in fp32 of the same turn."""
    lines = ["| d | encoding | program | ms | times as fast as che fp32 |", "|---|---|---|--:|--:|"]
    file = f"{folder}/row.json"
    for row in [row for row in PRECISION_ROWS if text in " ".join(map(str, row))]:
        turns = []
        for _ in range(repetitions):
            turn = {name: che_row(row, steps, file, words)["milliseconds"] for name, words in CHE_PRECISIONS.items()}
            turn |= {name: peer_row(row, steps, file, words)["milliseconds"] for name, words in TORCH_PRECISIONS.items()}
            turns.append(turn)
        for name in turns[0]:
            ratio = statistics.median(turn["che fp32"] / turn[name] for turn in turns)
            lines.append(f"| {row[2]} | {row[3]} | {name} | {statistics.median(turn[name] for turn in turns):,.0f} | {ratio:.2f} |")
            print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def side_by_side(row, steps, repetitions, folder):
    """Steps per second of two jobs on two cores over one job's, the two cases taken in turn."""
    ratios = []
    for _ in range(repetitions):
        alone = che_row(row, steps, f"{folder}/alone.json")["milliseconds"]
        jobs = [start(che_command(row, steps, f"{folder}/{core}.json"), core) for core in (0, 1)]
        for job in jobs:
            finish(job)
        both = [che_result(f"{folder}/{core}.json")["milliseconds"] for core in (0, 1)]
        ratios.append(sum(alone / one for one in both))
    return statistics.median(ratios)


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def markdown(report):
    lines = [
        "| d | tokens | model | batch of | peer | che ms | peer ms | faster by | share of matrix rate | che MiB | peer MiB |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in report["rows"]:
        samples = 64 if row["mode"] == "evaluation" else 32 if row["task"] == DECODER else 128
        batch = f"{samples}, {row['mode']}"
        lines.append(
            f"| {row['width']} | {row['tokens']} ({row['task']}, length {row['length']}) | {row['encoding']} | {batch} "
            f"| {row['peer']} | {row['che_ms']:,.0f} | {row['peer_ms']:,.0f} | {row['ratio']:.2f} | {row['share']:.2f} "
            f"| {row['che_mib']:,.0f} | {row['peer_mib']:,.0f} |")
    lines += [
        "",
        f"Medians of {report['repetitions']} alternating runs of {report['steps']} steps each, one thread on one core "
        f"({report['processor']}), PyTorch {report['torch']} {'compiled' if report['compiled'] else 'eager'}, JAX the "
        f"released program of arXiv 2207.02098; "
        f"\"faster by\" is the median ratio of neighbouring runs. The share relates nominal operations to the product "
        f"of a (tokens x d) and a (d x 4 d) matrix in the same run ({report['matrix_gflops']:.0f} GFLOP/s in the "
        f"first row).",
    ]
    if "side_by_side" in report:
        lines.append(f"Two jobs side by side on two cores make {report['side_by_side']:.2f} times one job's steps.")
    lines.append(f"Commit {report['commit']}, {report['date']}; `{report['command']}`.")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, prog="bench/compare.sh")
    parser.add_argument("--repetitions", type=int, default=5, help="alternating pairs of runs a row (default 5)")
    parser.add_argument("--steps", type=int, default=5, help="timed steps a run (default 5)")
    parser.add_argument("--filter", default="", help="only rows with this text, such as dape or evaluation")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("results/committed/speed"), help="folder to write to")
    parser.add_argument("--compiled", action="store_true", help="let PyTorch compile")
    parser.add_argument("--precisions", action="store_true",
                        help="instead: che in fp32 and bf16 beside PyTorch, compiled, under autocast, and both")
    options = parser.parse_args()
    if options.precisions:
        with tempfile.TemporaryDirectory() as folder:
            table = precision_table(options.steps, options.repetitions, options.filter, folder)
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "precisions.md").write_text(f"{table}\n{processor()}, {datetime.date.today()}\n")
        return
    rows = [row for row in ROWS if options.filter in " ".join(map(str, row))]
    if not rows:
        parser.error(f"--filter {options.filter}: no such row")
    if "CHE_PROGRAM" not in os.environ:
        print("compare: without CHE_PROGRAM no row beside the released program", file=sys.stderr)
        rows = [row for row in rows if peer_name(row) != "JAX"]
    report = {"command": " ".join(["bench/compare.sh", *sys.argv[1:]]), "date": datetime.date.today().isoformat(),
              "processor": processor(), "compiled": options.compiled, "repetitions": options.repetitions,
              "steps": options.steps, "rows": []}
    import torch
    report["torch"] = torch.__version__
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            pairs = []
            for _ in range(options.repetitions):
                peer = peer_row(row, options.steps, f"{folder}/peer.json", ["--compile"] * options.compiled)
                pairs.append((che_row(row, options.steps, f"{folder}/che.json"), peer))
            median = lambda values: statistics.median(list(values))
            report["rows"].append({
                "task": row[0], "length": row[1], "width": row[2], "encoding": row[3], "mode": row[4],
                "peer": peer_name(row),
                "tokens": pairs[0][0]["tokens"],
                "che_ms": median(che["milliseconds"] for che, _ in pairs),
                "peer_ms": median(peer["milliseconds"] for _, peer in pairs),
                "ratio": median(peer["milliseconds"] / che["milliseconds"] for che, peer in pairs),
                "share": median(che["share"] for che, _ in pairs),
                "che_mib": median(che["peak_mib"] for che, _ in pairs),
                "peer_mib": median(peer["peak_mib"] for _, peer in pairs),
                "pairs": [{"che": che, "peer": peer} for che, peer in pairs],
            })
            last = report["rows"][-1]
            print(f"{row}: che {last['che_ms']:.0f} ms, {last['peer']} {last['peer_ms']:.0f} ms, {last['ratio']:.2f}", flush=True)
        if not options.filter and os.cpu_count() > 1:
            report["side_by_side"] = side_by_side(ROWS[0], options.steps, options.repetitions, folder)
    report["matrix_gflops"] = statistics.median(pair["che"]["matrix_rate"] for pair in report["rows"][0]["pairs"]) / 1e9
    report["commit"] = subprocess.run([CHE, "--version"], capture_output=True, text=True).stdout.strip()
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "comparison.json").write_text(json.dumps(report, indent=1) + "\n")
    (options.output / "comparison.md").write_text(markdown(report))
    print(markdown(report))


if __name__ == "__main__":
    main()
