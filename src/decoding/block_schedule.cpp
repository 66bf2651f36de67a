#include "decoding/block_schedule.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace feedline::detail {

block_schedule::block_schedule(std::shared_ptr<const block_plan> plan, std::size_t table_at,
                               block_reader& reader, bool fills, batch_sizer* sizer)
    : plan_{std::move(plan)},
      table_at_{table_at},
      reader_{reader},
      fills_{fills},
      sizer_{sizer},
      lot_{std::max<std::uint64_t>(
          1, std::min<std::uint64_t>(
                 {max_blocks(), plan_->loads_bytes / std::max<std::size_t>(plan_->usual_bytes, 1),
                  plan_->ahead / 8U}))} {
  if (plan_->windows) windows_.emplace(plan_);
}

void block_schedule::begin(const epoch_pass& pass, bool begins_pass, position first, position end) {
  const block_order& order = plan_->order;
  if (begins_pass) {
    epoch_ = pass.epoch;
    begins_pass_ = true;
    const block_order::window of_first = order.window_of(epoch_, first);
    loaded_ = of_first.first_place;
    passed_ = passed(of_first, first);
    if (windows_) windows_->begin_pass(loaded_);
    kept_ = 0;
  }
  const block_order::window of_last = order.window_of(epoch_, position{end.value - 1});
  const std::uint64_t before = std::exchange(passed_, passed(of_last, end));
  needed_ = of_last.end_place;
  wanted_ = std::max(needed_, std::min(order.blocks(),
                                       passed_ + order.max_window() + std::uint64_t{plan_->ahead}));
  due_ = needed_;
  if (begins_pass) return;
  // Chunks of windows are decoded for longer than a batch takes, whatever number is there.
  due_ = plan_->windows ? wanted_
                        : std::max(due_, std::min(wanted_, loaded_ + gain * (passed_ - before)));
}

std::uint64_t block_schedule::passed(const block_order::window& of, position end) noexcept {
  __extension__ using wide = unsigned __int128;
  const wide share = wide{end.value - of.first} * (of.end_place - of.first_place);
  const std::uint64_t samples = of.end - of.first;
  return of.first_place + static_cast<std::uint64_t>((share + samples - 1) / samples);
}

bool block_schedule::add(staging_slot& slot, slot_work& work) {
  const auto blocks = load(slot, needed_);
  const bool is_complete = loaded_ >= needed_;
  if (is_complete) blocks->needed_end = needed_;
  work.blocks = blocks;
  return is_complete;
}

bool block_schedule::is_due() const noexcept {
  return loaded_ < due_ && (wanted_ - loaded_ >= lot_ || wanted_ == plan_->order.blocks());
}

bool block_schedule::wants_slot(std::size_t circulating) {
  if (!is_due()) return false;
  std::erase_if(ahead_, [](const staging_slot* slot) {
    const staging_state state = slot->state.load();
    return !slot->work.is_ahead() ||
           (state != staging_state::filling && state != staging_state::filled);
  });
  return ahead_.size() < std::max<std::size_t>(circulating, 2) - 1;
}

void block_schedule::add_ahead(staging_slot& slot, slot_work& work) {
  const auto blocks = load(slot, fills_ ? wanted_ : due_);
  blocks->ahead = true;
  work.blocks = blocks;
  if (std::ranges::find(ahead_, &slot) == ahead_.end()) ahead_.push_back(&slot);
}

std::shared_ptr<carried_blocks> block_schedule::load(staging_slot& slot, std::uint64_t end) {
  const std::uint64_t first = loaded_;
  const std::uint64_t most = std::min<std::uint64_t>(std::max(first, end) - first, max_blocks());
  numbers_.resize(most);
  plan_->order.blocks(epoch_, first, numbers_);
  auto made = std::make_shared<carried_blocks>(reader_);
  made->first_load = first;
  made->begins_pass = std::exchange(begins_pass_, false);
  if (windows_) {
    load_windows(slot, first, *made);
    return made;
  }
  std::size_t bytes = 0;
  std::uint64_t blocks = 0;
  for (; blocks < most; ++blocks) {
    const std::size_t more = plan_->stored_bytes(numbers_[blocks]);
    const std::size_t table = block_plan::table_bytes((blocks + 1) * plan_->fields);
    if (table + bytes + more > plan_->loads_bytes) break;
    bytes += more;
  }
  numbers_.resize(blocks);
  loaded_ += blocks;
  made->loads = static_cast<std::uint32_t>(blocks);
  write(slot, first);
  return made;
}

image_in_row block_schedule::row_of(std::uint64_t index) {
  if (sizer_ == nullptr) return {};
  image_size size = sizer_->largest();
  try {
    size = sizer_->of(epoch_, index / sizer_->batch_size());  // a block is a sample
  } catch (...) {  // the batch fails when its own ticket asks
  }
  return {.row_height = static_cast<std::uint16_t>(size.height),
          .row_width = static_cast<std::uint16_t>(size.width)};
}

void block_schedule::write(staging_slot& slot, std::uint64_t first) {
  auto* load = reinterpret_cast<block_load*>(slot.data + table_at_);
  std::size_t at = table_at_ + block_plan::table_bytes(numbers_.size() * plan_->fields);
  for (const sample_index block : numbers_) {
    const image_in_row row = row_of(first);
    const auto place = static_cast<std::uint32_t>(first++ % plan_->places);
    for (std::size_t field = 0; field < plan_->fields; ++field) {
      const auto stored = plan_->stored(field, block);
      *load++ = {.field = static_cast<std::uint32_t>(field),
                 .place = place,
                 .bytes = static_cast<std::uint32_t>(stored.bytes),
                 .at = static_cast<std::uint32_t>(at / 16),
                 .skipped = stored.skipped,
                 .missing = 1,  // until it is read
                 .in_row = row};
      at += block_plan::rounded(stored.bytes);
    }
  }
}

void block_schedule::load_windows(staging_slot& slot, std::uint64_t first, carried_blocks& made) {
  std::size_t bytes = 0;
  std::size_t chunks = 0;
  std::size_t blocks = 0;
  const auto tables = [&](std::size_t of_blocks, std::size_t of_chunks) {
    return block_plan::table_bytes(of_blocks * plan_->fields) + block_plan::table_bytes(of_chunks);
  };
  for (; blocks < numbers_.size(); ++blocks) {
    if (planned_.size() <= blocks) planned_.emplace_back();
    planned_window& next = planned_[blocks];
    if (blocks >= kept_)
      windows_->plan(reader_.context_of(epoch_, first + blocks, numbers_[blocks]), next);
    kept_ = std::max(kept_, blocks + 1);
    const std::size_t more = next.chunks.size();
    if (tables(blocks + 1, chunks + more) + bytes + next.bytes > plan_->loads_bytes ||
        chunks + more > max_chunks())
      break;
    bytes += next.bytes;
    chunks += more;
  }
  loaded_ += blocks;
  made.loads = static_cast<std::uint32_t>(blocks);
  auto* load = reinterpret_cast<block_load*>(slot.data + table_at_);
  auto* chunk = reinterpret_cast<block_load*>(slot.data + table_at_ +
                                              block_plan::table_bytes(blocks * plan_->fields));
  std::size_t at = table_at_ + tables(blocks, chunks);
  const auto put = [&](block_load*& to, std::size_t field, std::uint64_t place,
                       const encoded_blocks::stored_block& stored) {
    *to++ = {.field = static_cast<std::uint32_t>(field),
             .place = static_cast<std::uint32_t>(place),
             .bytes = static_cast<std::uint32_t>(stored.bytes),
             .at = static_cast<std::uint32_t>(at / 16),
             .skipped = stored.skipped,
             .missing = 1};  // until it is read
    at += block_plan::rounded(stored.bytes);
  };
  for (std::size_t b = 0; b < blocks; ++b) {
    const planned_window& window = planned_[b];
    for (std::size_t field = 0; field < plan_->fields; ++field) {
      const std::vector<std::byte>& block = window.blocks[field];
      if (!block.empty()) std::memcpy(slot.data + at, block.data(), block.size());
      put(load, field, (first + b) % plan_->places,
          block.empty() ? plan_->stored(field, numbers_[b])
                        : encoded_blocks::stored_block{.bytes = block.size()});
    }
    for (const planned_window::chunk& each : window.chunks) {
      put(chunk, each.array, each.place, each.stored);
      made.chunks.push_back({each.array, each.number, static_cast<std::uint32_t>(b)});
    }
    made.extras.push_back({static_cast<std::uint32_t>(made.chunks.size()), at, window.begins_group,
                           window.replaces_end});
  }
  // The window that found no room comes first in the next piece.
  std::rotate(planned_.begin(), planned_.begin() + static_cast<std::ptrdiff_t>(blocks),
              planned_.end());
  kept_ -= blocks;
}

}  // namespace feedline::detail
