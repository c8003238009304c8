#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/config/fields.h"
#include "texts/windows.h"

namespace che {

// Which predictions of an evaluation count: the last `last` of each window; all of them; or the last `stride`
// of windows that end every `stride` tokens.
enum class TextProtocol : std::uint8_t { kLast, kFull, kSliding };
// See aligned_windows() and packed_windows().
enum class WindowChoice : std::uint8_t { kAligned, kPacked };

// Which text a run models, in place of a task.
struct TextConfig {
  std::string corpus;  // The name of one that comes with che, or the folder of another; empty: a task.
  std::string name;    // The corpus' own.
  // CorpusCard::hash() of its contents, which are part of a run's identity; the folder is not.
  std::string hash;
  DocumentUse documents = DocumentUse::kPacked;

  bool is_set() const { return !corpus.empty(); }

  // From a corpus' name or folder, whose card is read; an empty string gives the defaults. Throws Error
  // (usage) where there is no such corpus.
  void reset(std::string_view name_or_folder);
  void visit_fields(FieldVisitor& visit);

 private:
  void read_card(std::string_view name_or_folder);
};

// These fields of `evaluation` exist for texts only.
struct TextEvaluation {
  TextPart part = TextPart::kTest;
  TextProtocol protocol = TextProtocol::kLast;
  std::int64_t last = 256;
  std::int64_t stride = 256;
  WindowChoice windows = WindowChoice::kAligned;
  std::int64_t longest = 0;  // 0: the longest test length.
  bool curve = false;        // Whether the loss at each position of the longest length is stored.

  void visit_fields(FieldVisitor& visit);
  // Returns that of a setting which the protocol or the choice of windows does not read.
  std::optional<ConfigProblem> idle_setting() const;
};

}  // namespace che
