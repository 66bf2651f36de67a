#include <feedline/error.hpp>

#include "formats/hdf5/whole_file.hpp"
#include "formats/open/format_entry.hpp"
#include "io/file_magic.hpp"

#include <array>
#include <cstdint>

namespace feedline::detail {
namespace {

constexpr std::array<unsigned char, 8> signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/// The signature comes after a user block of 512, 1024, 2048, … bytes.
bool has_user_block(const probed_file& file) {
  const std::uint64_t size = file.file.size();
  std::array<std::byte, signature.size()> bytes{};
  for (std::uint64_t at = 512; at <= size / 2 && size - at >= bytes.size(); at *= 2) {
    file.file.read(at, bytes);
    if (begins_with(std::span<const std::byte>{bytes}, signature)) return true;
  }
  return false;
}

}  // namespace

format_entry hdf5_format() {
  return {.name = "hdf5",
          .known_as = "HDF5 files",
          .is = [](const probed_file& file) { return begins_with(file.head, signature); },
          .may_be = has_user_block,
          .open =
              [](const std::vector<std::string>& files, const open_options& options) {
                return open_each(files,
                                 [&](const auto& path) { return open_whole_hdf5(path, options); });
              },
          .list = list_whole_hdf5,
          .takes_like = true};
}

#ifndef FEEDLINE_HAS_HDF5
namespace {

[[noreturn]] void refuse_hdf5(const std::string& path) {
  throw dataset_error{{.path = path, .field = {}},
                      "an HDF5 file, and this feedline was built without the HDF5 library; install "
                      "libhdf5-dev, and build feedline again"};
}

}  // namespace

dataset_ptr open_whole_hdf5(const std::string& path, const open_options&) {
  refuse_hdf5(path);
}

std::vector<listed_field> list_whole_hdf5(const std::string& path, const open_options&) {
  refuse_hdf5(path);
}
#endif

}  // namespace feedline::detail
