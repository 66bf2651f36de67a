#pragma once

#include "programs/doctor/examine.hpp"

#include <string>
#include <utility>
#include <vector>

namespace doctor {

/// Names of JSON members, and their values as JSON.
using json_members = std::vector<std::pair<std::string, std::string>>;

/// A fact of the report, told once in words and once in JSON.
struct fact {
  std::string label;
  std::string words;            ///< empty: it is told in JSON only
  json_members members;         ///< empty: it is told in words only
  bool is_one_of_many = false;  ///< after 50 of these in a section, words only count the others
};

/// Facts that belong together.
struct section {
  enum class in_json { one_object, list_of_facts, item_of_list };

  std::string name;   ///< JSON member; empty: the facts are members of the whole
  std::string title;  ///< in words; empty: only in JSON
  in_json kind = in_json::one_object;
  std::vector<fact> facts = {};
};

/// The content of a file: the first section of the report, even if nothing can be opened.
[[nodiscard]] section content_section(const content& found);

/// All sections after the content. @param asked The command line.
[[nodiscard]] std::vector<section> sections_of(const request& asked, const examination& made);

/// Human-readable text. Long lists are cut after their beginning, with the number of further items.
[[nodiscard]] std::string words_of(const std::vector<section>& sections);

/// One object of JSON (RFC 8259), followed by a newline: times in nanoseconds, sizes in bytes,
/// rates a second. Members may be added by later versions.
[[nodiscard]] std::string json_of(const std::vector<section>& sections);

}  // namespace doctor
