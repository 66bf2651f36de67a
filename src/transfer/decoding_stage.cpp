#include "transfer/decoding_stage.hpp"

#include "device/leak.hpp"

#include <utility>
#include <vector>

namespace feedline::detail {

block_store decoding_stage::store_of(const block_plan& plan, std::span<const std::size_t> row_bytes,
                                     const device_row_cache* cache) {
  block_store store{.fields = {},
                    .states = nullptr,
                    .places = plan.places,
                    .rows = static_cast<std::uint32_t>(plan.order.rows()),
                    .max_loads = plan.max_loads,
                    .reference = plan.blocks};
  for (std::size_t place = 0; place < plan.fields; ++place) {
    const auto steps = plan.blocks->steps(place);
    // The store is the loader's own memory, which the cache shows others for reading.
    store.fields.push_back(
        {.blocks = cache == nullptr ? nullptr : const_cast<std::byte*>(cache->field(place)),
         .block_bytes = plan.order.rows() * row_bytes[place],
         .steps = {steps.begin(), steps.end()},
         .max_stored_bytes = plan.blocks->max_stored_bytes(place)});
  }
  return store;
}

std::size_t decoding_stage::device_bytes(const block_plan& plan,
                                         std::span<const std::size_t> row_bytes,
                                         const block_decoders& by, std::size_t slots) {
  return words(plan, slots) * sizeof(std::uint32_t) + by.device_bytes(store_of(plan, row_bytes));
}

decoding_stage::decoding_stage(device_ptr device, const block_plan& plan,
                               const device_row_cache& store, landing_layout tables,
                               std::size_t slots)
    : device_{std::move(device)},
      tables_{std::move(tables)},
      fields_{plan.fields},
      words_{device_, memory_kind::device, words(plan, slots) * sizeof(std::uint32_t)},
      answers_{device_, memory_kind::staging, slots * sizeof(std::uint32_t)},
      first_answer_{words(plan, 0)} {
  std::vector<std::size_t> row_bytes;
  for (std::size_t place = 0; place < fields_; ++place)
    row_bytes.push_back(tables_.row_bytes(place));
  block_store made = store_of(plan, row_bytes, &store);
  made.states = reinterpret_cast<std::uint32_t*>(words_.data());
  decoder_ = device_->capabilities().decodes->make(made);
}

void decoding_stage::run(const staging_slot& from, const std::byte* landing_buffer, device_slot& to,
                         std::uint64_t samples, stream_ref stream) {
  if (from.work.loads != 0)
    decoder_->decode({.landing_buffer = landing_buffer,
                      .staged = from.data,
                      .loads_at = tables_.chunks_at(),
                      .loads = static_cast<std::uint32_t>(from.work.loads * fields_)},
                     stream);
  if (samples == 0) return;
  auto* const answers = reinterpret_cast<std::uint32_t*>(answers_.data());
  if (to.first_bad == nullptr) to.first_bad = answers + answered_++;
  auto* const found =
      reinterpret_cast<std::uint32_t*>(words_.data()) + first_answer_ + (to.first_bad - answers);
  decoder_->find_bad(
      {.sources = reinterpret_cast<const std::uint32_t*>(landing_buffer + tables_.sources_at()),
       .samples = static_cast<std::uint32_t>(samples),
       .first_bad = found},
      stream);
  device_->copy_back(to.first_bad, found, sizeof(std::uint32_t), stream);
}

void decoding_stage::leak_memory() noexcept {
  leak(words_, "the states of decoded blocks");
  leak(answers_, "what the device tells of decoded blocks");
  (void)decoder_.release();
}

}  // namespace feedline::detail
