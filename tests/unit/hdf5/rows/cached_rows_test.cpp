#include "hdf5/rows/cached_rows.hpp"

#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

using namespace feedline;
using feedline::detail::hdf5_cached_rows;

namespace {

constexpr std::uint64_t rows_per_block = 2;
constexpr std::uint64_t block_count = 100;
constexpr std::uint64_t row_count = rows_per_block * block_count;

/// Blocks of rows of a byte, each its number, with something done as each is read.
class gated_blocks final : public detail::hdf5_blocks {
 public:
  explicit gated_blocks(std::function<void(std::uint64_t)> on_read)
      : on_read_{std::move(on_read)} {}

  void read(std::uint64_t block, std::span<std::byte> out) const override {
    on_read_(block);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<std::byte>(block * ::rows_per_block + i);
  }

 private:
  std::function<void(std::uint64_t)> on_read_;
};

detail::row_extent rows_of(std::uint64_t kept) {
  return {.rows = row_count, .row_bytes = 1, .rows_per_chunk = rows_per_block, .chunks_kept = kept};
}

std::vector<std::byte> read_rows(const hdf5_cached_rows& rows, std::vector<sample_index> samples) {
  std::vector<std::byte> out(samples.size());
  rows.read(samples, out.data());
  return out;
}

std::vector<std::byte> bytes_of(const std::vector<int>& values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

}  // namespace

TEST_CASE("hdf5 cached rows: readers of one block read it once, and both find their rows",
          "[dataset][host]") {
  std::atomic<int> reads{0};
  std::latch is_being_read{1};
  std::latch other_has_begun{1};
  const hdf5_cached_rows rows{rows_of(block_count), std::make_unique<gated_blocks>([&](auto) {
                                ++reads;
                                is_being_read.count_down();
                                other_has_begun.wait();
                              })};
  std::vector<std::byte> first;
  std::thread reader{[&] { first = read_rows(rows, {{0}}); }};
  is_being_read.wait();
  std::vector<std::byte> second;
  std::thread other{[&] {
    other_has_begun.count_down();
    second = read_rows(rows, {{1}});
  }};
  reader.join();
  other.join();
  CHECK(first == bytes_of({0}));
  CHECK(second == bytes_of({1}));
  CHECK(reads == 1);
}

TEST_CASE("hdf5 cached rows: a block whose reader fails is read by who waited for it",
          "[dataset][host]") {
  std::atomic<int> reads{0};
  std::latch is_being_read{1};
  std::latch other_has_begun{1};
  const hdf5_cached_rows rows{rows_of(block_count), std::make_unique<gated_blocks>([&](auto) {
                                if (reads++ != 0) return;
                                is_being_read.count_down();
                                other_has_begun.wait();
                                throw hdf5_error{{}, "damaged"};
                              })};
  std::optional<std::uint64_t> failed;
  std::thread reader{[&] {
    try {
      (void)read_rows(rows, {{0}});
    } catch (const dataset_error& error) {
      failed = error.sample();
    }
  }};
  is_being_read.wait();
  std::vector<std::byte> second;
  std::thread other{[&] {
    other_has_begun.count_down();
    second = read_rows(rows, {{1}});
  }};
  reader.join();
  other.join();
  CHECK(failed == 0U);
  CHECK(second == bytes_of({1}));
  CHECK(reads == 2);
}

TEST_CASE("hdf5 cached rows: however many readers there are, no more blocks are read than are kept",
          "[dataset][host]") {
  constexpr std::uint64_t kept = 4;
  std::atomic<std::uint64_t> being_read{0};
  std::atomic<std::uint64_t> max_read{0};
  const hdf5_cached_rows rows{rows_of(kept), std::make_unique<gated_blocks>([&](std::uint64_t) {
                                const std::uint64_t now = being_read.fetch_add(1) + 1;
                                std::uint64_t most = max_read.load();
                                while (most < now && !max_read.compare_exchange_weak(most, now)) {
                                }
                                std::this_thread::yield();
                                being_read.fetch_sub(1);
                              })};
  std::vector<int> wrong(300, 0);
  std::vector<std::thread> readers;
  for (std::size_t reader = 0; reader < wrong.size(); ++reader)
    readers.emplace_back([&, reader] {
      for (std::uint64_t i = 0; i < block_count; ++i) {
        const std::uint64_t row = (reader + i * 7) % row_count;
        const std::uint64_t far = (row + row_count / 2) % row_count;
        if (read_rows(rows, {{row}, {far}}) !=
            bytes_of({static_cast<int>(row), static_cast<int>(far)}))
          ++wrong[reader];
      }
    });
  for (auto& reader : readers) reader.join();
  CHECK(wrong == std::vector<int>(300, 0));
  CHECK(max_read.load() <= kept);
}

TEST_CASE("hdf5 cached rows: 8 readers of all rows in any order find each its own",
          "[dataset][host]") {
  const std::uint64_t kept = GENERATE(as<std::uint64_t>{}, 4, 64, 100);
  const hdf5_cached_rows rows{rows_of(kept), std::make_unique<gated_blocks>([](std::uint64_t) {})};
  std::latch start{8};
  std::vector<int> wrong(8, 0);
  std::vector<std::thread> readers;
  for (std::size_t reader = 0; reader < wrong.size(); ++reader)
    readers.emplace_back([&, reader] {
      start.arrive_and_wait();
      for (std::uint64_t round = 0; round < 200; ++round) {
        std::vector<sample_index> samples(24);
        for (std::size_t i = 0; i < samples.size(); ++i)
          samples[i] = {(round * 37 + i * i * 11 + reader * 5) % row_count};
        const auto bytes = read_rows(rows, samples);
        for (std::size_t i = 0; i < samples.size(); ++i)
          wrong[reader] += bytes[i] != static_cast<std::byte>(samples[i].value) ? 1 : 0;
      }
    });
  for (auto& reader : readers) reader.join();
  CHECK(wrong == std::vector<int>(8, 0));
}
