#include "loader/pipeline/slot_strategy.hpp"

#include "dataset/held_rows.hpp"
#include "decoding/block_row_writer.hpp"
#include "decoding/decoded_transfer.hpp"
#include "transfer/assembling_transfer.hpp"
#include "transfer/slot_transfer.hpp"

#include <utility>

namespace feedline::detail {
namespace {

std::shared_ptr<device_row_cache> make_device_row_cache(const resolved_plan& plan,
                                                        const dataset& dataset,
                                                        const device_ptr& device) {
  if (plan.report.cached_samples == 0) return nullptr;
  if (plan.report.placement == placement::gather)
    return std::make_shared<device_row_cache>(device, dataset.rows(), dataset.size());
  return std::make_shared<device_row_cache>(device, plan.memory.rows().row_bytes(), dataset.size(),
                                            plan.report.cached_samples);
}

assembling_transfer::formats formats_of(const slot_memory& memory, const sample_source& source) {
  return {.rows = memory.rows(),
          .batches = memory.converted(),
          .copy_destination = memory.copy_destination(),
          .conversions = memory.conversions().conversions,
          .mixing = memory.conversions().mixing,
          .seed = source.seed()};
}

/// Makes slots that are assembled from blocks decoded by the device.
/// @param slots Device slots that can be filled and not taken yet.
slot_strategy make_decoding(const resolved_plan& plan, const device_ptr& device, std::size_t slots,
                            std::unique_ptr<batch_stage> function, sample_source& source,
                            batch_sizer* sizer) {
  const destination_layout& copy_destination = plan.memory.copy_destination();
  auto store = std::make_shared<device_row_cache>(device, plan.memory.rows().row_bytes(),
                                                  plan.blocks->places * plan.blocks->order.rows());
  auto decoding =
      std::make_unique<decoding_stage>(device, *plan.blocks, *store, copy_destination, slots);
  slot_strategy made{
      .writer = std::make_unique<block_row_writer>(source, copy_destination, plan.blocks),
      .slot_transfer = std::make_unique<decoded_transfer>(
          device, formats_of(plan.memory, source), store, std::move(function), std::move(decoding)),
      .cached = store};
  made.decoding = std::make_unique<decoding_parts>(plan.blocks, copy_destination.chunks_at(),
                                                   plan.report.readers > 0, *device, source,
                                                   plan.memory.rows(), sizer);
  return made;
}

slot_strategy make_writer_and_transfer(const resolved_plan& plan, const dataset& dataset,
                                       const device_ptr& device, const loader_options& options,
                                       sample_source& source, batch_sizer* sizer) {
  const slot_memory& memory = plan.memory;
  if (memory.assembled()) {
    auto function = options.expert.batch_transform
                        ? std::make_unique<batch_stage>(device, *options.expert.batch_transform,
                                                        memory.converted(), memory.delivered())
                        : nullptr;
    const std::size_t further = options.expert.on_held == on_held::allocate ? 1 : 0;
    if (plan.blocks)
      return make_decoding(plan, device, plan.report.device_slots + further, std::move(function),
                           source, sizer);
    auto cached = make_device_row_cache(plan, dataset, device);
    auto writer = std::make_unique<packing_writer>(source, memory.copy_destination(), cached,
                                                   memory.host_staged());
    auto slot_transfer = std::make_unique<assembling_transfer>(device, formats_of(memory, source),
                                                               cached, std::move(function));
    return {.writer = std::move(writer),
            .slot_transfer = std::move(slot_transfer),
            .cached = std::move(cached)};
  }
  slot_strategy made{
      .writer = std::make_unique<batch_writer>(source, memory.piece(), memory.rows(),
                                               memory.conversions().conversions, held_rows{dataset},
                                               memory.host_staged()),
      .slot_transfer = memory.in_place() ? nullptr
                                         : std::make_unique<copy_transfer>(device, memory.piece(),
                                                                           memory.delivered())};
  if (const auto& mixing = memory.conversions().mixing)
    made.mixer = std::make_unique<slot_mixer>(source, *mixing, memory.piece());
  return made;
}

}  // namespace

slot_strategy make_slot_strategy(const resolved_plan& plan, const dataset& dataset,
                                 const device_ptr& device, const loader_options& options,
                                 sample_source& source, batch_sizer* sizer) {
  slot_strategy made = make_writer_and_transfer(plan, dataset, device, options, source, sizer);
  if (options.errors.action != error_action::fail)
    made.replacer = std::make_unique<sample_replacer>(options.errors, source, *made.writer,
                                                      plan.order.share, options.partial_batch);
  return made;
}

}  // namespace feedline::detail
