#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace feedline::detail {

/// What the front of an HDF5 file says that a reader of its metadata needs.
struct hdf5_superblock {
  std::uint64_t base = 0;  ///< where addresses count from: the end of the user block
  unsigned offset_bytes = 8;
  unsigned length_bytes = 8;
  std::optional<std::uint64_t> extension = {};  ///< an object header of more about the file
};

/// Finds and reads a superblock of version 0 to 3: at the file's front, or at a power of two from 512
/// on. Addresses count from where it is found, whatever it says itself: a user block may have been put
/// before it, or taken away, since it was written. (HDF5 File Format Specification 3.0, II.A)
/// @param read Bytes at an offset of the file, all of them. @throws hdf5_metadata_error
[[nodiscard]] hdf5_superblock find_hdf5_superblock(
    std::uint64_t file_bytes,
    const std::function<void(std::uint64_t offset, std::span<std::byte> out)>& read);

}  // namespace feedline::detail
