#pragma once

#include "hdf5/format/cursor.hpp"
#include "hdf5/format/superblock.hpp"
#include "io/random_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Bytes of a file, borrowed where it is in memory, its own copy else.
class hdf5_block {
 public:
  hdf5_block(std::span<const std::byte> borrowed, std::uint64_t offset)
      : bytes_{borrowed}, offset_{offset} {}
  hdf5_block(std::vector<std::byte> own, std::uint64_t offset)
      : own_{std::move(own)}, bytes_{own_}, offset_{offset} {}
  hdf5_block(hdf5_block&&) noexcept = default;  // a vector that moves keeps its place
  hdf5_block& operator=(hdf5_block&&) noexcept = default;
  hdf5_block(const hdf5_block&) = delete;
  hdf5_block& operator=(const hdf5_block&) = delete;
  ~hdf5_block() = default;

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// At the block's first byte.
  [[nodiscard]] hdf5_cursor cursor() const noexcept { return {bytes_, offset_}; }

 private:
  std::vector<std::byte> own_ = {};
  std::span<const std::byte> bytes_;
  std::uint64_t offset_;
};

/// The metadata of an HDF5 file, read without the library: any block of it by its address, which
/// counts from the end of the user block.
///
/// Every byte is taken for hostile. What a structure says of sizes and places is believed no further
/// than the file reaches, and all blocks that are read may come to twice the file's size, so that
/// structures that point back at themselves come to an end.
class hdf5_metadata {
 public:
  /// A file in memory. @throws hdf5_metadata_error if it has no superblock that is known.
  explicit hdf5_metadata(std::span<const std::byte> file);
  /// A file that is mapped or read. As above; @throws dataset_error if it cannot be read.
  explicit hdf5_metadata(const random_file& file);

  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return size_; }
  /// Whether blocks are borrowed, however large they are.
  [[nodiscard]] bool is_in_memory() const noexcept { return !memory_.empty(); }
  /// Size of an address, in bytes.
  [[nodiscard]] unsigned offset_bytes() const noexcept { return superblock_.offset_bytes; }
  /// Size of a length.
  [[nodiscard]] unsigned length_bytes() const noexcept { return superblock_.length_bytes; }

  [[nodiscard]] const hdf5_superblock& superblock() const noexcept { return superblock_; }

  /// An address at the cursor; nothing if it says "undefined".
  [[nodiscard]] std::optional<std::uint64_t> address(hdf5_cursor& cursor) const {
    return cursor.address(offset_bytes());
  }
  /// From the file's first byte. @throws hdf5_metadata_error if that is no number.
  [[nodiscard]] std::uint64_t in_file(std::uint64_t address) const;

  /// Says that a block will be read soon. Worth while before several that lie apart; does nothing where
  /// the file is in memory.
  void will_need(std::uint64_t address, std::uint64_t bytes) const noexcept;

  /// @throws hdf5_metadata_error beyond the file's end.
  [[nodiscard]] hdf5_block block(std::uint64_t address, std::uint64_t bytes);

 private:
  [[nodiscard]] hdf5_block read(std::uint64_t offset, std::uint64_t bytes);

  std::span<const std::byte> memory_;
  const random_file* file_ = nullptr;  ///< where it is not in memory
  std::uint64_t size_;
  std::uint64_t budget_;  ///< so many bytes may still be read
  bool hints_ = false;
  hdf5_superblock superblock_ = {};
};

}  // namespace feedline::detail
