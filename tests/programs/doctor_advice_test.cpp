#include <feedline/loader/loader_options.hpp>

#include "programs/doctor/advice.hpp"
#include "support/checks/catch.hpp"

#include <chrono>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using feedline::placement;

namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

/// 100,000 samples of 10 kB, 1 GB in all, in batches of 100.
doctor::findings plain() {
  doctor::findings of;
  of.layout.samples = 100'000;
  of.layout.sample_bytes = 10'000;
  of.layout.fields = {{"x", feedline::element_type::u8, {10'000}}};
  of.batch_size = 100;
  of.cores = 8;
  of.host_free_bytes = 64 * gibibyte;
  of.no_device = "there is no GPU";
  of.in_order = {0, 1000, 1ms};
  return of;
}

/// Findings with the samples a second that each number of readers brings.
doctor::findings with_rates(std::vector<std::pair<int, double>> rates) {
  doctor::findings of = plain();
  for (const auto& [readers, rate] : rates)
    of.readers.push_back({readers, static_cast<std::uint64_t>(rate), 1s});
  return of;
}

doctor::findings with_gpu(doctor::findings of, std::size_t free, double copy_rate = 50e9) {
  of.device = doctor::device_facts{
      .name = "a GPU", .free_bytes = free, .total_bytes = free, .copy_rate = copy_rate};
  of.no_device.clear();
  return of;
}

doctor::findings with_step(doctor::findings of, std::chrono::nanoseconds step) {
  of.step = step;
  return of;
}

doctor::findings in_chunks(doctor::findings of, std::uint64_t kept) {
  of.layout.chunking = {.samples = 100, .bytes = 1'000'000, .kept = kept};
  return of;
}

bool says(const std::vector<std::string>& texts, const std::string& words) {
  for (const std::string& text : texts)
    if (text.find(words) != std::string::npos) return true;
  return false;
}

const std::vector<std::pair<int, double>> growing{{1, 1000}, {2, 1900}, {4, 3500}, {8, 3600}};

}  // namespace

TEST_CASE("doctor: the fewest readers that keep up with the step are recommended",
          "[programs][host]") {
  struct row {
    std::chrono::nanoseconds step;
    int readers;
  };
  // 100 samples in 200 ms are 500 a second, with headroom 550, and so on.
  const row expected = GENERATE(row{200ms, 1}, row{105ms, 2}, row{95ms, 2}, row{60ms, 2},
                                row{50ms, 4}, row{30ms, 4}, row{1ms, 4});
  const auto given = doctor::advise(with_step(with_rates(growing), expected.step));
  CAPTURE(expected.step.count());
  CHECK(given.readers == expected.readers);
}

TEST_CASE("doctor: with no step, readers are added while each brings 5 % more",
          "[programs][host]") {
  CHECK(doctor::advise(with_rates(growing)).readers == 4);
  CHECK(doctor::advise(with_rates({{1, 1000}, {2, 1040}, {4, 900}})).readers == 1);
  CHECK(doctor::advise(with_rates({{1, 1000}, {2, 1100}, {4, 1200}})).readers == 4);
  CHECK(doctor::advise(with_rates({})).readers == 1);
}

TEST_CASE("doctor: a dataset that one thread at a time reads gets one reader", "[programs][host]") {
  doctor::findings of = with_rates(growing);
  of.layout.serialized = true;
  const auto given = doctor::advise(of);
  CHECK(given.readers == 1);
  CHECK(says(given.hints, "feedline-convert"));
}

TEST_CASE("doctor: windows of chunks are recommended where chunks are not all kept",
          "[programs][host]") {
  CHECK_FALSE(doctor::advise(with_rates(growing)).window);
  CHECK_FALSE(doctor::advise(in_chunks(with_rates(growing), 1000)).window);
  CHECK(doctor::advise(with_step(in_chunks(with_rates(growing), 100), 200ms)).window == 50);
  CHECK(doctor::advise(with_step(in_chunks(with_rates(growing), 1), 200ms)).window == 1);
  auto many = with_step(in_chunks(with_rates(growing), 50'000), 200ms);
  many.layout.samples = 100'000'000;
  CHECK(doctor::advise(many).window == 1024);
}

TEST_CASE("doctor: samples that cost much and fit in memory are to be loaded once",
          "[programs][host]") {
  auto of = with_step(in_chunks(with_rates(growing), 100), 1ms);
  of.in_order.took = 1s;  // 1 ms a sample
  SECTION("they are, where no number of readers keeps up") {
    const auto given = doctor::advise(of);
    CHECK(given.load_into_memory);
    CHECK_FALSE(given.window);
    CHECK(given.batch == doctor::seconds{1ms});
  }
  SECTION("not where the readers keep up") {
    CHECK_FALSE(doctor::advise(with_step(of, 200ms)).load_into_memory);
  }
  SECTION("not where they do not fit") {
    of.host_free_bytes = gibibyte;
    CHECK_FALSE(doctor::advise(of).load_into_memory);
  }
  SECTION("not where they lie in memory already") {
    of.layout.in_memory = true;
    CHECK_FALSE(doctor::advise(of).load_into_memory);
  }
  SECTION("not where each epoch has others") {
    of.layout.varies_by_epoch = true;
    CHECK_FALSE(doctor::advise(of).load_into_memory);
  }
  SECTION("not if a sample costs as much as its copy") {
    of.in_order.took = 1ms;
    CHECK_FALSE(doctor::advise(of).load_into_memory);
  }
}

TEST_CASE("doctor: the placement follows from the step and from free GPU memory",
          "[programs][host]") {
  const auto slow = with_rates(growing);  // at most 36 MB/s
  SECTION("stream if there is no GPU, with the reason") {
    const auto given = doctor::advise(slow);
    CHECK(given.placement == placement::stream);
    CHECK(says(given.reasons, "there is no GPU"));
  }
  SECTION("stream where reading and copying keep up") {
    const auto given = doctor::advise(with_step(with_gpu(slow, 80 * gibibyte), 100ms));
    CHECK(given.placement == placement::stream);
  }
  SECTION("resident where all rows fit in half of the memory") {
    const auto given = doctor::advise(with_step(with_gpu(slow, 4 * gibibyte), 1ms));
    CHECK(given.placement == placement::resident);
    CHECK(given.device_cache_bytes == 2 * gibibyte);
  }
  SECTION("cached where a part does") {
    const auto given = doctor::advise(with_step(with_gpu(slow, gibibyte), 1ms));
    CHECK(given.placement == placement::cached);
    CHECK(given.device_cache_bytes == gibibyte / 2);
  }
  SECTION("stream where hardly any does") {
    const auto given = doctor::advise(with_step(with_gpu(slow, gibibyte / 10), 1ms));
    CHECK(given.placement == placement::stream);
  }
  SECTION("gather where rows lie in host memory and do not fit") {
    auto of = with_step(with_gpu(slow, gibibyte), 1ms);
    of.layout.in_memory = true;
    const auto given = doctor::advise(of);
    CHECK(given.placement == placement::gather);
    CHECK(given.readers == feedline::automatic_readers);
  }
  SECTION("stream where each epoch has other samples") {
    auto of = with_step(with_gpu(slow, 80 * gibibyte), 1ms);
    of.layout.varies_by_epoch = true;
    CHECK(doctor::advise(of).placement == placement::stream);
  }
  SECTION("as large as was asked for") {
    auto of = with_step(with_gpu(slow, 80 * gibibyte), 1ms);
    of.device_budget = gibibyte / 2;
    const auto given = doctor::advise(of);
    CHECK(given.placement == placement::cached);
    CHECK(given.device_cache_bytes == gibibyte / 2);
  }
  SECTION("resident if the copies are too slow") {
    auto of = with_rates({{1, 1e6}});  // 10 GB/s
    of = with_step(with_gpu(of, 80 * gibibyte, 1e6), 1ms);
    CHECK(doctor::advise(of).placement == placement::resident);
  }
}

TEST_CASE("doctor: a batch takes as long as the slowest of step, reading and copying",
          "[programs][host]") {
  const auto of = with_rates({{1, 1000}});
  CHECK(doctor::advise(of).batch == doctor::seconds{100ms});
  CHECK(doctor::advise(with_step(of, 200ms)).batch == doctor::seconds{200ms});
  auto copied = with_gpu(of, gibibyte / 10, 1e6);  // 1 MB at 1 MB/s
  CHECK(doctor::advise(copied).batch == doctor::seconds{1s});
}

TEST_CASE("doctor: hints name fields that are copied wider than they need", "[programs][host]") {
  auto of = with_gpu(with_step(with_rates(growing), 10ms), 80 * gibibyte);
  of.layout.fields = {{"wide", feedline::element_type::f32, {3, 32, 32}},
                      {"image", feedline::element_type::u8, {32, 32, 3}},
                      {"label", feedline::element_type::f32, {}}};
  auto given = doctor::advise(of);
  CHECK(says(given.hints, "'wide' holds float32"));
  CHECK(says(given.hints, "'image' holds bytes"));
  CHECK_FALSE(says(given.hints, "'label'"));
}

TEST_CASE("doctor: samples that cannot be read are left out, and a converter is named",
          "[programs][host]") {
  auto damaged = with_rates(growing);
  CHECK_FALSE(doctor::advise(damaged).skip_damaged);
  damaged.damages.push_back({7, "bad checksum"});
  const auto given = doctor::advise(damaged);
  CHECK(given.skip_damaged);
  CHECK(says(given.reasons, "samples that cannot be read are left out"));
  CHECK(says(given.hints, "feedline-convert --skip-damaged"));
}
