#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/packing/pack_together.hpp>
#include <feedline/sampler/bucket_by_length.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/packed_rows.hpp"
#include "support/datasets/ragged_samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using lengths = numbered_elements::lengths;

/// Lengths like those of web pages: logarithms have a normal distribution, with a median of 500.
lengths documents(std::uint64_t count) {
  std::mt19937_64 engine{7};
  std::normal_distribution<double> logarithm{std::log(500.0), 1.1};
  lengths made;
  for (std::uint64_t i = 0; i < count; ++i)
    made.push_back(static_cast<std::uint32_t>(
        std::clamp(std::round(std::exp(logarithm(engine))), 1.0, 200'000.0)));
  return made;
}

ragged_dataset_ptr ragged(lengths of, std::int64_t plus = 0, std::string name = "token") {
  return std::make_shared<const numbered_elements>(std::move(name), std::move(of), plus);
}

/// How often each element of each sample is in the plan's rows; fails if a row has too many.
std::vector<std::vector<int>> uses(const packed_dataset& rows, const lengths& of,
                                   std::uint64_t capacity) {
  std::vector<std::vector<int>> times;
  for (const std::uint32_t each : of) times.emplace_back(each, 0);
  std::vector<int> empty(of.size(), 0);
  for (std::uint64_t row = 0; row < rows.size(); ++row) {
    std::uint64_t used = 0;
    const auto parts = rows.parts_of(sample_index{row});
    REQUIRE(!parts.empty());
    REQUIRE(parts.size() <= rows.max_samples());
    for (const packed_part& part : parts) {
      used += part.count;
      if (part.count == 0) ++empty[part.sample.value];
      for (std::uint64_t i = 0; i < part.count; ++i)
        ++times.at(part.sample.value).at(part.first + i);
    }
    REQUIRE(used <= capacity);
  }
  for (std::size_t i = 0; i < of.size(); ++i) REQUIRE(empty[i] == (of[i] == 0 ? 1 : 0));
  return times;
}

std::string refusal(const std::vector<ragged_dataset_ptr>& fields,
                    const pack_together_options& options) {
  return message_of<usage_error>([&] { (void)pack_together(fields, options); });
}

}  // namespace

TEST_CASE("pack together: ten million documents fill more than 99 % of their rows",
          "[ragged][host]") {
#ifdef NDEBUG
  const std::uint64_t times = sanitized ? 2 : 100;
#else
  const std::uint64_t times = sanitized ? 2 : 10;  // without optimization: one million
#endif
  const lengths of = documents(100'000);
  const auto rows = pack_together(
      {std::make_shared<const numbered_elements>("token", of, 0, std::nullopt, times)},
      {.capacity = {4096}, .seed = 1, .longer = pack_longer::split});
  CHECK(rows->padding_share() < 0.01);
  const auto elements = times * std::accumulate(of.begin(), of.end(), std::uint64_t{0});
  CHECK(static_cast<double>(elements) > 0.99 * 4096 * static_cast<double>(rows->size()));
}

TEST_CASE("pack together: each element of each sample comes once, and no row is too long",
          "[ragged][host]") {
  const std::uint64_t window = GENERATE(1U, 100U, 65'536U);
  const std::uint64_t max_samples = GENERATE(0U, 3U);
  lengths of = documents(1000);
  for (std::size_t i = 0; i < of.size(); i += 50) of[i] = 0;
  for (const std::uint64_t capacity : {64ULL, 2048ULL, 100'000ULL, 1'000'000ULL}) {
    const auto rows = pack_together({ragged(of)}, {.capacity = {capacity},
                                                   .window = window,
                                                   .seed = 3,
                                                   .max_samples = max_samples,
                                                   .longer = pack_longer::split});
    for (const auto& sample : uses(*rows, of, capacity))
      REQUIRE(std::all_of(sample.begin(), sample.end(), [](int times) { return times == 1; }));
  }
}

TEST_CASE("pack together: a plan is fuller than rows in the order of samples", "[ragged][host]") {
  lengths of = documents(20'000);
  for (std::uint32_t& each : of) each = std::min(each, 2048U);
  const auto planned = pack_together({ragged(of)}, {.capacity = {2048}});
  const auto in_order = pack(ragged(of), {.capacity = 2048});
  CHECK(planned->padding_share() < 0.01);
  CHECK(in_order->padding_share() > 0.15);
  // A small window is less full, and its rows have samples from near each other.
  const auto near = pack_together({ragged(of)}, {.capacity = {2048}, .window = 64});
  CHECK(near->padding_share() < in_order->padding_share());
  for (std::uint64_t row = 0; row < near->size(); ++row)
    for (const packed_part& part : near->parts_of(sample_index{row}))
      REQUIRE(part.sample.value / 64 == near->parts_of(sample_index{row})[0].sample.value / 64);
}

TEST_CASE("pack together: rows have the elements, positions, documents and masks of their samples",
          "[ragged][host]") {
  const lengths of{3, 0, 5, 2, 8, 1, 12, 4};
  const packed_mask mask = GENERATE(packed_mask::elements, packed_mask::followed);
  const auto rows = pack_together({ragged(of), ragged(of, 7, "label")},
                                  {.capacity = {8},
                                   .value = {std::int64_t{-1}, std::int64_t{-2}},
                                   .longer = pack_longer::split,
                                   .positions = true,
                                   .documents = true,
                                   .mask = mask});
  loader loader{rows, shuffle{.seed = 2}, make_host_device(), {.batch_size = 2, .readers = 2}};
  std::uint64_t elements = 0;
  for (const batch& batch : loader.epoch(0)) {
    const auto samples = batch.samples();
    const std::uint64_t most = rows->max_samples() + 1;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto parts = rows->parts_of(samples[i]);
      CHECK(batch["token_count"].values<std::int32_t>()[i] ==
            static_cast<std::int32_t>(parts.size()));
      std::size_t at = i * 8;
      for (std::size_t k = 0; k < parts.size(); ++k) {
        for (const char* name : {"token_offsets", "label_offsets"})
          CHECK(batch[name].values<std::int32_t>()[i * most + k] ==
                static_cast<std::int32_t>(at - i * 8));
        for (std::uint64_t j = 0; j < parts[k].count; ++j, ++at, ++elements) {
          const auto value =
              static_cast<std::int64_t>(parts[k].sample.value * 1000 + parts[k].first + j);
          CHECK(batch["token"].values<std::int64_t>()[at] == value);
          CHECK(batch["label"].values<std::int64_t>()[at] == value + 7);
          CHECK(batch["token_position"].values<std::int32_t>()[at] == static_cast<std::int32_t>(j));
          CHECK(batch["token_document"].values<std::int32_t>()[at] == static_cast<std::int32_t>(k));
          const bool counted = mask == packed_mask::elements || j + 1 < parts[k].count;
          CHECK(batch["token_mask"].values<std::uint8_t>()[at] == (counted ? 1 : 0));
        }
      }
      for (; at < (i + 1) * 8; ++at) {
        CHECK(batch["token"].values<std::int64_t>()[at] == -1);
        CHECK(batch["label"].values<std::int64_t>()[at] == -2);
        CHECK(batch["token_position"].values<std::int32_t>()[at] == 0);
        CHECK(batch["token_document"].values<std::int32_t>()[at] == -1);
        CHECK(batch["token_mask"].values<std::uint8_t>()[at] == 0);
      }
    }
  }
  CHECK(elements == 35);
}

TEST_CASE("pack together: samples fit in each of several fields of other lengths",
          "[ragged][host]") {
  lengths of = documents(4000);
  for (std::uint32_t& each : of) each = std::min(each, 1000U);
  lengths boxes(of.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) boxes[i] = static_cast<std::uint32_t>(i * i % 11);
  const auto rows =
      pack_together({ragged(of), ragged(boxes, 0, "box")}, {.capacity = {2048, 16}, .seed = 5});
  std::vector<int> times(of.size(), 0);
  for (std::uint64_t row = 0; row < rows->size(); ++row) {
    std::uint64_t tokens = 0;
    std::uint64_t used = 0;
    for (const packed_part& part : rows->parts_of(sample_index{row})) {
      ++times[part.sample.value];
      tokens += part.count;
      used += boxes[part.sample.value];
    }
    REQUIRE(tokens <= 2048);
    REQUIRE(used <= 16);
  }
  CHECK(std::all_of(times.begin(), times.end(), [](int each) { return each == 1; }));
}

TEST_CASE("pack together: a sample that fits is whole, also where others are split",
          "[ragged][host]") {
  // Sample 1 is split at 10 elements; the others have more in one field, and fit.
  const bool first_is_larger = GENERATE(true, false);
  lengths some{15, 30, 4, 9, 17};
  lengths fewer{5, 30, 9, 0, 10};
  std::vector<std::uint64_t> capacity{20, 10};
  if (!first_is_larger) {
    std::swap(some, fewer);
    std::swap(capacity[0], capacity[1]);
  }
  const auto rows = pack_together({ragged(some), ragged(fewer, 0, "label")},
                                  {.capacity = capacity, .longer = pack_longer::split});
  std::vector<std::int64_t> seen[2];
  loader loader{rows, sequential{}, make_host_device(), {.batch_size = 1, .readers = 0}};
  for (const batch& batch : loader.epoch(0))
    for (const int of : {0, 1}) {
      const std::string name = of == 0 ? "token" : "label";
      const auto values = batch[name].values<std::int64_t>();
      const auto count = static_cast<std::size_t>(batch[name + "_count"].values<std::int32_t>()[0]);
      const auto end = batch[name + "_offsets"].values<std::int32_t>()[count];
      seen[of].insert(seen[of].end(), values.begin(), values.begin() + end);
    }
  for (const int of : {0, 1}) {
    std::vector<std::int64_t> expected;
    const lengths& each = of == 0 ? some : fewer;
    for (std::size_t i = 0; i < each.size(); ++i)
      for (std::size_t k = 0; k < each[i]; ++k)
        expected.push_back(static_cast<std::int64_t>(i * 1000 + k));
    std::sort(seen[of].begin(), seen[of].end());
    CHECK(seen[of] == expected);
  }
}

TEST_CASE("pack together: a row has no more empty samples than elements", "[ragged][host]") {
  lengths of(1000, 0);
  for (std::size_t i = 0; i < of.size(); i += 10) of[i] = 8;
  const auto rows = pack_together({ragged(of)}, {.capacity = {8}});
  CHECK(rows->max_samples() == 8);
  for (const auto& sample : uses(*rows, of, 8))
    REQUIRE(std::all_of(sample.begin(), sample.end(), [](int times) { return times == 1; }));
}

TEST_CASE("pack together: a length that no memory holds is refused", "[ragged][host]") {
  const std::vector<ragged_dataset_ptr> fields{
      std::make_shared<const only_lengths>(std::vector<std::uint64_t>{3, UINT64_MAX})};
  CHECK(refusal(fields, {.capacity = {4}, .longer = pack_longer::split}) ==
        "pack_together: sample 1 of 18446744073709551615 elements takes 4611686018427387904 rows, "
        "for which there is no memory, at 24 bytes each");
}

TEST_CASE("pack together: hints name ranges only if those of all fields that want hints do",
          "[ragged][host]") {
  class hinted final : public ragged_dataset {
   public:
    hinted(std::string name, bool wants, bool ranges)
        : name_{std::move(name)}, wants_{wants}, ranges_{ranges} {}
    std::uint64_t size() const override { return 1; }
    field element() const override { return {name_, element_type::u8, {}}; }
    std::uint64_t length(sample_index) const override { return 1; }
    bool wants_prefetch() const noexcept override { return wants_; }
    bool hints_ranges() const noexcept override { return ranges_; }

   private:
    void do_read(std::span<const element_run>) const override {}
    std::string name_;
    bool wants_, ranges_;
  };
  const auto hints = [](bool wants, bool ranges) {
    return pack_together({std::make_shared<const hinted>("a", true, true),
                          std::make_shared<const hinted>("b", wants, ranges)},
                         {.capacity = {4}})
        ->hints_ranges();
  };
  CHECK(hints(true, true));
  CHECK(hints(false, false));
  CHECK(!hints(true, false));
}

TEST_CASE("pack together: a run continues in another world, and options make another plan",
          "[ragged][host]") {
  lengths of = documents(2000);
  for (std::uint32_t& each : of) each = std::min(each, 512U);
  const auto plan = [&](std::uint64_t seed) {
    return pack_together({ragged(of)}, {.capacity = {512}, .seed = seed, .max_samples = 32});
  };
  const auto load = [&](int rank, int world, std::uint64_t seed = 1) {
    return loader{plan(seed),
                  shuffle{.seed = 9},
                  make_host_device(),
                  {.batch_size = 16 / static_cast<std::uint64_t>(world),
                   .partial_batch = partial_batch::drop,
                   .shard = {.rank = rank, .world = world},
                   .readers = 1}};
  };
  const auto rest_of = [](loader& from, std::uint64_t epoch) {
    std::vector<std::vector<std::int64_t>> batches;
    for (const batch& batch : from.epoch(epoch)) {
      const auto values = batch["token"].values<std::int64_t>();
      batches.emplace_back(values.begin(), values.end());
    }
    return batches;
  };
  loader whole = load(0, 1);
  loader_state state = whole.state();
  auto expected = rest_of(whole, 0);
  expected.erase(expected.begin(), expected.begin() + 5);
  state.batch = 5;
  std::vector<std::vector<std::int64_t>> found(expected.size());
  for (int rank = 0; rank < 4; ++rank) {
    loader each = load(rank, 4);
    each.seek(state);
    const auto own = rest_of(each, 0);
    REQUIRE(own.size() == found.size());
    for (std::size_t i = 0; i < own.size(); ++i)
      found[i].insert(found[i].end(), own[i].begin(), own[i].end());
  }
  CHECK(found == expected);
}

TEST_CASE("pack together: with buckets of costs ranks get rows of similar cost", "[ragged][host]") {
  const lengths of = documents(30'000);
  const auto rows =
      pack_together({ragged(of)}, {.capacity = {4096}, .seed = 1, .longer = pack_longer::split});
  const auto costs = packing_costs(*rows);
  REQUIRE(costs.size() == rows->size());
  CHECK(*std::max_element(costs.begin(), costs.end()) == 4096U * 4096U);
  // The share of the time that ranks wait for the slowest one of 8.
  const auto waiting = [&](const sampler& order) {
    std::vector<sample_index> samples(costs.size() / 8 * 8);
    order.indices(costs.size(), 0, position{0}, samples);
    double most = 0;
    double sum = 0;
    for (std::size_t batch = 0; batch < samples.size(); batch += 8) {
      std::uint64_t slowest = 0;
      for (std::size_t rank = 0; rank < 8; ++rank) {
        slowest = std::max(slowest, costs[samples[batch + rank].value]);
        sum += static_cast<double>(costs[samples[batch + rank].value]);
      }
      most += 8 * static_cast<double>(slowest);
    }
    return 1 - sum / most;
  };
  const sampler by_cost =
      sampler{bucket_by_length{costs, {.seed = 1, .buckets = 64}}}.bind(*rows, 8);
  CHECK(waiting(shuffle{.seed = 1}) > 0.3);
  CHECK(waiting(by_cost) < 0.1);
}

TEST_CASE("pack together: impossible options are refused, with the reason", "[ragged][host]") {
  const std::string name = "pack_together_options::";
  const auto one = ragged({1, 2});
  CHECK(refusal({}, {.capacity = {8}}) == "pack_together: there is no field to pack");
  CHECK(refusal({nullptr}, {.capacity = {8}}) == "pack_together: field 0 is null");
  CHECK(refusal({one}, {}) == name +
                                  "capacity has 0 values for 1 fields: give one for each, or "
                                  "one for all");
  CHECK(refusal({one}, {.capacity = {0}}) == name + "capacity is 0, and can be 1 to 2147483646");
  CHECK(refusal({one}, {.capacity = {8}, .window = 0}) ==
        name + "window is 0: say how many samples rows are filled from, 1 to 2147483646");
  CHECK(refusal({one, ragged({1})}, {.capacity = {8}}) ==
        "pack_together: field 0 has 2 samples, and field 1 has 1: give fields of the same samples");
  CHECK(refusal({one, one}, {.capacity = {8}}).find("token") != std::string::npos);
  const auto too_long = [&](const pack_together_options& options) {
    return message_of<dataset_error>([&] {
      (void)pack_together({ragged({1, 9}), ragged({1, 2}, 0, "box")}, options);
    });
  };
  CHECK(too_long({.capacity = {8}}) ==
        "field 'token', sample 1: has 9 elements, more than the 8 of pack_together_options::"
        "capacity: raise it, or ask for pack_longer::split");
  CHECK(too_long({.capacity = {8}, .longer = pack_longer::split})
            .find("cannot be split because its fields differ in length: raise it") !=
        std::string::npos);
}
