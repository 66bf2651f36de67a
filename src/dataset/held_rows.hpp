#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// The samples of a dataset where they lie in memory (`dataset::rows`). Constant once made; any
/// thread.
class held_rows {
 public:
  held_rows() = default;
  /// Empty where the dataset has none, or says that its samples differ between epochs.
  /// @throws usage_error unless there is a span for each field, of all samples.
  explicit held_rows(const dataset& dataset);

  [[nodiscard]] bool empty() const noexcept { return fields_.empty(); }
  /// One for each field.
  [[nodiscard]] const std::vector<std::span<const std::byte>>& fields() const noexcept {
    return fields_;
  }

  /// Copies a field of samples into batches that lie at equal distances: in a batch one after the
  /// other.
  /// @param samples All are the dataset's.
  /// @param out     Where the first batch has the field.
  /// @param begin   Index in that batch of the first sample.
  void copy(std::size_t field, std::span<const sample_index> samples, std::byte* out,
            std::uint64_t batch_size, std::size_t batch_bytes, std::uint64_t begin) const noexcept;

 private:
  std::vector<std::span<const std::byte>> fields_;
  std::vector<std::size_t> row_bytes_;
};

}  // namespace feedline::detail
