#include "experiments/learn/metrics.h"

#include <bit>
#include <boost/crc.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "core/files.h"
#include "core/hashes.h"
#include "experiments/store/run_files.h"

namespace che {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

template <class T>
void append_bytes(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Protobuf's wire format (protobuf.dev/programming-guides/encoding).
enum WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void append_varint(std::string& message, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) message += static_cast<char>(value | 0x80);
  message += static_cast<char>(value);
}

void append_key(std::string& message, unsigned field, WireType type) {
  append_varint(message, std::uint64_t{field} << 3 | type);
}

void append_text(std::string& message, unsigned field, std::string_view text) {
  append_key(message, field, kBytes);
  append_varint(message, text.size());
  message += text;
}

// Event: wall_time = 1, step = 2, file_version = 3, summary = 5.
std::string event(double wall_time, std::int64_t step) {
  std::string message;
  append_key(message, 1, kFixed64);
  append_bytes(message, wall_time);
  if (step == 0) return message;  // Protobuf leaves zeros out.
  append_key(message, 2, kVarint);
  append_varint(message, static_cast<std::uint64_t>(step));
  return message;
}

// Summary: value = 1; Summary.Value: tag = 1, simple_value = 2.
void append_scalar(std::string& summary, std::string_view tag, double value) {
  std::string scalar;
  append_text(scalar, 1, tag);
  append_key(scalar, 2, kFixed32);
  append_bytes(scalar, static_cast<float>(value));
  append_text(summary, 1, scalar);
}

std::uint32_t masked_crc(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> castagnoli;
  castagnoli.process_bytes(bytes.data(), bytes.size());
  return std::rotr(static_cast<std::uint32_t>(castagnoli.checksum()), 15) + 0xa282ead8U;
}

void append_record(std::string& file, std::string_view data) {
  std::string length;
  append_bytes(length, static_cast<std::uint64_t>(data.size()));
  file += length;
  append_bytes(file, masked_crc(length));
  file += data;
  append_bytes(file, masked_crc(data));
}

}  // namespace

bool MetricsLog::resume(std::vector<MetricsRow> rows, std::int64_t step, const MetricSums& sums) {
  // A failure has ended a row before its time where the checkpoint has an open one.
  const std::int64_t last = sums.steps > 0 ? step - 1 : step;
  std::erase_if(rows, [&](const MetricsRow& row) { return row.step > last; });
  const bool is_whole = rows.empty() || rows.back().step + static_cast<std::int64_t>(sums.steps) >= step;
  rows_ = is_whole ? std::move(rows) : std::vector<MetricsRow>();
  sums_ = sums;
  return is_whole;
}

void MetricsLog::add(const MetricsRow& measured) {
  ++sums_.steps;
  sums_.loss += measured.loss;
  sums_.accuracy += measured.accuracy;
  sums_.gradient_norm += measured.gradient_norm;
  if (measured.step % log_steps_ == 0 || measured.step == last_step_) {
    end_row(measured.step, measured.seconds);
    rows_.back().validation_loss = measured.validation_loss;
  }
}

void MetricsLog::end_row(std::int64_t step, double seconds) {
  if (sums_.steps == 0) return;
  rows_.push_back({.step = step,
                   .loss = sums_.loss / sums_.steps,
                   .accuracy = sums_.accuracy / sums_.steps,
                   .gradient_norm = sums_.gradient_norm / sums_.steps,
                   .seconds = seconds});
  sums_ = {};
}

std::string tensorboard_events(const std::vector<MetricsRow>& metrics,
                               const std::vector<EvaluationRow>& evaluation, double start) {
  std::string file;
  std::string version = event(start, 0);
  append_text(version, 3, "brain.Event:2");
  append_record(file, version);
  using Scalars = std::vector<std::pair<std::string_view, double>>;
  const auto add = [&](double wall_time, std::int64_t step, const Scalars& scalars) {
    std::string summary;
    for (const auto& [tag, value] : scalars) append_scalar(summary, tag, value);
    std::string message = event(wall_time, step);
    append_text(message, 5, summary);
    append_record(file, message);
  };
  for (const MetricsRow& row : metrics) {
    Scalars scalars{{"training/loss", row.loss},
                    {"training/accuracy", row.accuracy},
                    {"training/gradient_norm", row.gradient_norm}};
    if (row.validation_loss) scalars.emplace_back("validation/loss", *row.validation_loss);
    add(start + row.seconds, row.step, scalars);
  }
  const double end = start + (metrics.empty() ? 0 : metrics.back().seconds);
  for (const EvaluationRow& row : evaluation) {
    add(end, row.length, {{"evaluation/accuracy", row.accuracy}, {"evaluation/loss", row.loss}});
  }
  return file;
}

void write_tensorboard(const RunFolder& run, const std::vector<MetricsRow>& metrics,
                       const std::vector<EvaluationRow>& evaluation, const RunStatus& status) {
  if (!run.config().log.tensorboard) return;
  write_file_atomically(run.path() / kEventsFile,
                        tensorboard_events(metrics, present_rows(evaluation, run.config()),
                                           utc_seconds(status.started).value_or(0)));
}

}  // namespace che
