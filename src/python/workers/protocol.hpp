#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace feedline::python {

/// Messages between a process and its workers. Both are the same program, so a message is the
/// bytes of these structs.
///
/// A worker has two connections, its lanes: while it makes one request's samples, the next one
/// waits in the other lane, so it never waits for the process. A lane has one request at a time.

constexpr std::size_t lanes_a_worker = 2;
constexpr std::size_t max_samples_a_message = 1024;
constexpr std::size_t max_message_bytes = std::size_t{128} << 10;

enum class message_kind : std::uint32_t {
  control,  ///< with a descriptor: the memory of `worker_progress`
  map,      ///< with a descriptor: a region of shared memory
  forget,   ///< a region that was freed
  make,     ///< then a `field_place` for each field, the samples, and the loader's samples
};

struct message_head {
  message_kind kind = message_kind::make;
  std::uint32_t samples = 0;
  std::uint64_t region = 0;
  std::uint64_t region_bytes = 0;
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t has_epoch = 0;
};

/// Where the rows of a field go.
struct field_place {
  std::uint64_t region;
  std::uint64_t offset;
};

/// A worker's answer to `make`; after it, if it failed, what `feedline._worker.raised` takes.
struct answer_head {
  std::uint64_t failed = 0;
};

/// In memory that both processes map.
struct worker_progress {
  std::atomic<std::uint32_t> is_ready{0};
  /// For each lane: samples of its request that were begun.
  std::atomic<std::uint32_t> begun[lanes_a_worker] = {};
};

template <class Value>
void append(std::vector<std::byte>& message, const Value& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  message.insert(message.end(), bytes, bytes + sizeof value);
}

/// Takes a value from the front of a message.
template <class Value>
[[nodiscard]] Value taken(std::span<const std::byte>& message) {
  Value value;
  std::memcpy(&value, message.data(), sizeof value);
  message = message.subspan(sizeof value);
  return value;
}

}  // namespace feedline::python
