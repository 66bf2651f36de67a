#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// An array in memory, row-major, in the machine's byte order.
/// @param bytes All of the array's bytes. @param owner Keeps them alive; null: the caller does.
/// @throws usage_error if they are more or fewer, or as `array_source` does.
[[nodiscard]] array_ptr make_memory_array(array_spec spec, std::span<const std::byte> bytes,
                                          std::shared_ptr<const void> owner = nullptr);

/// The same for values that the array owns. The type of `spec` is set to theirs.
template <element T>
requires(!std::same_as<T, bool>) [[nodiscard]] array_ptr
    make_memory_array(array_spec spec, std::vector<T> values) {
  const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  spec.type = element_type_of<T>();
  return make_memory_array(std::move(spec), std::as_bytes(std::span{*owner}), owner);
}

/// Reads a whole array into memory, so that each read is a copy. Blocks meanwhile.
/// @throws dataset_error as `read`. @throws std::bad_alloc
[[nodiscard]] array_ptr load_array(const array_ptr& array);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
