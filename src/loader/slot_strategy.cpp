#include "loader/slot_strategy.hpp"

#include "dataset/held_rows.hpp"
#include "loader/decoding_choice.hpp"
#include "loader/plan.hpp"
#include "reader/block_row_writer.hpp"
#include "transfer/assembling_transfer.hpp"
#include "transfer/slot_transfer.hpp"

#include <utility>

namespace feedline::detail {
namespace {

std::shared_ptr<device_row_cache> make_device_row_cache(const loader_plan& plan,
                                                        const dataset& dataset,
                                                        const device_ptr& device,
                                                        const slot_layout& rows) {
  if (plan.cached_samples == 0) return nullptr;
  if (plan.placement == placement::gather)
    return std::make_shared<device_row_cache>(device, dataset.rows(), dataset.size());
  return std::make_shared<device_row_cache>(device, rows.row_bytes(), dataset.size(),
                                            plan.cached_samples);
}

/// Slots assembled out of blocks that the device decodes.
/// @param blocks Sized.
slot_strategy make_decoding(const loader_plan& plan, block_plan blocks, const slot_memory& sizes,
                            const device_ptr& device, std::unique_ptr<batch_stage> function,
                            sample_source& source) {
  const std::uint64_t batches = plan.batches_per_slot;
  const slot_layout rows = sizes.rows(batches);
  const landing_layout landing_buffer = sizes.landing_buffer(batches);
  const auto shared = std::make_shared<const block_plan>(std::move(blocks));
  auto store = std::make_shared<device_row_cache>(device, rows.row_bytes(),
                                                  shared->places * shared->order.rows());
  auto decoding =
      std::make_unique<decoding_stage>(device, *shared, *store, landing_buffer, plan.device_slots);
  slot_strategy made{.writer = std::make_unique<block_row_writer>(source, landing_buffer, shared),
                     .slot_transfer = std::make_unique<assembling_transfer>(
                         device,
                         assembling_transfer::formats{.rows = rows,
                                                      .batches = sizes.converted(batches),
                                                      .landing_buffer = landing_buffer,
                                                      .conversions = sizes.converted().conversions,
                                                      .mixing = sizes.converted().mixing},
                         store, std::move(function), std::move(decoding)),
                     .cached = store};
  made.schedule =
      std::make_unique<block_schedule>(shared, landing_buffer.chunks_at(), plan.readers > 0);
  made.blocks = std::make_unique<block_reader>(shared, landing_buffer.chunks_at());
  return made;
}

slot_strategy make_writer_and_transfer(const loader_plan& plan, const dataset& dataset,
                                       const sampler& order, const device_ptr& device,
                                       const loader_options& options, sample_source& source) {
  decoding_choice decoding;
  if (plan.decode_on == decode_on::device)
    decoding = choose_decoding(dataset, order, device->capabilities(), options, plan.placement);
  const slot_memory sizes{dataset.fields(),
                          options,
                          plan.placement,
                          cached_share(plan.cached_samples, dataset.size()),
                          device->capabilities().reads_staging,
                          plan.readers,
                          decoding.loads_bytes()};
  const std::uint64_t batches = plan.batches_per_slot;
  const auto& conversions = sizes.converted().conversions;
  if (sizes.assembled()) {
    auto function =
        options.batch_transform
            ? std::make_unique<batch_stage>(device, *options.batch_transform,
                                            sizes.converted(batches), sizes.delivered(batches))
            : nullptr;
    if (decoding.blocks)
      return make_decoding(plan,
                           sized(std::move(*decoding.blocks), dataset, device->capabilities(),
                                 options, sizes, batches),
                           sizes, device, std::move(function), source);
    const slot_layout rows = sizes.rows(batches);
    const landing_layout landing_buffer = sizes.landing_buffer(batches);
    auto cached = make_device_row_cache(plan, dataset, device, rows);
    auto writer = std::make_unique<packing_writer>(source, landing_buffer, cached);
    auto slot_transfer = std::make_unique<assembling_transfer>(
        device,
        assembling_transfer::formats{.rows = rows,
                                     .batches = sizes.converted(batches),
                                     .landing_buffer = landing_buffer,
                                     .conversions = conversions,
                                     .mixing = sizes.converted().mixing},
        cached, std::move(function));
    return {std::move(writer), std::move(slot_transfer), std::move(cached)};
  }
  auto writer = std::make_unique<batch_writer>(source, sizes.piece(batches), sizes.rows(batches),
                                               conversions, held_rows{dataset});
  if (sizes.in_place()) {
    slot_strategy made{std::move(writer), nullptr, nullptr};
    if (const auto& mixing = sizes.converted().mixing)
      made.mixer = std::make_unique<slot_mixer>(source, *mixing, sizes.delivered(batches));
    return made;
  }
  return {std::move(writer),
          std::make_unique<copy_transfer>(device, sizes.piece(batches), sizes.delivered(batches)),
          nullptr};
}

}  // namespace

slot_strategy make_slot_strategy(const loader_plan& plan, const dataset& dataset,
                                 const sampler& order, const device_ptr& device,
                                 const loader_options& options, sample_source& source,
                                 const epoch_share& share) {
  slot_strategy made = make_writer_and_transfer(plan, dataset, order, device, options, source);
  if (options.errors.action != error_action::fail)
    made.mender = std::make_unique<slot_mender>(options.errors, source, *made.writer, share,
                                                options.partial_batch);
  return made;
}

}  // namespace feedline::detail
