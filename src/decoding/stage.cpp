#include "decoding/stage.hpp"

#include "detail/arithmetic.hpp"
#include "device/leak.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// The chunks of each array begin at a multiple of it.
constexpr std::size_t chunk_alignment = 256;

}  // namespace

block_store decoding_stage::store_of(const block_plan& plan, std::span<const std::size_t> row_bytes,
                                     const device_row_cache* cache) {
  block_store store{.fields = {},
                    .states = nullptr,
                    .places = plan.places,
                    .rows = static_cast<std::uint32_t>(plan.order.rows()),
                    .max_loads = static_cast<std::uint32_t>(plan.group * plan.fields),
                    .reference = plan.blocks,
                    .chunks = chunks_of(plan)};
  for (std::size_t place = 0; place < plan.fields; ++place) {
    const auto steps = plan.blocks->steps(place);
    const std::size_t block_bytes = plan.order.rows() * row_bytes[place];
    const std::size_t stored = std::min(plan.usual_bytes, plan.max_field_bytes(place));
    // The store is the loader's own memory, which the cache shows others for reading.
    store.fields.push_back(
        {.blocks = cache == nullptr ? nullptr : const_cast<std::byte*>(cache->field(place)),
         .block_bytes = block_bytes,
         .varies = !plan.varies.empty() && plan.varies[place],
         .steps = {steps.begin(), steps.end()},
         .max_stored_bytes = plan.max_field_bytes(place),
         // A stored block has room for its row, so the size of smaller ones is not known.
         .usual_stored_bytes = stored > block_bytes ? stored : 0});
  }
  return store;
}

std::shared_ptr<const block_store> decoding_stage::chunks_of(const block_plan& plan,
                                                             std::byte* memory,
                                                             std::uint32_t* states) {
  if (!plan.windows) return nullptr;
  const auto chunks = plan.windows->chunks();
  auto made = std::make_shared<block_store>();
  made->states = states;
  made->places = std::ranges::max(plan.chunk_places);
  made->rows = 1;
  made->max_loads = plan.group_chunks;
  made->reference = chunks;
  for (std::size_t i = 0; i < plan.chunk_places.size(); ++i) {
    const std::size_t bytes = plan.windows->arrays()[i].chunk_bytes;
    const auto steps = chunks->steps(i);
    made->fields.push_back({.blocks = memory,
                            .block_bytes = bytes,
                            .steps = {steps.begin(), steps.end()},
                            .max_stored_bytes = chunks->max_stored_bytes(i)});
    if (memory != nullptr) memory += round_up(plan.chunk_places[i] * bytes, chunk_alignment);
  }
  return made;
}

std::size_t decoding_stage::chunk_bytes(const block_plan& plan) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < plan.chunk_places.size(); ++i)
    bytes +=
        round_up(plan.chunk_places[i] * plan.windows->arrays()[i].chunk_bytes, chunk_alignment);
  return bytes;
}

std::size_t decoding_stage::chunk_words(const block_plan& plan) noexcept {
  if (plan.chunk_places.empty()) return 0;
  return std::ranges::max(plan.chunk_places) * plan.chunk_places.size();
}

std::size_t decoding_stage::device_bytes(const block_plan& plan,
                                         std::span<const std::size_t> row_bytes,
                                         const block_decoders& by, std::size_t slots) {
  return words(plan, slots) * sizeof(std::uint32_t) + chunk_bytes(plan) +
         plan.lanes * (block_arrivals::bytes(plan) + by.device_bytes(store_of(plan, row_bytes)));
}

decoding_stage::decoding_stage(device_ptr device, const block_plan& plan,
                               const device_row_cache& store, destination_layout tables,
                               std::size_t slots)
    : device_{std::move(device)},
      tables_{std::move(tables)},
      fields_{plan.fields},
      cuts_windows_{plan.windows != nullptr},
      words_{device_, memory_kind::device, words(plan, slots) * sizeof(std::uint32_t)},
      answers_{device_, memory_kind::staging, answer_bytes(slots)},
      first_answer_{words(plan, 0)},
      slots_{slots},
      arrived_{device_} {
  for (std::uint32_t i = 0; i < 2 * plan.lanes; ++i) groups_.emplace_back(device_);
  std::vector<std::size_t> row_bytes;
  for (std::size_t place = 0; place < fields_; ++place)
    row_bytes.push_back(tables_.row_bytes(place));
  block_store made = store_of(plan, row_bytes, &store);
  made.states = reinterpret_cast<std::uint32_t*>(words_.data());
  if (cuts_windows_) {
    chunks_.emplace(device_, memory_kind::device, chunk_bytes(plan));
    made.chunks =
        chunks_of(plan, chunks_->data(), made.states + (words(plan, 0) - chunk_words(plan)));
  }
  for (std::uint32_t i = 0; i < plan.lanes; ++i)
    lanes_.push_back(std::make_unique<lane>(device_, plan, made, tables_.chunks_at()));
}

void decoding_stage::take(staging_slot& from, copy_meter& copies, stream_ref copying,
                          event_handle assembled) {
  const carried_blocks& blocks = carried_blocks::of(*from.work.blocks);
  if (blocks.begins_pass) forget_pass();
  for (std::uint32_t first = 0; first < blocks.loads;) {
    if (!is_open_) open(copying);
    first += next_lane().arrivals.add(from, first, blocks.loads, copies, copying);
    arrived_end_ = blocks.first_load + first;
    if (first < blocks.loads || next_lane().arrivals.is_full()) decode(copying, assembled);
  }
  if (is_open_ && blocks.needed_end > decoded_end_) decode(copying, assembled);
  if (blocks.loads != 0) device_->record(arrived_.get(), copying);
}

void decoding_stage::open(stream_ref copying) {
  device_->wait(copying, closed(lanes_.size()).decoded.get());
  next_lane().arrivals.clear();
  closed(0).begin = decoded_end_;
  is_open_ = true;
}

void decoding_stage::decode(stream_ref copying, event_handle assembled) {
  const stream_ref own = next_lane().stream.get();
  device_->record(arrived_.get(), copying);
  device_->wait(own, arrived_.get());
  // This pass's groups have other blocks, or were decoded before those in the same slots were
  // needed.
  for (std::uint64_t back = 1; back < lanes_.size(); ++back)
    if (closed(back).end == 0 || closed(back).begin < next_lane().arrivals.replaces_end())
      device_->wait(own, closed(back).decoded.get());
  // Assemblies read no chunks.
  if (cuts_windows_) next_lane().decoder->decode_chunks(next_lane().arrivals.content(), own);
  if (assembled != event_handle::none) device_->wait(own, assembled);
  if (cuts_windows_)
    device_->wait(own, closed(1).decoded.get());  // windows share the chunks of groups before
  next_lane().decoder->decode(next_lane().arrivals.content(), own);
  device_->record(closed(0).decoded.get(), own);
  closed(0).end = decoded_end_ = arrived_end_;
  close();
}

void decoding_stage::close() noexcept {
  ++closed_;
  is_open_ = false;
}

void decoding_stage::forget_pass() noexcept {
  // Later copies to the same memory follow their own copies on the stream.
  is_open_ = false;
  for (group& each : groups_) each.begin = each.end = 0;
  arrived_end_ = decoded_end_ = awaited_end_ = 0;
}

bool decoding_stage::recover(stream_ref copying) noexcept {
  const bool decoded =
      try_record_behind(*device_, next_lane().stream.get(), {closed(0).decoded.get()});
  const bool arrived = try_record_behind(*device_, copying, {arrived_.get()});
  lost_ = lost_ || !decoded || !arrived;
  closed(0).end = 0;
  close();
  return !lost_;
}

void decoding_stage::wait_for_blocks(std::uint64_t end, stream_ref stream) {
  if (awaited_end_ >= end) return;
  // Groups that are not kept any more precede the first ones that are, each on its lane.
  const std::size_t kept = groups_.size();
  const std::uint64_t newer = awaited_end_ < closed(kept).begin ? kept - lanes_.size() : kept;
  for (std::uint64_t back = kept; back > 0; --back) {
    if (awaited_end_ >= end && back <= newer) return;
    if (closed(back).end <= awaited_end_) continue;
    device_->wait(stream, closed(back).decoded.get());
    awaited_end_ = closed(back).end;
  }
}

void decoding_stage::check(const staging_slot& from, const std::byte* copy_destination,
                           std::uint64_t samples, stream_ref stream) {
  carried_blocks& blocks = carried_blocks::of(*from.work.blocks);
  wait_for_blocks(blocks.needed_end, stream);
  // The consumer takes slots in order, and reads a slot's word before the device slot is filled
  // again. So as many words as device slots are enough.
  const std::size_t word = checked_++ % slots_;
  auto* const answer = reinterpret_cast<std::uint32_t*>(answers_.data()) + word;
  auto* const found = reinterpret_cast<std::uint32_t*>(words_.data()) + first_answer_ + word;
  lanes_.front()->decoder->find_bad(
      {.sources = reinterpret_cast<const std::uint32_t*>(copy_destination + tables_.sources_at()),
       .samples = static_cast<std::uint32_t>(samples),
       .first_bad = found},
      stream);
  device_->copy_back(answer, found, sizeof(std::uint32_t), stream);
  blocks.first_bad = answer;
}

bool decoding_stage::is_idle() {
  if (!device_->is_done(arrived_.get())) return false;
  for (std::uint64_t back = 1; back <= lanes_.size(); ++back)
    if (!device_->is_done(closed(back).decoded.get())) return false;
  return true;
}

bool decoding_stage::sync_before_freeing() noexcept {
  constexpr const char* whose = "blocks to be decoded";
  bool done = detail::sync_before_freeing(*device_, arrived_.get(), whose) && !lost_;
  for (std::uint64_t back = 1; back <= lanes_.size(); ++back)
    done = detail::sync_before_freeing(*device_, closed(back).decoded.get(), whose) && done;
  return done;
}

void decoding_stage::leak_memory() noexcept {
  if (chunks_) leak(*chunks_, "chunks that windows are cut from");
  leak(words_, "the states of decoded blocks");
  leak(answers_, "the device's reports on decoded blocks");
  for (const auto& one : lanes_) {
    one->arrivals.leak_memory();
    (void)one->decoder.release();
  }
}

}  // namespace feedline::detail
