#include "formats/parquet/column_cache.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace feedline::detail;

namespace {

/// A column that says how many rows and bytes it has.
parquet_values column_of(std::uint64_t rows, std::size_t bytes) {
  parquet_values made;
  made.rows = rows;
  made.bytes = bytes;
  return made;
}

}  // namespace

TEST_CASE("Parquet's cache: a column that is used up is dropped, others when memory is full",
          "[dataset][host]") {
  column_cache cache{100, false};
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
  column_cache cache{10, false};
  (void)cache.find_or_decode({0, 0}, 1, [] { return column_of(4, 40); });
  CHECK(cache.has({0, 0}));
  (void)cache.find_or_decode({0, 1}, 1, [] { return column_of(4, 40); });
  CHECK_FALSE(cache.has({0, 0}));
  CHECK(cache.has({0, 1}));
}

TEST_CASE("Parquet's cache: if there is room for all, nothing is dropped", "[dataset][host]") {
  column_cache cache{100, true};
  int decoded = 0;
  for (int i = 0; i < 20; ++i)
    (void)cache.find_or_decode({static_cast<std::uint64_t>(i % 2), 0}, 4, [&] {
      ++decoded;
      return column_of(4, 40);
    });
  CHECK(decoded == 2);
}

TEST_CASE("Parquet's cache: one thread decodes, others continue or wait for it",
          "[dataset][host]") {
  column_cache cache{1000, false};
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
  column_cache cache{1000, false};
  const auto fails = []() -> parquet_values { throw std::runtime_error{"no"}; };
  CHECK_THROWS_AS(cache.find_or_decode({0, 0}, 1, fails), std::runtime_error);
  CHECK_FALSE(cache.has({0, 0}));
  cache.wait_while_decoding({0, 0});
  CHECK(cache.find_or_decode({0, 0}, 1, [] { return column_of(4, 40); }) != nullptr);
}
