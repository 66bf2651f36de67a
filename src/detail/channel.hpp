#pragma once

/// Only this file includes Boost.

#include "detail/notifier.hpp"

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>

#include <atomic>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <type_traits>

namespace feedline::detail {

/// A bounded queue between stages whose receivers wait: a Boost.Lockfree queue, a `notifier`, and
/// an end.
///
/// Senders never wait: the maker of a channel gives it room for all items there can be, so a
/// push that finds no room is a broken invariant. After closing, receivers take the items that are
/// there, and are then told that nothing more comes.
template <class T, class Queue>
class basic_channel {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// @param capacity How many items there can ever be at once; at least 1.
  explicit basic_channel(std::size_t capacity) : queue_{capacity} {}

  /// Sends; never blocks. @throws std::logic_error if there is no room.
  void push(T item) {
    put(item);
    notifier_.notify(1);
  }

  /// Sends without waking anyone: one of several, before `wake` or `wake_all`.
  void put(T item) {
    if (!queue_.push(item))
      throw std::logic_error{
          "feedline: a channel between stages is full; this is an error in feedline"};
  }

  /// Wakes this many receivers, or as many as sleep.
  void wake(std::size_t receivers) noexcept { notifier_.notify(receivers); }

  /// Wakes all receivers.
  void wake_all() noexcept { notifier_.notify_all(); }

  /// Receives if something is there; never blocks.
  [[nodiscard]] std::optional<T> try_pop() {
    T item;
    if (queue_.pop(item)) return item;
    return std::nullopt;
  }

  /// Receives; blocks until something is there, or the channel is closed and empty: then nothing.
  [[nodiscard]] std::optional<T> pop() {
    std::optional<T> item;
    wait_until([&] { return (item = try_pop()).has_value(); });
    return item;
  }

  /// Blocks until `ready()` is true or the channel is closed; asked again after every push,
  /// `wake` and `wake_all` that wakes the caller.
  /// @param deadline At most one: the wait is no longer than to it, and false is returned then.
  template <class Ready, class... Deadline>
  auto wait_until(Ready&& ready, Deadline... deadline) {
    return notifier_.wait_until(
        [&] {
          const bool closed = closed_.load();  // first: items pushed before it must be found
          return ready() || closed;
        },
        deadline...);
  }

  /// No more pushes matter; wakes all receivers. May be called again, by any thread.
  void close() noexcept {
    closed_.store(true);
    notifier_.notify_all();
  }

  /// Whether `close` was called. Any thread.
  [[nodiscard]] bool closed() const noexcept { return closed_.load(); }

 private:
  Queue queue_;
  notifier notifier_;
  std::atomic<bool> closed_{false};
};

/// Many senders, many receivers. At most 65,000 items.
template <class T>
using channel = basic_channel<T, boost::lockfree::queue<T, boost::lockfree::fixed_sized<true>>>;

/// One sender and one receiver at a time: a role may pass to another thread under a lock.
template <class T>
using spsc_channel = basic_channel<T, boost::lockfree::spsc_queue<T>>;

}  // namespace feedline::detail
