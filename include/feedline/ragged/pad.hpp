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

/// Value of the padding: a number, converted to the field's type; or the bytes of one element,
/// or of one number of an element.
using padding_value = std::variant<std::int64_t, double, std::vector<std::byte>>;

/// Handling of a sample that is longer than the limit.
enum class pad_longer : std::uint8_t {
  error,     ///< dataset_error when the dataset is created
  truncate,  ///< only its first elements are used
};

/// Options for `pad`.
struct pad_options {
  std::uint64_t length = 0;  ///< elements of each sample; 0: the length of the longest sample
  padding_value value = std::int64_t{0};
  pad_longer longer = pad_longer::error;
};

/// Pads every sample to the same number of elements, L. The result is a dataset of two fields:
/// NAME, [L, …], and NAME_length, an i32: the number of elements that belong to the sample, so L
/// for a truncated one.
///
///     using enum feedline::pad_longer;
///     auto texts = feedline::pad(tokens, {.length = 512, .longer = truncate});
///
/// Elements are read directly to their position in the batch; a read takes another 40 bytes for
/// each sample. If most samples are much shorter than the longest, most of a batch is padding. With
/// `bucket_by_length` the computation can stop at a batch's longest sample; `pack` avoids most
/// padding.
/// @throws usage_error if the dataset is null, L is 0 or more than 2^31 - 1, or the padding is not
/// a value of the field's type; dataset_error naming the first sample that is longer, and its
/// length.
[[nodiscard]] dataset_ptr pad(ragged_dataset_ptr of, const pad_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
