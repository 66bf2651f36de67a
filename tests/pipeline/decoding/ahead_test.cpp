/// Blocks that come ahead of need hold up no batch whose own blocks are there.

#include "pipeline/decoding/loading.hpp"
#include "support/datasets/hanging_dataset.hpp"

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t rows = 3;
constexpr std::uint64_t batch_size = 6;
constexpr std::uint64_t window = 14;    ///< blocks, or one less
constexpr std::uint64_t in_window = 6;  ///< batches of the first window

const shuffle order{.seed = 3, .within = chunks(window)};

loader_options options_of(int readers, std::size_t staging_slots) {
  return {.batch_size = batch_size,
          .readers = readers,
          .placement = placement::stream,
          .decode_on = decode_on::device,
          .expert = {.batches_per_slot = 1, .staging_slots = staging_slots}};
}

/// A sample of the second window.
std::uint64_t sample_behind_first_window() {
  const dataset_ptr data = make_encoded(make_identity_rows(sample_count, row_bytes), rows);
  sample_index found{};
  order.bind(*data, batch_size).indices(sample_count, 0, position{window * rows + 18}, {&found, 1});
  return found.value;
}

}  // namespace

TEST_CASE("blocks ahead: one that hangs holds up no batch of the window before it",
          "[loader][transfer][host]") {
  const std::size_t staging_slots = GENERATE(2U, 4U);
  CAPTURE(staging_slots);
  const scripted on;
  const hanging_dataset hanging{make_identity_rows(sample_count, row_bytes),
                                sample_behind_first_window()};
  loader loader{make_encoded(hanging.data, rows), order, on.device, options_of(2, staging_slots)};
  REQUIRE(loader.plan().decode_on == decode_on::device);
  recorder record{on};
  auto range = loader.epoch(0, on.stream);
  auto first_ones = std::async(std::launch::async, [&] {
    for (std::uint64_t i = 0; i < in_window; ++i) record(*range.next());
  });
  const bool came = first_ones.wait_for(std::chrono::seconds{20}) == std::future_status::ready;
  hanging.gate->await_reader();
  hanging.gate->open();
  CHECK(came);
  first_ones.get();
  while (const auto batch = range.next()) record(*batch);
  const auto script = std::make_shared<encoded_script>();
  CHECK(record.seen() ==
        deliver(decode_on::cpu, rows, order, {.batch_size = batch_size}, script, 1).batches);
}

TEST_CASE("blocks ahead: with zero readers few are read for a batch", "[loader][transfer][host]") {
  const scripted on;
  const auto script = std::make_shared<encoded_script>();
  const bool in_order = GENERATE(true, false);
  CAPTURE(in_order);
  const sampler taken = in_order ? sampler{sequential{}} : order;
  loader loader{make_encoded(make_identity_rows(sample_count, row_bytes), rows, script), taken,
                on.device, options_of(0, 4)};
  REQUIRE(loader.plan().decode_on == decode_on::device);
  const auto blocks = [&] { return script->block_reads.load() / 3; };  // counts three fields
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::uint64_t before = blocks();
    auto range = loader.epoch(epoch, on.stream);
    CHECK(range.next());
    CHECK(blocks() - before <= (in_order ? batch_size / rows : window));
    for (int i = 0; i < 10; ++i) {
      before = blocks();
      CHECK(range.next());
      CHECK(blocks() - before <= 4 * (batch_size / rows + 1));  // it may begin within one
    }
  }
}
