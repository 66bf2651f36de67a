#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace feedline::detail {

/// HDF5 metadata that cannot be followed: damage, or a form that is not known here.
class hdf5_metadata_error : public std::runtime_error {
 public:
  explicit hdf5_metadata_error(const std::string& what) : std::runtime_error{what} {}
  hdf5_metadata_error(std::uint64_t offset, const std::string& what)
      : std::runtime_error{"byte " + std::to_string(offset) + ": " + what} {}
};

/// Reads a block of HDF5 metadata from front to back: little-endian numbers of any width. A step
/// beyond the block's end throws. Borrows the bytes.
class hdf5_cursor {
 public:
  /// @param offset Of the bytes in the file, for errors.
  hdf5_cursor(std::span<const std::byte> bytes, std::uint64_t offset) noexcept
      : bytes_{bytes}, offset_{offset} {}

  /// In the file.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  [[nodiscard]] std::size_t remaining() const noexcept { return bytes_.size(); }

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size()) [[unlikely]]
      fail("the block ends before what it should hold");
    const auto taken = bytes_.first(static_cast<std::size_t>(count));
    bytes_ = bytes_.subspan(taken.size());
    offset_ += taken.size();
    return taken;
  }
  void skip(std::uint64_t count) { take(count); }

  /// A number of `width` bytes, 1 to 8.
  std::uint64_t number(unsigned width) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const std::byte byte : take(width)) {
      value |= std::to_integer<std::uint64_t>(byte) << shift;
      shift += 8;
    }
    return value;
  }
  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }

  /// An address of `width` bytes; nothing if it says "undefined", by all ones.
  std::optional<std::uint64_t> address(unsigned width) {
    const std::uint64_t value = number(width);
    if (value == ~std::uint64_t{0} >> (64 - 8 * width)) return std::nullopt;
    return value;
  }

  /// The four letters and the version that a structure begins with.
  void require_signature(std::string_view letters) {
    for (const char letter : letters)
      if (static_cast<char>(take(1)[0]) != letter)
        fail("not the signature " + std::string{letters});
  }
  void require_version(unsigned expected) {
    if (const unsigned version = u8(); version != expected)
      fail("version " + std::to_string(version) + " where " + std::to_string(expected) +
           " is known");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw hdf5_metadata_error{offset_, what};
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t offset_;
};

}  // namespace feedline::detail
