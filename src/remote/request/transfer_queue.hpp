#pragma once

#include "remote/request/fair_queue.hpp"
#include "remote/request/in_flight_limit.hpp"
#include "remote/request/transfer.hpp"

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// Whether a reader waits for a transfer now.
enum class transfer_urgency : bool { ahead, now };

/// The work of all threads of requests: transfers that readers wait for come before those that are
/// fetched ahead, loaders take turns, and no more is in flight than `in_flight_limit` says. Each
/// thread has about as many requests as any other.
///
/// Any thread. Functions that return the number of a thread want it woken by the caller.
class transfer_queue {
 public:
  using wanted_thread = std::optional<std::size_t>;

  /// @param max_threads At least 1. One takes, until `set_threads` is called.
  explicit transfer_queue(std::size_t max_threads);

  /// The number of threads that take, from now on: 1 to `max_threads`. Allocates nothing.
  void set_threads(std::size_t count) noexcept;
  /// Transfers that wait or are in flight.
  [[nodiscard]] std::size_t demand() const;

  /// Ends the queue: from now on nothing is added. Allocates nothing.
  /// @return One of the transfers that waited; null once there is none.
  [[nodiscard]] transfer_ptr close() noexcept;
  /// @return False if the queue has ended; `wake` is the thread to wake otherwise.
  [[nodiscard]] bool add(const transfer_ptr& more, transfer_urgency when, wanted_thread& wake);
  /// Adds a transfer whose request failed, before all others. Parameters as for `add`.
  [[nodiscard]] bool add_again(const transfer_ptr& failed, wanted_thread& wake);
  /// A reader waits now for a transfer that was added ahead.
  void hurry(const transfer_ptr& waiting);

  /// Takes as many as a thread should begin now. @param into Gets them after what it has.
  [[nodiscard]] wanted_thread take(std::size_t thread, std::vector<transfer_ptr>& into);

  /// How a request ended.
  struct ending {
    const in_flight_limit::answer* answer = nullptr;  ///< null: it did not succeed
    bool was_throttled = false;
  };
  void ended(std::size_t thread, const ending& how) noexcept;
  /// Whether a thread may make a second request for a transfer in flight. It then counts as one.
  [[nodiscard]] bool may_hedge(std::size_t thread);

  /// For all queues from now on. @param requests At most these are in flight.
  static void set_max_in_flight(int requests) noexcept;
  /// The same for bytes that are read ahead. @param bytes Memory for that.
  static void set_max_ahead(std::uint64_t bytes) noexcept;
  /// Whether `may_hedge` may say yes.
  static void set_second_requests(bool are_allowed) noexcept;

 private:
  [[nodiscard]] bool put(const transfer_ptr& more, wanted_thread& wake);
  [[nodiscard]] bool has_room() const noexcept;
  [[nodiscard]] std::size_t share() const noexcept;
  [[nodiscard]] std::size_t least_busy() noexcept;

  mutable std::mutex mutex_;  ///< for all below
  bool is_ended_ = false;
  fair_queue now_, ahead_;
  std::size_t waiting_ = 0;
  std::size_t takes_ = 0;
  std::size_t in_flight_ = 0;
  std::size_t hedges_ = 0;         ///< so far
  std::size_t begun_ = 0;          ///< requests so far
  std::uint64_t begun_bytes_ = 0;  ///< bytes of these
  std::uint64_t came_bytes_ = 0;
  std::vector<std::size_t> running_;  ///< requests in flight of each thread
  std::vector<std::size_t> woken_;    ///< how often each was woken since it took last
  in_flight_limit limit_;
};

}  // namespace feedline::detail
