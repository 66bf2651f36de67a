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

/// Moves memory that was already written onto huge pages, if the system provides them. A part that
/// does not fill a huge page is not moved, nor is memory of less than 4 MiB. Addresses and bytes
/// stay the same. Takes about 0.3 s a GB. Use it for your own large arrays that a dataset borrows.
/// After a `fork`, this process gets its own copy of shared memory.
void move_to_huge_pages(std::span<const std::byte> bytes) noexcept;

/// One field's values for all samples: dense rows, sample after sample, with their owner.
struct memory_field {
  field spec;
  std::span<const std::byte> bytes;  ///< a whole number of samples
  /// Null: the caller keeps the bytes alive and unchanged.
  std::shared_ptr<const void> owner = nullptr;
};

/// A field that borrows the caller's array, which must outlive the dataset and not change.
/// @param shape Shape of one sample; empty: one element a sample.
template <element T>
[[nodiscard]] memory_field borrow(std::string name, std::span<const T> values,
                                  std::vector<std::uint64_t> shape = {}) {
  return {{std::move(name), element_type_of<T>(), std::move(shape)}, std::as_bytes(values)};
}

/// A field that owns a vector. The vector is moved to huge pages (see above), which makes access to
/// random rows of a large one faster. @param shape Same as in `borrow`.
template <element T>
requires(!std::same_as<T, bool>) [[nodiscard]] memory_field
    own(std::string name, std::vector<T> values, std::vector<std::uint64_t> shape = {}) {
  auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  const auto bytes = std::as_bytes(std::span{*owner});
  move_to_huge_pages(bytes);
  return {{std::move(name), element_type_of<T>(), std::move(shape)}, bytes, std::move(owner)};
}

/// A dataset of arrays in memory. Reads copy rows, in parallel, without a lock.
/// @throws usage_error if there is no field, two share a name, or a field's bytes are not a whole
/// number of samples; dataset_error if the fields have different numbers of samples, naming both.
[[nodiscard]] dataset_ptr make_memory_dataset(std::vector<memory_field> columns);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
