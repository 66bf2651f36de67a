/// Fuzz target of the reader of HDF5's chunk indexes: any bytes are a file whose chunks it finds,
/// or a hdf5_metadata_error. An input is the address of a dataset's object header, in 8 bytes, then
/// the file. Most inputs are tried without regard to checksums, which the fuzzer cannot guess.

#include "hdf5/format/chunk_index.hpp"
#include "hdf5/format/chunk_layout.hpp"
#include "hdf5/format/chunk_map.hpp"
#include "hdf5/format/metadata.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

using namespace feedline::detail;

namespace {

/// Whoever maps a file refuses datasets of far more chunks than the file could hold.
constexpr std::uint64_t max_chunks = 1 << 18;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "hdf5_map_fuzz: does not hold: %s\n", what);
  std::abort();
}

std::optional<hdf5_chunk_map> map_of(std::span<const std::byte> file, std::uint64_t header,
                                     hdf5_metadata::checksums how) {
  try {
    hdf5_metadata metadata{file, how};
    const auto layout = read_hdf5_chunk_layout(metadata, header);
    if (std::ranges::count(layout.extents, 0U) > 0) return std::nullopt;
    const auto chunks = hdf5_chunk_map::count(layout.extents, layout.chunk_extents);
    if (!chunks || *chunks > max_chunks) return std::nullopt;
    hdf5_chunk_map map{layout.extents, layout.chunk_extents};
    read_hdf5_chunk_index(metadata, layout, map);
    return map;
  } catch (const hdf5_metadata_error& error) {
    require(error.what()[0] != '\0', "an error says what is wrong");
    return std::nullopt;
  }
}

bool same(const hdf5_chunk_map& a, const hdf5_chunk_map& b) {
  bool is_same = a.size() == b.size();
  for (std::uint64_t i = 0; i < a.size() && is_same; ++i) is_same = a[i] == b[i];
  return is_same;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  constexpr std::size_t address_bytes = 8;
  if (bytes.size() < address_bytes) return 0;
  const std::uint64_t header = hdf5_cursor{bytes, 0}.u64();
  const auto file = bytes.subspan(address_bytes);

  const auto found = map_of(file, header, hdf5_metadata::checksums::ignored);
  const auto verified = map_of(file, header, hdf5_metadata::checksums::verified);
  require(!verified || (found && same(*found, *verified)), "checksums change nothing but whether");
  return 0;
}
