#include "support/hdf5/chunk_check.hpp"

#include "hdf5/library/chunk_lookup.hpp"
#include "hdf5/library/file.hpp"

#include <utility>
#include <vector>

namespace feedline::test {

mapped_dataset map_indexed(const std::filesystem::path& path, detail::random_file::access access,
                           const detail::hdf5_index_parser& parse) {
  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, path};
  const auto dataset = file.open_dataset(hdf5, indexed_name);
  const detail::random_file bytes{path, access};
  std::string why_asked;
  auto map = detail::map_hdf5_chunks(hdf5, dataset.get(), bytes, indexed_name, parse, &why_asked);
  return {std::move(map), std::move(why_asked)};
}

std::optional<std::string> fault_of(const detail::hdf5_chunk_map& map,
                                    const indexed_dataset& dataset,
                                    const std::filesystem::path& path) {
  const detail::random_file bytes{path};
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
    bytes.read(chunk.address, found);
    if (found != expected) return which + " is elsewhere";
  }
  return std::nullopt;
}

std::optional<std::string> difference_from_lookup(const detail::hdf5_session& hdf5, hid_t dataset,
                                                  const detail::random_file& file,
                                                  const detail::hdf5_chunk_map& map) {
  detail::hdf5_chunk_lookup lookup{hdf5, dataset, file, "x"};
  std::vector<std::uint64_t> first(map.grid().size());
  for (std::uint64_t number = 0; number < map.size(); ++number) {
    map.first_element(number, first);
    if (map[number] != lookup.find(hdf5, first)) return "chunk " + std::to_string(number);
  }
  return std::nullopt;
}

}  // namespace feedline::test
