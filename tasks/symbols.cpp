#include "tasks/symbols.h"

#include <fmt/format.h>

#include "core/error.h"

namespace che {
namespace {

// Every printable character of Latin-1 but the space, letters and digits first.
std::string all_symbols() {
  std::string symbols;
  const auto add = [&](unsigned first, unsigned last) {
    for (unsigned c = first; c <= last; ++c) {
      const char symbol = static_cast<char>(c);
      if (symbols.find(symbol) == std::string::npos) symbols += symbol;
    }
  };
  add('0', '9');
  add('a', 'z');
  add('A', 'Z');
  add('!', '~');
  add(0xA1, 0xAC);
  add(0xAE, 0xFF);  // 0xAD, the soft hyphen, is invisible.
  return symbols;
}

}  // namespace

std::string default_symbols(std::size_t count) {
  static const std::string all = all_symbols();
  if (count > all.size()) throw Error("more symbols than there are names", ErrorKind::kRuntime);
  return all.substr(0, count);
}

std::string shown_symbols(std::string_view symbols) {
  std::string shown;
  shown.reserve(symbols.size());
  for (const char symbol : symbols) {
    const auto byte = static_cast<unsigned char>(symbol);
    if (byte < 0x80) {
      shown += symbol;
    } else {
      shown += static_cast<char>(0xC0 | (byte >> 6));
      shown += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return shown;
}

std::string text_form(const Task& task, std::span<const std::uint8_t> input,
                      std::span<const std::uint8_t> output, std::span<const std::uint8_t> mask) {
  std::string text;
  text.reserve(input.size() + output.size() + 4);
  for (const std::uint8_t symbol : input) text += shown_symbols(task.input_symbols().substr(symbol, 1));
  text += " -> ";
  for (std::size_t i = 0; i < output.size() && mask[i] == 1; ++i)
    text += shown_symbols(task.output_symbols().substr(output[i], 1));
  return text;
}

std::string text_form(const Task& task, const Batch& batch, std::int64_t row) {
  const auto input_length = static_cast<std::size_t>(batch.input_length);
  const auto output_length = static_cast<std::size_t>(batch.output_length);
  const auto index = static_cast<std::size_t>(row);
  return text_form(task, std::span(batch.input).subspan(index * input_length, input_length),
                   std::span(batch.output).subspan(index * output_length, output_length),
                   std::span(batch.mask).subspan(index * output_length, output_length));
}

std::string json_members(const Batch& batch, std::int64_t row) {
  const auto array = [row](const std::vector<std::uint8_t>& rows, std::int64_t width) {
    const auto begin = rows.begin() + row * width;
    return fmt::join(begin, begin + width, ",");
  };
  return fmt::format(R"("input":[{}],"output":[{}],"mask":[{}])", array(batch.input, batch.input_length),
                     array(batch.output, batch.output_length), array(batch.mask, batch.output_length));
}

}  // namespace che
