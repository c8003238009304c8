"""Draws every figure of the committed results and measures what came out.

CHE_PROGRAM names the program that writes the data; ctest sets it.
"""

from __future__ import annotations

import itertools
import lzma
import os
import pathlib
import re
import subprocess
import sys
import zlib
from collections.abc import Iterable, Sequence

import numpy
import pytest
from matplotlib.axis import Axis
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from matplotlib.text import Text

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "plots"))

import che_plots  # noqa: E402
from che_plots import bias, curves, page, scores, style  # noqa: E402
from che_plots.data import Row, caption_of, known, read_rows  # noqa: E402

che_plots.set_up()

FIGURES = {
  "accuracy": curves.accuracy,
  "differences": scores.differences,
  "map": scores.score_map,
  "runs": scores.runs,
  "learning": curves.learning,
  "steps": curves.steps,
  "effects": curves.effects,
  "perplexity": curves.perplexity,
}
COMMITTED = sorted(file.parent.name for file in (SOURCE / "results/committed").glob("*/runs.tar.xz"))
WIDTHS = (85.0, 140.0)


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
  """Folders with the figures of the committed results, drawn by `che plot` where other modules of these names lie."""
  strange = tmp_path_factory.mktemp("strange")
  for module in ("che_plots", "csv", "numpy", "runpy"):
    (strange / f"{module}.py").write_text("raise SystemExit('a module of the working folder was imported')")
  (strange / "matplotlibrc").write_text("svg.fonttype: path")
  environment = {**os.environ, "PYTHONPATH": ":" + os.environ.get("PYTHONPATH", ""), "MPLBACKEND": "module://missing"}
  folders = {}
  for name in COMMITTED:
    folder = tmp_path_factory.mktemp(name)
    subprocess.run(["tar", "-xf", SOURCE / f"results/committed/{name}/runs.tar.xz", "-C", folder], check=True)
    plot = [os.environ["CHE_PROGRAM"], "plot", str(folder), "--format", "svg"]
    subprocess.run(plot, cwd=strange, env=environment, check=True, stdout=subprocess.PIPE)
    folders[name] = folder
  return folders


def all_rows(folder: pathlib.Path) -> list[Row]:
  """The rows of the figure that has every column of the results: the map of tasks, or the perplexities of a text."""
  files = [folder / "figure-data" / name for name in ("map.csv", "perplexity.csv")]
  return read_rows(next(file for file in files if file.is_file()))


def sheets_of(folder: pathlib.Path, width: float) -> dict[str, page.Sheet]:
  files = {name: folder / "figure-data" / f"{name}.csv" for name in FIGURES}
  return {name: FIGURES[name](read_rows(file), width) for name, file in files.items() if file.is_file()}


@pytest.fixture(scope="session")
def committed_bias(tmp_path_factory: pytest.TempPathFactory) -> bias.Bias:
  (packed,) = (SOURCE / "results/committed/bias").glob("even_pairs-*.csv.xz")
  file = tmp_path_factory.mktemp("bias") / packed.stem
  file.write_bytes(lzma.decompress(packed.read_bytes()))
  return bias.Bias(file, "title")


def shown_texts(figure: Figure) -> list[Text]:
  """The texts that a reader sees: not those of marks beyond the ends of an axis."""
  figure.canvas.draw()
  hidden: set[int] = set()
  for axis in figure.findobj(Axis):
    low, high = sorted(axis.get_view_interval())
    for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
      margin = 1e-6 * (high - low)
      if not (low - margin <= tick.get_loc() <= high + margin and axis.axes.get_visible()):
        hidden |= {id(tick.label1), id(tick.label2)}
  return [
    text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip() and id(text) not in hidden
  ]


def check_texts(figure: Figure) -> None:
  """No two texts overlap, and all stand within the page."""
  texts = [(text.get_text(), text.get_window_extent()) for text in shown_texts(figure)]
  for name, box in texts:
    assert box.x0 >= -0.5 and box.y0 >= -0.5, name
    assert box.x1 <= figure.bbox.width + 0.5 and box.y1 <= figure.bbox.height + 0.5, name
  for (one, first), (other, second) in itertools.combinations(texts, 2):
    width = min(first.x1, second.x1) - max(first.x0, second.x0)
    height = min(first.y1, second.y1) - max(first.y0, second.y0)
    assert width < 1 or height < 1, f"'{one}' meets '{other}'"


def sizes_in_pdf(content: bytes) -> set[float]:
  """The sizes in points of all text in a PDF of matplotlib, whose canvas is not scaled."""
  sizes = set()
  for start in re.finditer(rb"\bstream\r?\n", content):
    try:
      text = zlib.decompressobj().decompress(content[start.end() :])
    except zlib.error:
      continue
    sizes |= {float(size) for size in re.findall(rb"/F\S+ ([\d.]+) Tf", text)}
  return sizes


def on_text(encoding: str, x: str, y: str, points: dict[float, float]) -> list[Row]:
  """A line of a figure of texts, by x."""
  texts = {"level": "text", "task": "austen(trained=128, length=4096)", "encoding": encoding, "label": encoding}
  texts |= {"family": encoding, "positions": "contiguous", "dape": "no", "value": "", "rank": "1", "aggregate": "min"}
  numbers = {"runs": "2", "trained_to": "128", "longest_window": "4096", "finished_runs": "4", "all_runs": "4"}
  texts |= {"score_lengths": "", "only": "", "skip": "", "select": ""}
  return [
    Row(texts | numbers | {x: str(at), y: str(value), "low": str(0.9 * value), "high": str(1.2 * value)})
    for at, value in points.items()
  ]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("most", (5.2, 300.0))
def test_figures_of_texts_mark_the_training_length(width: float, most: float) -> None:
  points = {8.5 * 2**power: most - power / 10 for power in range(9)}
  for draw, x, y in ((curves.positions, "position", "perplexity"), (curves.perplexity, "length", "score")):
    rows = on_text("rope", x, y, points) + on_text("kerple", x, y, dict.fromkeys(points, 5.0))
    sheet = draw(rows, width)
    assert ("the minimum of 2 runs" if y == "score" else "the mean over 2 seeds") in sheet.caption
    (figure,) = page.pages(sheet, width)
    check_texts(figure)
    (axes,) = figure.axes
    assert axes.get_xscale() == axes.get_yscale() == "log"
    drawn = [numpy.asarray(line.get_xdata(), float)[0] for line in axes.lines]
    assert 128 in drawn and drawn.count(8.5) == 2
    assert min(points) <= min(axes.get_xticks()) and max(axes.get_xticks()) <= max(points), "marks stretch the axis"


@pytest.mark.parametrize("points", (3, 40))
def test_ranges_are_drawn_beside_points_of_one_run(points: int) -> None:
  rows = on_text("rope", "length", "score", {8.0 + at: 5.0 for at in range(points)})
  (figure,) = page.pages(curves.perplexity([Row(rows[0], runs="1"), *rows[1:]], 140.0), 140.0)
  assert figure.axes[0].collections


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
  ("lengths", "marks"),
  [
    (range(100, 1100, 10), [128, 256, 512, 1024]),
    (range(100, 111), [100, 110]),
    (range(1030, 1091, 6), [1030, 1090]),
    ([2**power for power in range(3, 20)], [8, 64, 512, 4096, 32768, 262144]),
    ([128, 256, 512], [128, 256, 512]),
    ([128], [128]),
  ],
)
def test_lengths_of_a_text_that_stand_close_are_not_all_marked(
  width: float, lengths: Sequence[int], marks: list[int]
) -> None:
  rows = on_text("rope", "length", "score", {float(length): 5.0 for length in lengths})
  (figure,) = page.pages(curves.perplexity([Row(row, trained_to=str(lengths[0])) for row in rows], width), width)
  check_texts(figure)
  assert list(figure.axes[0].get_xticks()) == marks
  beyond = max(figure.axes[0].get_xlim()) / lengths[-1]
  assert len(lengths) == 1 or beyond <= (lengths[-1] / lengths[0]) ** 0.06, "marks stretch the axis"


def test_windows_of_other_tokens_are_named_in_the_caption() -> None:
  rows = on_text("rope", "length", "score", {128: 5.0, 256: 6.0, 512: 7.0})
  assert "other tokens" not in curves.perplexity(rows, 174).caption
  rows[2] = Row(rows[2], longest_window="512")
  assert "up to 512 and of up to 4096 tokens end with other tokens" in curves.perplexity(rows, 174).caption


def test_infinite_perplexities_are_named_in_the_caption() -> None:
  finite = on_text("rope", "length", "score", {128: 5.0, 256: 6.0})
  assert "Infinite" not in curves.perplexity(finite, 174).caption
  rows = finite + on_text("kerple", "length", "score", {128: 5.0, 256: float("inf")})
  sheet = curves.perplexity(rows, 174)
  assert "Infinite at some lengths, which have no point: kerple." in sheet.caption
  (figure,) = page.pages(sheet, 174)
  assert figure.axes[0].get_ylim()[1] < 10
  rows = on_text("kerple", "length", "score", dict.fromkeys((128, 256), float("inf")))
  (figure,) = page.pages(curves.perplexity(rows, 174), 174)
  check_texts(figure)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMITTED)
def test_figures_fit_their_page_and_their_texts_do_not_meet(
  results: dict[str, pathlib.Path], name: str, width: float, tmp_path: pathlib.Path
) -> None:
  sheets = sheets_of(results[name], width)
  assert len(sheets) >= 3 or set(sheets) == {"learning", "perplexity"}, "of tasks, or of a text"
  for sheet in sheets.values():
    figures = page.pages(sheet, width)
    for figure in figures:
      assert figure.get_figwidth() * 25.4 == pytest.approx(width)
      assert figure.get_figheight() * 25.4 <= page.MAX_HEIGHT + 1e-6
      check_texts(figure)
    for file in page.save(figures, tmp_path, "figure", ["pdf"]):
      sizes = sizes_in_pdf(file.read_bytes())
      assert sizes and min(sizes) >= 7 and max(sizes) <= 9, sizes


@pytest.mark.parametrize("width", WIDTHS)
def test_figures_of_a_bias_fit(committed_bias: bias.Bias, width: float) -> None:
  for sheet in (bias.one_query(committed_bias, 160, width), bias.all_queries(committed_bias, width)):
    for figure in page.pages(sheet, width):
      assert figure.get_figheight() * 25.4 <= page.MAX_HEIGHT + 1e-6
      check_texts(figure)


def test_each_layer_of_a_bias_has_one_colour_bar_a_page(committed_bias: bias.Bias) -> None:
  for width, bars in ((140.0, 2), (60.0, 2)):
    figures = page.pages(bias.all_queries(committed_bias, width), width)
    labels = [axes.get_ylabel() for figure in figures for axes in figure.axes]
    assert labels.count("f (logits)") == bars, width


def test_a_bias_has_the_keys_that_a_query_sees(tmp_path: pathlib.Path) -> None:
  # A decoder, whose first head has a window of two tokens.
  pairs = [(head, query, key) for head in (0, 1) for query in range(4) for key in range(query + 1)]
  pairs = [(head, query, key) for head, query, key in pairs if head == 1 or query - key < 2]
  lines = [f"0,{head},{query},{key},{int(key > 1)},{key - query},0.5,{-query},{-query}" for head, query, key in pairs]
  file = tmp_path / "bias.csv"
  file.write_text("\n".join(["layer,head,query,key,output,distance,logit,bias,adapted", *lines]))
  causal = bias.Bias(file, "title")
  assert causal.output_from == 2
  assert causal.values["bias"][0, 1, 3, 2] == -3
  assert numpy.isnan(causal.values["bias"][0, 1, 2, 3]) and numpy.isnan(causal.values["bias"][0, 0, 2, 0])
  assert "over the keys up to it" in bias.one_query(causal, 2, 140).caption
  for sheet in (bias.one_query(causal, 2, 140), bias.all_queries(causal, 140)):
    for figure in page.pages(sheet, 140):
      check_texts(figure)


def invented_text_bias(folder: pathlib.Path, queries: Iterable[int]) -> bias.Bias:
  """Of a text, two heads: A is 1 and f the key's number."""
  lines = [
    f"0,{head},{i},{j},0,{j - i},1,{j - i},{2 * j - i},{j}" for head in (0, 1) for i in queries for j in range(i + 1)
  ]
  file = folder / "bias.csv"
  file.write_text("\n".join(["layer,head,query,key,output,distance,logit,bias,adapted,f", *lines]))
  return bias.Bias(file, "dape_kerple on austen, length 700, window 0, step 5")


def test_the_bias_of_a_long_window_shows_means_over_keys(tmp_path: pathlib.Path) -> None:
  values = invented_text_bias(tmp_path, [699])
  assert list(values.queries) == [699] and not values.has_output
  sheet = bias.one_query(values, 699, 140, 128)
  (figure,) = page.pages(sheet, 140)
  check_texts(figure)
  assert [entry.get_label() for entry in sheet.legend][-1] == "distances in training"
  assert "A point is the mean over 3 keys." in sheet.caption and "output" not in sheet.caption
  axes = figure.axes[0]
  (line,) = (line for line in axes.lines if line.get_color() == bias.LINES["f"]["color"])
  points = numpy.asarray(line.get_xydata())
  assert len(points) == 234 and points[:2].tolist() == [[1, 1], [4, 4]]
  assert points[-1].tolist() == [699, 699], "the last point is of one key"
  shaded = axes.patches[0].get_window_extent().transformed(axes.transData.inverted())
  assert (shaded.x0, shaded.x1) == pytest.approx((571.5, 699.5))


def test_the_bias_of_a_short_window_has_a_map_without_output(tmp_path: pathlib.Path) -> None:
  values = invented_text_bias(tmp_path, range(20))
  sheets = bias.one_query(values, 7, 140, 128), bias.all_queries(values, 140)
  assert all("output" not in sheet.caption for sheet in sheets)
  for sheet in sheets:
    check_texts(page.pages(sheet, 140)[0])
  (figure,) = page.pages(sheets[0], 140)
  assert numpy.asarray(figure.axes[0].lines[-1].get_xydata()).tolist() == [[i, i] for i in range(8)]


def test_captions_ask_a_question_and_have_short_sentences(results: dict[str, pathlib.Path]) -> None:
  for folder in results.values():
    for name, sheet in sheets_of(folder, 140).items():
      sentences = re.findall(r"\S.*?[.?](?=\s|$)", sheet.caption)
      assert sentences[0].endswith("?") and 3 <= len(sentences) <= 6, (name, sheet.caption)
      assert max(len(sentence.split()) for sentence in sentences) <= 30, (name, sheet.caption)


def test_every_page_can_be_read_alone(results: dict[str, pathlib.Path]) -> None:
  for name, sheet in sheets_of(results["small"], 85).items():
    figures = page.pages(sheet, 85)
    for number, figure in enumerate(figures, 1):
      texts = " ".join(re.sub(r"\s", " ", text.get_text()) for text in shown_texts(figure))
      assert sheet.caption in texts, name
      assert (f"Page {number} of {len(figures)}." in texts) == (len(figures) > 1), name
      assert all(str(entry.get_label()) in texts for entry in sheet.legend), name
      assert name != "map" or "best trivial baseline" in texts
      assert (
        name not in ("accuracy", "learning") or {"accuracy": "test length", "learning": "training step"}[name] in texts
      )


def test_without_common_test_samples_no_baseline_is_named() -> None:
  shared = {"aggregate": "max", "runs": "1", "paper": "", "chance": "0.5", "permutation_invariant": "no"}
  rows = [invented_row("t", name, score="0.5", baseline="", trained="yes", **shared) for name in "ab"]
  sheet = scores.score_map(rows, 140)
  assert "It goes from guessing where columns have no baseline in common: t." in sheet.caption
  (figure,) = page.pages(sheet, 140)
  assert "guessing" in {label.get_text() for axes in figure.axes for label in axes.get_xticklabels()}
  cell = next(patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle))
  assert cell.get_facecolor() == scores.SCALE(0.0)
  run = {"at_baseline": "no", "seed": "0", "learning_rate": "0.001", "median": "0.5", "baseline": "", "chance": "0.5"}
  rows = [invented_row("t", "a", run=str(i), score="0.5", trained="yes", **run) for i in range(2)]
  assert "best trivial baseline" not in [entry.get_label() for entry in scores.runs(rows, 140).legend]


def test_an_unfinished_experiment_says_how_much_is_there() -> None:
  shared = {"aggregate": "max", "runs": "1", "paper": "", "baseline": "0.5", "permutation_invariant": "no"}
  counts = {"finished_runs": "3", "all_runs": "4", "score": "0.75", "trained": "yes"}
  rows = [invented_row("t", name, unfinished=str(i), **shared, **counts) for i, name in enumerate("ab")]
  sheet = scores.score_map(rows, 140)
  assert sheet.caption.endswith("to 100 %. Unfinished: 3 of 4 stored runs are in this figure.")
  assert [entry.get_label() for entry in sheet.legend] == ["some runs are unfinished"]
  (figure,) = page.pages(sheet, 140)
  assert [isinstance(patch, Polygon) for patch in figure.axes[0].patches].count(True) == 1


def test_a_caption_says_what_was_chosen() -> None:
  choice = {"score_lengths": "95:500", "only": "seed=0 and task=t", "skip": "encoding=rope", "select": "training"}
  caption = caption_of([invented_row("t", "a", score="0.5", **choice)], "What is shown?", "")
  assert caption == (
    "What is shown? Scores count the test lengths 95:500 alone. Only runs with seed=0 and task=t are shown. "
    "Runs with encoding=rope are left out. Cells of che's models have the runs of one learning rate, chosen by "
    "--select training."
  )


def test_a_legend_has_every_name() -> None:
  figure = page.new_figure(140, 60)
  names = ["rope", "_Gate", "a_b"]
  page.add_legend(figure, [style.handle(name) for name in names])
  (legend,) = figure.legends
  assert [text.get_text() for text in legend.get_texts()] == names


def test_names_are_no_formulas() -> None:
  row = Row(label="'=mine", encoding="a $x$ b")
  assert (row.text("label"), row.text("encoding")) == ("=mine", r"a \$x\$ b")


def test_settings_are_named_in_words() -> None:
  keys = ("encoding.dape.hidden", "model.width", "training.batch_size", "learning_rate")
  words = ["hidden units of DAPE", "width of the model", "batch size of the training", "learning rate"]
  assert [curves.setting_words(key) for key in keys] == words


def test_che_plot_draws_what_has_data(results: dict[str, pathlib.Path]) -> None:
  drawn = {name: {file.stem.split("-")[0] for file in folder.glob("*.svg")} for name, folder in results.items()}
  assert drawn["claims"] == {"accuracy", "differences", "map", "runs", "learning"}
  assert drawn["small_hidden"] == {"accuracy", "map", "learning", "effects"}


def test_lines_have_the_numbers_of_the_data(results: dict[str, pathlib.Path]) -> None:
  rows = [row for row in read_rows(results["claims"] / "figure-data/accuracy.csv") if row.text("task") == "even_pairs"]
  (figure,) = page.pages(curves.accuracy(rows, 140), 140)
  drawn = {
    tuple(float(y) for y in numpy.round(numpy.asarray(line.get_ydata(), float), 6))
    for axes in figure.axes
    for line in axes.lines
  }
  for encoding in {row.text("encoding") for row in rows}:
    line = tuple(round(100 * row.number("accuracy"), 6) for row in rows if row.text("encoding") == encoding)
    assert line in drawn, encoding


def test_lengths_beyond_the_score_are_marked(results: dict[str, pathlib.Path]) -> None:
  rows = read_rows(results["claims"] / "figure-data/accuracy.csv")
  assert not curves.ends_of_score(rows)
  beyond = [Row(row, scored_from="47", scored_to="149") for row in rows]
  assert curves.ends_of_score(beyond) == {"last": {149}}
  trained = [Row(row, trained_from="1", trained_to=str(4 + 16 * (i % 2))) for i, row in enumerate(rows)]
  assert curves.common_training_lengths(trained) == (1, 4)
  assert "training lengths of all lines" in [entry.get_label() for entry in curves.accuracy(trained, 140).legend]
  apart = [Row(row, trained_from=str(1 + 16 * (i % 2))) for i, row in enumerate(trained)]
  assert not any("training" in str(entry.get_label()) for entry in curves.accuracy(apart, 140).legend)
  assert "last scored length" in [entry.get_label() for entry in curves.accuracy(beyond, 140).legend]


def test_the_same_data_give_the_same_bytes(results: dict[str, pathlib.Path], tmp_path: pathlib.Path) -> None:
  contents = []
  for run in ("one", "two"):
    folder = tmp_path / run
    folder.mkdir()
    for stem, sheet in sheets_of(results["claims"], 140).items():
      page.save(page.pages(sheet, 140), folder, stem, ["svg", "pdf", "png"])
    contents.append({file.name: file.read_bytes() for file in sorted(folder.iterdir())})
  assert len(contents[0]) == 15
  assert contents[0] == contents[1]
  assert not [name for name, content in contents[0].items() if b"Matplotlib v" in content or b"<dc:date>" in content]


def test_fonts_are_embedded(results: dict[str, pathlib.Path], tmp_path: pathlib.Path) -> None:
  sheet = sheets_of(results["quick"], 140)["map"]
  svg, pdf = page.save(page.pages(sheet, 140), tmp_path, "map", ["svg", "pdf"])
  assert "<text" not in svg.read_text(encoding="utf-8"), "letters are outlines"
  assert b"/FontFile2" in pdf.read_bytes()


def test_colours_can_be_told_from_white(results: dict[str, pathlib.Path]) -> None:
  for colour in style.COLOURS:
    assert style.contrast(colour) >= 3, colour
  for places in (3, 5, 9):
    for place in range(places):
      assert style.contrast(style.sequential(place, places)) >= 3
  for folder in results.values():
    for row_style in style.styles_of(all_rows(folder)).values():
      assert style.contrast(row_style.colour) >= 3, row_style


def test_columns_differ_without_colour_and_many_families_have_looks_of_their_own(
  results: dict[str, pathlib.Path],
) -> None:
  for name, folder in results.items():
    styles = list(style.styles_of(all_rows(folder)).values())
    assert len({(one.shape, one.dape, one.randomized) for one in styles}) == len(styles), name
  assert len({style.look(place) for place in range(81)}) == 81
  many = [
    Row(
      {
        "encoding": f"rope (kind={i})",
        "label": f"rope kind={i}",
        "family": "rope",
        "positions": "",
        "dape": "no",
        "value": "",
      }
    )
    for i in range(100)
  ]
  assert len(style.styles_of(many)) == 100
  solid = {"contiguous": False, "equal_mean": False, "randomized": True, "randomized_real": True, "": True}
  assert {name: style.is_solid(Row({"positions": name})) for name in solid} == solid


def test_p_is_shown_only_beside_an_interval() -> None:
  assert scores.p_text(Row({"p_holm": "1", "low": ""})) == ""
  assert scores.p_text(Row({"p_holm": "0.0078125", "low": "0.1"})) == "p = .008"
  assert scores.p_text(Row({"p_holm": "0.0001", "low": "0.1"})) == "p < .001"


def test_a_side_that_mostly_did_not_train_is_marked() -> None:
  row = {"one_runs": "30", "one_untrained": "0", "other_runs": "10", "other_untrained": "6"}
  assert not scores.trained(Row(row))
  assert scores.trained(Row(row | {"one_untrained": "15", "other_untrained": "5"}))


def test_repetitions_of_a_model_outside_che_are_called_unpaired() -> None:
  pairs = Row({"pairs": "10", "other_seeds": ""})
  assert scores.repetitions([pairs]) == "10 paired repetitions"
  others = Row({"pairs": "4", "other_seeds": "6"})
  assert scores.repetitions([pairs, others]) == (
    "10 paired repetitions, and 4 against 6 repetitions, which are in no pairs"
  )
  assert scores.repetitions([others]) == "4 against 6 repetitions, which are in no pairs"


def test_a_line_of_chance_needs_one() -> None:
  axes = Figure().subplots()
  rows = [Row({"length": length, "chance": chance}) for length, chance in [("3", ""), ("3", "0.625"), ("2", "0.75")]]
  curves.draw_chance(axes, rows[:1], "length")
  assert not axes.lines
  curves.draw_chance(axes, rows[:2], "length")
  curves.draw_chance(axes, rows, "length")
  flat, sloping = axes.lines
  assert numpy.asarray(flat.get_ydata()).tolist() == [62.5, 62.5]
  assert numpy.asarray(sloping.get_xdata()).tolist() == [2, 3]
  assert numpy.asarray(sloping.get_ydata()).tolist() == [75, 62.5]


def test_numbers_of_a_map_can_be_read_on_every_colour() -> None:
  for shade in [to_hex(scores.SCALE(i / 50)) for i in range(51)] + [scores.UNTRAINED]:
    assert style.contrast(scores.text_colour(shade), shade) >= 4.5, shade


def invented_row(task: str, encoding: str, **fields: str) -> Row:
  return Row(
    {
      "level": "regular", "task": task, "encoding": encoding, "label": encoding, "family": encoding, "value": "",
      "positions": "contiguous", "dape": "no", "finished_runs": "2", "all_runs": "2", "unfinished": "0",
      "score_lengths": "", "only": "", "skip": "", "select": "", **fields,
    }
  )  # fmt: skip


def test_axes_hold_all_points_and_ranges() -> None:
  place = {"setting": "learning_rate", "runs": "2", "aggregate": "mean", "value": "", "without_dape": ""}
  rows = [
    invented_row("t", "rope", setting_value=rate, step=step, score="0.8", loss="0.7", low="0.5", high="1.9",
                 baseline="0.6", **place)
    for rate, step in (("1", "1"), ("2", "10"), ("3", "20"))
  ]  # fmt: skip
  for sheet, column in ((curves.effects(rows, 140), "setting_value"), (curves.learning(rows, 140), "step")):
    (figure,) = page.pages(sheet, 140)
    first, last = figure.axes[0].get_xlim()
    assert first < min(known(rows, column)) and max(known(rows, column)) < last
  assert figure.axes[0].get_ylim()[1] > 1.9, "a loss"


def test_any_number_of_encodings_and_tasks_has_room() -> None:
  names = [f"randomized_dape_encoding_{i}" for i in range(40)]
  shared = {"aggregate": "max", "runs": "1", "paper": "", "baseline": "0.5", "permutation_invariant": "no"}
  rows = [
    invented_row(f"task_{task}", name, score="0.75", trained="yes", **shared) for task in range(30) for name in names
  ]
  figures = page.pages(scores.score_map(rows, 140), 140)
  assert len(figures) > 1
  for figure in figures:
    assert figure.get_figheight() * 25.4 <= page.MAX_HEIGHT + 1e-6
    check_texts(figure)


def test_settings_of_one_encoding_have_colours_of_their_own_and_names() -> None:
  rows = [
    invented_row("t", f"alibi{i}", label=f"alibi hidden={i}", family="alibi", value=str(i)) for i in (64, 4, 8, 16, 32)
  ]
  styles = list(style.styles_of(rows).values())
  assert [one.label for one in styles] == [f"alibi hidden={i}" for i in (4, 8, 16, 32, 64)]
  assert len({one.colour for one in styles}) == 5


def test_old_pages_are_named(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
  for name in ("map.svg", "map-2.svg", "map-2.png", "learning.svg"):
    (tmp_path / name).write_text("old")
  figures = [page.new_figure(85, 20) for _ in range(3)]
  page.save(figures, tmp_path, "map", ["svg"])
  assert [line.split(": ")[0] for line in capsys.readouterr().err.splitlines()] == [str(tmp_path / "map.svg")]
  page.save(figures[:2], tmp_path, "map", ["svg"])
  others = [str(tmp_path / name) for name in ("map-3.svg", "map.svg")]
  assert [line.split(": ")[0] for line in capsys.readouterr().err.splitlines()] == others
  assert (tmp_path / "map.svg").read_text() == (tmp_path / "map-2.png").read_text() == "old"


def test_what_a_killed_drawing_left_is_written_over(tmp_path: pathlib.Path) -> None:
  whole = page.save([page.new_figure(85, 20)], tmp_path, "whole", ["svg"])[0].read_bytes()
  (tmp_path / ".map.svg.tmp").write_text("half of a longer file" * len(whole))
  assert page.save([page.new_figure(85, 20)], tmp_path, "map", ["svg"])[0].read_bytes() == whole
  assert sorted(file.name for file in tmp_path.iterdir()) == ["map.svg", "whole.svg"]


def test_figures_can_be_drawn_by_several_processes_at_once(tmp_path: pathlib.Path) -> None:
  code = "from che_plots import page; import pathlib, sys\n" \
    "for _ in range(20): page.save([page.new_figure(85, 20)], pathlib.Path(sys.argv[1]), 'map', ['svg'])"  # fmt: skip
  environment = {**os.environ, "PYTHONPATH": str(SOURCE / "plots")}
  drawings = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], env=environment) for _ in range(3)]
  assert [drawing.wait() for drawing in drawings] == [0, 0, 0]
  assert [file.name for file in tmp_path.iterdir()] == ["map.svg"]


def draw(*arguments: str, python: str = sys.executable, **environment: str) -> subprocess.CompletedProcess[str]:
  return subprocess.run(
    [python, "-m", "che_plots", *arguments], capture_output=True, text=True, check=False,
    env={**os.environ, "PYTHONPATH": str(SOURCE / "plots"), **environment},
  )  # fmt: skip


def test_the_package_draws_from_the_files_alone(results: dict[str, pathlib.Path]) -> None:
  folder = results["quick"]
  ran = draw("--figure", "map", "learning", "--format", "svg", "--", str(folder))
  assert ran.stdout.split() == [str(folder / "map.svg"), str(folder / "learning.svg")], ran.stderr
  assert draw("--figure", "effects", "--", str(folder)).returncode == 1
  assert "choose from" in draw("--figure", "pie", "--", str(folder)).stderr


def test_without_matplotlib_one_line_says_what_to_do(tmp_path: pathlib.Path) -> None:
  (tmp_path / "matplotlib.py").write_text("raise ImportError")
  ran = draw(str(tmp_path), PYTHONPATH=f"{tmp_path}:{SOURCE / 'plots'}")
  assert ran.returncode == 1
  assert re.fullmatch(r"matplotlib is missing; install it \(Debian: .*\)\n", ran.stderr), ran.stderr


@pytest.mark.skipif(sys.prefix != "/usr", reason="only Debian's Python is known to have matplotlib")
def test_a_python_without_matplotlib_goes_on_in_debians(
  results: dict[str, pathlib.Path], tmp_path: pathlib.Path
) -> None:
  subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
  folder = results["quick"]
  ran = draw("--figure", "map", "--format", "svg", "--", str(folder), python=str(tmp_path / "bare/bin/python3"))
  assert ran.stdout.split() == [str(folder / "map.svg")], ran.stderr


def test_the_example_draws_a_figure(results: dict[str, pathlib.Path], tmp_path: pathlib.Path) -> None:
  output = tmp_path / "figure.pdf"
  example = [sys.executable, str(SOURCE / "examples/figure.py"), str(results["quick"]), "even_pairs", str(output)]
  subprocess.run(example, check=True, env={**os.environ, "MPLBACKEND": "agg"})
  assert output.read_bytes().startswith(b"%PDF-")
