#include "reader/read_record.hpp"

#include "support/checks/catch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

using namespace feedline;
using feedline::detail::read_record;

TEST_CASE("read record: shows the request in progress, and the reader's position in it",
          "[reader][host]") {
  read_record record;
  CHECK_FALSE(record.look());
  const auto before = std::chrono::steady_clock::now();
  record.begin(3, position{40}, position{56}, std::chrono::steady_clock::now());
  record.at(position{48});
  const auto seen = record.look();
  REQUIRE(seen);
  CHECK(seen->epoch == 3);
  CHECK(seen->first == position{48});
  CHECK(seen->end == position{56});
  CHECK(seen->since >= before);
  CHECK(seen->since <= std::chrono::steady_clock::now());
  record.end();
  CHECK_FALSE(record.look());
}

TEST_CASE("read record: another thread always sees one consistent request", "[reader][host]") {
  constexpr std::uint64_t requests = 20'000;
  read_record record;
  std::atomic<bool> ended{false};
  std::thread reader{[&] {
    for (std::uint64_t i = 1; i <= requests; ++i) {
      record.begin(i, position{i * 100}, position{i * 100 + 100}, {});
      record.at(position{i * 100 + 50});
      if (i % 3 == 0) record.end();
    }
    ended.store(true);
  }};
  std::uint64_t torn = 0;
  while (!ended.load()) {
    const auto seen = record.look();
    if (!seen) continue;
    const std::uint64_t begin = seen->epoch * 100;
    if (seen->end.value != begin + 100) ++torn;
    if (seen->first.value != begin && seen->first.value != begin + 50) ++torn;
  }
  reader.join();
  CHECK(torn == 0);
}
