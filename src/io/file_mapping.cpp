#include "io/file_mapping.hpp"

#include <sys/mman.h>

#include <limits>
#include <new>

namespace feedline::detail {

std::unique_ptr<const file_mapping> file_mapping::of(int descriptor, std::uint64_t bytes) noexcept {
  if (bytes == 0 || bytes > std::numeric_limits<std::size_t>::max() / 2) return nullptr;
  const auto length = static_cast<std::size_t>(bytes);
  void* const address = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) return nullptr;
  std::unique_ptr<const file_mapping> made{
      new (std::nothrow) file_mapping{{static_cast<const std::byte*>(address), length}}};
  if (!made) ::munmap(address, length);
  return made && made->guard_ ? std::move(made) : nullptr;
}

file_mapping::file_mapping(std::span<const std::byte> bytes) noexcept
    : bytes_{bytes}, guard_{sigbus_guard::over(bytes.data(), bytes.size())} {
  // Samples come in random order: a fault is not to bring in what lies around (8 MiB on some
  // disks).
  (void)::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_RANDOM);
}

file_mapping::~file_mapping() {
  guard_.reset();
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace feedline::detail
