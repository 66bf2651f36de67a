#include "rows/decoded/cached_rows.hpp"

#include <feedline/error.hpp>

#include "dataset/read_tally.hpp"
#include "support/checks/catch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

using namespace feedline;
using feedline::detail::cached_rows;
using feedline::detail::help_requests;

namespace {

constexpr std::uint64_t rows_of_block = 2;
constexpr std::uint64_t block_count = 100;
constexpr std::uint64_t row_count = rows_of_block * block_count;

/// Blocks of rows of a byte, each its number, with something done as each is read.
class gated_blocks final : public detail::decoded_blocks {
 public:
  explicit gated_blocks(std::function<void(std::uint64_t)> on_read)
      : on_read_{std::move(on_read)} {}

  void read(std::uint64_t block, std::span<std::byte> out) const override {
    on_read_(block);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<std::byte>(block * rows_of_block + i);
  }

 private:
  std::function<void(std::uint64_t)> on_read_;
};

/// Blocks that were read, and a wait for them that fails the test if they never are.
class read_blocks {
 public:
  void add(std::uint64_t block) {
    {
      const std::scoped_lock lock{mutex_};
      blocks_.insert(block);
    }
    changed_.notify_all();
  }
  [[nodiscard]] bool wait_for(const std::set<std::uint64_t>& wanted) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, std::chrono::seconds{20}, [&] {
      return std::includes(blocks_.begin(), blocks_.end(), wanted.begin(), wanted.end());
    });
  }
  [[nodiscard]] std::size_t count() {
    const std::scoped_lock lock{mutex_};
    return blocks_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::uint64_t> blocks_;
};

detail::row_extent rows_of(std::uint64_t kept) {
  return {.rows = row_count, .row_bytes = 1, .rows_per_chunk = rows_of_block, .chunks_kept = kept};
}

std::vector<std::byte> read_rows(const cached_rows& rows, std::vector<sample_index> samples) {
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

TEST_CASE(
    "cached rows: a thread that would only wait for a block reads blocks that others will "
    "need",
    "[dataset][host]") {
  read_blocks seen;
  std::latch first_is_being_read{1};
  bool others_were_read = false;
  const cached_rows rows{rows_of(block_count),
                         std::make_unique<gated_blocks>([&](std::uint64_t block) {
                           if (block == 0) {
                             first_is_being_read.count_down();
                             others_were_read = seen.wait_for({3, 7});
                           }
                           seen.add(block);
                         })};
  detail::read_tally of_reader;
  detail::read_tally of_helper;
  std::vector<std::byte> busy;
  std::thread reader{[&] {
    const detail::tallied_reads counted{of_reader};
    busy = read_rows(rows, {{0}, {6}, {14}});
  }};
  first_is_being_read.wait();
  const detail::tallied_reads counted{of_helper};
  const auto waited =
      read_rows(rows, {{1}});  // samples of the block that the other thread is reading
  reader.join();
  CHECK(others_were_read);
  CHECK(busy == bytes_of({0, 6, 14}));
  CHECK(waited == bytes_of({1}));
  CHECK(seen.count() == 3);
  // Each row is a miss where it was asked for, and a block is counted by who decodes it.
  CHECK(of_reader.look().cache_misses == 3);
  CHECK(of_reader.look().decoded == 1);
  CHECK(of_helper.look().cache_misses == 1);
  CHECK(of_helper.look().decoded == 2);
  CHECK(of_reader.look().cache_hits + of_helper.look().cache_hits == 0);
}

TEST_CASE("cached rows: a block that cannot be read for another ends in that one's error alone",
          "[dataset][host]") {
  read_blocks seen;
  std::latch first_is_being_read{1};
  const cached_rows rows{rows_of(block_count),
                         std::make_unique<gated_blocks>([&](std::uint64_t block) {
                           if (block == 0) {
                             first_is_being_read.count_down();
                             (void)seen.wait_for({7});
                           }
                           seen.add(block);
                           if (block == 7) throw dataset_error{{}, "damaged"};
                         })};
  std::optional<std::uint64_t> failed;
  std::thread reader{[&] {
    try {
      (void)read_rows(rows, {{0}, {14}});
    } catch (const dataset_error& error) {
      failed = error.sample();
    }
  }};
  first_is_being_read.wait();
  CHECK(read_rows(rows, {{1}}) == bytes_of({1}));
  reader.join();
  CHECK(failed == 14U);
}

TEST_CASE("cached rows: however many readers there are, no more blocks are read than are kept",
          "[dataset][host]") {
  constexpr std::uint64_t kept = 4;
  std::atomic<std::uint64_t> being_read{0};
  std::atomic<std::uint64_t> max_read{0};
  const cached_rows rows{rows_of(kept), std::make_unique<gated_blocks>([&](std::uint64_t) {
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

TEST_CASE("cached rows: 8 readers of all rows in any order find each its own", "[dataset][host]") {
  const std::uint64_t kept = GENERATE(as<std::uint64_t>{}, 4, 64, 100);
  const cached_rows rows{rows_of(kept), std::make_unique<gated_blocks>([](std::uint64_t) {})};
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

TEST_CASE("wanted blocks: an announced block is taken once, unless it was withdrawn",
          "[dataset][host]") {
  help_requests wanted;
  CHECK_FALSE(wanted.take());
  const auto first = wanted.tell(5);
  (void)wanted.tell(6);
  wanted.take_back(first);
  CHECK(wanted.take() == 6U);
  CHECK_FALSE(wanted.take());
  wanted.take_back(first);  // again: nothing happens
}

TEST_CASE("wanted blocks: if there are more than fit, the last ones are kept", "[dataset][host]") {
  help_requests wanted;
  const auto first = wanted.tell(1000);
  for (std::uint64_t block = 0; block < help_requests::most; ++block) (void)wanted.tell(block);
  wanted.take_back(first);  // forgotten: its slot holds another block
  std::set<std::uint64_t> taken;
  while (const auto block = wanted.take()) taken.insert(*block);
  CHECK(taken.size() == help_requests::most);
  CHECK(taken.count(1000) == 0);
}
