#pragma once

#include <feedline/dataset/field.hpp>

#include "python/interpreter/held_object.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace feedline::python {

/// A value of a sample as dense memory, by the buffer protocol where it has that, by the bytes that
/// it shows by `__array_interface__`, else by numpy.asarray. Text is its UTF-8 bytes. Needs the
/// interpreter's lock, and the value to stay.
class sample_value {
 public:
  /// @throws usage_error if it has no element type; the exceptions of NumPy, PyTorch.
  explicit sample_value(nb::handle value);
  sample_value(const sample_value&) = delete;
  sample_value& operator=(const sample_value&) = delete;
  ~sample_value() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }

  [[nodiscard]] element_type type() const noexcept { return type_; }
  [[nodiscard]] std::span<const std::uint64_t> shape() const noexcept { return {shape_, rank_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  [[nodiscard]] bool is_number(nb::handle value);
  [[nodiscard]] bool is_text(nb::handle value);
  [[nodiscard]] bool has_buffer(nb::handle value);
  [[nodiscard]] bool shows_bytes(nb::handle value);
  void convert(nb::handle value);
  void set(element_type type, const void* bytes, std::size_t count) noexcept;

  static constexpr std::size_t max_rank = 64;  // NumPy's
  element_type type_ = element_type::u8;
  std::size_t rank_ = 0;
  std::uint64_t shape_[max_rank];  // NOLINT: not initialized, because only `rank_` are used
  std::span<const std::byte> bytes_;
  union {
    long long whole;
    double real;
    bool truth;
  } number_ = {};
  Py_buffer view_{};
  nb::object held_;
};

}  // namespace feedline::python
