#include "remote/request/transfer_queue.hpp"

#include "support/checks/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

using namespace feedline::detail;

namespace {

constexpr std::size_t many = 1000;

/// Fills a queue with requests of some bytes. @return How many are begun at once.
std::size_t begun_at_once(transfer_queue& queue, std::uint64_t bytes) {
  transfer_queue::wanted_thread wake;
  for (std::size_t i = 0; i < many; ++i) {
    const auto one = std::make_shared<remote_transfer>();
    one->wanted = {.what = wanted_bytes::kind::range, .begin = i * bytes, .bytes = bytes};
    REQUIRE(queue.add(one, transfer_urgency::ahead, wake));
  }
  std::vector<transfer_ptr> taken;
  (void)queue.take(0, taken);
  return taken.size();
}

}  // namespace

TEST_CASE("requests at first: those of a batch together, and few of large chunks",
          "[remote][host]") {
  transfer_queue rows{1};
  const std::size_t first = begun_at_once(rows, 150'528);
  CHECK(first >= 256);  // a usual batch comes in one round trip
  CHECK(first * 150'528 <= in_flight_limit::first_bytes + 150'528);
  transfer_queue small{1};
  CHECK(begun_at_once(small, 100) == in_flight_limit::first);
  transfer_queue chunks{1};
  CHECK(begun_at_once(chunks, std::uint64_t{8} << 20) == in_flight_limit::usual);
}
