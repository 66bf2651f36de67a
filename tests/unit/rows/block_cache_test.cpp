#include "rows/block_cache.hpp"

#include "support/checks/catch.hpp"

#include <atomic>
#include <cstring>
#include <latch>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using detail::block_cache;

namespace {

constexpr std::size_t block_bytes = 1024;
constexpr std::uint64_t rows = 4;

/// Fills a block with its own number.
void spell(std::span<std::byte> bytes, std::uint64_t block) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof block)
    std::memcpy(bytes.data() + at, &block, sizeof block);
}

bool spells(const std::byte* bytes, std::uint64_t block) {
  for (std::size_t at = 0; at < block_bytes; at += sizeof block)
    if (std::memcmp(bytes + at, &block, sizeof block) != 0) return false;
  return true;
}

void put(block_cache& cache, std::uint64_t block, std::uint64_t rows_used = 0) {
  auto fill = cache.try_fill(block);
  REQUIRE(fill.has_value());
  spell(fill->bytes(), block);
  fill->publish(rows_used);
}

bool has(block_cache& cache, std::uint64_t block) {
  block_cache::read_guard read_guard{cache};
  const std::byte* found = read_guard.find(block);
  return found != nullptr && spells(found, block);
}

}  // namespace

TEST_CASE("block cache: a block is absent until it is published, and cannot be filled twice",
          "[dataset][host]") {
  block_cache cache{10, block_bytes, rows, 10};
  CHECK_FALSE(has(cache, 3));
  {
    auto fill = cache.try_fill(3);
    REQUIRE(fill.has_value());
    CHECK(fill->bytes().size() == block_bytes);
    CHECK_FALSE(has(cache, 3));
    CHECK_FALSE(cache.try_fill(3).has_value());
    spell(fill->bytes(), 3);
    fill->publish(0);
  }
  CHECK(has(cache, 3));
  CHECK_FALSE(cache.try_fill(3).has_value());
}

TEST_CASE("block cache: a fill that fails leaves the block to others", "[dataset][host]") {
  block_cache cache{10, block_bytes, rows, 1};
  for (int i = 0; i < 1000; ++i) CHECK(cache.try_fill(7).has_value());
  CHECK_FALSE(has(cache, 7));
  const std::size_t memory = cache.memory_bytes();
  put(cache, 7);
  CHECK(has(cache, 7));
  CHECK(cache.memory_bytes() == memory);
}

TEST_CASE("block cache: with room for all, nothing is ever taken out", "[dataset][host]") {
  block_cache cache{100, block_bytes, rows, 100};
  for (std::uint64_t block = 0; block < 100; ++block) put(cache, block, rows);
  for (int pass = 0; pass < 10; ++pass)
    for (std::uint64_t block = 0; block < 100; ++block) CHECK(has(cache, block));
}

TEST_CASE("block cache: beyond the limit, the oldest block is evicted", "[dataset][host]") {
  block_cache cache{100, block_bytes, rows, 5};
  for (std::uint64_t block = 0; block < 5; ++block) put(cache, block);
  put(cache, 50);
  CHECK_FALSE(has(cache, 0));
  for (const std::uint64_t block : {1U, 2U, 3U, 4U, 50U}) CHECK(has(cache, block));
}

TEST_CASE(
    "block cache: a block whose rows were all found makes room before any other memory is taken",
    "[dataset][host]") {
  // Blocks of 1 MiB, a slab has 32: were none used up, 1000 would need as many as may be kept.
  constexpr std::size_t large = 1 << 20;
  block_cache cache{1000, large, rows, 500};
  for (std::uint64_t block = 0; block < 1000; ++block) {
    auto fill = cache.try_fill(block);
    REQUIRE(fill.has_value());
    fill->publish(1);  // the writer's own row
    for (std::uint64_t row = 1; row < rows; ++row) {
      block_cache::read_guard read_guard{cache};
      CHECK(read_guard.find(block) != nullptr);
    }
  }
  CHECK(cache.memory_bytes() >= 32 * large);
  CHECK(cache.memory_bytes() < 33 * large);
}

TEST_CASE("block cache: a block that is filled again counts its rows from 0", "[dataset][host]") {
  block_cache cache{100, block_bytes, rows, 2};
  put(cache, 0, rows);  // used up at once
  put(cache, 1);
  put(cache, 2);  // replaces 0
  CHECK(has(cache, 1));
  CHECK(has(cache, 2));
  put(cache, 3);  // nothing is used up: the oldest goes, 1
  CHECK_FALSE(has(cache, 1));
  CHECK(has(cache, 2));
  CHECK(has(cache, 3));
}

TEST_CASE("block cache: a thread that waits for a block wakes when it is published, or given up",
          "[dataset][host]") {
  const bool published = GENERATE(true, false);
  block_cache cache{10, block_bytes, rows, 10};
  auto fill = cache.try_fill(4);
  REQUIRE(fill.has_value());
  std::atomic<bool> woke{false};
  std::atomic<bool> found{false};
  std::latch waits{1};
  std::thread waiter{[&] {
    waits.count_down();
    cache.wait_while_filling(4);
    found = has(cache, 4);
    woke = true;
  }};
  waits.wait();
  CHECK_FALSE(woke.load());
  spell(fill->bytes(), 4);
  if (published) fill->publish(0);
  fill.reset();
  waiter.join();
  CHECK(found.load() == published);
}

TEST_CASE(
    "block cache: a block found by an open read guard is not overwritten, however many are filled",
    "[dataset][host]") {
  block_cache cache{1000, block_bytes, rows, 2};
  put(cache, 0);
  std::atomic<bool> filled_all{false};
  std::atomic<std::uint64_t> filled{0};
  std::thread filler;
  {
    block_cache::read_guard read_guard{cache};
    const std::byte* found = read_guard.find(0);
    REQUIRE(found != nullptr);
    filler = std::thread{[&] {
      for (std::uint64_t block = 1; block < 1000; ++block) {
        auto fill = cache.try_fill(block);
        spell(fill->bytes(), block);
        fill->publish(rows);
        filled.fetch_add(1);
      }
      filled_all = true;
    }};
    while (filled.load() == 0) std::this_thread::yield();
    for (int look = 0; look < 10'000; ++look)
      if (!spells(found, 0)) {
        CHECK(spells(found, 0));
        break;
      }
    CHECK_FALSE(filled_all.load());  // it waits for the read guard to take block 0's memory
  }
  filler.join();
  CHECK(filled_all.load());
}

TEST_CASE("block cache: blocks being filled count among those that are kept", "[dataset][host]") {
  block_cache cache{100, block_bytes, rows, 2};
  auto first = cache.try_fill(0);
  auto second = cache.try_fill(1);
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  const std::size_t memory = cache.memory_bytes();
  CHECK_FALSE(cache.try_fill(2).has_value());
  const bool published = GENERATE(true, false);
  std::thread third{[&] {
    auto fill = cache.begin_fill(2);  // waits for either to end
    spell(fill->bytes(), 2);
    fill->publish(0);
  }};
  if (published) first->publish(0);
  first.reset();
  third.join();
  CHECK(cache.memory_bytes() == memory);
  CHECK(has(cache, 2));
  CHECK_FALSE(has(cache, 0));
}

TEST_CASE("block cache: 1,024 threads that fill blocks with memory for 2 all come to their turn",
          "[dataset][host]") {
  constexpr std::uint64_t threads = 1024;
  block_cache cache{threads + 2, block_bytes, rows, 2};
  auto first = cache.try_fill(threads);
  auto second = cache.try_fill(threads + 1);
  const std::size_t memory = cache.memory_bytes();
  std::atomic<std::uint64_t> filled{0};
  std::vector<std::thread> fillers;
  for (std::uint64_t block = 0; block < threads; ++block)
    fillers.emplace_back([&, block] {
      auto fill = cache.begin_fill(block);
      if (!fill) return;
      spell(fill->bytes(), block);
      filled.fetch_add(spells(fill->bytes().data(), block) ? 1 : 0);
      fill->publish(rows);
    });
  CHECK(filled.load() == 0);
  first.reset();
  second.reset();
  for (auto& filler : fillers) filler.join();
  CHECK(filled.load() == threads);
  CHECK(cache.memory_bytes() == memory);
}

TEST_CASE("block cache: a block can make room as soon as its writer has released the lock",
          "[dataset][host]") {
  // Acts as if the writer were preempted there, for as long as another thread needs.
  std::optional<bool> made_room;
  block_cache* other = nullptr;
  block_cache cache{10, block_bytes, rows, 1, [&] {
                      if (other == nullptr) return;
                      auto& looked_at = *std::exchange(other, nullptr);
                      auto fill = looked_at.try_fill(1);
                      made_room = fill.has_value();
                      if (!fill) return;
                      spell(fill->bytes(), 1);
                      fill->publish(0);
                    }};
  auto fill = cache.try_fill(0);
  spell(fill->bytes(), 0);
  other = &cache;
  fill->publish(0);
  CHECK(made_room == true);
  CHECK(has(cache, 1));
  block_cache::read_guard read_guard{cache};
  CHECK(read_guard.find(0) == nullptr);
}

TEST_CASE("block cache: its memory is planned for, the counters of 64 read guards included",
          "[dataset][host]") {
  constexpr std::uint64_t blocks = 100'000;
  constexpr std::size_t list_bytes = blocks * sizeof(std::uint32_t);
  const std::size_t bytes = GENERATE(std::size_t{1} << 20, std::size_t{4} << 20);
  const std::size_t each = GENERATE(std::size_t{64}, std::size_t{1000}, std::size_t{20'000});
  const std::uint64_t kept = block_cache::max_blocks_within(bytes, blocks, each);
  REQUIRE(kept < blocks);
  block_cache cache{blocks, each, rows, kept};
  std::vector<std::unique_ptr<block_cache::read_guard>> read_guards(64);
  for (auto& read_guard : read_guards)
    read_guard = std::make_unique<block_cache::read_guard>(cache);
  read_guards.clear();
  for (std::uint64_t block = 0; block < kept + 10; ++block) cache.try_fill(block)->publish(0);
  CHECK(cache.memory_bytes() + list_bytes <= bytes);
  CHECK(cache.memory_bytes() + list_bytes > bytes / 10 * 9);
}

TEST_CASE("block cache: memory for all blocks and their list keeps them all", "[dataset][host]") {
  constexpr std::size_t needed = 100 * (block_bytes + sizeof(std::uint32_t));
  CHECK(block_cache::max_blocks_within(needed, 100, block_bytes) == 100);
  CHECK(block_cache::max_blocks_within(needed - 1, 100, block_bytes) < 100);
  CHECK(block_cache::max_blocks_within(block_bytes - 1, 100, block_bytes) == 0);
  CHECK(block_cache::max_blocks_within(1, UINT64_MAX, UINT64_MAX) == 0);
}

TEST_CASE("block cache: many threads that fill and find never see a block torn or for another",
          "[dataset][host]") {
  constexpr std::uint64_t blocks = 200;
  const std::uint64_t kept = GENERATE(1U, 3U, 50U, 200U);
  block_cache cache{blocks, block_bytes, rows, kept};
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 16; ++seed)
    threads.emplace_back([&, seed] {
      std::mt19937_64 random{seed};
      for (int step = 0; step < 3'000; ++step) {
        const std::uint64_t block = random() % blocks;
        for (;;) {
          {
            block_cache::read_guard read_guard{cache};
            if (const std::byte* found = read_guard.find(block)) {
              if (!spells(found, block)) wrong.fetch_add(1);
              break;
            }
          }
          if (auto fill = cache.begin_fill(block)) {
            if (random() % 16 == 0) continue;  // fails now and then
            spell(fill->bytes(), block);
            fill->publish(1);
            break;
          }
          cache.wait_while_filling(block);
        }
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong.load() == 0);
  CHECK(cache.memory_bytes() <= kept * (block_bytes + 64 * 4 + 16));
}
