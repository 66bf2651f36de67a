#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/map.hpp>
#include <feedline/dataset/subset.hpp>

#include "dataset/composed.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/hinted_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using hinted_ptr = std::shared_ptr<const hinted_dataset>;

hinted_ptr hinted(std::uint64_t samples, chunking chunks = {}) {
  return std::make_shared<const hinted_dataset>(make_identity_dataset(samples, 8), chunks);
}

const chunking tens{.samples = 10, .bytes = 1000, .kept = 9};

std::vector<sample_index> samples_of(std::initializer_list<std::uint64_t> numbers) {
  std::vector<sample_index> samples;
  for (const std::uint64_t number : numbers) samples.push_back(sample_index{number});
  return samples;
}

}  // namespace

TEST_CASE("regrouped chunks: a group never needs more chunks than it says", "[dataset][host]") {
  const std::uint64_t chunk = GENERATE(2U, 3U, 10U, 16U);
  const std::uint64_t group = GENERATE(16U, 17U, 20U, 48U);
  for (std::uint64_t first = 0; first < 2 * chunk; ++first) {
    const chunking seen = detail::regrouped({chunk, 100, 12}, first, group);
    std::uint64_t most = 0;
    for (std::uint64_t begin = first; begin < first + 20 * group; begin += group) {
      std::set<std::uint64_t> touched;
      for (std::uint64_t i = 0; i < group; ++i) touched.insert((begin + i) / chunk);
      most = std::max(most, static_cast<std::uint64_t>(touched.size()));
    }
    CHECK(seen.samples == group);
    CHECK(seen.bytes >= 100 * most);
    CHECK(seen.bytes <= 100 * (most + 1));
    CHECK(seen.kept == 12 / (seen.bytes / 100));
  }
}

TEST_CASE("regrouped chunks: sizes beyond 64 bits stay sizes", "[dataset][host]") {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  CHECK(detail::regrouped({10, most / 2 + 1, 4}, 5, 10).bytes == most);
}

TEST_CASE("subset: a range that begins with a chunk has the whole's chunks", "[dataset][host]") {
  const auto whole = hinted(100, tens);
  CHECK(subset(whole, sample_index{0}, 55)->chunks() == tens);
  CHECK(subset(whole, sample_index{30}, 15)->chunks() == tens);
  CHECK(subset(hinted(100), sample_index{30}, 15)->chunks() == chunking{});
}

TEST_CASE("subset: if a range begins within a chunk, a chunk's samples lie in two of them",
          "[dataset][host]") {
  CHECK(subset(hinted(100, tens), sample_index{3}, 55)->chunks() ==
        chunking{.samples = 10, .bytes = 2000, .kept = 4});
}

TEST_CASE("subset: a list of samples has no chunks", "[dataset][host]") {
  CHECK(subset(hinted(100, tens), samples_of({0, 1, 2}))->chunks() == chunking{});
}

TEST_CASE("concatenate: parts that are whole chunks have them together", "[dataset][host]") {
  CHECK(concatenate({hinted(20, tens), hinted(30, tens), hinted(7, tens)})->chunks() == tens);
  const chunking larger{.samples = 20, .bytes = 2000, .kept = 2};
  CHECK(concatenate({hinted(20, tens), hinted(30, larger)})->chunks() ==
        chunking{.samples = 20, .bytes = 2000, .kept = 2});
  CHECK(concatenate({hinted(20, tens), hinted(30)})->chunks() == tens);
  CHECK(concatenate({hinted(3), hinted(5)})->chunks() == chunking{});
}

TEST_CASE("concatenate: after a part that ends within a chunk, a chunk's samples lie in two",
          "[dataset][host]") {
  CHECK(concatenate({hinted(15, tens), hinted(30, tens)})->chunks() ==
        chunking{.samples = 10, .bytes = 2000, .kept = 4});
}

TEST_CASE("map: a mapped dataset has the chunks of the one it maps", "[dataset][host]") {
  CHECK(map(hinted(20, tens), {{"x", element_type::u8, {}}}, [](auto, auto, auto) {})->chunks() ==
        tens);
}

TEST_CASE("subset: hints name the whole's samples, and none that there is not", "[dataset][host]") {
  const auto whole = hinted(100);
  subset(whole, sample_index{30}, 15)->prefetch(samples_of({14, 0, 15, 1000}));
  CHECK(whole->hints() == std::vector<std::uint64_t>{44, 30});
  const auto other = hinted(100);
  subset(other, samples_of({9, 7, 9}))->prefetch(samples_of({2, 1, 3}));
  CHECK(other->hints() == std::vector<std::uint64_t>{9, 7});
}

TEST_CASE("concatenate: each part is given the hints that are its own, if it wants any",
          "[dataset][host]") {
  const auto first = hinted(10);
  const auto unwilling = hinted(10);
  const auto last = hinted(10);
  unwilling->wanted = false;
  const auto all = concatenate({first, hinted(0), unwilling, last});
  all->prefetch(samples_of({25, 3, 9, 15, 20, 30, 29}));
  CHECK(first->hints() == std::vector<std::uint64_t>{3, 9});
  CHECK(unwilling->hints().empty());
  CHECK(last->hints() == std::vector<std::uint64_t>{0, 5, 9});
}

TEST_CASE("map: hints go to the dataset that it maps", "[dataset][host]") {
  const auto of = hinted(10);
  map(of, {{"x", element_type::u8, {}}}, [](auto, auto, auto) {})->prefetch(samples_of({4, 2}));
  CHECK(of->hints() == std::vector<std::uint64_t>{4, 2});
}

TEST_CASE("compositions: hints are wanted where a dataset in them wants them", "[dataset][host]") {
  const auto wanting = hinted(10);
  const auto content = hinted(10);
  content->wanted = false;
  CHECK(subset(wanting, sample_index{0}, 5)->wants_prefetch());
  CHECK_FALSE(subset(content, sample_index{0}, 5)->wants_prefetch());
  CHECK(concatenate({content, wanting})->wants_prefetch());
  CHECK_FALSE(concatenate({content, content})->wants_prefetch());
  CHECK_FALSE(
      map(content, {{"x", element_type::u8, {}}}, [](auto, auto, auto) {})->wants_prefetch());
}
