#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {
class length_buckets;
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options for `class_balanced`.
struct class_balanced_options {
  std::uint64_t seed = 0;        ///< seed of the order; 0 is a seed like any other
  std::uint64_t epoch_size = 0;  ///< positions in an epoch; 0: the number of labels
  /// Labels are 0 to `classes` - 1, and each must have samples. 0: the classes are the labels that
  /// occur, whatever their values.
  std::uint64_t classes = 0;
};

/// Draws every class equally often, however many samples it has:
///
///     feedline::loader loader{train, feedline::class_balanced{train, "label", {.seed = 42}}, gpu,
///                             {.batch_size = 256}};
///
/// The order is one endless sequence, and epochs are consecutive parts of it. It consists of
/// rounds. A round of C classes has each class once, in an order drawn for the round. So any k
/// consecutive positions have a class ⌊k/C⌋ - 1 to ⌈k/C⌉ + 1 times. The samples of a class come in
/// random order. No sample comes again before all others of its class have come, also across
/// epochs; then they come in another order. If epoch × epoch size is 2^64 or more, the sequence
/// starts again.
///
/// A draw is O(1). It is computed from one table of 4 bytes a sample, which copies share; its
/// construction needs another 16 bytes a sample. The order depends on (seed, epoch, epoch size,
/// labels) alone, is the same on every platform, and is kept across versions.
class class_balanced {
 public:
  /// @param labels One label for each sample of the dataset. Only the table is kept.
  /// @throws usage_error if there is no label, one is not below `classes`, or a class has no
  /// sample.
  explicit class_balanced(std::span<const std::int64_t> labels,
                          const class_balanced_options& options = {});

  /// Same, with labels of any integer type.
  template <class Labels>
  requires std::integral<typename Labels::value_type>
  explicit class_balanced(const Labels& labels, const class_balanced_options& options = {})
      : class_balanced{
            std::span<const std::int64_t>{std::vector<std::int64_t>(labels.begin(), labels.end())},
            options} {}

  /// @param of Dataset whose field `field_name` contains the labels: one integer a sample. All are
  /// read now.
  /// @throws usage_error as above, or if there is no such field or it has another type or shape;
  /// dataset_error if it cannot be read.
  class_balanced(const dataset_ptr& of, const std::string& field_name,
                 const class_balanced_options& options = {});

  /// Positions in an epoch.
  /// @throws usage_error if the dataset's number of samples differs from the number of labels.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  /// @throws usage_error like `size`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  [[nodiscard]] std::uint64_t classes() const noexcept;
  /// Size of the table.
  [[nodiscard]] std::size_t table_bytes() const noexcept;

 private:
  std::uint64_t seed_;
  std::uint64_t epoch_size_;
  std::shared_ptr<const detail::length_buckets> classes_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
