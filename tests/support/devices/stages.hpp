#pragma once

#include <feedline/sampler/sequential.hpp>

#include "batch/device_ring.hpp"
#include "dataset/held_rows.hpp"
#include "loader/plan/resolved_plan.hpp"
#include "reader/request_executor.hpp"
#include "reader/sample_source.hpp"
#include "reader/slot_writer.hpp"
#include "staging/request_layout.hpp"
#include "staging/staging_ring.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace feedline::test {

/// The rings of a small pipeline without threads, for tests of one stage that play the others by
/// hand.
struct stages {
  /// @param data Identity data, or a dataset made of it.
  stages(device_ptr on, dataset_ptr data, const loader_options& options,
         sampler order = sequential{})
      : device{std::move(on)},
        dataset{std::move(data)},
        resolved{detail::resolve(*dataset, order, device->capabilities(), options)},
        format{std::make_shared<const detail::batch_format>(detail::batch_format{
            detail::slot_layout{plan.fields, plan.batch_size, plan.batches_per_slot}, order,
            dataset->size()})},
        staging{
            std::make_shared<detail::staging_ring>(device, plan.staging_slots, plan.slot_bytes)},
        ring{std::make_shared<detail::device_ring>(device, staging, format, failures,
                                                   plan.device_slots)},
        source{dataset, order},
        writer{source, format->layout, format->layout, {}, detail::held_rows{*dataset}} {}

  /// The work that the slot scheduler would give a slot for a ticket of an epoch.
  [[nodiscard]] detail::slot_work work(const std::shared_ptr<detail::epoch_pass>& pass,
                                       std::uint64_t ticket) const {
    const std::uint64_t first_batch = ticket * plan.batches_per_slot;
    const std::uint64_t first = first_batch * plan.batch_size;
    const std::uint64_t samples =
        std::min(plan.batches_per_slot * plan.batch_size, plan.samples_per_epoch - first);
    return {.pass = pass,
            .ticket = feedline::ticket{ticket},
            .first = position{first},
            .first_batch = first_batch,
            .samples = samples,
            .batches = (samples + plan.batch_size - 1) / plan.batch_size,
            .layout = detail::request_layout{slots}};
  }

  /// Claims a slot and opens it for a ticket.
  slot_index open(const std::shared_ptr<detail::epoch_pass>& pass, std::uint64_t ticket) {
    const slot_index slot = staging->claim().value();
    staging->open(slot, work(pass, ticket));
    return slot;
  }

  /// The same, and fills it.
  slot_index fill(const std::shared_ptr<detail::epoch_pass>& pass, std::uint64_t ticket) {
    const slot_index slot = open(pass, ticket);
    detail::request_executor request_executor{plan.batch_size, writer, *staging};
    const std::uint32_t requests = (*staging)[slot].work.requests();
    detail::reader_scratch own;
    for (std::uint32_t number = 0; number < requests; ++number)
      request_executor.fill({static_cast<std::uint32_t>(slot.value), number}, own);
    return slot;
  }

  /// Message of the failure that the consumer meets after it has taken everything delivered.
  [[nodiscard]] std::string failure() const {
    while (const auto slot = ring->try_take()) {
      if ((*ring)[*slot].content.failure) failures->report(*(*ring)[*slot].content.failure);
    }
    if (auto last = ring->end_failure()) failures->report(std::move(*last));
    return message_of<stage_error>([&] { failures->rethrow(); });
  }

  device_ptr device;
  dataset_ptr dataset;
  detail::resolved_plan resolved;
  const loader_plan& plan = resolved.report;
  const detail::slot_plan& slots = resolved.slots;
  std::shared_ptr<const detail::batch_format> format;
  std::shared_ptr<detail::failure_table> failures = std::make_shared<detail::failure_table>();
  std::shared_ptr<detail::staging_ring> staging;
  std::shared_ptr<detail::device_ring> ring;
  detail::sample_source source;
  detail::batch_writer writer;
};

}  // namespace feedline::test
