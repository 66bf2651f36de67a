/// Blocks that the device reads from their files itself: the same batches, errors and memory as
/// where readers stage them.

#include <feedline/dataset/zip.hpp>
#include <feedline/deadline_error.hpp>
#include <feedline/device/host_device.hpp>

#include "pipeline/decoding/loading.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/plain_rows.hpp"
#include "support/devices/scripted_file_readers.hpp"
#include "support/files/file_changes.hpp"
#include "support/files/temporary_directory.hpp"

#include <chrono>
#include <functional>
#include <span>
#include <utility>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::size_t large_row_bytes = 1500;  // a block of three is read directly

struct direct_run {
  run_result seen;
  loader_plan plan;
  std::uint64_t copied_bytes;  ///< out of host memory
};

/// What a loader delivers whose device reads files.
direct_run deliver_directly(std::uint64_t rows, const sampler& order, loader_options options,
                            const std::shared_ptr<encoded_script>& script,
                            const std::shared_ptr<scripted_file_readers>& files,
                            std::uint64_t epochs = 3) {
  const scripted on;
  on.device->read_files_by(files);
  options.decode_on = decode_on::device;
  options.placement = placement::stream;
  options.direct_storage = true;
  loader loader{make_encoded(make_identity_rows(sample_count, large_row_bytes), rows, script),
                order, on.device, options};
  run_result seen = consume(loader, on, epochs);
  return {std::move(seen), loader.plan(), loader.statistics().transfer.bytes};
}

std::shared_ptr<encoded_script> in_file() {
  const auto script = std::make_shared<encoded_script>();
  script->in_file = true;
  return script;
}

/// Of all fields, those that are not staged.
std::uint64_t large_blocks(std::uint64_t rows) {
  const auto data =
      make_encoded(make_identity_rows(sample_count, large_row_bytes), rows, in_file());
  std::uint64_t count = 0;
  for (std::uint64_t block = 0; block < blocks_of(rows); ++block)
    for (std::size_t field = 0; field < data->fields().size(); ++field)
      if (data->encoded()->stored(field, block).bytes >= min_direct_bytes) ++count;
  return count;
}

/// As readers decode them.
run_result expected(std::uint64_t rows, const sampler& order, loader_options options,
                    const std::shared_ptr<encoded_script>& script = in_file()) {
  const scripted on;
  options.placement = placement::stream;
  loader loader{make_encoded(make_identity_rows(sample_count, large_row_bytes), rows, script),
                order, on.device, options};
  return consume(loader, on, 3);
}

}  // namespace

TEST_CASE("direct storage: the same batches as readers make, and the blocks cross no bus",
          "[loader][host]") {
  const std::uint64_t rows = GENERATE(3U, 16U, 40U);
  const sampler order = order_of(GENERATE(true, false));
  const loader_options options{.batch_size = 12, .readers = GENERATE(0, 3)};
  CAPTURE(rows, options.readers);
  const auto script = in_file();
  const auto files = std::make_shared<scripted_file_readers>();
  const direct_run run = deliver_directly(rows, order, options, script, files);
  CHECK(run.plan.direct_storage);
  CHECK(run.plan.direct_storage_note.empty());
  CHECK(contains(to_string(run.plan), "it reads them from their files"));
  CHECK_FALSE(run.seen.error);
  CHECK((run.seen.batches == expected(rows, order, options).batches));
  // Each block that is large enough once an epoch, and one as the loader is made.
  const std::uint64_t direct = 3 * large_blocks(rows);
  CHECK(files->reads == direct);
  CHECK(script->direct_reads == direct + 1);
  CHECK(script->block_reads == 3 * 3 * blocks_of(rows) - direct);
  CHECK(files->bytes > 3 * sample_count * large_row_bytes);
  CHECK(run.copied_bytes < files->bytes / 2);
}

TEST_CASE("direct storage: a block whose read fails is staged by its reader", "[loader][host]") {
  const std::uint64_t failing_from = GENERATE(0U, 7U, 60U);
  CAPTURE(failing_from);
  const loader_options options{.batch_size = 12, .readers = 3};
  const auto files = std::make_shared<scripted_file_readers>();
  files->failing_from = failing_from;
  const direct_run run = deliver_directly(16, order_of(true), options, in_file(), files);
  CHECK_FALSE(run.seen.error);
  CHECK((run.seen.batches == expected(16, order_of(true), options).batches));
  CHECK(files->reads == 3 * large_blocks(16));
}

TEST_CASE(
    "direct storage: damaged and unreadable blocks end the epoch as they do where readers "
    "decode",
    "[loader][host]") {
  const auto make_script = [damages = GENERATE(true, false)] {
    const auto script = in_file();
    (damages ? script->damaged : script->unreadable) = {7, 15};
    return script;
  };
  const loader_options options{.batch_size = 12, .readers = GENERATE(0, 3)};
  const sampler order = order_of(GENERATE(true, false));
  const auto files = std::make_shared<scripted_file_readers>();
  const direct_run run = deliver_directly(8, order, options, make_script(), files);
  const run_result wanted = expected(8, order, options, make_script());
  REQUIRE(wanted.error);
  REQUIRE(run.seen.error);
  CHECK(*run.seen.error == *wanted.error);
  CHECK((run.seen.batches == wanted.batches));
}

TEST_CASE("direct storage: device memory of blocks on their way is used again when it is read",
          "[loader][host]") {
  const scripted on;
  const auto files = std::make_shared<scripted_file_readers>();
  on.device->read_files_by(files);
  on.device->hold_copies();
  loader loader{make_encoded(make_identity_rows(sample_count, large_row_bytes), 3, in_file()),
                sequential{},
                on.device,
                {.batch_size = 3,
                 .readers = 2,
                 .batches_per_slot = 1,
                 .piece_bytes = 9000,
                 .staging_slots = 2,
                 .placement = placement::stream,
                 .decode_on = decode_on::device,
                 .direct_storage = true}};
  auto range = loader.epoch(0, on.stream);
  recorder record{on};
  // Both slots are full; copies end one by one, as each is waited for.
  std::uint64_t copies = 0;
  for (;;) {
    std::optional<batch> taken;
    bool ended = false;
    while (!taken && !ended) {
      try {
        taken = range.next(std::chrono::steady_clock::now() + std::chrono::milliseconds{1});
        ended = !taken;
      } catch (const deadline_error&) {
        ++copies;
        on.device->allow_copies(1);
      }
    }
    if (ended) break;
    record(*taken);
  }
  CHECK(copies > blocks_of(3));
  CHECK(files->reads == large_blocks(3));
  CHECK(in_order_and_intact(record.seen()));
}

TEST_CASE("direct storage: the plan says all memory that it takes", "[loader][host]") {
  const scripted on;
  on.device->read_files_by(std::make_shared<scripted_file_readers>());
  loader loader{make_encoded(make_identity_rows(sample_count, large_row_bytes), 3, in_file()),
                order_of(GENERATE(true, false)),
                on.device,
                {.batch_size = 16,
                 .readers = 1,
                 .piece_bytes = 20'000,
                 .max_device_bytes = GENERATE(0U, 1'000'000U),
                 .placement = placement::stream,
                 .decode_on = decode_on::device,
                 .direct_storage = true}};
  const loader_plan& plan = loader.plan();
  CHECK(plan.direct_storage);
  CHECK(plan.direct_slot_bytes >= 20'000);
  CHECK(plan.landing_bytes > plan.staging_slots * plan.direct_slot_bytes);
  CHECK(on.device->allocated_bytes(memory_kind::device) == plan.device_bytes);
  CHECK(on.device->allocated_bytes(memory_kind::staging) == plan.staging_bytes);
}

TEST_CASE("direct storage: where it cannot be, the plan says why, and readers stage",
          "[loader][host]") {
  struct obstacle {
    const char* why;
    std::function<void(loader_options&, encoded_script&, scripted_file_readers&)> build;
    bool decodes = true;
  };
  const std::vector<obstacle> obstacles{
      {"no such drive", [](auto&, auto&, auto& files) { files.refused = "no such drive"; }},
      {"no block of 4096 bytes or more lies in a file",
       [](auto&, auto& script, auto&) { script.in_file = false; }},
      {"and decode_on is cpu",
       [](auto& options, auto&, auto&) { options.decode_on = decode_on::cpu; }, false},
      {"placement resident",
       [](auto& options, auto&, auto&) { options.placement = placement::resident; }, false},
      {"max_device_cache_bytes is 1000",
       [](auto& options, auto&, auto&) { options.max_device_cache_bytes = 1000; }, false},
      {"more than a quarter of max_device_bytes, 600000",
       [](auto& options, auto&, auto&) { options.max_device_bytes = 600'000; }},
  };
  for (const obstacle& each : obstacles) {
    CAPTURE(each.why);
    const scripted on;
    const auto files = std::make_shared<scripted_file_readers>();
    const auto script = in_file();
    loader_options options{.batch_size = 10,
                           .batches_per_slot = 1,
                           .piece_bytes = 100'000,
                           .placement = placement::stream,
                           .decode_on = decode_on::device,
                           .direct_storage = true};
    each.build(options, *script, *files);
    on.device->read_files_by(files);
    loader loader{make_encoded(make_identity_rows(sample_count, large_row_bytes), 8, script),
                  sequential{}, on.device, options};
    CHECK_FALSE(loader.plan().direct_storage);
    CHECK(contains(loader.plan().direct_storage_note, each.why));
    CHECK(contains(to_string(loader.plan()), each.why));
    CHECK((loader.plan().decode_on == decode_on::device) == each.decodes);
    CHECK(loader.plan().direct_slot_bytes == 0);
    CHECK(all_intact(consume(loader, on, 1).batches));
    CHECK(files->reads == 0);
  }
  const scripted none;
  const auto data = make_encoded(make_identity_rows(10, large_row_bytes), 8, in_file());
  const loader_options asked{.decode_on = decode_on::device, .direct_storage = true};
  const loader without{data, sequential{}, none.device, asked};
  CHECK(contains(without.plan().direct_storage_note, "scripted reads no files itself"));
  const loader host{data, sequential{}, make_host_device(), asked};
  CHECK(contains(host.plan().direct_storage_note, "reads staging memory"));
  const loader unasked{data, sequential{}, none.device, {.decode_on = decode_on::device}};
  CHECK(unasked.plan().direct_storage_note.empty());
}

namespace {

constexpr std::uint64_t plain_samples = 60;

/// The bytes of all batches of an epoch.
std::vector<std::byte> all_bytes(loader& loader, const scripted& on, std::uint64_t epoch) {
  std::vector<std::byte> bytes;
  for (batch& batch : loader.epoch(epoch, on.stream)) {
    on.device->drain(on.stream);
    for (std::size_t place = 0; place < batch.field_count(); ++place) {
      const std::span<const std::byte> field = batch.field_at(place).bytes();
      bytes.insert(bytes.end(), field.begin(), field.end());
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("direct storage: rows that lie in a file as they are come from it, in any order",
          "[loader][host]") {
  const scripted on;
  const auto files = std::make_shared<scripted_file_readers>();
  on.device->read_files_by(files);
  const dataset_ptr alone = make_plain_rows(plain_samples, 5000);
  const dataset_ptr data =
      GENERATE(true, false) ? alone : zip({alone, make_plain_rows(plain_samples, 4096, "other ")});
  loader_options options{.batch_size = 7,
                         .readers = GENERATE(0, 3),
                         .placement = placement::stream,
                         .direct_storage = true};
  const shuffle order{.seed = 3};
  loader direct{data, order, on.device, options};
  CHECK(direct.plan().direct_storage);
  CHECK(direct.plan().decode_note.empty());
  options.direct_storage = false;
  loader staged{data, order, on.device, options};
  CHECK(staged.plan().decode_on == decode_on::cpu);
  const std::size_t large_fields = data == alone ? 1 : 2;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch)
    CHECK((all_bytes(direct, on, epoch) == all_bytes(staged, on, epoch)));
  CHECK(files->reads == 3 * large_fields * plain_samples);
}

TEST_CASE("direct storage: rows that are too small, or only lie in memory, are staged",
          "[loader][host]") {
  const scripted on;
  on.device->read_files_by(std::make_shared<scripted_file_readers>());
  const loader_options asked{.placement = placement::stream, .direct_storage = true};
  const loader small{make_plain_rows(plain_samples, 4095), sequential{}, on.device, asked};
  CHECK_FALSE(small.plan().direct_storage);
  CHECK(contains(small.plan().direct_storage_note, "not stored in blocks"));
  CHECK(small.plan().decode_note.empty());
  const loader held{make_identity_rows(10, 5000), sequential{}, on.device, asked};
  CHECK(contains(held.plan().direct_storage_note, "rows lie in memory"));
  // Where the file is refused there is nothing to gain by blocks.
  const auto refusing = std::make_shared<scripted_file_readers>();
  refusing->refused = "no such drive";
  on.device->read_files_by(refusing);
  const loader refused{make_plain_rows(plain_samples, 5000), sequential{}, on.device, asked};
  CHECK(refused.plan().direct_storage_note == "no such drive");
  CHECK(refused.plan().decode_on == decode_on::cpu);
  CHECK_FALSE(refused.plan().assembled);
  // Nor is such a dataset one of blocks to decode.
  const loader plain{make_plain_rows(plain_samples, 5000),
                     sequential{},
                     on.device,
                     {.decode_on = decode_on::device}};
  CHECK(contains(plain.plan().decode_note, "lie in files as they are"));
  CHECK(plain.plan().decode_on == decode_on::cpu);
}

TEST_CASE("direct storage: rows are read again by a reader where the drive fails, and it is told",
          "[loader][host]") {
  const scripted on;
  const auto files = std::make_shared<scripted_file_readers>();
  files->failing_from = 10;
  on.device->read_files_by(files);
  const loader_options options{
      .batch_size = 7, .readers = 2, .placement = placement::stream, .direct_storage = true};
  const log_capture log;
  loader direct{make_plain_rows(plain_samples, 5000), sequential{}, on.device, options};
  loader staged{make_plain_rows(plain_samples, 5000), sequential{}, on.device, {.batch_size = 7}};
  CHECK((all_bytes(direct, on, 0) == all_bytes(staged, on, 0)));
  CHECK(log.lines() == 1);
  CHECK(contains(log.text(), "the drive does not answer"));
}

TEST_CASE("direct storage: a file that is changed meanwhile ends the epoch as it does elsewhere",
          "[loader][host]") {
  const file_change change = GENERATE(values(all_file_changes));
  const temporary_directory folder;
  const auto path = folder.write("rows.bin", plain_bytes(plain_samples, 5000));
  let_age(path);
  const auto file = std::make_shared<const detail::random_file>(
      path, detail::random_file::access::automatic, std::chrono::nanoseconds{0});
  const scripted on;
  const auto files = std::make_shared<scripted_file_readers>();
  on.device->read_files_by(files);
  loader loader{plain_rows_of(file, plain_samples, 5000),
                sequential{},
                on.device,
                {.batch_size = 7,
                 .readers = 0,  // nothing is read before the epoch begins
                 .placement = placement::stream,
                 .direct_storage = true}};
  REQUIRE(loader.plan().direct_storage);
  change_file(path, change);
  const auto take = [&] {
    for (const batch& batch : loader.epoch(0, on.stream)) (void)batch;
  };
  CHECK(contains(message_of<stage_error>(take), path.string()));
  CHECK(files->reads > 0);
}
