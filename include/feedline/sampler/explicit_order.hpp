#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>
#include <feedline/sampler/sampler.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// An order given sample by sample, as an array or in a file:
///
///     feedline::explicit_order{feedline::open_npy("order.npy", "order"), "order"}
///
/// The order may omit and repeat samples. There is one order for all epochs, or several: epoch e
/// uses row e mod rows.
///
/// The indices are copied into a table that copies share, of 4 bytes each, or 8 if one is 2^32 or
/// more. A draw is O(1).
class explicit_order {
 public:
  /// @param indices Samples of an epoch; for several epochs, one row after the other.
  /// @param rows Number of epochs in `indices`.
  /// @throws usage_error if there is no index, `rows` is 0, or the number of indices is not a
  /// multiple of `rows`.
  explicit explicit_order(std::span<const std::uint64_t> indices, std::uint64_t rows = 1);
  explicit explicit_order(std::span<const std::uint32_t> indices, std::uint64_t rows = 1);

  /// @param of Dataset whose field `field_name` contains the indices, of any integer type. All are
  /// read now. If a sample of it is a number, the dataset is one order for all epochs. If a
  /// sample of it is an array, each sample is the order of one epoch.
  /// @throws usage_error as above, if there is no such field, it does not contain integers or has
  /// several dimensions, or an index is negative; dataset_error if it cannot be read.
  explicit_order(const dataset_ptr& of, const std::string& field_name);

  /// Positions in an epoch.
  /// @throws usage_error if an index is beyond the dataset, naming the first such index.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  /// @throws usage_error like `size`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  /// Size of the table.
  [[nodiscard]] std::size_t table_bytes() const noexcept;

 private:
  using table = std::variant<std::vector<std::uint32_t>, std::vector<std::uint64_t>>;

  [[noreturn]] void refuse_outside(std::uint64_t samples) const;

  std::shared_ptr<const table> table_;
  std::uint64_t row_size_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t largest_ = 0;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
