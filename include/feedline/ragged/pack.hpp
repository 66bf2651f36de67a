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

/// Handling of a sample that is longer than a row.
enum class pack_longer : std::uint8_t {
  error,  ///< dataset_error when the dataset is created
  /// The sample begins a row and fills as many rows as it can; its rest begins the next row.
  split,
};

/// Options for `pack`.
struct pack_options {
  std::uint64_t capacity = 0;  ///< T: elements of a row; required
  /// Maximum number of samples in a row; 0: the number in the fullest row, with a limit of T.
  std::uint64_t max_samples = 0;
  padding_value value = std::int64_t{0};
  pack_longer longer = pack_longer::error;
};

/// The part of one ragged sample that is in a row.
struct packed_part {
  sample_index sample;
  /// Index of the part's first element in the sample; 0 unless the sample was split.
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  friend bool operator==(const packed_part&, const packed_part&) = default;
};

/// Rows of T elements, each with several whole ragged samples one after the other. The result of
/// `pack`.
///
/// Threads: same as `dataset`; the additional functions may be called by any thread.
class packed_dataset : public dataset {
 public:
  /// The samples in a row, in order; NAME_offsets gives their positions.
  /// @throws dataset_error if there is no such row.
  [[nodiscard]] virtual std::vector<packed_part> parts_of(sample_index row) const = 0;

  /// Share of padding among the rows' elements: 0 to 1; 0 if there is no row.
  [[nodiscard]] virtual double padding_share() const noexcept = 0;

  /// Maximum number of samples in a row: the option, or the number in the fullest row.
  [[nodiscard]] virtual std::uint64_t max_samples() const noexcept = 0;
};

/// Packs samples into rows of T elements, in their order. Each sample goes into the row of the
/// previous one if there is room, else it begins the next row. Fields: NAME, [T, …]; NAME_count, an
/// i32: the row's number of samples; NAME_offsets, i32 [max_samples + 1]. Sample k of the row is
/// its elements [offsets[k], offsets[k + 1]). The remaining offsets repeat the end of the last
/// sample, after which the row is padding.
///
///     using enum feedline::pack_longer;
///     auto rows = feedline::pack(tokens, {.capacity = 4096, .longer = split});
///     feedline::loader loader{rows, feedline::shuffle{.seed = 42}, gpu, {.batch_size = 8}};
///
/// A batch has batch size × T elements, however long the samples are. The content of the rows is
/// determined here, in one pass over the lengths, and takes 8 bytes a row. An order over the
/// dataset permutes rows, so the same samples share a row in every epoch. A sample without elements
/// also counts as a sample of its row.
/// @throws usage_error if the dataset is null, T is 0, T or `max_samples` is more than 2^31 - 2,
/// the padding is not a value of the field's type, or the rows of a split sample do not fit in
/// memory; dataset_error naming the first sample that is longer, and its length.
[[nodiscard]] std::shared_ptr<const packed_dataset> pack(ragged_dataset_ptr of,
                                                         const pack_options& options);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
