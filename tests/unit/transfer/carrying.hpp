#pragma once

/// The part of a loader between a dataset and its device slots, for tests of the assembling
/// transfer: the test plays slot scheduler and reader.

#include "loader/pipeline/slot_strategy.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/recording_device.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/devices/stages.hpp"
#include "transfer/transfer.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace feedline::test::carried {

using namespace feedline::detail;

inline constexpr std::uint64_t samples = 34;
inline constexpr std::size_t row_bytes = 13;

/// 34 samples in batches of 4 4 4 | 4 4 4 | 4 4 2, a request each; rings of 3 slots.
inline loader_options small(data_path through) {
  return test::on_data_path(through, *make_identity_rows(samples, row_bytes),
                            {.batch_size = 4,
                             .expert = {.batches_per_slot = 3,
                                        .request_bytes = 4 * (8 + row_bytes + 1),
                                        .staging_slots = 3,
                                        .device_slots = 3}});
}

/// Rings, and what a loader would put between them; the test plays slot scheduler and reader.
template <class Device>
struct carrying {
  explicit carrying(data_path through, std::shared_ptr<Device> on = std::make_shared<Device>())
      : device{std::move(on)},
        parts{std::in_place, device, make_identity_rows(samples, row_bytes), small(through)},
        strategy{make_slot_strategy(parts->resolved, *parts->dataset, device, small(through),
                                    parts->source)},
        under_test{std::in_place, std::move(strategy.slot_transfer), parts->staging, parts->ring} {}

  slot_index fill(std::uint64_t ticket) {
    const slot_index slot = parts->open(pass, ticket);
    request_executor request_executor{parts->plan.batch_size, *strategy.writer, *parts->staging};
    reader_scratch own;
    for (std::uint32_t number = 0; number < staged(slot).work.requests(); ++number)
      request_executor.fill({static_cast<std::uint32_t>(slot.value), number}, own);
    return slot;
  }
  /// Fills a ticket's slot and carries it; what the device was called for it.
  std::vector<recorded_call> carry(std::uint64_t ticket) {
    device->forget_calls();
    (void)fill(ticket);
    REQUIRE(under_test->step());
    return device->calls();
  }
  /// The device slot that comes next, and its samples by the ids in it, if they are whole.
  std::vector<std::uint64_t> delivered() {
    const slot_index slot = parts->ring->take().value();
    const device_slot& taken = (*parts->ring)[slot];
    const slot_layout& layout = parts->format->layout;
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 0; i < taken.content.samples; ++i) {
      const std::byte* const batch = taken.data + i / 4 * layout.batch_bytes();
      const std::byte* const id = batch + layout.field_offset(0) + i % 4 * 8;
      const std::byte* const row = batch + layout.field_offset(1) + i % 4 * row_bytes;
      std::uint64_t sample = 0;
      std::memcpy(&sample, id, 8);
      if (test::is_identity(sample, {id, 8}, {row, row_bytes})) found.push_back(sample);
    }
    parts->ring->lease(slot, stream);
    parts->ring->let_go(slot);
    return found;
  }
  staging_slot& staged(slot_index slot) { return (*parts->staging)[slot]; }
  std::size_t table_bytes() const {
    const request_layout runs{parts->slots};
    return destination_layout{
        slot_layout{parts->dataset->fields(), 4, 3}.row_bytes(), 12, runs, false, 0, false}
        .chunks_at();
  }
  std::string failure() { return parts->failure(); }

  std::shared_ptr<Device> device;
  std::optional<stages> parts;
  slot_strategy strategy;
  std::optional<transfer> under_test;
  std::shared_ptr<epoch_pass> pass = std::make_shared<epoch_pass>(4);
  stream_ref stream = device->make_stream();  ///< the consumer's
};

inline std::vector<std::uint64_t> numbers(std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint64_t> all;
  for (; begin < end; ++begin) all.push_back(begin);
  return all;
}

inline recorded_call call(device_call what, event_handle event, stream_ref stream) {
  return {.what = what, .event = event, .stream = stream};
}

}  // namespace feedline::test::carried
