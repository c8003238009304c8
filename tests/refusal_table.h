#pragma once

#include <gtest/gtest.h>

#include <boost/algorithm/string/replace.hpp>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "tests/golden_file.h"

namespace che {

// Text of a table's line: \n, \t and \xHH as the bytes that they mean, a backslash before any other character
// as that character.
inline std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      result += text[i];
      continue;
    }
    ++i;
    switch (text.at(i)) {
      case 'n':
        result += '\n';
        break;
      case 't':
        result += '\t';
        break;
      case 'x':
        result += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
        break;
      default:
        result += text[i];
    }
  }
  return result;
}

// The message of the Error that `action` throws, with `name` in place of `path`; "accepted" when it throws
// none.
template <class Action>
std::string refusal_of(const Action& action, const std::string& path, const std::string& name) {
  try {
    action();
  } catch (const Error& error) {
    std::string message = boost::replace_all_copy(std::string(error.what()), path, name);
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << message << ": exit code 2 is for what a user wrote";
    EXPECT_EQ(message.find('\n'), std::string::npos) << "more than one line: " << message;
    return message;
  }
  return "accepted";
}

// Expects of every case in `file`, one per line, the message on the indented line below it: what `outcome`
// returns for the case, "accepted" where it is not refused. Returns the messages of the refused cases. Writes
// the messages into the file if updates_golden().
inline std::vector<std::string> check_refusal_table(
    const std::string& file, const std::function<std::string(const std::string&)>& outcome) {
  std::ifstream stream(file);
  EXPECT_TRUE(stream) << "cannot read " << file;
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  const bool is_update = !lines.empty() && updates_golden();
  std::string updated;
  std::vector<std::string> refusals;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.starts_with("    ")) continue;  // The message of the line above.
    updated += line + "\n";
    if (line.empty() || line[0] == '#') continue;
    const std::string message = outcome(line);
    const bool has_message = i + 1 < lines.size() && lines[i + 1].starts_with("    ");
    const std::string expected = has_message ? lines[i + 1].substr(4) : "";
    EXPECT_EQ(is_update ? message : expected, message) << file << ":" << i + 1 << ": " << line;
    updated += "    " + message + "\n";
    if (message != "accepted") refusals.push_back(message);
  }
  if (is_update) {
    std::ofstream(file) << updated;
    std::cout << "rewrote " << file << '\n';
  }
  return refusals;
}

}  // namespace che
