/// Blocks that the device decodes: the same batches as readers make, each block read once.

#include <feedline/deadline_error.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "pipeline/decoding/loading.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/recorder.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Small images and labels.
class images final : public dataset {
 public:
  std::uint64_t size() const override { return 150; }
  std::vector<field> fields() const override {
    return {{"image", element_type::u8, {5, 6}}, {"label", element_type::u8, {}}};
  }
  void do_read(const read_request& request) const override {
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      for (std::size_t pixel = 0; pixel < 30; ++pixel)
        request.out[0][i * 30 + pixel] =
            static_cast<std::byte>(request.samples[i].value * 7 + pixel);
      request.out[1][i] = static_cast<std::byte>(request.samples[i].value);
    }
  }
};

}  // namespace

TEST_CASE("decoding on the device: the same batches as readers make, however slots are cut",
          "[loader][host]") {
  const bool shuffled = GENERATE(true, false);
  const std::uint64_t rows = GENERATE(3U, 100U);
  const std::uint64_t batch_size = GENERATE(7U, 50U);
  const int readers = GENERATE(0, 4);
  const std::uint64_t batches_per_slot = GENERATE(0U, 5U);
  const loader_options options{.batch_size = batch_size,
                               .readers = readers,
                               .expert = {.batches_per_slot = batches_per_slot}};
  static combinations cases;
  if (!cases.takes_next()) return;
  CAPTURE(shuffled, rows, batch_size, readers, batches_per_slot);
  const run_result expected = deliver(decode_on::cpu, rows, order_of(shuffled), options);
  REQUIRE(all_intact(expected.batches));
  const run_result seen = deliver(decode_on::device, rows, order_of(shuffled), options);
  CHECK(seen.error == std::nullopt);
  CHECK(seen.batches == expected.batches);
}

TEST_CASE("decoding on the device: each block is read once an epoch, and no sample by itself",
          "[loader][host]") {
  const bool shuffled = GENERATE(true, false);
  const std::uint64_t rows = GENERATE(3U, 16U);
  const auto script = std::make_shared<encoded_script>();
  const run_result seen = deliver(decode_on::device, rows, order_of(shuffled),
                                  {.batch_size = 16, .epochs = 3, .readers = 2}, script);
  CHECK(all_intact(seen.batches));
  CHECK(script->block_reads == 3 * 3 * blocks_of(rows));  // three fields, in three epochs
  CHECK(script->sample_reads == 0);
}

TEST_CASE("decoding on the device: a window that fills many staging slots comes ahead of samples",
          "[loader][host]") {
  const std::uint64_t rows = GENERATE(5U, 16U);
  const int readers = GENERATE(0, 3);
  const auto script = std::make_shared<encoded_script>();
  // A piece takes one block or two of a window of ten.
  const sampler order = shuffle{.seed = 5, .within = chunks(10)};
  const loader_options options{
      .batch_size = 8, .readers = readers, .expert = {.piece_bytes = 1500}};
  const run_result seen = deliver(decode_on::device, rows, order, options, script);
  CHECK(seen.error == std::nullopt);
  CHECK(seen.batches == deliver(decode_on::cpu, rows, order, options).batches);
  CHECK(script->block_reads == 3 * 3 * blocks_of(rows));
}

TEST_CASE("decoding on the device: a damaged block ends the epoch as it does where readers decode",
          "[loader][host]") {
  const bool shuffled = GENERATE(true, false);
  const bool lost = GENERATE(true, false);
  const std::uint64_t rows = 30;
  const std::uint64_t batches_per_slot = GENERATE(0U, 4U);
  const loader_options options{
      .batch_size = 10, .readers = 2, .expert = {.batches_per_slot = batches_per_slot}};
  static combinations cases;
  for (std::uint64_t block = 0; block < blocks_of(rows); ++block) {
    if (!cases.takes_next()) continue;
    CAPTURE(shuffled, lost, rows, batches_per_slot, block);
    const auto script = std::make_shared<encoded_script>();
    (lost ? script->unreadable : script->damaged).insert(block);
    const run_result expected =
        deliver(decode_on::cpu, rows, order_of(shuffled), options, script, 1);
    const run_result seen =
        deliver(decode_on::device, rows, order_of(shuffled), options, script, 1);
    const bool is_raw = !lost && block % 5 == 3;  // not encoded, so nothing is damaged
    CHECK(expected.error.has_value() == !is_raw);
    CHECK(seen.error == expected.error);
    CHECK(seen.batches == expected.batches);
    CHECK(all_intact(seen.batches));
  }
}

TEST_CASE("decoding on the device: an epoch left before a damaged block leaves no failure",
          "[loader][host]") {
  const scripted on;
  const auto script = std::make_shared<encoded_script>();
  script->damaged.insert(20);
  loader loader{make_encoded(make_identity_rows(sample_count, row_bytes), 10, script),
                sequential{},
                on.device,
                {.batch_size = 10, .readers = 2, .decode_on = decode_on::device}};
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    recorder record{on};
    for (batch& batch : loader.epoch(epoch, on.stream)) {
      record(batch);
      if (batch.index() == epoch % 20) break;
    }
    CHECK(in_order_and_intact(record.seen()));
  }
  const run_result last = consume(loader, on, 1, 20);
  CHECK(last.batches.size() == 20);
  CHECK(in_order_and_intact(last.batches));
  REQUIRE(last.error);
  CHECK(contains(*last.error, "block 20 is damaged"));
}

TEST_CASE("decoding on the device: transforms see the decoded rows, with the same random choices",
          "[loader][host]") {
  const scripted on;
  const auto note_of = [&](decode_on who) {
    loader loader{make_encoded(std::make_shared<const images>(), 8),
                  shuffle{.seed = 3, .within = chunks(5)},
                  on.device,
                  {.batch_size = 20,
                   .decode_on = who,
                   .transforms = {{.field = "image",
                                   .scale = 0.5,
                                   .layout = image_layout::hwc,
                                   .flip = 0.5,
                                   .crop = image_crop{.height = 3, .width = 4, .padding = 1}}}}};
    REQUIRE(loader.plan().decode_on == who);
    std::vector<std::vector<std::byte>> bytes;
    for (batch& batch : loader.epoch(0, on.stream)) {
      on.device->drain(on.stream);
      for (const char* const name : {"image", "label"})
        bytes.emplace_back(batch[name].bytes().begin(), batch[name].bytes().end());
    }
    return bytes;
  };
  CHECK(note_of(decode_on::device) == note_of(decode_on::cpu));
}

TEST_CASE("decoding on the device: a run resumes amid a window", "[loader][host]") {
  const scripted on;
  const bool shuffled = GENERATE(true, false);
  const auto make = [&] {
    return loader{make_encoded(make_identity_rows(sample_count, row_bytes), 9),
                  order_of(shuffled),
                  on.device,
                  {.batch_size = 7, .decode_on = decode_on::device}};
  };
  loader whole = make();
  const run_result all = consume(whole, on, 2);
  for (const std::uint64_t stop_at : {0U, 1U, 13U, 46U, 47U}) {
    loader first = make();
    recorder record{on};
    std::uint64_t taken = 0;
    if (stop_at != 0)
      for (batch& batch : first.epoch(0, on.stream)) {
        record(batch);
        if (++taken == stop_at) break;
      }
    loader second = make();
    second.seek(first.state());
    const std::uint64_t epoch = second.state().epoch;
    std::vector<seen_batch> seen = record.seen();
    const run_result rest = consume(second, on, 2 - epoch, epoch);
    seen.insert(seen.end(), rest.batches.begin(), rest.batches.end());
    CAPTURE(stop_at);
    CHECK(seen == all.batches);
  }
}

TEST_CASE("decoding on the device: nothing is delivered before its blocks have arrived",
          "[loader][host]") {
  const scripted on;
  on.device->favour_young_streams();
  on.device->hold_copies();
  loader loader{make_encoded(make_identity_rows(sample_count, row_bytes), 16),
                sequential{},
                on.device,
                {.batch_size = 16, .readers = 2, .decode_on = decode_on::device}};
  auto range = loader.epoch(0, on.stream);
  on.device->wait_for_started_copies(1);
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds{20};
  CHECK_THROWS_AS(range.next(soon), deadline_error);
  on.device->allow_all_copies();
  recorder record{on};
  while (const auto batch = range.next()) record(*batch);
  CHECK(in_order_and_intact(record.seen()));
}

TEST_CASE("decoding on the device: the plan says all memory that it takes", "[loader][host]") {
  const scripted on;
  const std::uint64_t rows = GENERATE(3U, 40U);
  const std::size_t limit = GENERATE(0U, 25'000U);
  loader loader{make_encoded(make_identity_rows(sample_count, row_bytes), rows),
                order_of(GENERATE(true, false)),
                on.device,
                {.batch_size = 16,
                 .readers = 1,
                 .placement = placement::stream,
                 .decode_on = decode_on::device,
                 .memory = {.device = 2 * limit, .cache = limit},
                 .expert = {.batches_per_slot = 1}}};
  const loader_plan& plan = loader.plan();
  CHECK((limit == 0 || plan.cache_bytes <= limit));
  CHECK((limit == 0 || plan.device_bytes - plan.cache_bytes <= 2 * limit));
  CHECK(plan.decode_note.empty());
  CHECK(plan.cache_bytes != 0);
  CHECK(on.device->allocated_bytes(memory_kind::device) == plan.device_bytes);
  CHECK(on.device->allocated_bytes(memory_kind::staging) == plan.staging_bytes);
}

TEST_CASE("decoding on the device: if it is impossible, the plan says why, and readers decode",
          "[loader][host]") {
  struct obstacle {
    const char* why;
    std::function<void(loader_options&, sampler&, encoded_script&)> build;
  };
  const auto rows = make_identity_rows(sample_count, row_bytes);
  const std::vector<obstacle> obstacles{
      {"placement resident",
       [](auto& options, auto&, auto&) { options.placement = placement::resident; }},
      {"the error policy",
       [](auto& options, auto&, auto&) { options.errors.action = error_action::skip; }},
      {"repeats reads", [](auto& options, auto&, auto&) { options.errors.retries = 1; }},
      {"whole runs of a sequential order",
       [](auto& options, auto&, auto&) {
         options.shard = {1, 2};
         options.partial_batch = partial_batch::drop;
       }},
      {"more than twice",
       [](auto& options, auto&, auto&) {
         options.partial_batch = partial_batch::fill;
         options.batch_size = 3 * sample_count;
       }},
      {"window after window", [](auto&, auto& order, auto&) { order = shuffle{.seed = 1}; }},
      {"memory.cache is 1000",
       [](auto& options, auto&, auto&) {
         options.placement = placement::stream;
         options.memory.cache = 1000;
       }},
      {"window after window",
       [](auto&, auto& order, auto&) {
         order = shuffle{.seed = 1, .within = chunks(8), .lanes = 2};
       }},
      {"field 'id': scripted does not undo bit shuffle",
       [](auto&, auto&, auto& script) { script.filter = block_filter::bit_shuffle; }},
  };
  for (const obstacle& each : obstacles) {
    CAPTURE(each.why);
    const scripted on;
    loader_options options{.batch_size = 10, .decode_on = decode_on::device};
    sampler order = sequential{};
    const auto script = std::make_shared<encoded_script>();
    each.build(options, order, *script);
    loader loader{make_encoded(rows, 8, script), order, on.device, options};
    CHECK(loader.plan().decode_on == decode_on::cpu);
    CHECK(contains(loader.plan().decode_note, each.why));
    CHECK(contains(to_string(loader.plan()), each.why));
    CHECK(all_intact(consume(loader, on, 1).batches));
    CHECK(script->sample_reads != 0);
  }
}

TEST_CASE("decoding on the device: a dataset or device without blocks is read as always",
          "[loader][host]") {
  const scripted on;
  const loader_options asked{.placement = placement::stream, .decode_on = decode_on::device};
  const loader plain{make_identity_dataset(10, 4), sequential{}, on.device, asked};
  CHECK(contains(plain.plan().decode_note, "not stored in blocks"));
  const loader held{make_identity_rows(10, 4), sequential{}, on.device, asked};
  CHECK(contains(held.plan().decode_note, "rows are in memory"));
  loader host{make_encoded(make_identity_rows(10, 4), 4),
              sequential{},
              make_host_device(),
              {.decode_on = decode_on::device}};
  CHECK(contains(host.plan().decode_note, "reads staging memory"));
  loader unasked{make_encoded(make_identity_rows(10, 4), 4), sequential{}, on.device, {}};
  CHECK(unasked.plan().decode_note.empty());
  CHECK(unasked.plan().decode_on == decode_on::cpu);
}

TEST_CASE(
    "decoding on the device: a call that the device refuses ends the epoch, after good batches",
    "[loader][host]") {
  const std::uint64_t nth = GENERATE(1U, 2U, 3U, 8U);
  const scripted on;
  on.device->fail_call(device_call::decode, nth);
  loader loader{make_encoded(make_identity_rows(sample_count, row_bytes), 16),
                sequential{},
                on.device,
                {.batch_size = 16,
                 .readers = 2,
                 .decode_on = decode_on::device,
                 .expert = {.batches_per_slot = 1}}};
  const run_result seen = consume(loader, on, 1);
  CHECK(seen.error.has_value());
  // The first two slots are decoded and checked; then two groups that came ahead are decoded, and
  // slot after slot is checked.
  CHECK(seen.batches.size() == (nth < 3 ? 0 : nth == 3 ? 1 : nth - 5));
  CHECK(all_intact(seen.batches));
}
