#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/mixture.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sampler_contract.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using numbers = std::vector<std::uint64_t>;

/// The part of each sample.
numbers parts_of(const numbers& samples, const numbers& sizes) {
  numbers parts;
  for (std::uint64_t sample : samples) {
    std::uint64_t part = 0;
    while (sample >= sizes[part]) sample -= sizes[part++];
    parts.push_back(part);
  }
  return parts;
}

std::string refusal(const numbers& sizes, const std::vector<double>& weights,
                    const mixture_options& options = {}) {
  return message_of<usage_error>([&] { (void)mixture{sizes, weights, options}; });
}

}  // namespace

TEST_CASE("mixture: each epoch has exactly its count from each part", "[sampler][host]") {
  const numbers sizes{1000, 10, 300, 77};
  const mixture order{sizes, {5, 1, 3, 0}, {.seed = 1, .epoch_size = 901}};
  // 500.6, 100.1 and 300.3: what is missing goes to the largest remainder.
  CHECK(order.counts() == numbers{501, 100, 300, 0});
  for (std::uint64_t epoch = 0; epoch < 5; ++epoch)
    CHECK(times_of(parts_of(epoch_of(order, 1387, epoch), sizes), 4) == order.counts());
  CHECK(mixture{sizes, {1, 1, 1, 1}}.counts() == numbers{347, 347, 347, 346});
}

TEST_CASE("mixture: parts are spread evenly over the epoch", "[sampler][host]") {
  for (const std::size_t parts : {1U, 2U, 3U, 7U, 40U}) {
    numbers sizes(parts, 50);
    std::vector<double> weights;
    for (std::size_t i = 0; i < parts; ++i) weights.push_back(1 + static_cast<double>(i * i % 11));
    const mixture order{sizes, weights, {.seed = 1, .epoch_size = 6400}};
    const auto counts = order.counts();
    const auto all = parts_of(epoch_of(order, 50 * parts, 2), sizes);
    const double bound = static_cast<double>(std::bit_width(parts - 1)) + 1e-9;
    numbers so_far(parts, 0);
    for (std::size_t place = 0; place < all.size(); ++place) {
      if (place % 64 == 0)
        for (std::size_t part = 0; part < parts; ++part) {
          const double share = static_cast<double>(place * counts[part]) / 6400;
          REQUIRE(std::abs(static_cast<double>(so_far[part]) - share) <= bound);
        }
      ++so_far[all[place]];
    }
  }
}

TEST_CASE("mixture: two equal parts do not take turns", "[sampler][host]") {
  const auto parts = parts_of(epoch_of(mixture{numbers{500, 500}, {1, 1}}, 1000, 0), {500, 500});
  std::uint64_t even = 0;
  for (std::size_t place = 0; place < 1000; place += 2) even += parts[place];
  CHECK(even > 200);  // 250 of 500 are expected
  CHECK(even < 300);
}

TEST_CASE("mixture: no sample comes again before all others of its part, also over epochs",
          "[sampler][host]") {
  const numbers sizes{400, 7, 90};
  const sampler order = mixture{sizes, {3, 2, 1}, {.seed = 5, .epoch_size = 313}};
  std::vector<numbers> of_part(3);
  for (std::uint64_t epoch = 0; epoch < 9; ++epoch) {
    const auto samples = epoch_of(order, 497, epoch);
    const auto parts = parts_of(samples, sizes);
    for (std::size_t i = 0; i < samples.size(); ++i) of_part[parts[i]].push_back(samples[i]);
  }
  for (std::size_t part = 0; part < 3; ++part) {
    const auto size = static_cast<std::ptrdiff_t>(sizes[part]);
    std::set<numbers> passes;
    std::size_t count = 0;
    for (auto pass = of_part[part].begin(); of_part[part].end() - pass >= size; pass += size) {
      const numbers in_pass(pass, pass + size);
      const numbers times = times_of(in_pass, 497);
      REQUIRE(*std::max_element(times.begin(), times.end()) == 1);
      passes.insert(in_pass);
      ++count;
    }
    CHECK(count >= 3);
    CHECK(passes.size() + 1 >= count);  // each has its own order; two orders of 7 may agree
  }
}

TEST_CASE("mixture: a position's sample is the same in every cut", "[sampler][host]") {
  check_is_pure(mixture{numbers{100, 20, 3}, {1, 2, 3}, {.seed = 3, .epoch_size = 333}}, 123);
  check_is_pure(mixture{numbers{5}, {1}}, 5);
}

TEST_CASE("mixture: parts of billions of samples are a matter of arithmetic", "[sampler][host]") {
  const numbers sizes{3'000'000'000, 7'000'000'000, 1000};
  const std::uint64_t all = 10'000'001'000;
  const mixture order{sizes, {2, 1, 1}, {.seed = 3, .epoch_size = 1'000'000'000}};
  CHECK(order.counts() == numbers{500'000'000, 250'000'000, 250'000'000});
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{640'000'000}, 999'999'360UL}) {
    const auto run = run_of(order, all, 1'000'000, first, 640);
    CHECK(times_of(parts_of(run, sizes), 3) == numbers{320, 160, 160});
  }
}

TEST_CASE("mixture: sizes are taken from datasets, in the order of concatenation",
          "[sampler][host]") {
  const auto part = [](std::size_t samples) {
    return make_memory_dataset({own("x", std::vector<std::uint8_t>(samples))});
  };
  const std::vector<dataset_ptr> parts{part(10), part(3), part(0)};
  const sampler order = mixture{parts, {1, 1, 0}, {.seed = 2}};
  CHECK(order.size(concatenate(parts)->size()) == 13);
  CHECK(epoch_of(order, 13, 1) == epoch_of(mixture{numbers{10, 3}, {1, 1}, {.seed = 2}}, 13, 1));
  CHECK(message_of<usage_error>([&] {
          (void)mixture{std::vector<dataset_ptr>{parts[0], nullptr}, {1, 1}};
        }) == "mixture: part 1 is null");
}

TEST_CASE("mixture: invalid options are refused, with the reason", "[sampler][host]") {
  CHECK(refusal({}, {}) == "mixture: there are no parts; give it one or more");
  CHECK(refusal({5, 5}, {1}) == "mixture: there are 2 parts and 1 weights; give one for each part");
  CHECK(refusal({5, 5}, {1, -1}) ==
        "mixture: weight 1 is -1.000000; a weight is a finite number from 0 up");
  CHECK(refusal({5, 5}, {0, 0}) ==
        "mixture: all 2 weights are 0; one must be more, or nothing can be drawn");
  CHECK(refusal({5, 0}, {1, 0.5}) ==
        "mixture: part 1 has no samples, but weight 0.500000; give it weight 0, or leave it out");
  CHECK(refusal({500, 500}, {0.999, 0.001}, {.epoch_size = 100}) ==
        "mixture: part 1 has weight 0.001000, which is less than one position in an epoch of 100; "
        "ask for a longer epoch (mixture_options::epoch_size), or give it weight 0");
  CHECK(refusal({UINT64_MAX, 1}, {1, 1}) ==
        "mixture: the parts' samples are more than 64 bits can count");
  const sampler order = mixture{numbers{5, 5}, {1, 1}};
  CHECK(message_of<usage_error>([&] { (void)order.size(11); }) ==
        "mixture: there are 10 samples in the parts, but the dataset has 11 samples; give it those "
        "of this dataset");
}

// The order is stable across versions of feedline, platforms and compilers: see shuffle_test.cpp.
TEST_CASE("mixture: the order of given parts is the one it has always been", "[sampler][host]") {
  const sampler order = mixture{numbers{1000, 200, 30}, {3, 2, 1}, {.seed = 42}};
  CHECK(run_of(order, 1230, 3, 60, 8) == numbers{863, 1145, 220, 956, 491, 1216, 697, 1218});
}
