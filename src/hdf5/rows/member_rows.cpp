#include "hdf5/rows/member_rows.hpp"

#include <utility>

namespace feedline::detail {

void hdf5_shared_chunk_decoder::read(const block_cache& own, std::uint64_t block,
                                     std::span<std::byte> out) const {
  std::vector<hdf5_chunk_blocks::part> parts(1);
  std::vector<block_cache::fill> fills;
  for (const kept_field& each : fields_) {
    if (each.cache == &own) {
      parts.front() = {each.blocks, out};
    } else if (auto fill = each.cache->try_fill(block)) {
      parts.push_back({each.blocks, fill->bytes()});
      fills.push_back(std::move(*fill));
    }
  }
  parts.front().blocks->read(block, parts);
  for (auto& fill : fills) fill.publish(0);
}

hdf5_member_rows::hdf5_member_rows(row_extent all, std::unique_ptr<const hdf5_chunk_blocks> blocks,
                                   std::shared_ptr<hdf5_shared_chunk_decoder> decoder)
    : cached_rows{std::move(all), std::move(blocks)}, decoder_{std::move(decoder)} {
  decoder_->add(static_cast<const hdf5_chunk_blocks&>(this->blocks()), cache());
}

hdf5_member_rows::~hdf5_member_rows() {
  decoder_->remove(cache());
}

void hdf5_member_rows::read_block(std::uint64_t block, std::span<std::byte> out) const {
  decoder_->read(cache(), block, out);
}

}  // namespace feedline::detail
