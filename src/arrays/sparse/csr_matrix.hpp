#pragma once

#include <feedline/arrays/csr.hpp>
#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/index.hpp>

#include "arrays/box_list.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace feedline::detail {

/// A sparse matrix by rows, whose beginnings of rows are in memory. Any number of threads.
class csr_matrix {
 public:
  /// @param begins Where rows begin in the data; one more than rows.
  csr_matrix(field spec, csr_arrays arrays, std::vector<std::uint64_t> begins)
      : spec_{std::move(spec)}, arrays_{std::move(arrays)}, begins_{std::move(begins)} {}

  /// A dense row.
  [[nodiscard]] const field& spec() const noexcept { return spec_; }
  [[nodiscard]] const csr_arrays& arrays() const noexcept { return arrays_; }
  [[nodiscard]] std::uint64_t rows() const noexcept { return begins_.size() - 1; }
  [[nodiscard]] std::uint64_t values() const noexcept { return begins_.back(); }
  [[nodiscard]] sparse_types types() const noexcept {
    return {spec_.type, static_cast<std::uint32_t>(size_bytes(arrays_.indices->spec().type))};
  }
  /// Index of a row's first value.
  [[nodiscard]] std::uint64_t begin_of(sample_index row) const noexcept {
    return begins_[row.value];
  }
  [[nodiscard]] std::uint64_t count_of(sample_index row) const noexcept {
    return begins_[row.value + 1] - begins_[row.value];
  }
  /// The most values of a row.
  [[nodiscard]] std::uint64_t max_count() const noexcept {
    std::uint64_t most = 0;
    for (std::uint64_t row = 0; row < rows(); ++row)
      most = std::max(most, count_of(sample_index{row}));
    return most;
  }

  /// Adds the box of a row's elements, if there are any. @param out Where they are read to.
  void add_box(sample_index row, std::size_t element_bytes, std::byte* out, box_list& boxes) const {
    const std::uint64_t count = count_of(row);
    const box_list::axis axis{begin_of(row), count, 1, static_cast<std::ptrdiff_t>(element_bytes)};
    if (count != 0) boxes.add({&axis, 1}, out);
  }

 private:
  field spec_;
  csr_arrays arrays_;
  std::vector<std::uint64_t> begins_;
};

}  // namespace feedline::detail
