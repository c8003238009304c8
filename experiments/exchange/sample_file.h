#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/fields.h"
#include "tasks/task.h"

namespace che {

// The first line of a file of test samples, or of predictions for them. Files are JSON lines: this header,
// then one object per sample, by length and index.
struct SampleHeader {
  std::string task = {};
  OptionValues options = {};  // The task's, where they differ from its defaults.
  // The text of a task that a file declares (see TaskDefinition); empty for a built-in one.
  std::string definition = {};
  std::string suite = {};  // Empty where the lengths or samples are not those of a suite.
  std::vector<std::int64_t> lengths = {};
  std::int64_t samples = 0;  // Per length; a multiple of 64.
  std::int64_t seed = 0;     // The config's evaluation.seed.
};

// The task that the header names. Throws Error (usage) for an unknown one and for a definition that is none.
std::unique_ptr<Task> create_task(const SampleHeader& header);

// The version of that task whose samples this program draws. Throws as create_task does.
std::int64_t task_version(const SampleHeader& header);

// The header as the first line of a file of samples, without a line break. Throws as create_task does.
std::string header_line(const SampleHeader& header);

// Writes the test samples of `header` that `che run` and `che evaluate` use, part by part, to `write`:
//   {"format":"che-samples/1","task":...,"task_version":1,...,"input_symbols":"ab",...}
//   {"length":41,"index":0,"input":[...],"output":[...],"mask":[...]}
// A task of a file has its "definition" next to its name. The mask is 1 where accuracy counts the symbol.
// Throws Error (usage) for an unknown task or a bad length.
void write_samples(const SampleHeader& header, const std::function<void(std::string_view)>& write);

// The samples that write_samples writes, in further formats. All throw Error (usage) as write_samples does.

// Writes a file for numpy.load. For each length L it has the uint8 matrices input_L, output_L and mask_L, one
// row per sample. It also has `lengths`, and `header`, the first line of the JSON lines as bytes, which the
// predictions' header repeats.
void write_npz_samples(const SampleHeader& header, const std::function<void(std::string_view)>& write);

// The layout of FLaRe, the benchmark of Butoi et al. (2025, openreview.net/forum?id=aWLQTbfFgV), for its
// programs: one string per line with blanks between its symbols (main.tok), and one label per line, 0 or 1
// (labels.txt). Only for tasks whose answer is one symbol of two.
void check_flare_samples(const SampleHeader& header);  // Throws what the other would.
void write_flare_samples(const SampleHeader& header,
                         const std::function<void(std::string_view)>& write_strings,
                         const std::function<void(std::string_view)>& write_labels);

}  // namespace che
