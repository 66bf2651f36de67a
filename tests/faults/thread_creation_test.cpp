/// The system starts no more threads, from the n-th on, for each n there is.

#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/error.hpp>

#include "faults/starved_loader.hpp"
#include "faults/system_calls.hpp"
#include "support/checks/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

TEST_CASE("faults: any thread may be refused, and the loader says which one", "[loader][host]") {
  const data_path through = GENERATE(from_range(data_paths_without_decoder()));
  CAPTURE(to_string(through));
  const starved_loader with{through, starved_loader::max_readers};
  (void)with.load();
  const std::int64_t before = living_blocks();
  const std::uint64_t threads = starved_loader::max_readers + 1;  // and the transfer
  for (std::uint64_t nth = 1; nth <= threads; ++nth) {
    CAPTURE(nth);
    thread_creations().arm(nth);
    const std::string told = message_of<thread_error>([&] { (void)with.load(); });
    CHECK(thread_creations().calls() == nth);
    thread_creations().disarm();
    const std::string which =
        nth == threads ? "the transfer's thread" : "reader thread " + std::to_string(nth) + " of 3";
    CHECK(told.find(which + " cannot be started (") == 0);
  }
  CHECK(living_blocks() == before);
  thread_creations().arm(threads + 1);
  std::uint64_t batches = 0;
  loader loader = with.load();
  for (const batch& taken : loader.epoch(0)) batches += is_intact(taken) ? 1 : 0;
  thread_creations().disarm();
  CHECK(batches == 4);
}

TEST_CASE("faults: a dataset is loaded into memory by the threads that there are",
          "[dataset][host]") {
  const auto data = make_identity_dataset(4096, 64);
  for (std::uint64_t nth = 1; nth <= 4; ++nth) {
    thread_creations().arm(nth, 1'000'000);
    const auto held = load_into_memory(data);
    thread_creations().disarm();
    std::vector<std::byte> ids(8);
    std::vector<std::byte> row(64);
    const sample_index last{4095};
    held->read({&last, 1}, std::vector<std::span<std::byte>>{ids, row});
    CHECK(is_identity(4095, ids, row));
  }
}
