#include "dataset/field_list.hpp"

#include <feedline/error.hpp>

#include <string>

namespace feedline::detail {

std::vector<std::size_t> checked_row_bytes(std::string_view who, std::span<const field> fields) {
  if (fields.empty()) throw usage_error{std::string{who} + ": a dataset needs at least one field"};
  std::vector<std::size_t> row_bytes;
  std::size_t total = 0;
  row_bytes.reserve(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      if (fields[j].name == fields[i].name)
        throw usage_error{std::string{who} + ": fields " + std::to_string(j) + " and " +
                          std::to_string(i) + " are both named '" + fields[i].name +
                          "'; a batch finds a field by its name"};
    row_bytes.push_back(sample_bytes(fields[i]));
    if (__builtin_add_overflow(total, row_bytes.back(), &total))
      throw usage_error{std::string{who} +
                        ": the bytes of a sample's fields do not fit in 64 bits"};
  }
  return row_bytes;
}

}  // namespace feedline::detail
