#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/export.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options for `make_queue_dataset`.
struct queue_options {
  /// Samples that the queue holds, at least 1: those that wait, and those whose batch was not
  /// handed out yet. Memory for them is allocated at once, and used as samples come.
  std::size_t capacity = 4096;
  /// A batch is delivered when it is full, or this long after its oldest sample was put. 0: at
  /// once, with the samples that are there.
  std::chrono::microseconds max_delay{1000};
};

/// The outcome of `queue_dataset::put`.
enum class put_result : std::uint8_t {
  accepted,
  full,    ///< no room until the deadline or the stop; the sample was not taken
  closed,  ///< the queue takes no more samples
};

/// Limits how long `queue_dataset::put` waits for room.
struct put_limits {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::stop_token stop = {};
};

/// A dataset of samples that other threads put while a loader reads it: requests of an inference
/// server, a replay buffer, a simulation. See `make_queue_dataset`.
///
/// Threads: any number may call the functions of this class, at once.
class queue_dataset : public dataset {
 public:
  /// Puts a sample: copies it. Waits while the queue is full.
  /// @param values Bytes of each field, in order of `fields()`.
  /// @throws usage_error if the number of fields or of bytes is wrong.
  virtual put_result put(std::span<const std::span<const std::byte>> values,
                         const put_limits& limits = {}) = 0;

  /// Takes no more samples. Those that are there are delivered; then the epoch ends, and each later
  /// one is empty. `put` calls that wait return `put_result::closed`. A second call does nothing.
  virtual void close() noexcept = 0;

  /// Samples that wait to be read.
  [[nodiscard]] virtual std::size_t waiting() const noexcept = 0;
  /// Samples that were read and whose batch was not handed out yet. If the loader is destroyed, or
  /// its epoch is left, they wait again.
  [[nodiscard]] virtual std::size_t in_flight() const noexcept = 0;

 private:
  friend class queue_producer;
  virtual void begin_producer() noexcept = 0;
  virtual void end_producer() noexcept = 0;
};

/// A thread's right to put samples. The queue is closed when its last producer is destroyed,
/// also by an exception, so that a loop over it ends instead of waiting forever. A
/// queue that never had one is closed by `close` alone.
class queue_producer {
 public:
  /// @throws usage_error if the queue is null.
  explicit queue_producer(std::shared_ptr<queue_dataset> of);
  queue_producer(queue_producer&& other) noexcept = default;
  queue_producer& operator=(queue_producer&& other) noexcept;
  queue_producer(const queue_producer&) = delete;
  queue_producer& operator=(const queue_producer&) = delete;
  ~queue_producer() { end(); }

  /// Same as `queue_dataset::put`.
  /// @throws usage_error also after `end`, or a move from this object.
  put_result put(std::span<const std::span<const std::byte>> values,
                 const put_limits& limits = {}) const;
  /// Same as destroying it.
  void end() noexcept;

 private:
  std::shared_ptr<queue_dataset> of_;
};

/// Makes a queue of samples with these fields. A loader delivers batches of what is there:
///
///     auto queue = feedline::make_queue_dataset({{"image", u8, {224, 224, 3}}, {"id", u64, {}}},
///                                               {.max_delay = std::chrono::microseconds{500}});
///     feedline::loader loader{queue, feedline::sequential{}, device, {.batch_size = 64}};
///     for (auto& batch : loader.epoch(0, stream))  // 1 to 64 samples, until the queue is closed
///       answer(batch);
///
/// - A batch has the samples that it has: `batch::size()` and tensors say how many. Samples come in
///   the order in which they were put.
/// - Each sample is delivered once. A sample leaves the queue when its batch is handed out. If the
///   loop is left, an error ends it, or the loader is destroyed, those that were not handed out are
///   delivered by the next epoch or the next loader. One loader at a time reads a queue.
/// - An epoch ends when the queue is closed and empty; `stop()`, `next(deadline)` and
///   `next(stop_token)` of the loader end or limit a wait for samples.
/// - `batch::samples()` gives positions, batch times batch size and on: put ids as a field.
/// - `size()` is no number of samples, but more than will ever come: 2^56.
///
/// The loader uses one reader, one batch a slot and placement::stream. Transforms work as usual.
/// It refuses a sampler that is not sequential, shards, mixing, error policies, zero readers,
/// tuning, piece_bytes, request_bytes, partial_batch other than keep. Its state numbers batches,
/// but samples that were delivered do not come again. The queue itself must be given to the loader:
/// a dataset made of it cannot be read.
/// @throws usage_error if there is no field, two have one name, or the capacity is 0 or needs 2^63
/// bytes or more, or max_delay is negative; std::bad_alloc.
[[nodiscard]] std::shared_ptr<queue_dataset> make_queue_dataset(std::vector<field> fields,
                                                                const queue_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
