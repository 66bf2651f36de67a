#include "support/hdf5/chunk_check.hpp"

#include "hdf5/library/file.hpp"
#include "hdf5/rows/map_chunks.hpp"
#include "io/local/file.hpp"
#include "support/hdf5/stored_chunks.hpp"

#include <algorithm>
#include <vector>

namespace feedline::test {

detail::hdf5_chunk_map map_indexed(const std::filesystem::path& path, detail::file_access access) {
  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, path};
  const auto dataset = file.open_dataset(hdf5, indexed_name);
  const detail::local_file raw{path, access};
  return detail::map_hdf5_chunks(hdf5, dataset.get(), raw, indexed_name);
}

std::optional<std::string> fault_of(const detail::hdf5_chunk_map& map,
                                    const indexed_dataset& dataset,
                                    const std::filesystem::path& path) {
  const detail::local_file raw{path};
  for (std::uint64_t number = 0; number < map.size(); ++number) {
    const detail::hdf5_chunk& chunk = map[number];
    const std::string which = "chunk " + std::to_string(number);
    if (!dataset.writes(number)) {
      if (chunk.is_written() && !dataset.allocates_early) return which + " was never written";
      continue;
    }
    if (!chunk.is_written()) return which + " was written";
    const auto expected = dataset.stored(number);
    if (chunk.bytes != expected.size()) return which + " has another size";
    if (chunk.filter_mask != dataset.filter_mask(number)) return which + " has another filter mask";
    std::vector<std::byte> found(chunk.bytes);
    raw.read(chunk.address, found);
    if (found != expected) return which + " is elsewhere";
  }
  return std::nullopt;
}

std::optional<std::string> difference_from_library(hid_t dataset, const detail::local_file& file,
                                                   const detail::hdf5_chunk_map& map) {
  std::vector<std::uint64_t> first(map.grid().size());
  const auto stored = read_stored(dataset);
  auto next = stored.chunks.begin();
  for (std::uint64_t number = 0; number < map.size(); ++number) {
    const std::string which = "chunk " + std::to_string(number);
    const detail::hdf5_chunk& chunk = map[number];
    map.first_element(number, first);
    const bool is_stored = next != stored.chunks.end() && std::ranges::equal(next->offset, first);
    if (is_stored != chunk.is_written()) return which + " is there for one alone";
    if (!is_stored) continue;
    std::vector<std::byte> found(chunk.bytes);
    file.read(chunk.address, found);
    if (found != next->stored) return which + " is elsewhere";
    if (chunk.filter_mask != next->mask) return which + " has another filter mask";
    ++next;
  }
  if (next != stored.chunks.end()) return "chunks are missing";
  return std::nullopt;
}

}  // namespace feedline::test
