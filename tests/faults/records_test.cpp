/// Memory of records that become several fields: reads take none, and without any nothing is lost.

#include <feedline/ragged/decode.hpp>

#include "faults/system_calls.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/test_records.hpp"

#include <array>
#include <cstdint>
#include <new>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Memory for two records, and how they are read into it.
struct destination {
  std::array<std::byte, 8> numbers{};
  std::array<std::byte, 12> words{};
  std::array<std::byte, 8> lengths{};
  std::array<std::span<std::byte>, 3> out{numbers, words, lengths};
  std::array<sample_index, 2> samples{sample_index{1}, sample_index{0}};

  void read(const dataset& from) { from.read(samples, out); }
};

dataset_ptr decoded(const ragged_dataset_ptr& records) {
  return decode(records, std::make_shared<const number_and_words>(),
                {.fields = {"number", "words"}});
}

}  // namespace

TEST_CASE("records: after the first read, reading them allocates nothing", "[dataset][host]") {
  const auto data = decoded(make_records({record_of(1, {2, 3, 4}), record_of(5, {})}));
  destination to;
  to.read(*data);
  allocations().arm(UINT64_MAX);
  to.read(*data);
  allocations().disarm();
  CHECK(allocations().calls() == 0);
  CHECK(to.words[6] == std::byte{2});
}

TEST_CASE("records: any allocation may fail while they are opened and read", "[dataset][host]") {
  const auto records = make_records({record_of(1, {2, 3, 4}), record_of(5, {})});
  destination to;
  to.read(*decoded(records));  // the first use allocates for good
  const std::int64_t before = living_blocks();
  std::uint64_t failed = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    bool is_done = false;
    allocations().arm(nth);
    try {
      to.read(*decoded(records));
      is_done = allocations().calls() < nth;
    } catch (const std::bad_alloc&) {
      ++failed;
    }
    allocations().disarm();
    if (is_done) break;
  }
  CHECK(failed > 20);
  CHECK(living_blocks() == before);
}
