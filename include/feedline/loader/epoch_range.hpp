#pragma once

#include <feedline/batch/batch.hpp>
#include <feedline/export.hpp>

#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace feedline::detail {
class pipeline;
struct epoch_pass;
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

class loader;

/// A batch, or none. Like `std::optional`, but a temporary has no `->`, because its batch would end
/// at once.
///
///     while (const auto batch = range.next()) step((*batch)["image"].data<std::uint8_t>());
using optional_batch = detail::optional_lease<batch>;

/// The batches of one epoch: a C++20 input range, for a single pass.
///
///     for (feedline::batch& batch : loader.epoch(0, stream)) step(batch);
///
/// Each step destroys the previous batch (unless it was moved out) and takes the next. Reading
/// ahead begins when the range is created. Destroying a range before its end, or assigning another
/// range to it, abandons the rest of the epoch. Moving a range leaves its iterators valid; using a
/// range that was moved from throws usage_error. Range adaptors accept it: `loader.epoch(0) |
/// std::views::take(3)`.
///
/// Threads: the consumer's only. The loader must outlive the range. A child of fork cannot use it.
class epoch_range {
 public:
  class iterator;

  epoch_range(epoch_range&& other) noexcept;
  epoch_range& operator=(epoch_range&& other) noexcept;
  epoch_range(const epoch_range&) = delete;
  epoch_range& operator=(const epoch_range&) = delete;
  ~epoch_range();

  /// Takes the first batch; may block until it is ready. @throws like `next`; usage_error if called
  /// twice.
  [[nodiscard]] iterator begin();
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  /// Returns the next batch, or nothing at the end of the epoch and after `loader::stop()`. Use it
  /// if a range-based loop does not fit. A range-based loop costs less on a device: it records an
  /// event on the stream once a slot, while `next` does so whenever no batch of a slot is held. May
  /// block. If every slot has a live batch, it waits for other threads to end some. But if no other
  /// thread has ever used a batch of this loader, it throws usage_error after two seconds. Then end
  /// a batch and call it again. @throws stage_error; usage_error, also if the range was moved from,
  /// or in a child of fork.
  [[nodiscard]] optional_batch next();

  /// Same, but waits no longer than until a deadline. If the deadline has passed, it takes a batch
  /// only if one is ready. With `no_readers` this thread reads: at least one request, and further
  /// ones until the deadline has passed. A read in progress is not interrupted.
  /// @throws deadline_error. Nothing is lost then: call it again, and it waits for the same batch.
  /// Otherwise like `next()`.
  [[nodiscard]] optional_batch next(std::chrono::steady_clock::time_point deadline);

  /// Same, but stops waiting once any thread requests a stop. It then returns nothing, even if a
  /// batch is ready. Unlike `loader::stop` this does not end the epoch: a call with another token
  /// continues with the same batch.
  [[nodiscard]] optional_batch next(std::stop_token stop);
  /// Same, with both a stop token and a deadline.
  [[nodiscard]] optional_batch next(std::stop_token stop,
                                    std::chrono::steady_clock::time_point deadline);

 private:
  friend class loader;
  epoch_range(std::shared_ptr<detail::pipeline> pipeline, std::shared_ptr<detail::epoch_pass> pass,
              stream_ref stream);

  /// State that iterators point to. Its address stays the same when the range is moved.
  struct state {
    std::shared_ptr<detail::pipeline> pipeline;
    std::shared_ptr<detail::epoch_pass> pass;
    stream_ref stream;
    std::optional<batch> current = {};
    bool begun = false;
  };

  [[nodiscard]] state& held() const;
  void abandon() noexcept;

  std::unique_ptr<state> state_;  ///< null once moved from
};

/// Refers to the current batch of a range. Move-only, as input iterators may be.
class epoch_range::iterator {
 public:
  using value_type = batch;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::input_iterator_tag;

  iterator(iterator&&) noexcept = default;
  iterator& operator=(iterator&&) noexcept = default;
  iterator(const iterator&) = delete;
  iterator& operator=(const iterator&) = delete;
  ~iterator() = default;

  /// The batch. It may be moved out.
  [[nodiscard]] batch& operator*() const noexcept { return *state_->current; }
  [[nodiscard]] batch* operator->() const noexcept { return &*state_->current; }
  /// Ends the lease on this batch and takes the next one; may block. @throws like `next`.
  iterator& operator++();
  void operator++(int) { ++*this; }

  friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept {
    return it.at_end();
  }

 private:
  friend class epoch_range;
  [[nodiscard]] bool at_end() const noexcept { return !state_->current; }
  explicit iterator(state& of) noexcept : state_{&of} {}
  state* state_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
