#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace feedline::detail {

/// The rows that samples are packed into. Row r has the parts starts[r] to starts[r + 1] - 1.
struct pack_plan {
  std::vector<std::uint64_t> starts{0};
  std::vector<std::uint64_t> samples;  ///< the sample of each part
  std::vector<std::uint64_t> firsts;   ///< first element of each part; empty: all begin at 0
  std::uint64_t fullest = 0;           ///< most parts of a row
};

/// The input of `make_pack_plan`.
struct pack_lengths {
  std::uint64_t samples = 0;
  std::vector<std::uint64_t> capacity;  ///< one for each field
  /// Number of elements of a field of a sample. At most the field's capacity, unless `is_split`.
  std::function<std::uint64_t(std::size_t field, std::uint64_t sample)> length;
  /// Whether a sample, whose fields are of equal length, is split.
  std::function<bool(std::uint64_t sample)> is_split;
  std::uint64_t window = 1;
  std::uint64_t max_samples = 1;           ///< most parts of a row
  std::optional<std::uint64_t> seed = {};  ///< seed of the order of samples; empty: their own
};

/// Best fit decreasing within windows of the order.
/// @throws usage_error if there is no memory for the rows of a sample that is split.
[[nodiscard]] pack_plan make_pack_plan(const pack_lengths& of);

}  // namespace feedline::detail
