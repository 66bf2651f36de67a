#include "decoding/block_reader.hpp"

#include <feedline/dataset/read_counts.hpp>

#include "decoding/carried_blocks.hpp"

#include <cstddef>
#include <exception>
#include <span>
#include <utility>

namespace feedline::detail {
namespace {

/// A broken disk fails at all of them, and a few tell as much.
constexpr std::size_t max_failures = 64;

}  // namespace

void block_reader::read(staging_slot& slot, std::uint64_t epoch, std::uint64_t index,
                        std::uint32_t load) noexcept {
  sample_index block{};
  plan_->order.blocks(epoch, index, {&block, 1});
  if (block == block_order::none) return;
  auto* entry = reinterpret_cast<block_load*>(slot.data + table_at_) + load * plan_->fields;
  sample_context context;
  if (plan_->order.rows() == 1) context = context_of(epoch, index, block);
  if (const image_in_row& row = entry->in_row; row.row_height != 0)
    context.size = image_size{row.row_height, row.row_width};
  std::exception_ptr failed;
  for (std::size_t field = 0; field < plan_->fields; ++field, ++entry) {
    if (plan_->windows && plan_->windows->is_window(field)) {
      entry->missing = 0;  // it has been written; a missing chunk has a state of its own
      continue;
    }
    try {
      const auto stored = plan_->blocks->read(
          field, block.value, {slot.data + std::size_t{entry->at} * 16, entry->bytes}, context);
      entry->bytes = static_cast<std::uint32_t>(stored.bytes);
      entry->skipped = stored.skipped;
      entry->height = stored.height;
      entry->width = stored.width;
      entry->window = stored.window;
      entry->in_row = stored.in_row;
      entry->format = stored.format;
      entry->pixel_bits = stored.pixel_bits;
      entry->orientation = stored.orientation;
      entry->missing = 0;
    } catch (...) {  // it is missing, as the entry says
      failed = std::current_exception();
    }
  }
  if (failed) keep({epoch, block.value}, std::move(failed));
}

void block_reader::read_chunk(staging_slot& slot, std::uint64_t epoch,
                              std::uint32_t number) noexcept {
  const auto& carried = carried_blocks::of(*slot.work.blocks);
  const carried_blocks::chunk& chunk = carried.chunks[number];
  auto* const entry =
      reinterpret_cast<block_load*>(slot.data + table_at_ +
                                    block_plan::table_bytes(carried.loads * plan_->fields)) +
      number;
  try {
    const auto stored = plan_->windows->chunks()->read(
        chunk.array, chunk.number, {slot.data + std::size_t{entry->at} * 16, entry->bytes}, {});
    entry->bytes = static_cast<std::uint32_t>(stored.bytes);
    entry->skipped = stored.skipped;
    entry->missing = 0;
    count_read({.decoded = 1});
  } catch (...) {  // it is missing, as the entry says
    sample_index block{};
    plan_->order.blocks(epoch, carried.first_load + chunk.load, {&block, 1});
    keep({epoch, block.value}, std::current_exception());
  }
}

void block_reader::keep(place of, std::exception_ptr why) noexcept {
  const std::scoped_lock lock{mutex_};
  try {
    if (failures_.size() >= max_failures && failures_.begin()->first.first < of.first)
      failures_.erase(failures_.begin());
    if (failures_.size() < max_failures) failures_.insert_or_assign(of, std::move(why));
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory to keep it in
  }
}

std::exception_ptr block_reader::failure(std::uint64_t epoch, sample_index sample) const {
  const std::scoped_lock lock{mutex_};
  const auto found = failures_.find({epoch, sample.value / plan_->order.rows()});
  return found == failures_.end() ? nullptr : found->second;
}

}  // namespace feedline::detail
