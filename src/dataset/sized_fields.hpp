#pragma once

#include <feedline/dataset/batch_sizes.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/field.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace feedline::detail {

/// Index of the height in the shape of a field of images; the width follows it.
[[nodiscard]] inline std::size_t height_extent(const field& of) noexcept {
  const bool is_after_channels =
      of.by_batch && of.by_batch->layout == image_layout::chw && of.shape.size() == 3;
  return is_after_channels ? 1 : 0;
}

/// The largest height and width of a field of images whose size differs from batch to batch.
[[nodiscard]] inline image_size largest_size(const field& of) noexcept {
  const std::size_t height = height_extent(of);
  return {static_cast<std::uint32_t>(of.shape[height]),
          static_cast<std::uint32_t>(of.shape[height + 1])};
}

[[nodiscard]] inline bool any_by_batch(const std::vector<field>& fields) noexcept {
  return std::ranges::any_of(fields, [](const field& each) { return each.by_batch.has_value(); });
}

/// Copies rows of a field that come as they are. @param out Rows of the largest size; a row of a
/// smaller batch is at the begin. @throws dataset_error if there are other bytes.
void copy_block_rows(const field& of, std::span<const std::byte> rows, std::span<std::byte> out);

/// The sizes of a dataset's batches, for a loader; null: all have one size.
/// @throws usage_error if the dataset's fields and sizes do not fit together.
[[nodiscard]] batch_sizes_ptr checked_sizes(const dataset& of);

/// The sizes of batches of a dataset whose fields are those of several datasets.
/// @param parts Sizes of its parts, null where a part has none. @return Null if none has any.
/// @throws usage_error if two parts may have different sizes in a batch.
[[nodiscard]] batch_sizes_ptr common_sizes(const char* who,
                                           const std::vector<batch_sizes_ptr>& parts);

/// The sizes of batches of datasets whose samples follow one another; they depend on the samples.
/// A batch with samples of several parts is as large as the largest of them needs.
/// @param ends Where each part ends.
[[nodiscard]] batch_sizes_ptr concatenated_sizes(std::vector<batch_sizes_ptr> parts,
                                                 std::vector<std::uint64_t> ends);

/// The sizes of batches of a dataset that has the samples of another one at other indices.
/// @param of Null: none. @param choose Replaces indices by the other dataset's.
[[nodiscard]] batch_sizes_ptr chosen_sizes(batch_sizes_ptr of,
                                           std::function<void(std::span<sample_index>)> choose);

}  // namespace feedline::detail
