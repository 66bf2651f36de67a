#pragma once

#include <feedline/error.hpp>

#include "detail/byte_order.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace feedline::detail {

/// How a field of a protocol buffer message is written.
enum class wire_type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// A field of a message.
struct wire_field {
  std::uint64_t number;  ///< in the message's definition
  wire_type type;
  std::span<const std::byte> bytes;  ///< content of `bytes`, `fixed64`, `fixed32`
  std::uint64_t value;               ///< value of a `varint`
};

/// Takes a protocol buffer message apart, field after field. It never recurses: a message within a
/// message is bytes. Errors do not say where the message is; the caller adds it.
class wire_reader {
 public:
  explicit wire_reader(std::span<const std::byte> message) noexcept : left_{message} {}

  [[nodiscard]] bool at_end() const noexcept { return left_.empty(); }
  /// Number of bytes that are left.
  [[nodiscard]] std::size_t left() const noexcept { return left_.size(); }

  /// @throws dataset_error if the message ends within the field, or has a group.
  [[nodiscard]] wire_field next() {
    const std::uint64_t tag = varint();
    wire_field one{tag >> 3, static_cast<wire_type>(tag & 7), {}, 0};
    if (one.number == 0) throw dataset_error{{}, "is no protocol buffer: it has a field 0"};
    switch (one.type) {
      case wire_type::varint:
        one.value = varint();
        break;
      case wire_type::fixed64:
        one.bytes = take(8);
        break;
      case wire_type::bytes:
        one.bytes = take(varint());
        break;
      case wire_type::fixed32:
        one.bytes = take(4);
        break;
      default:
        throw dataset_error{{},
                            "is no protocol buffer of this kind: field " +
                                std::to_string(one.number) + " is of wire type " +
                                std::to_string(tag & 7)};
    }
    return one;
  }

  /// A number of 1 to 10 bytes. Bits beyond 64 are dropped, as by protocol buffers.
  [[nodiscard]] std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (left_.empty()) throw cut();
      const auto byte = std::to_integer<std::uint64_t>(left_.front());
      left_ = left_.subspan(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw dataset_error{{}, "is no protocol buffer: a number is longer than 10 bytes"};
  }

 private:
  [[nodiscard]] static dataset_error cut() {
    return {{}, "the protocol buffer is cut short: it ends within a field"};
  }
  std::span<const std::byte> take(std::uint64_t bytes) {
    if (bytes > left_.size()) throw cut();
    return std::exchange(left_, left_.subspan(static_cast<std::size_t>(bytes)))
        .first(static_cast<std::size_t>(bytes));
  }

  std::span<const std::byte> left_;
};

/// The characters of bytes, without a copy.
[[nodiscard]] inline std::string_view text_in(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace feedline::detail
