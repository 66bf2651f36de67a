#pragma once

#include "formats/table/table_value.hpp"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace feedline::detail {

/// The keys of a table of objects: a tree, whose leaves are columns.
struct json_keys {
  static constexpr std::size_t no_column = ~std::size_t{0};

  struct node {
    std::string name = {};  ///< with those of the objects that it is in: "a.b"
    std::size_t column = no_column;
    /// Names and indices into `nodes`, as they came.
    std::vector<std::pair<std::string, std::size_t>> in_order = {};
    std::unordered_map<std::string, std::size_t> members = {};  ///< indices into `in_order`
  };

  std::vector<node> nodes = {node{}};     ///< the first is the record
  std::vector<std::string> columns = {};  ///< names
  std::unordered_set<std::string> names = {};
};

/// Parses lines, and adds the keys that it finds. One thread at a time.
[[nodiscard]] table_parser_ptr make_json_survey_parser(json_keys& keys);
/// Parses lines, and ignores other keys.
[[nodiscard]] table_parser_ptr make_json_parser(json_keys keys);

}  // namespace feedline::detail
