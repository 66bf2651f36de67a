#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Moves memory that is written already onto huge pages, as far as it fills them and the system has
/// them; what is smaller than 4 MiB stays. Addresses and bytes are what they were. Takes some 0.3 s
/// a GB. For large arrays of your own that a dataset borrows; after a `fork`, what processes share
/// becomes a copy for this one.
void move_to_huge_pages(std::span<const std::byte> bytes) noexcept;

/// One field's values for all samples: dense rows, sample after sample, and what keeps them alive.
struct memory_field {
  field spec;
  std::span<const std::byte> bytes;  ///< a whole number of samples
  std::shared_ptr<const void> owner =
      nullptr;  ///< null: the caller keeps the bytes alive and unchanged
};

/// A field over the caller's array, which must outlive the dataset and not change.
/// @param shape Of one sample; empty is one element a sample.
template <element T>
[[nodiscard]] memory_field borrow(std::string name, std::span<const T> values,
                                  std::vector<std::uint64_t> shape = {}) {
  return {{std::move(name), element_type_of<T>(), std::move(shape)}, std::as_bytes(values)};
}

/// A field that takes over a vector, which is moved to huge pages (above): random rows of a large
/// one are found sooner then. @param shape As in `borrow`.
template <element T>
requires(!std::same_as<T, bool>) [[nodiscard]] memory_field
    own(std::string name, std::vector<T> values, std::vector<std::uint64_t> shape = {}) {
  auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  const auto bytes = std::as_bytes(std::span{*owner});
  move_to_huge_pages(bytes);
  return {{std::move(name), element_type_of<T>(), std::move(shape)}, bytes, std::move(owner)};
}

/// A dataset of arrays in memory. Reads copy rows, in parallel, with no lock.
/// @throws usage_error if there is no field, two share a name, or a field's bytes are no whole
/// number of samples; dataset_error if the fields' numbers of samples differ, naming both.
[[nodiscard]] dataset_ptr make_memory_dataset(std::vector<memory_field> columns);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
