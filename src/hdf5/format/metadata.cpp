#include "hdf5/format/metadata.hpp"

#include <algorithm>
#include <limits>

namespace feedline::detail {
namespace {

/// Structures do not overlap in a sound file; twice its size leaves room for those read in two steps.
std::uint64_t budget_of(std::uint64_t file_bytes) {
  return file_bytes > std::numeric_limits<std::uint64_t>::max() / 2 ? file_bytes : 2 * file_bytes;
}

}  // namespace

hdf5_metadata::hdf5_metadata(std::span<const std::byte> file)
    : memory_{file}, size_{file.size()}, budget_{budget_of(size_)} {
  superblock_ = find_hdf5_superblock(size_, [file](std::uint64_t offset, std::span<std::byte> out) {
    std::ranges::copy(file.subspan(static_cast<std::size_t>(offset), out.size()), out.begin());
  });
}

hdf5_metadata::hdf5_metadata(const random_file& file)
    : memory_{file.mapped()},
      file_{&file},
      size_{file.size()},
      budget_{budget_of(size_)},
      hints_{file.is_cold()} {
  superblock_ = find_hdf5_superblock(
      size_, [&file](std::uint64_t offset, std::span<std::byte> out) { file.read(offset, out); });
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
  return read(in_file(address), bytes);
}

hdf5_block hdf5_metadata::read(std::uint64_t offset, std::uint64_t bytes) {
  if (offset > size_ || bytes > size_ - offset)
    throw hdf5_metadata_error{
        offset, "a block of " + std::to_string(bytes) + " bytes reaches beyond the file's end"};
  if (bytes > budget_)
    throw hdf5_metadata_error{offset, "structures lie over each other or point back at themselves"};
  budget_ -= bytes;
  if (!memory_.empty())
    return {memory_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes)),
            offset};
  std::vector<std::byte> own(static_cast<std::size_t>(bytes));
  file_->read(offset, own);
  return {std::move(own), offset};
}

}  // namespace feedline::detail
