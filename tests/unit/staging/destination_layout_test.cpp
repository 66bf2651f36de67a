#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"
#include "staging/slot_layout.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

struct shape {
  std::vector<field> fields;
  std::uint64_t batch_size;
  std::uint64_t batches;
  std::uint64_t max_samples;  ///< limit of a request
  bool varies;
  bool arrives;
  bool keeps;

  slot_layout rows() const { return {fields, batch_size, batches}; }
  request_layout runs() const { return {batch_size, max_samples}; }
  destination_layout copy_destination() const {
    return {rows().row_bytes(), samples(), runs(), varies, arrives ? samples() : 0, keeps};
  }
  std::uint64_t samples() const { return batch_size * batches; }
};

shape draw_shape(std::mt19937_64& random) {
  shape drawn;
  const std::size_t fields = 1 + random() % 4;
  for (std::size_t i = 0; i < fields; ++i)
    drawn.fields.push_back({std::to_string(i), element_type::u8, {1 + random() % 70}});
  drawn.batch_size = 1 + random() % 40;
  drawn.batches = 1 + random() % 5;
  drawn.max_samples = 1 + random() % 120;
  drawn.varies = random() % 2 == 0;
  drawn.arrives = random() % 4 != 0;
  drawn.keeps = drawn.arrives && random() % 2 == 0;
  return drawn;
}

using part = std::pair<std::size_t, std::size_t>;  // begin, end

/// All parts of a slot in which each run has some of its rows arrive.
template <class Arriving>
std::vector<part> parts_of(const shape& of, Arriving arriving) {
  const destination_layout copy_destination = of.copy_destination();
  const request_layout runs = of.runs();
  std::vector<part> parts{
      {copy_destination.sources_at(), copy_destination.sources_at() + 4 * of.samples()}};
  if (of.varies)
    parts.emplace_back(copy_destination.random_bits_at(),
                       copy_destination.random_bits_at() + 4 * of.samples());
  const std::uint64_t count = runs.runs(of.samples());
  for (std::uint64_t run = 0; run < count; ++run)
    parts.emplace_back(copy_destination.entry_at(run),
                       copy_destination.entry_at(run) + 4 * copy_destination.entry_words());
  if (!of.arrives) return parts;
  std::size_t at = copy_destination.chunks_at();
  for (std::uint64_t run = 0; run < count; ++run) {
    const std::uint64_t within = run % runs.runs_per_batch() * runs.run_samples();
    const std::uint64_t rows = arriving(std::min(runs.run_samples(), of.batch_size - within));
    const std::size_t chunk = at;
    if (of.keeps) {
      parts.emplace_back(at, at + 4 * rows);
      at += copy_destination.keep_bytes(rows);
    }
    for (std::size_t place = 0; place < copy_destination.fields(); ++place) {
      parts.emplace_back(at, at + rows * copy_destination.row_bytes(place));
      at += copy_destination.field_bytes(place, rows);
    }
    if (at != chunk + copy_destination.chunk_bytes(rows))
      parts.emplace_back(0, SIZE_MAX);  // told as a fault
  }
  return parts;
}

const char* fault_of(std::vector<part> parts, std::size_t slot_bytes) {
  std::erase_if(parts, [](const part& each) { return each.first == each.second; });
  std::sort(parts.begin(), parts.end());
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i].second > parts[i + 1].first) return "two parts overlap";
  }
  if (parts.back().second > slot_bytes) return "a part lies beyond the slot";
  return nullptr;
}

const std::vector<field> mnist{{"image", element_type::u8, {28, 28}},
                               {"label", element_type::u8, {}}};

}  // namespace

TEST_CASE("copy destination layout: no two parts overlap, and the worst slot fits",
          "[staging][host]") {
  std::mt19937_64 random{3};
  for (int round = 0; round < 1'000; ++round) {
    const shape drawn = draw_shape(random);
    const destination_layout copy_destination = drawn.copy_destination();
    const auto all = [](std::uint64_t rows) { return rows; };
    const auto some = [&](std::uint64_t rows) { return random() % (rows + 1); };
    const char* fault = fault_of(parts_of(drawn, all), copy_destination.slot_bytes());
    if (fault == nullptr) fault = fault_of(parts_of(drawn, some), copy_destination.slot_bytes());
    if (fault == nullptr) continue;
    CAPTURE(drawn.batch_size, drawn.batches, drawn.max_samples, drawn.varies, drawn.arrives,
            drawn.keeps);
    FAIL(fault);
  }
}

TEST_CASE(
    "copy destination layout: rows that pass through lie after the slot, aligned, in its buffer",
    "[staging][host]") {
  const slot_layout rows{mnist, 50, 3};
  const request_layout runs{50, 20};
  const destination_layout plain{rows.row_bytes(), 150, runs, true, 0, false};
  const destination_layout image{rows.row_bytes(), 150, runs, true, 0, false, 0, 0, {true, false}};
  const destination_layout both{rows.row_bytes(), 150, runs, true, 0, false, 0, 1'000,
                                {true, true}};
  CHECK(plain.passes_at(0) == 0);
  CHECK(image.passes_at(0) == plain.destination_bytes());
  CHECK(image.passes_at(1) == 0);
  CHECK(image.slot_bytes() == plain.slot_bytes());
  CHECK(image.destination_bytes() ==
        plain.destination_bytes() + round_up<std::size_t>(150 * 784, 256));
  CHECK(both.passes_at(1) == image.destination_bytes());
  CHECK(both.destination_bytes() == image.destination_bytes() + 256);
}

TEST_CASE("copy destination layout: the worst slot leaves less than 256 bytes over",
          "[staging][host]") {
  std::mt19937_64 random{5};
  for (int round = 0; round < 500; ++round) {
    shape drawn = draw_shape(random);
    drawn.arrives = true;
    const auto parts = parts_of(drawn, [](std::uint64_t rows) { return rows; });
    const std::size_t end = std::max_element(parts.begin(), parts.end(), [](auto& a, auto& b) {
                              return a.second < b.second;
                            })->second;
    REQUIRE(drawn.copy_destination().slot_bytes() - end < 256 + destination_layout::alignment);
  }
}

TEST_CASE(
    "copy destination layout: tables and chunks lie at multiples of 256 bytes, parts of chunks at "
    "multiples of 16",
    "[staging][host]") {
  std::mt19937_64 random{4};
  for (int round = 0; round < 500; ++round) {
    const destination_layout copy_destination = draw_shape(random).copy_destination();
    REQUIRE(copy_destination.random_bits_at() % 256 == 0);
    REQUIRE(copy_destination.directory_at() % 256 == 0);
    REQUIRE(copy_destination.chunks_at() % 256 == 0);
    REQUIRE(copy_destination.slot_bytes() % 256 == 0);
    const std::uint64_t rows = random() % 100;
    REQUIRE(copy_destination.keep_bytes(rows) % 16 == 0);
    for (std::size_t place = 0; place < copy_destination.fields(); ++place)
      REQUIRE(copy_destination.field_bytes(place, rows) % 16 == 0);
  }
}

TEST_CASE("copy destination layout: parts that a slot does not need take no room",
          "[staging][host]") {
  const auto made = [](bool varies, bool arrives, bool keeps) {
    return shape{mnist, 64, 3, 16, varies, arrives, keeps}.copy_destination();
  };
  const destination_layout tables = made(false, false, false);
  CHECK(tables.sources_at() == 0);
  CHECK(tables.directory_at() == 768);  // 192 sources
  CHECK(tables.entry_words() == 4);
  CHECK(tables.entry_at(2) == 768 + 2 * 16);
  CHECK(tables.chunks_at() == 1024);  // 12 runs' entries of 16 bytes
  CHECK(tables.slot_bytes() == tables.chunks_at());

  CHECK_FALSE(tables.varies());
  CHECK(made(true, false, false).varies());
  CHECK(made(true, false, false).directory_at() == 2 * 768);
  CHECK(made(true, false, false).random_bits_at() == 768);

  const destination_layout arriving = made(false, true, false);
  CHECK(arriving.chunks_at() == tables.chunks_at());
  CHECK(arriving.chunk_bytes(16) == 16 * 784 + 16);
  CHECK(arriving.slot_bytes() ==
        round_up<std::size_t>(arriving.chunks_at() + 12 * arriving.chunk_bytes(16), 256));
  CHECK(arriving.keep_bytes(16) == 0);
  CHECK_FALSE(arriving.keeps());

  const destination_layout keeping = made(false, true, true);
  CHECK(keeping.keeps());
  CHECK(keeping.keep_bytes(16) == 64);
  CHECK(keeping.keep_bytes(1) == 16);
  CHECK(keeping.chunk_bytes(16) == arriving.chunk_bytes(16) + 64);
  CHECK(keeping.chunk_bytes(0) == 0);
}

TEST_CASE("copy destination layout: a slot that 32 bits cannot address is refused with its size",
          "[staging][host]") {
  const shape large{
      {{"x", element_type::u8, {std::uint64_t{1} << 30}}}, 64, 1, 64, false, true, false};
  CHECK(test::message_of<usage_error>([&] { (void)large.copy_destination(); }) ==
        "a slot of 64 samples in 68719477248 bytes is too large to be assembled on the device (64 "
        "GiB and 2^31 samples are the most): lower batch_size or batches_per_slot");
  const shape many{mnist, std::uint64_t{1} << 31, 1, 1 << 20, false, false, false};
  CHECK(test::message_of<usage_error>([&] {
          (void)many.copy_destination();
        }).find("2147483648 samples") != std::string::npos);
  const shape fits{mnist, (std::uint64_t{1} << 31) - 1, 1, 1 << 20, false, false, false};
  CHECK_NOTHROW(fits.copy_destination());
}
