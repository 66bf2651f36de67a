#pragma once

#include <feedline/export.hpp>
#include <feedline/ragged/dataset.hpp>
#include <feedline/ragged/pack.hpp>
#include <feedline/ragged/pad.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Elements of a packed row that a loss counts.
enum class packed_mask : std::uint8_t {
  none,      ///< no field with a mask
  elements,  ///< all but padding
  /// Elements that another one of the same sample follows, so all but padding and the last
  /// element of each sample or part of a split one: for the prediction of the next token.
  followed,
};

/// Options for `pack_together`.
struct pack_together_options {
  /// T: elements of a row. One for each field, or one for all; required.
  std::vector<std::uint64_t> capacity = {};
  /// Consecutive samples of the order among which each row is filled; at least 1. More of them make
  /// fuller rows, and take samples of a row from farther apart.
  std::uint64_t window = 65'536;
  /// Seed of a random order of all samples, in which windows are taken; 0 is a seed like any other.
  /// Empty: the dataset's order.
  std::optional<std::uint64_t> seed = {};
  /// Maximum number of samples in a row; 0: the number in the fullest row, at most the first
  /// capacity.
  std::uint64_t max_samples = 0;
  /// Padding of each field, or one value for all.
  std::vector<padding_value> value = {std::int64_t{0}};
  /// `split`: a longer sample fills whole rows, and its rest is packed like a sample. The fields of
  /// a sample must be of equal length then.
  pack_longer longer = pack_longer::error;
  bool positions = false;                ///< adds NAME_position
  bool documents = false;                ///< adds NAME_document
  packed_mask mask = packed_mask::none;  ///< adds NAME_mask
};

/// Packs samples of one or several ragged fields into rows by a plan. The plan takes a window of
/// samples at a time, begins with the longest one, and puts each into the row that it fills best,
/// so that rows have little padding. Rows of 4096 tokens are more than 99 % full if lengths are
/// distributed like those of web pages (`feedline_bench_packing`). `pack` keeps the order of
/// samples instead, so that its rows have more padding.
///
///     using enum feedline::pack_longer;
///     auto rows = feedline::pack_together(
///         {tokens, labels}, {.capacity = {4096}, .longer = split, .positions = true});
///     feedline::loader loader{rows, feedline::shuffle{.seed = 42}, gpu, {.batch_size = 8}};
///
/// A row has the same samples in all fields, and they fit in each. Fields: those of `pack` for each
/// ragged field, NAME, NAME_count and NAME_offsets; then, if asked for, those of the first one:
/// - NAME_position, i32 [T]: index of each element in its sample, or in the part of a split sample;
///   0 for padding;
/// - NAME_document, i32 [T]: index of the element's sample in the row; -1 for padding;
/// - NAME_mask, u8 [T]: 1 for elements that a loss counts (`packed_mask`), else 0.
///
/// A GPU makes the last three from NAME_offsets (`loader_plan::made_on_device`); elsewhere readers
/// make them.
///
/// NAME_offsets are what attention over documents takes as `cu_seqlens`, after row × T is added.
///
/// The plan is made here, in one pass over the lengths, and takes 8 bytes a sample and a row; 16
/// bytes a sample if one is split. It depends on lengths and options alone, and is the same on
/// every platform. An order over the dataset permutes rows, so a loader resumes and shares rows
/// among ranks as with any dataset. The same samples share a row in every epoch.
///
/// Method: best fit decreasing (D. S. Johnson, "Near-optimal bin packing algorithms", 1973) within
/// a window. With several fields the first one chooses, among 32 rows at most.
/// @throws usage_error if there is no field, one is null, two have one name or their numbers of
/// samples differ, a capacity or the window is 0 or more than 2^31 - 2, a capacity is missing, or a
/// padding is not a value of its field's type; dataset_error naming the first sample that is longer
/// than a row, or that would be split although its fields differ in length.
[[nodiscard]] std::shared_ptr<const packed_dataset> pack_together(
    const std::vector<ragged_dataset_ptr>& fields, const pack_together_options& options);

/// The cost of each row for attention within samples: the sum of the squares of its samples'
/// lengths. With `bucket_by_length` ranks get rows of similar cost in each batch:
///
///     const auto costs = feedline::packing_costs(*rows);
///     feedline::bucket_by_length order{costs, {.seed = 42, .buckets = 64}};
[[nodiscard]] std::vector<std::uint64_t> packing_costs(const packed_dataset& rows);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
