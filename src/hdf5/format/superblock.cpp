#include "hdf5/format/superblock.hpp"

#include "hdf5/format/cursor.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace feedline::detail {
namespace {

constexpr std::array<unsigned char, 8> signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};
/// As much of any version's superblock is looked at.
constexpr std::size_t front_bytes = 32;
constexpr std::uint64_t smallest_user_block = 512;

bool has_signature(std::span<const std::byte> front) {
  return std::equal(signature.begin(), signature.end(), front.begin(),
                    [](unsigned char expected, std::byte found) {
                      return expected == std::to_integer<unsigned char>(found);
                    });
}

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
  cursor.skip(1 + superblock.offset_bytes);  // flags, and the base as it was
  superblock.extension = cursor.address(superblock.offset_bytes);
  return superblock;
}

}  // namespace

hdf5_superblock find_hdf5_superblock(
    std::uint64_t file_bytes,
    const std::function<void(std::uint64_t offset, std::span<std::byte> out)>& read) {
  std::array<std::byte, front_bytes> front{};
  for (std::uint64_t base = 0; base < file_bytes && file_bytes - base >= front_bytes;
       base = base == 0 ? smallest_user_block : 2 * base) {
    read(base, front);
    if (has_signature(front)) return parse(front, base);
  }
  throw hdf5_metadata_error{"the file has no HDF5 superblock"};
}

}  // namespace feedline::detail
