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
struct epoch_run;
struct take_limits;
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

class loader;

/// A batch, or none: a `std::optional`, but for `->`, which a temporary does not have: a view of
/// its batch would outlive it.
///
///     while (const auto batch = range.next()) step((*batch)["image"].data<std::uint8_t>());
class optional_batch : public std::optional<batch> {
 public:
  using std::optional<batch>::optional;
  // NOLINTNEXTLINE(google-explicit-constructor): an optional batch becomes one wherever it is given
  optional_batch(std::optional<batch>&& other) noexcept : std::optional<batch>{std::move(other)} {}

  [[nodiscard]] batch* operator->() & noexcept { return &**this; }
  [[nodiscard]] const batch* operator->() const& noexcept { return &**this; }
  const batch* operator->() const&& = delete;
};

/// One epoch's batches: a C++20 input range, gone through once.
///
///     for (feedline::batch& batch : loader.epoch(0, stream)) step(batch);
///
/// Each step destroys the batch before it (unless it was moved out) and takes the next. Reading
/// ahead begins when the range is made. Destroying a range before its end, or assigning another to
/// it, abandons the rest of the epoch. Moving a range leaves its iterators valid; one that was
/// moved from throws usage_error when it is used. Adaptors take it: `loader.epoch(0) |
/// std::views::take(3)`.
///
/// Threads: one, the consumer's. The loader must outlive the range. A child of fork cannot use it.
class epoch_range {
 public:
  class iterator;

  epoch_range(epoch_range&& other) noexcept;
  epoch_range& operator=(epoch_range&& other) noexcept;
  epoch_range(const epoch_range&) = delete;
  epoch_range& operator=(const epoch_range&) = delete;
  ~epoch_range();

  /// Takes the first batch; may block until it is there. @throws as `next`; usage_error if called
  /// twice.
  [[nodiscard]] iterator begin();
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  /// The next batch, or nothing at the end of the epoch and after `loader::stop()`: the range by
  /// hand, where a loop's shape is another. A loop over the range costs less on a device: it marks
  /// the stream once a slot, this as often as no batch of a slot is held.
  ///
  /// May block. While batches are held in every slot, it waits for other threads to end some; if
  /// after two seconds no other thread has had to do with a batch of this loader, it throws
  /// usage_error. End a batch, and it can be called again. @throws stage_error; usage_error, also
  /// if the range was moved from, or in a child of fork.
  [[nodiscard]] optional_batch next();

  /// The same, but waits no longer than to a deadline; one that has passed takes what is there.
  /// With `no_readers` this thread reads: at least one request, and on until the deadline has
  /// passed; a read under way is not cut short.
  /// @throws deadline_error, and then nothing is lost: call it again, and it waits for the same
  /// batch. Else as `next()`.
  [[nodiscard]] optional_batch next(std::chrono::steady_clock::time_point deadline);

  /// The same, but does not wait once a stop is requested, by any thread: then it returns nothing,
  /// also where a batch is there. Unlike `loader::stop` that ends nothing: a call with another
  /// token goes on with the same batch.
  [[nodiscard]] optional_batch next(std::stop_token stop);
  /// Both.
  [[nodiscard]] optional_batch next(std::stop_token stop,
                                    std::chrono::steady_clock::time_point deadline);

 private:
  friend class loader;
  epoch_range(std::shared_ptr<detail::pipeline> pipeline, std::shared_ptr<detail::epoch_run> run,
              stream_ref stream);

  /// What iterators point to: it stays in its place when the range is moved.
  struct state {
    std::shared_ptr<detail::pipeline> pipeline;
    std::shared_ptr<detail::epoch_run> run;
    stream_ref stream;
    std::optional<batch> current = {};
    bool begun = false;

    [[nodiscard]] std::optional<batch> next(const detail::take_limits& limits);
  };

  [[nodiscard]] state& held() const;
  void abandon() noexcept;

  std::unique_ptr<state> state_;  ///< null once moved from
};

/// Stands at one batch of a range; move-only, as input iterators may be.
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

  /// The batch; may be moved out.
  [[nodiscard]] batch& operator*() const noexcept { return *state_->current; }
  [[nodiscard]] batch* operator->() const noexcept { return &*state_->current; }
  /// Ends the lease on this batch and takes the next; may block. @throws as `next`.
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
