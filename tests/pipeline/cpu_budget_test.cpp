/// Readers of several loaders share the process's CPU budget.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/cpu_budget.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "reader/reader_turns.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

using namespace feedline;
using namespace feedline::test;

namespace {

/// A budget for as long as a test takes.
class budget {
 public:
  explicit budget(unsigned readers) { set_cpu_budget(readers); }
  budget(const budget&) = delete;
  budget& operator=(const budget&) = delete;
  ~budget() { set_cpu_budget(0); }
};

/// Reads that wait at a gate, and are counted there.
class counted_reads {
 public:
  ~counted_reads() { open(); }

  [[nodiscard]] dataset_ptr of(std::uint64_t samples) {
    return gated(make_identity_dataset(samples, 8), [this](auto) {
      const int now = ++inside_;
      int most = most_.load();
      while (now > most && !most_.compare_exchange_weak(most, now)) {
      }
      gate_.wait(false);
      --inside_;
    });
  }
  void await(int reads) const {
    while (inside_.load() < reads) std::this_thread::yield();
  }
  void open() {
    gate_.store(true);
    gate_.notify_all();
  }
  [[nodiscard]] int most() const { return most_.load(); }

 private:
  std::atomic<int> inside_{0};
  std::atomic<int> most_{0};
  std::atomic<bool> gate_{false};
};

/// Three readers, each of which finds a request.
const loader_options three{
    .batch_size = 4,
    .readers = 3,
    .expert = {.batches_per_slot = 1, .request_bytes = 1, .staging_slots = 4}};

/// Takes the first epoch; readers begin when it is asked for.
void check_delivers(epoch_range epoch) {
  recorder record;
  for (batch& batch : epoch) record(batch);
  CHECK(record.seen().size() == 4);
  CHECK(all_intact(record.seen()));
}

}  // namespace

TEST_CASE("cpu budget: no more readers work at a time than it allows, over all loaders",
          "[loader][host]") {
  counted_reads reads;
  const budget two{2};
  CHECK(cpu_budget() == 2);
  loader first{reads.of(16), sequential{}, make_host_device(), three};
  loader second{reads.of(16), sequential{}, make_host_device(), three};
  auto of_first = first.epoch(0);
  auto of_second = second.epoch(0);
  reads.await(2);
  for (int i = 0; i < 10'000; ++i) std::this_thread::yield();  // others have time to come
  reads.open();
  check_delivers(std::move(of_first));
  check_delivers(std::move(of_second));
  CHECK(reads.most() == 2);
}

TEST_CASE("cpu budget: readers that wait for their turn work when it is lifted", "[loader][host]") {
  counted_reads reads;
  const budget one{1};
  loader loader{reads.of(16), sequential{}, make_host_device(), three};
  auto epoch = loader.epoch(0);
  reads.await(1);
  SECTION("to a larger one") {
    set_cpu_budget(3);
    reads.await(3);
  }
  SECTION("altogether") {
    set_cpu_budget(0);
    reads.await(3);
  }
  reads.open();
  check_delivers(std::move(epoch));
}

TEST_CASE("cpu budget: a loader ends while its readers wait for others' turns", "[loader][host]") {
  counted_reads reads;
  const budget one{1};
  loader working{reads.of(16), sequential{}, make_host_device(), three};
  auto epoch = working.epoch(0);
  reads.await(1);
  {
    loader waiting{make_identity_dataset(16, 8), sequential{}, make_host_device(), three};
    const auto unread = waiting.epoch(0);
  }
  reads.open();
  check_delivers(std::move(epoch));
}

TEST_CASE("cpu budget: a loader with readers inside a read is refused, one without is not",
          "[loader][host]") {
  const budget one{1};
  const int readers = GENERATE(0, 1);
  const auto nested = gated(make_identity_dataset(16, 8), [&](auto) {
    loader inner{make_identity_dataset(16, 8),
                 sequential{},
                 make_host_device(),
                 {.batch_size = 4, .readers = readers}};
    check_delivers(inner.epoch(0));
  });
  loader outer{nested, sequential{}, make_host_device(), {.batch_size = 4, .readers = 1}};
  if (readers == 0) return check_delivers(outer.epoch(0));
  const auto message = message_of<stage_error>([&] { (void)outer.epoch(0).next(); });
  CHECK(message.find("a dataset takes batches from a loader that has readers, while it is read "
                     "under a CPU budget of 1: they might never get their turn. Give that loader "
                     "no_readers, or set no budget") != std::string::npos);
}

TEST_CASE("cpu budget: the environment's is a whole number, or refused", "[loader][host]") {
  using detail::reader_turns;
  CHECK(reader_turns::budget_of(nullptr) == 0);
  CHECK(reader_turns::budget_of("") == 0);
  CHECK(reader_turns::budget_of("0") == 0);
  CHECK(reader_turns::budget_of("12") == 12);
  for (const char* const wrong : {"-1", "4 cores", "1.5", "all", "99999999999"}) {
    CHECK(message_of<usage_error>([&] { (void)reader_turns::budget_of(wrong); }) ==
          "FEEDLINE_CPU_BUDGET is '" + std::string{wrong} +
              "': give the number of reader threads that may work at a time, or leave it out");
  }
}
