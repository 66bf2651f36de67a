#pragma once

#include <feedline/dataset/dataset.hpp>

#include "dataset/rows_dataset.hpp"
#include "rows/file_rows.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/memory_file.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace feedline::test {

/// The bytes of `plain_rows_of`.
[[nodiscard]] inline std::vector<std::byte> plain_bytes(std::uint64_t samples,
                                                        std::size_t bytes_a_row) {
  return numbered(samples * (bytes_a_row + 8));
}

/// Uncompressed rows of a file, "x", followed in the file by their labels, "label".
/// @param prefix Prefix of the fields' names.
[[nodiscard]] inline dataset_ptr plain_rows_of(const detail::byte_file_ptr& file,
                                               std::uint64_t samples, std::size_t bytes_a_row,
                                               const std::string& prefix = "") {
  const auto rows_at = [&](std::uint64_t offset, std::size_t bytes) {
    return std::make_shared<const detail::file_rows>(
        file, prefix, detail::row_place{.offset = offset, .stride = bytes, .row_bytes = bytes},
        samples);
  };
  std::vector<detail::rows_field> fields;
  fields.push_back({{prefix + "x", element_type::u8, {bytes_a_row}}, rows_at(0, bytes_a_row)});
  fields.push_back({{prefix + "label", element_type::i64, {}}, rows_at(samples * bytes_a_row, 8)});
  return detail::make_rows_dataset("test", std::move(fields));
}

/// The same in a file that lies in memory.
[[nodiscard]] inline dataset_ptr make_plain_rows(std::uint64_t samples, std::size_t bytes_a_row,
                                                 const std::string& prefix = "") {
  return plain_rows_of(memory_file(plain_bytes(samples, bytes_a_row)), samples, bytes_a_row,
                       prefix);
}

}  // namespace feedline::test
