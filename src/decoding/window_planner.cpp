#include "decoding/window_planner.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace feedline::detail {

window_planner::window_planner(std::shared_ptr<const block_plan> plan)
    : plan_{std::move(plan)}, chunks_{plan_->windows->chunks()} {
  for (const std::uint32_t places : plan_->chunk_places) {
    array_places& made = arrays_.emplace_back();
    made.places.resize(places);
    for (std::uint32_t place = 0; place < places; ++place)
      made.places[place].turn = made.turns.insert(made.turns.end(), place);
  }
}

void window_planner::begin_pass(std::uint64_t first) noexcept {
  group_begin_ = end_ = first;
  for (array_places& each : arrays_) {
    each.known.clear();
    for (auto& place : each.places) {
      place.chunk = window_blocks::no_chunk;
      place.use_end = 0;
    }
  }
}

void window_planner::plan(const sample_context& context, planned_window& out) {
  out.blocks.assign(plan_->fields, {});
  out.chunks.clear();
  out.begins_group = false;
  out.replaces_end = 0;
  out.bytes = 0;
  ++end_;
  for (std::size_t field = 0; field < plan_->fields; ++field) {
    if (!plan_->windows->is_window(field)) {
      out.bytes += block_plan::rounded(plan_->stored(field, context.sample).bytes);
      continue;
    }
    window_block head;
    recipe_.pieces.clear();
    if (context.sample != block_order::none)
      plan_->windows->cut(field, context.sample, context, recipe_);
    head.fills = recipe_.pieces.empty() ? 0 : recipe_.fills;
    head.boxes = static_cast<std::uint32_t>(recipe_.pieces.size());
    std::vector<std::byte>& block = out.blocks[field];
    block.resize(sizeof head + head.boxes * sizeof(window_box));
    std::memcpy(block.data(), &head, sizeof head);
    std::byte* to = block.data() + sizeof head;
    for (window_blocks::piece& each : recipe_.pieces) {
      if (each.chunk != window_blocks::no_chunk)
        each.box.place = place_of(each.box.field, each.chunk, out);
      std::memcpy(to, &each.box, sizeof each.box);
      to += sizeof each.box;
    }
    out.bytes += block_plan::rounded(block.size());
  }
  for (const planned_window::chunk& each : out.chunks)
    out.bytes += block_plan::rounded(each.stored.bytes);
}

std::uint32_t window_planner::place_of(std::uint32_t array, std::uint64_t chunk,
                                       planned_window& out) {
  array_places& all = arrays_[array];
  const auto [found, is_new] = all.known.try_emplace(chunk, all.turns.front());
  const std::uint32_t number = found->second;
  array_places::place& place = all.places[number];
  all.turns.splice(all.turns.end(), all.turns, place.turn);
  const std::uint64_t use_end = std::exchange(place.use_end, end_);
  if (!is_new) return number;
  if (use_end > group_begin_) {
    group_begin_ = end_ - 1;
    out.begins_group = true;
  }
  out.replaces_end = std::max(out.replaces_end, use_end);
  if (place.chunk != window_blocks::no_chunk) all.known.erase(place.chunk);
  place.chunk = chunk;
  out.chunks.push_back({array, number, chunk, chunks_->stored(array, chunk)});
  return number;
}

}  // namespace feedline::detail
