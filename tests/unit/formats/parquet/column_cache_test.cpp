#include "formats/parquet/column_cache.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"

#include <atomic>
#include <future>
#include <latch>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace feedline::detail;

namespace {

/// A column of varying size that says how many rows and bytes it has.
parquet_values column_of(std::uint64_t rows, std::size_t bytes) {
  parquet_values made;
  made.rows = rows;
  made.bytes = bytes;
  return made;
}

/// The same of fixed size.
parquet_values fixed_column_of(std::uint64_t rows, std::size_t bytes) {
  static constexpr std::byte value{};
  parquet_values made = column_of(rows, bytes);
  made.fixed = &value;
  return made;
}

}  // namespace

TEST_CASE("Parquet's cache: a column that is used up is dropped, others when memory is full",
          "[dataset][host]") {
  column_cache cache{100, std::nullopt};
  int decoded = 0;
  const auto take = [&](std::uint64_t group, std::uint64_t rows) {
    return cache.find_or_decode({group, 0}, rows, [&] {
      ++decoded;
      return column_of(4, 40);
    });
  };
  (void)take(0, 1);
  (void)take(0, 2);
  CHECK(decoded == 1);
  CHECK(cache.bytes() == 40);
  CHECK(take(0, 1) != nullptr);  // its fourth row
  CHECK(cache.bytes() == 0);
  CHECK_FALSE(cache.has({0, 0}));
  (void)take(1, 4);  // all of its rows at once
  CHECK(cache.bytes() == 0);
  const auto held = take(2, 1);
  (void)take(3, 1);
  (void)take(4, 1);  // one too many
  CHECK(cache.bytes() == 80);
  CHECK_FALSE(cache.has({2, 0}));
  CHECK(held->bytes == 40);
  CHECK(cache.has({3, 0}));
  CHECK(cache.has({4, 0}));
  for (std::uint64_t group = 10; group < 1000; ++group) (void)take(group, 4);
  CHECK(cache.has({4, 0}));
}

TEST_CASE("Parquet's cache: a column larger than all memory is kept while it is the only one",
          "[dataset][host]") {
  column_cache cache{10, std::nullopt};
  (void)cache.find_or_decode({0, 0}, 1, [] { return column_of(4, 40); });
  CHECK(cache.has({0, 0}));
  (void)cache.find_or_decode({0, 1}, 1, [] { return column_of(4, 40); });
  CHECK_FALSE(cache.has({0, 0}));
  CHECK(cache.has({0, 1}));
}

TEST_CASE("Parquet's cache: if there is room for all, nothing is dropped", "[dataset][host]") {
  column_cache cache{100, column_cache::extent{2, 1}};
  int decoded = 0;
  for (int i = 0; i < 20; ++i)
    (void)cache.find_or_decode({static_cast<std::uint64_t>(i % 2), 0}, 4, [&] {
      ++decoded;
      return column_of(4, 40);
    });
  CHECK(decoded == 2);
}

TEST_CASE("Parquet's cache: if columns of varying size take more than was told, the oldest goes",
          "[dataset][host]") {
  column_cache cache{100, column_cache::extent{4, 1}};
  for (std::uint64_t group = 0; group < 4; ++group)
    (void)cache.find_or_decode(
        {group, 0}, 1, [&] { return group == 0 ? fixed_column_of(4, 40) : column_of(4, 40); });
  CHECK(cache.bytes() == 80);
  CHECK(cache.has({0, 0}));
  CHECK_FALSE(cache.has({1, 0}));
  CHECK_FALSE(cache.has({2, 0}));
  CHECK(cache.has({3, 0}));
  std::vector<parquet_values_ptr> found(1);
  const std::vector<column_cache::wanted> wanted{{0, 1}};
  cache.find(1, wanted, found);
  CHECK(found[0] == nullptr);
  cache.find(0, wanted, found);
  CHECK(found[0] != nullptr);
}

TEST_CASE(
    "Parquet's cache: the decoded columns of a row group are found together, and count as used",
    "[dataset][host]") {
  const bool keeps_all = GENERATE(false, true);
  INFO(keeps_all);
  column_cache cache{1000, keeps_all ? std::optional{column_cache::extent{3, 4}} : std::nullopt};
  for (const std::uint64_t column : {0U, 2U, 3U})
    (void)cache.find_or_decode({1, column}, 1, [&] {
      return column == 0 ? fixed_column_of(4, 10) : column_of(4, 10 + column);
    });
  std::vector<parquet_values_ptr> found(3);
  const std::vector<column_cache::wanted> wanted{{0, 3}, {1, 3}, {3, 2}};
  cache.find(1, wanted, found);
  REQUIRE(found[0] != nullptr);
  CHECK(found[0]->bytes == 10);
  CHECK(found[1] == nullptr);
  REQUIRE(found[2] != nullptr);
  CHECK(found[2]->bytes == 13);
  CHECK(cache.has({1, 0}) == keeps_all);  // its four rows were found
  CHECK(cache.has({1, 3}));
  cache.find(2, wanted, found);
  CHECK(found == std::vector<parquet_values_ptr>(3));
}

TEST_CASE("Parquet's cache: columns that are never dropped are found by many threads at once",
          "[dataset][host]") {
  constexpr std::uint64_t groups = 16;
  constexpr std::uint64_t columns = 8;
  column_cache cache{1 << 20, column_cache::extent{groups, columns}};
  std::atomic<int> decoded{0};
  std::atomic<int> wrong{0};
  std::latch all{4};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      all.arrive_and_wait();
      for (std::uint64_t i = 0; i < groups * columns; ++i) {
        const column_cache::key key{i / columns, i % columns};
        std::vector<parquet_values_ptr> found(1);
        const std::vector<column_cache::wanted> wanted{{key.column, 1}};
        cache.find(key.group, wanted, found);
        while (!found[0]) {
          found[0] = cache.find_or_decode(key, 1, [&] {
            ++decoded;
            return i % 2 == 0 ? column_of(4, i) : fixed_column_of(4, i);
          });
          if (!found[0]) cache.wait_while_decoding(key);
        }
        wrong += found[0]->bytes == i ? 0 : 1;
      }
    });
  for (std::thread& each : threads) each.join();
  CHECK(wrong == 0);
  CHECK(decoded == static_cast<int>(groups * columns));
}

TEST_CASE("Parquet's cache: one thread decodes, others continue or wait for it",
          "[dataset][host]") {
  column_cache cache{1000, std::nullopt};
  std::promise<void> begun;
  std::promise<void> gate;
  std::thread first{[&] {
    (void)cache.find_or_decode({0, 0}, 1, [&] {
      begun.set_value();
      gate.get_future().wait();
      return column_of(4, 40);
    });
  }};
  begun.get_future().wait();
  const auto never = []() -> parquet_values { throw std::logic_error{"decoded twice"}; };
  CHECK(cache.find_or_decode({0, 0}, 1, never) == nullptr);
  CHECK(cache.find_or_decode({0, 1}, 1, [] { return column_of(4, 40); }) != nullptr);
  std::vector<std::thread> others;
  std::atomic<int> found{0};
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      cache.wait_while_decoding({0, 0});
      found += cache.find_or_decode({0, 0}, 1, never) != nullptr ? 1 : 0;
    });
  gate.set_value();
  first.join();
  for (std::thread& each : others) each.join();
  CHECK(found == 3);
}

TEST_CASE("Parquet's cache: a column that cannot be decoded is absent again", "[dataset][host]") {
  column_cache cache{1000, std::nullopt};
  const auto fails = []() -> parquet_values { throw std::runtime_error{"no"}; };
  CHECK_THROWS_AS(cache.find_or_decode({0, 0}, 1, fails), std::runtime_error);
  CHECK_FALSE(cache.has({0, 0}));
  cache.wait_while_decoding({0, 0});
  CHECK(cache.find_or_decode({0, 0}, 1, [] { return column_of(4, 40); }) != nullptr);
}
