#pragma once

#include <feedline/dataset/class_names.hpp>
#include <feedline/formats/columns.hpp>

#include "formats/table/column_survey.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace feedline::detail {

/// Finds the class of a text.
class label_index {
 public:
  /// @param names Must exist as long. @throws usage_error if a name occurs twice, or there are more
  /// than the type counts.
  label_index(const std::string& column, const class_names& names, element_type type);

  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view text) const;
  /// "'cow' is not one of 3 classes (cat, dog, owl; …)".
  [[nodiscard]] std::string not_found(std::string_view text) const;

 private:
  class_names names_;
  std::unordered_map<std::string_view, std::uint64_t> places_;
};

/// The names of classes that a file has, one on each line.
/// @throws dataset_error if it cannot be read or has no name.
[[nodiscard]] std::vector<std::string> read_class_names(const std::string& path);

/// Sets the names of the classes of all fields of labels: those that were given, or all that
/// records have.
/// @throws dataset_error if more than a million names are learnt.
void name_classes(table_plan& plan, const line_values& records, const table_parser& by);

}  // namespace feedline::detail
