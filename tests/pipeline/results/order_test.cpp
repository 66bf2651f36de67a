/// Tests what a result ring delivers, on the host and on a device that copies, and what it refuses.

#include <feedline/device/host_device.hpp>
#include <feedline/results/ring.hpp>

#include "device/owned.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/devices/scripted_device.hpp"

#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::size_t most_values = 16;

/// A device, the consumer's stream, and a buffer of its own for each of some results, of which
/// number i holds i, i + 1, ….
struct source {
  explicit source(bool on_host, std::uint64_t results)
      : device{on_host ? make_host_device() : device_ptr{on.device}},
        stream{on_host ? stream_ref{} : on.stream},
        memory{device, memory_kind::device, results * most_values * sizeof(std::uint64_t)} {
    for (std::uint64_t i = 0; i < results; ++i)
      for (std::uint64_t k = 0; k < most_values; ++k) at(i)[k] = i + k;
  }
  [[nodiscard]] std::uint64_t* at(std::uint64_t number) const {
    return reinterpret_cast<std::uint64_t*>(memory.data()) + number * most_values;
  }
  static std::size_t bytes(std::uint64_t number) {
    return number % (most_values + 1) * sizeof(std::uint64_t);
  }
  std::optional<source_lease> push(result_ring& results, std::uint64_t number) const {
    return results.push(at(number), bytes(number), stream,
                        {.epoch = 3, .batch = number, .kind = number % 2});
  }

  scripted on{};
  device_ptr device;
  stream_ref stream;
  detail::device_memory memory;
};

constexpr result_options few_slots{.slot_bytes = most_values * sizeof(std::uint64_t), .slots = 3};

/// Whether a result is the one of this number, whole and with its tag.
bool is_number(const result& seen, std::uint64_t number) {
  const auto values = seen.values<std::uint64_t>();
  bool whole = values.size() == number % (most_values + 1);
  for (std::size_t k = 0; k < values.size(); ++k) whole = whole && values[k] == number + k;
  return whole && seen.number() == number && seen.tag().epoch == 3 && seen.tag().batch == number &&
         seen.tag().kind == number % 2;
}

}  // namespace

TEST_CASE("result ring: a thread takes the results of another, in order, with bytes and tags",
          "[results][host]") {
  const bool on_host = GENERATE(true, false);
  CAPTURE(on_host);
  constexpr std::uint64_t count = 500;
  const source from{on_host, count};
  result_ring results{from.device, few_slots};
  std::thread pusher{[&] {
    for (std::uint64_t i = 0; i < count; ++i) (void)from.push(results, i);
    results.finish();
  }};
  std::uint64_t taken = 0;
  bool in_order = true;
  while (const auto seen = results.next()) in_order = is_number(*seen, taken++) && in_order;
  pusher.join();
  CHECK(taken == count);
  CHECK(in_order);
  CHECK_FALSE(results.next());
  CHECK_FALSE(results.try_next());
}

TEST_CASE("result ring: one thread does both, taking when there is no room", "[results][host]") {
  const bool on_host = GENERATE(true, false);
  CAPTURE(on_host);
  constexpr std::uint64_t count = 100;
  const source from{on_host, count};
  result_ring results{from.device, few_slots};
  std::uint64_t taken = 0;
  const auto take = [&](const std::optional<result>& seen) {
    if (seen) CHECK(is_number(*seen, taken++));
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    while (!results.try_push(from.at(i), source::bytes(i), from.stream,
                             {.epoch = 3, .batch = i, .kind = i % 2}))
      take(results.next());
    take(results.try_next());
  }
  results.finish();
  while (const auto seen = results.next()) CHECK(is_number(*seen, taken++));
  CHECK(taken == count);
}

TEST_CASE("result ring: a push into a full ring waits until the CPU has given a slot back",
          "[results][host]") {
  const source from{false, 4};
  result_ring results{from.device, few_slots};
  for (std::uint64_t i = 0; i < 3; ++i) (void)from.push(results, i);
  auto first = results.next();
  auto fourth = std::async(std::launch::async, [&] { return from.push(results, 3).has_value(); });
  CHECK(is_number(*first, 0));
  CHECK(fourth.wait_for(std::chrono::seconds{0}) == std::future_status::timeout);
  first.reset();
  CHECK(fourth.get());
  for (std::uint64_t i = 1; i < 4; ++i) CHECK(is_number(results.next().value(), i));
}

TEST_CASE("result ring: results that are moved are given back once", "[results][host]") {
  const source from{true, 6};
  result_ring results{from.device, few_slots};
  for (std::uint64_t i = 0; i < 3; ++i) (void)from.push(results, i);
  {
    result first = results.next().value();
    result moved{std::move(first)};
    CHECK(first.bytes().empty());
    CHECK(is_number(moved, 0));
    moved = results.next().value();  // gives back number 0
    CHECK(is_number(moved, 1));
  }
  CHECK(from.push(results, 3));
  CHECK(from.push(results, 4));
  CHECK_FALSE(results.try_push(from.at(5), 8, from.stream));
  for (std::uint64_t i = 2; i < 5; ++i) CHECK(is_number(results.next().value(), i));
}

TEST_CASE("result ring: it refuses invalid pushes with a reason, and continues",
          "[results][host]") {
  const source from{false, 2};
  result_ring results{from.device, few_slots};
  CHECK(results.slot_bytes() == 128);
  CHECK(results.slots() == 3);
  const auto why = [&](const void* memory, std::size_t bytes, stream_ref stream) {
    return message_of<usage_error>([&] { (void)results.push(memory, bytes, stream); });
  };
  CHECK(why(from.at(0), 129, from.stream) ==
        "a result of 129 bytes does not fit the slots of 128 bytes: raise "
        "result_options::slot_bytes, or push it in parts");
  CHECK(why(nullptr, 8, from.stream) ==
        "a result of 8 bytes was pushed from a null pointer: name the device memory that holds it");
  CHECK(why(from.at(0), 8, {}) ==
        "scripted needs the stream that a result is made on: call push(from, bytes, "
        "feedline::stream_ref{your_stream})");
  int other = 0;
  CHECK(why(from.at(0), 8, stream_ref::from_raw(&other)) ==
        "the stream is not the scripted device's");
  CHECK(from.push(results, 0));
  results.finish();
  CHECK(why(from.at(0), 8, from.stream) ==
        "a result was pushed after finish(): call finish() after the last one, or make another "
        "ring");
  const auto seen = results.next();
  REQUIRE(seen);
  CHECK(is_number(*seen, 0));
  CHECK_FALSE(results.next());
}

TEST_CASE("result ring: it refuses invalid sizes with a reason", "[results][host]") {
  const auto why = [](const device_ptr& device, result_options options) {
    return message_of<usage_error>([&] { const result_ring results{device, options}; });
  };
  CHECK(why(make_host_device(), {}) ==
        "a result ring has 4 slots of 0 bytes: set result_options::slot_bytes to the bytes of the "
        "largest result, and slots to 1 or more");
  CHECK(why(make_host_device(), {.slot_bytes = 8, .slots = 0}).find("0 slots of 8 bytes") !=
        std::string::npos);
  CHECK(why(make_host_device(), {.slot_bytes = SIZE_MAX, .slots = 2})
            .find("lower result_options::slots") != std::string::npos);
  CHECK(why(make_host_device(), {.slot_bytes = 8, .slots = 65'001}).find("at most 65000") !=
        std::string::npos);
  CHECK(why(nullptr, {.slot_bytes = 8}) == "a result ring needs a device, and was given none");
}

TEST_CASE("result ring: bytes that are no whole number of elements are not given as elements",
          "[results][host]") {
  const source from{true, 1};
  result_ring results{from.device, few_slots};
  (void)results.push(from.at(0), 6, {});
  const auto seen = results.next();
  REQUIRE(seen);
  CHECK(seen->values<std::uint16_t>().size() == 3);
  CHECK(reinterpret_cast<std::uintptr_t>(seen->bytes().data()) % 256 == 0);
  CHECK(message_of<usage_error>([&] { (void)seen->values<std::uint32_t>(); }) ==
        "result 0 has 6 bytes, no whole number of elements of 4: ask for the type that was "
        "pushed, or for bytes()");
}
