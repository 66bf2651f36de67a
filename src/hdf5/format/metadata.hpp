#pragma once

#include "detail/byte_order.hpp"
#include "io/byte_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// HDF5 metadata that cannot be read: it is damaged, or has an unknown form.
class hdf5_metadata_error : public std::runtime_error {
 public:
  explicit hdf5_metadata_error(const std::string& what) : std::runtime_error{what} {}
  hdf5_metadata_error(std::uint64_t offset, const std::string& what)
      : std::runtime_error{"byte " + std::to_string(offset) + ": " + what} {}
};

/// Reads a block of HDF5 metadata from front to back: little-endian numbers of any width. Throws
/// when it would read past the block's end. Borrows the bytes.
class hdf5_cursor {
 public:
  /// @param offset Offset of the bytes in the file, for errors.
  hdf5_cursor(std::span<const std::byte> bytes, std::uint64_t offset) noexcept
      : bytes_{bytes}, offset_{offset} {}

  /// Offset in the file.
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
  std::uint64_t number(unsigned width) { return little_endian(take(width)); }
  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }

  /// An address of `width` bytes; nothing if it is "undefined", which is all ones.
  std::optional<std::uint64_t> address(unsigned width) {
    const std::uint64_t value = number(width);
    if (value == ~std::uint64_t{0} >> (64 - 8 * width)) return std::nullopt;
    return value;
  }

  /// Reads the four letters and the version with which a structure begins.
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

/// The facts in an HDF5 file's superblock that a reader of its metadata needs.
struct hdf5_superblock {
  std::uint64_t base = 0;  ///< offset from which addresses count: the end of the user block
  unsigned offset_bytes = 8;
  unsigned length_bytes = 8;
  std::optional<std::uint64_t> extension = {};  ///< an object header with more about the file
};

/// Bytes of a file: borrowed if it is in memory, else an own copy.
struct hdf5_block {
  std::span<const std::byte> borrowed = {};
  std::vector<std::byte> own = {};
  std::uint64_t offset = 0;

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return own.empty() ? borrowed : own;
  }
  /// A cursor at the block's first byte.
  [[nodiscard]] hdf5_cursor cursor() const noexcept { return {bytes(), offset}; }
};

/// The metadata of an HDF5 file, read without the library: any block of it by its address, which
/// counts from the end of the user block.
///
/// Every byte may be hostile. Sizes and positions in a structure are trusted only within the file.
/// All blocks that are read may add up to twice the file's size, so that reading structures that
/// refer back to themselves ends.
class hdf5_metadata {
 public:
  /// Reads a file in memory. @throws hdf5_metadata_error if it has no known superblock.
  explicit hdf5_metadata(std::span<const std::byte> file);
  /// Reads a file that is mapped or read. @throws hdf5_metadata_error like the constructor above;
  /// dataset_error if the file cannot be read.
  explicit hdf5_metadata(const byte_file& file);

  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return size_; }
  /// Whether blocks of any size are borrowed.
  [[nodiscard]] bool is_in_memory() const noexcept { return !memory_.empty(); }
  /// Size of an address, in bytes.
  [[nodiscard]] unsigned offset_bytes() const noexcept { return superblock_.offset_bytes; }
  /// Size of a length, in bytes.
  [[nodiscard]] unsigned length_bytes() const noexcept { return superblock_.length_bytes; }

  [[nodiscard]] const hdf5_superblock& superblock() const noexcept { return superblock_; }

  /// An address as an offset from the file's first byte. @throws hdf5_metadata_error if it
  /// overflows.
  [[nodiscard]] std::uint64_t in_file(std::uint64_t address) const;

  /// Announces that a block will be read soon. Useful before reading several separate blocks; does
  /// nothing if the file is in memory.
  void will_need(std::uint64_t address, std::uint64_t bytes) const noexcept;

  /// @throws hdf5_metadata_error if it reaches past the file's end.
  [[nodiscard]] hdf5_block block(std::uint64_t address, std::uint64_t bytes);

 private:
  void find_superblock();
  [[nodiscard]] hdf5_block read(std::uint64_t offset, std::uint64_t bytes) const;

  std::span<const std::byte> memory_;
  const byte_file* file_ = nullptr;  ///< null if the file is in memory
  std::uint64_t size_;
  std::uint64_t budget_;  ///< number of bytes that may still be read
  bool hints_ = false;
  hdf5_superblock superblock_ = {};
};

/// Whether the writer stored the contents of its cache in one block, and did not update the blocks
/// where they belong. (H5Pset_mdc_image_config) The superblock's extension says so; it is an object
/// header of version 1 or 2. Checksums are not compared here: the HDF5 library does that when it
/// opens the file.
/// @throws hdf5_metadata_error if the extension cannot be read.
[[nodiscard]] bool has_cache_image(hdf5_metadata& metadata);

}  // namespace feedline::detail
