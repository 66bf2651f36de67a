#include "staging/device_row_cache.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::device_call;
using feedline::test::scripted_device;

namespace {

const std::vector<std::size_t> two_fields{784, 1};

device_row_cache make(std::uint64_t samples, std::uint64_t capacity) {
  static const device_ptr device = std::make_shared<scripted_device>();
  return {device, std::vector<std::size_t>{1}, samples, capacity};
}

}  // namespace

TEST_CASE("cached rows: as many samples are kept as there is room for, each in its own slot",
          "[device][host]") {
  std::mt19937_64 random{1};
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t samples = 1 + random() % 2'000;
    const std::uint64_t capacity = 1 + random() % samples;
    CAPTURE(samples, capacity);
    const device_row_cache rows = make(samples, capacity);
    REQUIRE(rows.capacity() == capacity);
    std::uint64_t next = 0;  // slots rise with the samples, so each comes once
    for (std::uint64_t sample = 0; sample < samples; ++sample) {
      const auto place = rows.place_of(sample_index{sample});
      if (!place) continue;
      REQUIRE(*place == next);
      ++next;
    }
    REQUIRE(next == capacity);
  }
}

TEST_CASE("cached rows: every stretch of the dataset has its share, to within one row",
          "[device][host]") {
  std::mt19937_64 random{2};
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t samples = 2 + random() % 1'000;
    const std::uint64_t capacity = 1 + random() % samples;
    const device_row_cache rows = make(samples, capacity);
    const std::uint64_t begin = random() % samples;
    const std::uint64_t end = begin + 1 + random() % (samples - begin);
    std::uint64_t cached = 0;
    for (std::uint64_t sample = begin; sample < end; ++sample)
      cached += rows.place_of(sample_index{sample}) ? 1 : 0;
    CAPTURE(samples, capacity, begin, end, cached);
    // kept × samples and (end − begin) × capacity differ by less than one row's worth.
    const auto difference = static_cast<std::int64_t>(cached * samples) -
                            static_cast<std::int64_t>((end - begin) * capacity);
    REQUIRE(std::abs(difference) < static_cast<std::int64_t>(samples));
  }
}

TEST_CASE("cached rows: a dataset of more samples than 32 bits count has its last rows at its end",
          "[device][host]") {
  constexpr std::uint64_t samples = 5'000'000'000;
  const device_row_cache rows = make(samples, 5'000);
  std::vector<std::uint32_t> places;
  for (std::uint64_t sample = samples - 3'000'000; sample < samples; ++sample) {
    if (const auto place = rows.place_of(sample_index{sample})) places.push_back(*place);
  }
  CHECK(places == std::vector<std::uint32_t>{4'997, 4'998, 4'999});
}

TEST_CASE("cached rows: a row is held once it is marked so, and no other is", "[device][host]") {
  const std::uint64_t capacity = GENERATE(1U, 63U, 64U, 65U, 200U);
  const bool whole = GENERATE(true, false);
  device_row_cache rows = make(whole ? capacity : 3 * capacity, capacity);
  std::vector<std::uint32_t> order(capacity);
  for (std::uint32_t i = 0; i < capacity; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937_64{capacity});
  for (std::uint64_t held = 0; held < capacity; ++held) {
    for (std::uint64_t i = 0; i < capacity; ++i) REQUIRE(rows.holds(order[i]) == (i < held));
    rows.hold(order[held]);
    rows.hold(order[held]);  // kept twice: it counts once
  }
  for (std::uint32_t row = 0; row < capacity; ++row) REQUIRE(rows.holds(row));
  rows.hold(0);
  CHECK(rows.holds(0));
}

TEST_CASE("cached rows: their memory is known beforehand, each field's rows aligned",
          "[device][host]") {
  CHECK(device_row_cache::bytes(two_fields, 1) == 1024 + 256);
  CHECK(device_row_cache::bytes(two_fields, 256) == 256 * 784 + 256);
  CHECK(device_row_cache::bytes(two_fields, 257) == 201'728 + 512);  // 257 × 784 = 201,488
  const auto device = std::make_shared<scripted_device>();
  {
    const device_row_cache rows{device, two_fields, 1'000, 257};
    CHECK(device->allocated_bytes(memory_kind::device) == device_row_cache::bytes(two_fields, 257));
    CHECK(device->allocated_bytes(memory_kind::staging) == 0);
    CHECK(rows.field(1) - rows.field(0) == 201'728);
    CHECK(rows.keeping(0) == rows.field(0));
    CHECK(rows.keeping(1) == rows.field(1));
    CHECK_FALSE(rows.on_host(0));
    CHECK_FALSE(rows.on_host(1));
  }
  CHECK(device->allocated_bytes(memory_kind::device) == 0);
}

TEST_CASE(
    "cached rows: large fields in the dataset's memory are mapped, small ones copied, and all held "
    "from the start",
    "[device][host]") {
  const auto device = std::make_shared<scripted_device>();
  constexpr std::uint64_t samples = 3'000;
  const std::vector<std::byte> images(samples * 784);
  std::vector<std::byte> labels(samples);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::byte>(i * 31);
  const std::vector<std::span<const std::byte>> fields{std::span{images}, std::span{labels}};
  CHECK_FALSE(device_row_cache::is_small(fields[0], samples * 785));
  CHECK(device_row_cache::is_small(fields[1], samples * 785));
  {
    device_row_cache rows{device, fields, samples};
    CHECK(device->mappings() == 1);
    CHECK(rows.capacity() == samples);
    CHECK(rows.field(0) == images.data());
    CHECK(rows.on_host(0));
    CHECK(rows.field(1) != labels.data());
    CHECK_FALSE(rows.on_host(1));
    CHECK(std::equal(labels.begin(), labels.end(), rows.field(1)));
    CHECK(rows.keeping(0) == nullptr);
    CHECK(rows.keeping(1) == nullptr);
    for (std::uint32_t sample = 0; sample < samples; ++sample) {
      REQUIRE(rows.place_of(sample_index{sample}) == sample);
      REQUIRE(rows.holds(sample));
    }
    rows.hold(3);
    CHECK(device->allocated_bytes(memory_kind::device) == 3'072);
    CHECK(device->allocated_bytes(memory_kind::device) ==
          device_row_cache::copied_bytes(fields, samples, 1));
    CHECK(device->allocated_bytes(memory_kind::staging) == 0);
  }
  CHECK(device->mappings() == 0);
  CHECK(device->allocated_bytes(memory_kind::device) == 0);
}

TEST_CASE("cached rows: a small field of a large dataset is copied whole, piece by piece",
          "[device][host]") {
  const auto device = std::make_shared<scripted_device>();
  std::vector<std::byte> labels((std::size_t{9} << 20) + 77);
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] = static_cast<std::byte>((i * 0x9e3779b97f4a7c15U) >> 56);
  // Never read: large by its size alone.
  const std::vector<std::byte> images(64 * labels.size());
  const device_row_cache rows{device, {std::span{images}, std::span{labels}}, labels.size()};
  CHECK(device->mappings() == 1);
  CHECK(device->issued_copies() == 3);  // copies of 4 MiB
  CHECK(std::equal(labels.begin(), labels.end(), rows.field(1)));
}

TEST_CASE("cached rows: a field that cannot be mapped or copied leaves nothing allocated",
          "[device][host]") {
  const auto device = std::make_shared<scripted_device>();
  const std::vector<std::byte> large(std::size_t{2} << 20);
  const std::vector<std::byte> small(10);
  const auto refused =
      GENERATE(device_call::map, device_call::allocate, device_call::copy, device_call::record,
               device_call::sync, device_call::make_stream, device_call::make_event);
  const std::uint64_t nth =
      refused == device_call::map || refused == device_call::allocate ? GENERATE(1U, 2U) : 1U;
  CAPTURE(static_cast<int>(refused), nth);
  device->fail_call(refused, nth);
  CHECK_THROWS_AS(
      (device_row_cache{device, {std::span{large}, std::span{small}, std::span{large}}, 10}),
      device_error);
  CHECK(device->mappings() == 0);
  CHECK(device->allocated_bytes(memory_kind::device) == 0);
  CHECK(device->allocated_bytes(memory_kind::staging) == 0);
  CHECK(device->freed_in_use() == 0);
}

TEST_CASE("cached rows: memory that is unavailable is out_of_memory, with the bytes",
          "[device][host]") {
  const auto device = std::make_shared<scripted_device>();
  device->fail_call(device_call::allocate, 1);
  try {
    const device_row_cache rows{device, two_fields, 100, 50};
    FAIL("nothing was thrown");
  } catch (const out_of_memory& refusal) {
    CHECK(refusal.bytes() == device_row_cache::bytes(two_fields, 50));
    CHECK(refusal.kind() == memory_kind::device);
  }
}
