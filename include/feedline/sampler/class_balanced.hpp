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

/// How `class_balanced` draws.
struct class_balanced_options {
  std::uint64_t seed = 0;        ///< seed of the order; 0 is a seed like any other
  std::uint64_t epoch_size = 0;  ///< positions in an epoch; 0: as many as there are labels
  /// Labels are 0 to `classes` - 1, and each must have samples. 0: the classes are the labels that
  /// there are, whatever their values.
  std::uint64_t classes = 0;
};

/// Each class as often as any other, however many samples it has:
///
///     feedline::loader loader{train, feedline::class_balanced{train, "label", {.seed = 42}}, gpu,
///                             {.batch_size = 256}};
///
/// The order is one endless sequence, and epochs are consecutive cuts of it. It goes round after
/// round. A round of C classes has each class once, in an order drawn for the round. So any k
/// consecutive positions have a class ⌊k/C⌋ - 1 to ⌈k/C⌉ + 1 times. The samples of a class come in
/// random order. None comes again before all others of its class, also across epochs; then they
/// come in another order. Where epoch × epoch size is 2^64 or more, the sequence begins again.
///
/// A draw is O(1), by arithmetic over one table of 4 bytes a sample, which copies share; 16 bytes a
/// sample more are in use while it is made. The order depends on (seed, epoch, epoch size, labels)
/// alone, is the same on every platform, and is kept across versions.
class class_balanced {
 public:
  /// @param labels One for each sample of the dataset. None is kept but in the table.
  /// @throws usage_error if there is none, one is not below `classes`, or a class has no sample.
  explicit class_balanced(std::span<const std::int64_t> labels,
                          const class_balanced_options& options = {});

  /// The same, of labels of any integer type.
  template <class Labels>
  requires std::integral<typename Labels::value_type>
  explicit class_balanced(const Labels& labels, const class_balanced_options& options = {})
      : class_balanced{
            std::span<const std::int64_t>{std::vector<std::int64_t>(labels.begin(), labels.end())},
            options} {}

  /// @param of Its field `field_name` has the labels: one integer a sample, all read now.
  /// @throws usage_error as above, or if there is no such field or it has another type or shape;
  ///         dataset_error if it cannot be read.
  class_balanced(const dataset_ptr& of, const std::string& field_name,
                 const class_balanced_options& options = {});

  /// Positions in an epoch.
  /// @throws usage_error if the dataset has another number of samples than there are labels.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  /// @throws usage_error as `size`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  [[nodiscard]] std::uint64_t classes() const noexcept;
  /// Of the table.
  [[nodiscard]] std::size_t table_bytes() const noexcept;

 private:
  std::uint64_t seed_;
  std::uint64_t epoch_size_;
  std::shared_ptr<const detail::length_buckets> classes_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
