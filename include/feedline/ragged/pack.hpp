#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/ragged/dataset.hpp>
#include <feedline/ragged/pad.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// What becomes of a sample that is longer than a row.
enum class pack_longer : std::uint8_t {
  error,  ///< a dataset_error when the dataset is made
  split,  ///< it begins a row, fills as many as it can, and its rest begins one
};

/// How `pack` is to go about it.
struct pack_options {
  std::uint64_t capacity = 0;  ///< T: elements of a row; to be given
  std::uint64_t max_samples =
      0;  ///< samples of a row; 0: T, and of that what the fullest row needs
  padding_value value = std::int64_t{0};
  pack_longer longer = pack_longer::error;
};

/// What a row holds of one ragged sample.
struct packed_part {
  sample_index sample;
  std::uint64_t first = 0;  ///< which of its elements; 0 but for the pieces of one that was split
  std::uint64_t count = 0;

  friend bool operator==(const packed_part&, const packed_part&) = default;
};

/// Rows of T elements, each of several whole ragged samples that follow each other. Made by `pack`.
///
/// Threads: as `dataset`; what it adds, any.
class packed_dataset : public dataset {
 public:
  /// What a row holds, in its order: the samples whose places NAME_offsets tells.
  /// @throws dataset_error if there is no such row.
  [[nodiscard]] virtual std::vector<packed_part> parts_of(sample_index row) const = 0;

  /// Which share of the rows' elements is padding: 0 to 1; 0 if there is no row.
  [[nodiscard]] virtual double padding_share() const noexcept = 0;

  /// Samples of a row, at most: the option, or what the fullest row has.
  [[nodiscard]] virtual std::uint64_t max_samples() const noexcept = 0;
};

/// Packs samples into rows of T elements, in their order: each goes into the row of the one before
/// it, if there is room, and else begins the next. Fields: NAME, [T, …]; NAME_count, an i32: the
/// row's samples; NAME_offsets, i32 [most + 1]: sample k of the row is elements [offsets[k],
/// offsets[k + 1]) of it, and what is left repeats the end, from which on the row is padding.
///
///     using enum feedline::pack_longer;
///     auto rows = feedline::pack(tokens, {.capacity = 4096, .longer = split});
///     feedline::loader loader{rows, feedline::shuffle{.seed = 42}, gpu, {.batch_size = 8}};
///
/// A batch takes its size × T elements, however long the samples are. What a row holds is settled
/// here, in one pass over the lengths, at 8 bytes a row; an order over the dataset permutes rows,
/// so the same samples share a row in every epoch. A sample of no elements is one of its row's all
/// the same.
/// @throws usage_error if the dataset is null, T is 0, T or `max_samples` is more than 2^31 - 2,
///         the padding is no value of the field's type, or the rows of a split sample do not fit in
///         memory; dataset_error naming the first sample that is longer, and its length.
[[nodiscard]] std::shared_ptr<const packed_dataset> pack(ragged_dataset_ptr of,
                                                         const pack_options& options);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
