#pragma once

#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace feedline::detail {

/// Samples in proportion to weights, each position drawn independently. A sampler; it implements
/// `weighted` with replacement.
///
/// The alias method: n columns of equal height, in each a part of its own sample below and a
/// part of another above. One draw names the column and the height. In integers: a column is 2^32
/// high.
class alias_order {
 public:
  /// @param weights Result of `integer_weights`, fewer than 2^32. @param epoch_size 0: n.
  alias_order(std::vector<std::uint64_t> weights, std::uint64_t seed, std::uint64_t epoch_size);

  /// @throws usage_error if there are not as many samples as weights.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  [[nodiscard]] std::size_t table_bytes() const noexcept {
    return columns_->size() * sizeof(column);
  }

 private:
  struct column {
    std::uint32_t own = 0;    ///< heights below this are the column's own sample's
    std::uint32_t other = 0;  ///< the sample of those above; its own, if there are none
  };

  std::shared_ptr<const std::vector<column>> columns_;
  std::uint64_t seed_;
  std::uint64_t epoch_size_;
};

}  // namespace feedline::detail
