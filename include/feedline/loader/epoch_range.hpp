#pragma once

#include <feedline/batch/batch.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>

namespace feedline {

class loader;

namespace detail {
class pipeline;
struct epoch_run;
}  // namespace detail

/// One epoch's batches: a C++20 input range, gone through once.
///
///     for (feedline::batch& batch : loader.epoch(0, stream)) step(batch);
///
/// Each step destroys the batch before it (unless it was moved out) and takes the next. Reading
/// ahead begins when the range is made. Destroying a range before its end abandons the rest of the
/// epoch.
///
/// Threads: one, the consumer's. The loader must outlive the range.
class epoch_range {
 public:
  class iterator;

  epoch_range(epoch_range&& other) noexcept;
  epoch_range& operator=(epoch_range&&) = delete;
  epoch_range(const epoch_range&) = delete;
  epoch_range& operator=(const epoch_range&) = delete;
  ~epoch_range();

  /// Takes the first batch; may block until it is there. @throws stage_error; usage_error if called
  /// twice.
  [[nodiscard]] iterator begin();
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  /// The next batch, or nothing at the end of the epoch and after `loader::stop()`: the range by
  /// hand, where a loop's shape is another. May block. @throws stage_error.
  [[nodiscard]] std::optional<batch> next();

 private:
  friend class loader;
  epoch_range(std::shared_ptr<detail::pipeline> pipeline, std::shared_ptr<detail::epoch_run> run,
              stream_ref stream) noexcept;

  std::shared_ptr<detail::pipeline> pipeline_;
  std::shared_ptr<detail::epoch_run> run_;
  stream_ref stream_;
  std::optional<batch> current_;
  bool begun_ = false;
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
  [[nodiscard]] batch& operator*() const noexcept { return *range_->current_; }
  [[nodiscard]] batch* operator->() const noexcept { return &*range_->current_; }
  /// Ends the lease on this batch and takes the next; may block. @throws stage_error.
  iterator& operator++();
  void operator++(int) { ++*this; }

  friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept {
    return it.at_end();
  }

 private:
  friend class epoch_range;
  [[nodiscard]] bool at_end() const noexcept { return !range_->current_; }
  explicit iterator(epoch_range* range) noexcept : range_{range} {}
  epoch_range* range_;
};

}  // namespace feedline
