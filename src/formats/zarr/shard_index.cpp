#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "formats/crc32c.hpp"
#include "formats/zarr/chunks.hpp"

#include <algorithm>

namespace feedline::detail {

std::vector<zarr_chunk> parse_shard_index(std::span<const std::byte> index,
                                          const zarr_shards& shards, std::uint64_t chunks,
                                          std::uint64_t shard_bytes, std::uint64_t index_begin) {
  constexpr std::size_t entry_bytes = 16;
  const auto refusal = [](const std::string& why) {
    return dataset_error{{}, why + "; the shard is damaged: copy it or write the array again"};
  };
  if (shards.index_has_crc32c) {
    const auto content = index.first(index.size() - 4);
    if (crc32c(content) != little_endian(index.last(4)))
      throw refusal("the checksum of the shard's index does not match");
    index = content;
  }
  const auto number = [&](std::size_t at) {
    const auto bytes = index.subspan(at, 8);
    return shards.index_big_endian ? big_endian(bytes) : little_endian(bytes);
  };
  std::vector<zarr_chunk> found(static_cast<std::size_t>(chunks));
  std::vector<std::pair<zarr_chunk, std::size_t>> stored;
  constexpr std::uint64_t missing = ~std::uint64_t{0};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::uint64_t begin = number(i * entry_bytes);
    const std::uint64_t bytes = number(i * entry_bytes + 8);
    if (begin == missing && bytes == missing) continue;
    if (bytes == 0 || begin > shard_bytes || bytes > shard_bytes - begin)
      throw refusal("the shard's index has chunk " + std::to_string(i) + " at byte " +
                    std::to_string(begin) + ", with " + std::to_string(bytes) +
                    " bytes, but the shard has " + std::to_string(shard_bytes));
    found[i] = {begin, bytes, 0};
    stored.emplace_back(found[i], i);
  }
  std::ranges::sort(stored, {}, [](const auto& each) { return each.first.begin; });
  const std::uint64_t index_end = index_begin + chunks * entry_bytes;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const auto& [place, chunk] = stored[i];
    if (place.begin < index_end && place.begin + place.bytes > index_begin)
      throw refusal("the shard's index has chunk " + std::to_string(chunk) + " within the index");
    if (i > 0 && stored[i - 1].first.begin + stored[i - 1].first.bytes > place.begin)
      throw refusal("the shard's index has chunks " + std::to_string(stored[i - 1].second) +
                    " and " + std::to_string(chunk) + " overlap");
  }
  return found;
}

}  // namespace feedline::detail
