#include "hdf5/format/metadata.hpp"

#include <cstring>
#include <limits>

namespace feedline::detail {
namespace {

constexpr std::string_view signature = "\x89HDF\r\n\x1A\n";
/// Number of bytes that are examined for a superblock of any version.
constexpr std::size_t front_bytes = 32;
constexpr std::uint64_t smallest_user_block = 512;

unsigned checked_width(const hdf5_cursor& cursor, unsigned width) {
  if (width != 2 && width != 4 && width != 8)
    cursor.fail("addresses or lengths of " + std::to_string(width) + " bytes");
  return width;
}

hdf5_superblock parse(std::span<const std::byte> front, std::uint64_t base) {
  constexpr unsigned version_with_extension = 2;
  hdf5_cursor cursor{front.subspan(signature.size()), base + signature.size()};
  const unsigned version = cursor.u8();
  if (version > 3) cursor.fail("superblock version " + std::to_string(version));
  if (version < version_with_extension) cursor.skip(4);  // versions of other structures
  hdf5_superblock superblock{.base = base};
  superblock.offset_bytes = checked_width(cursor, cursor.u8());
  superblock.length_bytes = checked_width(cursor, cursor.u8());
  if (version < version_with_extension) return superblock;
  cursor.skip(1 + superblock.offset_bytes);  // flags, and the base address as it was when written
  superblock.extension = cursor.address(superblock.offset_bytes);
  return superblock;
}

}  // namespace

// Structures do not overlap in an undamaged file; twice its size leaves room for those that are
// read in two steps.
hdf5_metadata::hdf5_metadata(std::span<const std::byte> file)
    : memory_{file}, size_{file.size()}, budget_{2 * size_} {
  find_superblock();
}

hdf5_metadata::hdf5_metadata(const byte_file& file)
    : memory_{file.mapped()},
      file_{&file},
      size_{file.size()},
      budget_{2 * size_},
      hints_{file.is_cold()} {
  find_superblock();
}

/// Finds and reads a superblock of version 0 to 3: at the file's front, or at a power of two from
/// 512 on. Addresses count from where it is found, whatever it says itself: a user block may have
/// been added or removed since it was written. (HDF5 File Format Specification 3.0, II.A)
void hdf5_metadata::find_superblock() {
  for (std::uint64_t base = 0; base < size_ && size_ - base >= front_bytes;
       base = base == 0 ? smallest_user_block : 2 * base)
    if (const auto front = read(base, front_bytes);
        std::memcmp(front.bytes().data(), signature.data(), signature.size()) == 0) {
      superblock_ = parse(front.bytes(), base);
      return;
    }
  throw hdf5_metadata_error{"the file has no HDF5 superblock"};
}

std::uint64_t hdf5_metadata::in_file(std::uint64_t address) const {
  if (address > std::numeric_limits<std::uint64_t>::max() - superblock_.base)
    throw hdf5_metadata_error{"address " + std::to_string(address) + " is beyond all files"};
  return address + superblock_.base;
}

void hdf5_metadata::will_need(std::uint64_t address, std::uint64_t bytes) const noexcept {
  if (hints_ && address < size_ && superblock_.base < size_ - address)
    file_->will_need(address + superblock_.base, bytes);
}

hdf5_block hdf5_metadata::block(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t offset = in_file(address);
  if (offset > size_ || bytes > size_ - offset)
    throw hdf5_metadata_error{
        offset, "a block of " + std::to_string(bytes) + " bytes reaches beyond the file's end"};
  if (bytes > budget_)
    throw hdf5_metadata_error{offset, "structures overlap or refer to themselves"};
  budget_ -= bytes;
  return read(offset, bytes);
}

hdf5_block hdf5_metadata::read(std::uint64_t offset, std::uint64_t bytes) const {
  if (!memory_.empty())
    return {.borrowed =
                memory_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes)),
            .offset = offset};
  hdf5_block block{.own = std::vector<std::byte>(static_cast<std::size_t>(bytes)),
                   .offset = offset};
  file_->read(offset, block.own);
  return block;
}

}  // namespace feedline::detail
