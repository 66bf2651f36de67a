#include "reader/block_reader.hpp"

#include <span>

namespace feedline::detail {

void block_reader::read(staging_slot& slot, std::uint32_t load) const noexcept {
  sample_index block{};
  plan_->order.blocks(slot.work.run->epoch, slot.work.first_load + load, {&block, 1});
  if (block == block_order::none) return;
  auto* entry = reinterpret_cast<block_load*>(slot.data + table_at_) + load * plan_->fields;
  for (std::size_t field = 0; field < plan_->fields; ++field, ++entry) {
    try {
      const auto stored = plan_->blocks->read(
          field, block.value, {slot.data + std::size_t{entry->at} * 16, entry->bytes});
      entry->bytes = static_cast<std::uint32_t>(stored.bytes);
      entry->skipped = stored.skipped;
      entry->height = stored.height;
      entry->width = stored.width;
      entry->missing = 0;
    } catch (...) {  // NOLINT(bugprone-empty-catch): it is missing, as the entry says
    }
  }
}

}  // namespace feedline::detail
