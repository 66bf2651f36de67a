#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/ragged/dataset.hpp>

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// What stands where a sample has no elements: a number, in the field's type; or the bytes of one
/// element, or of one number of it.
using padding_value = std::variant<std::int64_t, double, std::vector<std::byte>>;

/// What becomes of a sample that is longer than it may be.
enum class pad_longer : std::uint8_t {
  error,     ///< a dataset_error when the dataset is made
  truncate,  ///< its first elements are taken
};

/// How `pad` is to go about it.
struct pad_options {
  std::uint64_t length = 0;  ///< elements of each sample; 0: as many as the longest has
  padding_value value = std::int64_t{0};
  pad_longer longer = pad_longer::error;
};

/// Every sample with the same number of elements, L, as a dataset of two fields: NAME, [L, …], and
/// NAME_length, an i32: how many of these are the sample's own, so L for one that was cut.
///
///     using enum feedline::pad_longer;
///     auto texts = feedline::pad(tokens, {.length = 512, .longer = truncate});
///
/// Elements are read to where they lie in the batch; a run of samples takes 40 bytes each besides.
/// Where most samples are much shorter than the longest, most of a batch is padding:
/// `bucket_by_length` lets the computation stop at a batch's longest sample, `pack` has little
/// padding to begin with.
/// @throws usage_error if the dataset is null, L is 0 or more than 2^31 - 1, or the padding is no
///         value of the field's type; dataset_error naming the first sample that is longer, and its
///         length.
[[nodiscard]] dataset_ptr pad(ragged_dataset_ptr of, const pad_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
