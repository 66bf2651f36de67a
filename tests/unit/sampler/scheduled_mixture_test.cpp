#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/mixture.hpp>
#include <feedline/sampler/scheduled_mixture.hpp>
#include <feedline/sampler/take.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sampler_contract.hpp"

#include <algorithm>
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
using points = std::vector<mixture_point>;

std::uint64_t part_of(std::uint64_t sample, const numbers& sizes) {
  std::uint64_t part = 0;
  while (sample >= sizes[part]) sample -= sizes[part++];
  return part;
}

/// The parts at all positions of the first epochs.
numbers parts_of(const scheduled_mixture& order, const numbers& sizes, std::uint64_t epochs) {
  const auto all = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  numbers parts;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch)
    for (const std::uint64_t sample : epoch_of(order, all, epoch))
      parts.push_back(part_of(sample, sizes));
  return parts;
}

/// The integral of a part's proportion over the first `place` positions, by the trapezoid
/// rule that is exact for linear weights.
double integral(const points& of, bool linear, std::size_t part, double place) {
  const auto share = [&](std::size_t point) {
    const auto& weights = of[point].weights;
    return weights[part] / std::accumulate(weights.begin(), weights.end(), 0.0);
  };
  double sum = 0;
  for (std::size_t i = 0; i < of.size() && of[i].at < place; ++i) {
    if (i + 1 == of.size()) return sum + share(i) * (place - of[i].at);
    const double length = of[i + 1].at - of[i].at;
    const double within = std::min(length, place - of[i].at);
    const double slope = linear ? (share(i + 1) - share(i)) / length : 0;
    sum += share(i) * within + slope * within * within / 2;
  }
  return sum;
}

std::string refusal(const numbers& sizes, const points& at,
                    const scheduled_mixture_options& options = {}) {
  return message_of<usage_error>([&] { (void)scheduled_mixture{sizes, at, options}; });
}

}  // namespace

TEST_CASE("scheduled mixture: each part has the integral of its weight at any position",
          "[sampler][host]") {
  const numbers sizes{1000, 10, 300, 77, 5};
  const points at{{0, {1, 0, 0, 2, 0}},
                  {1000, {1, 1, 0, 2, 0}},
                  {1400, {0, 5, 1, 0, 1}},
                  {3001, {0.2, 0.2, 0.2, 0.2, 0.2}}};
  for (const mixture_change change : {mixture_change::linear, mixture_change::steps}) {
    const bool linear = change == mixture_change::linear;
    const scheduled_mixture order{sizes, at, {.seed = 1, .epoch_size = 700, .change = change}};
    const auto parts = parts_of(order, sizes, 7);
    REQUIRE(parts.size() == 4900);
    std::vector<numbers> per_epoch(7, numbers(5, 0));
    numbers so_far(5, 0);
    for (std::size_t place = 0; place < parts.size(); ++place) {
      std::size_t cut = place / 700 * 700;
      for (const mixture_point& point : at)
        if (point.at <= static_cast<double>(place))
          cut = std::max(cut, static_cast<std::size_t>(point.at));
      const bool at_point = std::any_of(at.begin(), at.end(), [&](const mixture_point& point) {
        return point.at == static_cast<double>(place);
      });
      const double bound = at_point ? 1.5 : linear ? 2 * 3 + 2 : 3 + 1;
      for (std::size_t part = 0; part < 5; ++part) {
        if ((place - cut) % 64 != 0) break;
        const double exact = integral(at, linear, part, static_cast<double>(place));
        INFO("part " << part << " at " << place << ", " << exact);
        REQUIRE(std::abs(static_cast<double>(so_far[part]) - exact) < bound);
      }
      ++so_far[parts[place]];
      ++per_epoch[place / 700][parts[place]];
    }
    for (std::uint64_t epoch = 0; epoch < 7; ++epoch)
      CHECK(order.counts(epoch) == per_epoch[epoch]);
  }
}

TEST_CASE("scheduled mixture: what rounding takes between two points comes between the next ones",
          "[sampler][host]") {
  // A third of each stretch of 7 positions: 2 1/3.
  const numbers sizes{50, 50, 50};
  points at;
  for (int i = 0; i < 30; ++i) at.push_back({7.0 * i, {1, i % 2 == 0 ? 1.0 : 1.0000001, 1}});
  for (const mixture_change change : {mixture_change::linear, mixture_change::steps}) {
    const scheduled_mixture order{sizes, at, {.epoch_size = 203, .change = change}};
    for (const std::uint64_t count : order.counts(0)) {
      CHECK(count >= 67);
      CHECK(count <= 68);
    }
  }
}

TEST_CASE("scheduled mixture: a part of weight 0 between two points is not drawn there",
          "[sampler][host]") {
  const numbers sizes{30, 30, 30};
  const points at{{0, {1, 0, 1}}, {100, {1, 1, 0}}, {333, {0, 1, 0}}, {500, {0, 1, 1}}};
  const auto found = [&](mixture_change change) {
    return parts_of({sizes, at, {.seed = 4, .epoch_size = 90, .change = change}}, sizes, 10);
  };
  const auto steps = found(mixture_change::steps);
  for (std::size_t place = 0; place < steps.size(); ++place) {
    INFO(place);
    if (place < 100) REQUIRE(steps[place] != 1);
    if (place >= 100 && place < 500) REQUIRE(steps[place] != 2);
    if (place >= 333) REQUIRE(steps[place] != 0);
  }
  const auto ramps = found(mixture_change::linear);
  for (std::size_t place = 0; place < ramps.size(); ++place) {
    INFO(place);
    if (place >= 100 && place < 333) REQUIRE(ramps[place] != 2);
    if (place >= 333) REQUIRE(ramps[place] != 0);
  }
}

TEST_CASE(
    "scheduled mixture: no sample comes again before all others of its part, also over "
    "points and epochs",
    "[sampler][host]") {
  const numbers sizes{400, 7, 90};
  const points at{{0, {3, 2, 0}}, {250, {1, 1, 1}}, {777, {0, 1, 3}}, {1300, {2, 0, 1}}};
  const mixture_change change = GENERATE(mixture_change::linear, mixture_change::steps);
  const sampler order =
      scheduled_mixture{sizes, at, {.seed = 5, .epoch_size = 313, .change = change}};
  std::vector<numbers> of_part(3);
  for (std::uint64_t epoch = 0; epoch < 9; ++epoch)
    for (const std::uint64_t sample : epoch_of(order, 497, epoch))
      of_part[part_of(sample, sizes)].push_back(sample);
  for (std::size_t part = 0; part < 3; ++part) {
    const auto times = times_of(of_part[part], 497);
    std::uint64_t least = UINT64_MAX;
    std::uint64_t most = 0;
    for (std::uint64_t i = 0; i < sizes[part]; ++i) {
      const std::uint64_t time =
          times[i + std::accumulate(sizes.begin(), sizes.begin() + static_cast<long>(part), 0UL)];
      least = std::min(least, time);
      most = std::max(most, time);
    }
    CHECK(most - least <= 1);
    CHECK(most >= 2);
  }
}

TEST_CASE("scheduled mixture: a position's sample is the same in every cut", "[sampler][host]") {
  const points at{{0, {1, 2, 3}}, {100, {1, 0, 0}}, {400, {0, 1, 0}}};
  for (const mixture_change change : {mixture_change::linear, mixture_change::steps})
    check_is_pure(
        scheduled_mixture{
            numbers{100, 20, 3}, at, {.seed = 3, .epoch_size = 333, .change = change}},
        123);
  check_is_pure(scheduled_mixture{numbers{5}, {{0, {1}}}}, 5);
}

TEST_CASE("scheduled mixture: points may be in epochs, and weights are proportions",
          "[sampler][host]") {
  const numbers sizes{100, 100};
  const scheduled_mixture order{sizes,
                                {{0, {2, 0}}, {2.5, {3, 3}}},
                                {.seed = 1, .epoch_size = 64, .unit = mixture_unit::epochs}};
  CHECK(order.weights(0, position{0}) == std::vector<double>{1, 0});
  CHECK(order.weights(1, position{16}) == std::vector<double>{0.75, 0.25});
  CHECK(order.weights(100, position{3}) == std::vector<double>{0.5, 0.5});
  CHECK(order.counts(7) == numbers{32, 32});
  // 64² / 2 / 160 × 1/2 = 6.4
  CHECK(order.counts(0)[1] == 6);
}

TEST_CASE("scheduled mixture: trillions of positions are a matter of arithmetic",
          "[sampler][host]") {
  const numbers sizes{3'000'000'000'000, 7'000'000'000'000, 1000};
  const std::uint64_t all = 10'000'000'001'000;
  const std::uint64_t epoch = 1'000'000'000'000;
  const scheduled_mixture order{
      sizes, {{0, {1, 0, 0}}, {9.5e12, {0, 1, 1}}}, {.seed = 3, .epoch_size = epoch}};
  const auto run = run_of(order, all, 4, epoch * 3 / 4, 6400);
  numbers parts;
  for (const std::uint64_t sample : run) parts.push_back(part_of(sample, sizes));
  const auto times = times_of(parts, 3);
  CHECK(std::abs(static_cast<double>(times[0]) - 3200) <= 6);
  CHECK(std::abs(static_cast<double>(times[1]) - 1600) <= 6);
}

TEST_CASE("scheduled mixture: another schedule has another identity, also if it differs late",
          "[sampler][host]") {
  const numbers sizes{50, 50};
  const auto with = [&](const points& at, const scheduled_mixture_options& options = {}) {
    return scheduled_mixture{sizes, at, options}.identity();
  };
  const points at{{0, {1, 1}}, {1000, {1, 2}}};
  std::set<std::uint64_t> seen{with(at),
                               with({{0, {1, 1}}, {1001, {1, 2}}}),
                               with({{0, {1, 1}}, {1000, {1, 2.001}}}),
                               with(at, {.seed = 1}),
                               with(at, {.epoch_size = 99}),
                               with(at, {.change = mixture_change::steps})};
  CHECK(seen.size() == 6);
  CHECK(with(at) == with({{0, {2, 2}}, {1000, {2, 4}}}));
  const sampler taken = take{scheduled_mixture{sizes, at}, 10};
  CHECK(taken.identity() == with(at));
  CHECK(!sampler{mixture{sizes, {1, 1}}}.identity());
}

TEST_CASE("scheduled mixture: invalid schedules are refused, with the reason", "[sampler][host]") {
  const std::string name = "scheduled_mixture: ";
  CHECK(refusal({5, 5}, {}) == name + "there are no points; give it one at 0, or more");
  CHECK(refusal({}, {{0, {}}}) == name + "there are no parts; give it one or more");
  CHECK(refusal({5, 5}, {{1, {1, 1}}}) ==
        name + "point 0 is at 1; the first point is at 0, so that epoch 0 begins with weights");
  CHECK(refusal({5, 5}, {{0, {1, 1}}, {0.5, {1, 1}}}) ==
        name + "point 1 is at 0.5; say a whole position, or use mixture_unit::epochs");
  CHECK(refusal({5, 5}, {{0, {1, 1}}, {3, {1, 1}}, {3, {1, 1}}}) ==
        name +
            "point 2 is at 3, which is position 3, but the point before it is at position 3; give "
            "points in ascending order, one a position");
  CHECK(refusal({5, 5}, {{0, {1, 1}}, {-1, {1, 1}}}) ==
        name + "point 1 is at -1 positions; say a moment from 0 to 2^53 positions");
  CHECK(refusal({5, 5}, {{0, {1, 1}}, {NAN, {1, 1}}}, {.unit = mixture_unit::epochs}) ==
        name + "point 1 is at nan epochs; say a moment from 0 to 2^53 positions");
  CHECK(refusal({5, 5}, {{0, {1}}}) ==
        name + "point 0 has 1 weights, and there are 2 parts; give one for each part");
  CHECK(refusal({5, 5}, {{0, {1, 1}}, {9, {0, 0}}}) ==
        name + "point 1: all 2 weights are 0; one must be more, or nothing can be drawn");
  CHECK(refusal({5, 0}, {{0, {1, 0}}, {9, {1, 0.5}}}) ==
        name + "point 1: part 1 has no samples, but weight 0.5; give it weight 0, or leave it out");
  CHECK(refusal({500, 500}, {{0, {1, 0}}, {9, {0.999, 0.001}}}, {.epoch_size = 100}) ==
        name +
            "point 1: part 1 has weight 0.001, which is less than one position in the whole "
            "schedule; make the weight or the epoch larger "
            "(scheduled_mixture_options::epoch_size), or give it weight 0");
  CHECK(refusal({5, 5}, {{0, {1, 1}}}, {.change = static_cast<mixture_change>(7)})
            .find("scheduled_mixture_options::change is 7") == 0);
  CHECK(message_of<usage_error>([] {
          (void)scheduled_mixture{std::vector<dataset_ptr>{nullptr}, {{0, {1}}}};
        }) == name + "part 0 is null");
  CHECK(message_of<usage_error>([] {
          (void)scheduled_mixture{numbers{5, 5}, {{0, {1, 1}}}}.size(11);
        }).find(name + "there are 10 samples in the parts") == 0);
}

// The order is stable across versions of feedline, platforms and compilers: see shuffle_test.cpp.
TEST_CASE("scheduled mixture: the order of a given schedule is the one it has always been",
          "[sampler][host]") {
  const sampler order =
      scheduled_mixture{numbers{1000, 200, 30}, {{0, {3, 2, 1}}, {4000, {1, 2, 3}}}, {.seed = 42}};
  CHECK(run_of(order, 1230, 2, 60, 4) == numbers{1202, 1014, 1207, 1000});
  CHECK(run_of(order, 1230, 4, 60, 4) == numbers{1208, 1216, 1093, 1062});
}
