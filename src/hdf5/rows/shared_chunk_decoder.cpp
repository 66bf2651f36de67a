#include "hdf5/rows/shared_chunk_decoder.hpp"

#include <utility>

namespace feedline::detail {

void hdf5_shared_chunk_decoder::remove(const hdf5_chunk_blocks& blocks) noexcept {
  std::erase_if(fields_, [&](const kept_field& each) { return each.blocks == &blocks; });
}

void hdf5_shared_chunk_decoder::read(const hdf5_chunk_blocks& own, std::uint64_t block,
                                     std::span<std::byte> out) const {
  std::vector<hdf5_chunk_blocks::part> parts{{&own, out}};
  std::vector<block_cache::fill> fills;
  for (const kept_field& each : fields_) {
    if (each.blocks == &own) continue;
    if (auto fill = each.cache->try_fill(block)) {
      parts.push_back({each.blocks, fill->bytes()});
      fills.push_back(std::move(*fill));
    }
  }
  own.read(block, parts);
  for (auto& fill : fills) fill.publish(0);
}

}  // namespace feedline::detail
