/// A failure reaches the consumer that comes to it. In a part of an epoch that was left it reaches
/// no consumer.

#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t batch_size = 8;
constexpr std::uint64_t bad_batch = 41;

/// Slots of eight batches, as many as reach beyond the bad one, which is the second of its slot.
loader_options options(int readers) {
  return {.batch_size = batch_size,
          .readers = readers,
          .expert = {.batches_per_slot = 8, .staging_slots = 6, .device_slots = 6}};
}

/// The point where the bad batch is met: a thread that comes there records it, waits while the gate
/// is closed, and fails.
class bad_place {
 public:
  void operator()(std::uint64_t batch) {
    if (batch != bad_batch) return;
    std::unique_lock lock{mutex_};
    ++met_;
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    --inside_;
    changed_.notify_all();
    throw std::runtime_error{"unreadable"};
  }
  void close() {
    const std::scoped_lock lock{mutex_};
    open_ = false;
  }
  /// Releases all threads that wait here.
  void open() {
    std::unique_lock lock{mutex_};
    open_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return inside_ == 0; });
  }
  /// Blocks until it was met so often.
  void wait_until_met(std::uint64_t times) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return met_ >= times; });
  }
  std::uint64_t met() {
    const std::scoped_lock lock{mutex_};
    return met_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  std::uint64_t met_ = 0;
  std::uint64_t inside_ = 0;
};

/// In order, except for the bad batch, whose samples it does not know.
struct failing_order {
  bad_place* bad;
  std::uint64_t size(std::uint64_t samples) const { return samples; }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    const std::uint64_t last = (first.value + out.size() - 1) / batch_size;
    if (first.value / batch_size <= bad_batch && bad_batch <= last) (*bad)(bad_batch);
    sequential{}.indices(samples, epoch, first, out);
  }
};

/// A loader whose batch 41 cannot be read: the dataset fails, or the sampler.
loader failing(const path_setup& by, bad_place& bad, bool in_sampler, int readers) {
  const auto rows = make_identity_rows(64 * batch_size, 16);
  if (in_sampler) return by.load(rows, failing_order{&bad}, options(readers));
  const auto data = gated(
      rows, [&bad](std::span<const sample_index> run) { bad(run.front().value / batch_size); });
  return by.load(data, sequential{}, options(readers));
}

/// Takes two batches of an epoch and leaves it; `before_leaving` is called between.
template <class Function>
void take_two(loader& loader, const path_setup& by, std::uint64_t epoch, Function before_leaving) {
  auto range = loader.epoch(epoch, by.stream);
  for (std::uint64_t i = 0; i < 2; ++i) {
    const auto batch = range.next();
    REQUIRE(batch);
    CHECK(batch->index() == i);
  }
  before_leaving();
}

/// All good batches of an epoch come, then its failure, again and again.
void check_consumed_wholly(loader& loader, const path_setup& by, std::uint64_t epoch) {
  auto range = loader.epoch(epoch, by.stream);
  for (std::uint64_t i = 0; i < bad_batch; ++i) {
    const auto batch = range.next();
    REQUIRE(batch);
    CHECK(batch->index() == i);
  }
  for (int i = 0; i < 2; ++i) {
    const auto message = message_of<stage_error>([&] { (void)range.next(); });
    CHECK(message.find("the reader stage failed in epoch " + std::to_string(epoch) +
                       ", batch 41: ") == 0);
    CHECK(message.find("unreadable") != std::string::npos);
  }
}

}  // namespace

TEST_CASE("error: one that was met in an epoch that is left then ends nothing",
          "[reader][transfer][host]") {
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  const bool in_sampler = GENERATE(false, true);
  const int readers = GENERATE(0, 1, 4);
  CAPTURE(to_string(by.through), in_sampler, readers);
  bad_place bad;
  loader loader = failing(by, bad, in_sampler, readers);
  for (std::uint64_t epoch = 0; epoch < 8; ++epoch) {
    take_two(loader, by, epoch, [&] {
      if (readers > 0) bad.wait_until_met(epoch + 1);
    });
  }
  check_consumed_wholly(loader, by, 8);
}

TEST_CASE("error: one that is met in an epoch that was left ends nothing",
          "[reader][transfer][host]") {
  // Where the device decodes, the closed gate may hold all readers at blocks that come ahead.
  const path_setup by{
      GENERATE(filter([](data_path through) { return through != data_path::decoded; },
                      from_range(first_reading_data_paths())))};
  const bool in_sampler = GENERATE(false, true);
  const int readers = GENERATE(1, 4);
  CAPTURE(to_string(by.through), in_sampler, readers);
  bad_place bad;
  loader loader = failing(by, bad, in_sampler, readers);
  for (std::uint64_t epoch = 0; epoch < 8; ++epoch) {
    bad.close();
    take_two(loader, by, epoch, [&] { bad.wait_until_met(epoch + 1); });
    bad.open();
  }
  check_consumed_wholly(loader, by, 8);
}

TEST_CASE("error: in the current slot it ends nothing if its epoch is left before it",
          "[batch][host]") {
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(by.through), readers);
  bad_place bad;
  loader loader = failing(by, bad, false, readers);
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    auto range = loader.epoch(epoch, by.stream);
    for (std::uint64_t i = 0; i < bad_batch; ++i) REQUIRE(range.next());
    // All fields of the batch's blocks, one sample each, are read one by one; and the consumer
    // reads the first bad sample again, to know why.
    const std::uint64_t times = by.through == data_path::decoded ? 3 * batch_size + 1 : 1;
    CHECK(bad.met() == times * (epoch + 1));
  }
  check_consumed_wholly(loader, by, 4);
}

TEST_CASE("error: a user function's failure ends nothing if its epoch is left before it",
          "[transfer][host]") {
  const scripted on;
  const int readers = GENERATE(0, 2);
  CAPTURE(readers);
  bad_place bad;
  loader_options with_function = options(readers);
  with_function.expert.batch_transform = batch_transform{
      .fields = {{"nothing", element_type::u8, {1}}},
      .run = [&](const batch_function_call& call) { bad(call.index); },
  };
  loader loader{make_identity_dataset(64 * batch_size, 16), sequential{}, on.device, with_function};
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    auto range = loader.epoch(epoch, on.stream);
    for (std::uint64_t i = 0; i < 2; ++i) REQUIRE(range.next());
    if (readers > 0) bad.wait_until_met(epoch + 1);
  }
  auto range = loader.epoch(4, on.stream);
  for (std::uint64_t i = 0; i < bad_batch; ++i) REQUIRE(range.next());
  CHECK(message_of<stage_error>([&] { (void)range.next(); }) ==
        "the transfer stage failed in epoch 4, batch 41: unreadable");
}
