#pragma once

#include <feedline/dataset/element_type.hpp>

#include "io/byte_file.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// An array of a file.
struct array_in_file {
  std::string name;
  element_type type = element_type::u8;
  std::vector<std::uint64_t> shape = {};  ///< empty: a single number
  std::string refusal = {};               ///< why it cannot be a field; empty: it can

  [[nodiscard]] std::uint64_t count() const noexcept {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    return count;
  }
};

/// A file of arrays. One thread.
class array_container {
 public:
  array_container() = default;
  array_container(const array_container&) = delete;
  array_container& operator=(const array_container&) = delete;
  virtual ~array_container() = default;

  /// Distinct names; their bytes fit in 64 bits, and are in the file, unless it is compressed.
  [[nodiscard]] virtual const std::vector<array_in_file>& arrays() const noexcept = 0;
  /// Reads the first values of an array, in C order, in the machine's byte order.
  /// @param out Whole elements, at most the array's.
  /// @throws dataset_error
  virtual void read(std::size_t array, std::span<std::byte> out) = 0;
};

/// @throws dataset_error: neither npy, npz nor safetensors; damaged; built without the library.
[[nodiscard]] std::unique_ptr<array_container> open_array_container(const byte_file_ptr& file);

/// Whether a name ends as those of such files do, in capitals or not.
[[nodiscard]] bool is_array_file_name(std::string_view name);

/// Whether a file begins like one of these.
[[nodiscard]] bool is_array_file(const byte_file& file);

/// Parts of the above.
[[nodiscard]] std::unique_ptr<array_container> open_numpy_container(const byte_file_ptr& file);
[[nodiscard]] std::unique_ptr<array_container> open_safetensors(const byte_file_ptr& file);
[[nodiscard]] bool is_safetensors_head(std::span<const std::byte> head) noexcept;

}  // namespace feedline::detail
