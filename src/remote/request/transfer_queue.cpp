#include "remote/request/transfer_queue.hpp"

#include "io/far_reads.hpp"
#include "remote/direct/connection_room.hpp"
#include "remote/request/counts.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace feedline::detail {
namespace {

constinit std::atomic<int> max_in_flight{4096};
constinit std::atomic<std::uint64_t> max_ahead{0};
constinit std::atomic<bool> second_requests{true};

/// One second request in so many may be made, and some at first.
constexpr std::size_t requests_a_hedge = 32;
constexpr std::size_t first_hedges = 4;
/// How often the limit of open files is looked at.
constexpr std::size_t takes_a_look = 64;

/// Number of requests that may be in flight, each by a connection of its own.
int allowed_in_flight() noexcept {
  return std::min(max_in_flight.load(std::memory_order_relaxed), connection_room::most());
}

}  // namespace

void transfer_queue::set_max_in_flight(int requests) noexcept {
  max_in_flight.store(requests);
}

void transfer_queue::set_max_ahead(std::uint64_t bytes) noexcept {
  max_ahead.store(bytes);
}

void transfer_queue::set_second_requests(bool are_allowed) noexcept {
  second_requests.store(are_allowed);
}

transfer_queue::transfer_queue(std::size_t max_threads) : limit_{allowed_in_flight()} {
  running_.reserve(max_threads);
  woken_.reserve(max_threads);
  set_threads(1);
}

void transfer_queue::set_threads(std::size_t count) noexcept {
  const std::lock_guard lock{mutex_};
  running_.resize(count);
  woken_.resize(count);
}

std::size_t transfer_queue::demand() const {
  const std::lock_guard lock{mutex_};
  return waiting_ + in_flight_;
}

transfer_ptr transfer_queue::close() noexcept {
  const std::lock_guard lock{mutex_};
  is_ended_ = true;
  waiting_ = 0;
  transfer_ptr left = now_.pop();
  if (!left) left = ahead_.pop();
  if (left) left->is_begun = true;  // it may be in both
  return left;
}

bool transfer_queue::has_room() const noexcept {
  if (in_flight_ >= static_cast<std::size_t>(limit_.now())) return false;
  return limit_.is_measured() || in_flight_ < in_flight_limit::usual ||
         begun_bytes_ < came_bytes_ + in_flight_limit::first_bytes;
}

/// A thread's part of what is in flight, or would be if no thread were at its limit.
std::size_t transfer_queue::share() const noexcept {
  const std::size_t all = std::min(static_cast<std::size_t>(limit_.now()), waiting_ + in_flight_);
  return (all + running_.size() - 1) / running_.size();
}

std::size_t transfer_queue::least_busy() noexcept {
  std::size_t found = 0;
  for (std::size_t i = 1; i < running_.size(); ++i)
    if (running_[i] + woken_[i] < running_[found] + woken_[found]) found = i;
  ++woken_[found];
  return found;
}

bool transfer_queue::put(const transfer_ptr& more, wanted_thread& wake) {
  if (is_ended_) return false;
  more->is_begun = false;
  ++waiting_;
  if (has_room()) wake = least_busy();
  return true;
}

bool transfer_queue::add(const transfer_ptr& more, transfer_urgency when, wanted_thread& wake) {
  const std::lock_guard lock{mutex_};
  if (!is_ended_) (when == transfer_urgency::now ? now_ : ahead_).push(more);
  more->is_hurried = when == transfer_urgency::now;
  return put(more, wake);
}

bool transfer_queue::add_again(const transfer_ptr& failed, wanted_thread& wake) {
  const std::lock_guard lock{mutex_};
  if (!is_ended_) now_.push_first(failed);
  failed->is_hurried = true;
  return put(failed, wake);
}

void transfer_queue::hurry(const transfer_ptr& waiting) {
  const std::lock_guard lock{mutex_};
  if (is_ended_ || waiting->is_begun || waiting->is_hurried) return;
  now_.push(waiting);  // where it was, it is left out once it has begun
  waiting->is_hurried = true;
}

transfer_queue::wanted_thread transfer_queue::take(std::size_t thread,
                                                   std::vector<transfer_ptr>& into) {
  const std::lock_guard lock{mutex_};
  if (thread >= running_.size()) return {};  // it has just started
  if (takes_++ % takes_a_look == 0) limit_.set_most(allowed_in_flight());
  woken_[thread] = 0;
  while (waiting_ != 0 && has_room() && running_[thread] < share()) {
    if (into.size() == into.capacity()) into.reserve(2 * into.size() + 1);  // before one is taken
    transfer_ptr next = now_.pop();
    if (!next) next = ahead_.pop();
    if (!next) break;
    next->is_begun = true;
    begun_bytes_ += next->wanted.bytes;
    into.push_back(std::move(next));
    --waiting_;
    ++in_flight_;
    ++running_[thread];
    ++begun_;
  }
  std::uint64_t most = counters().most_in_flight.load(std::memory_order_relaxed);
  while (most < in_flight_ && !counters().most_in_flight.compare_exchange_weak(most, in_flight_)) {
  }
  if (waiting_ == 0 || !has_room()) return {};
  const std::size_t next = least_busy();
  return next == thread ? wanted_thread{} : next;
}

void transfer_queue::ended(std::size_t thread, const ending& how) noexcept {
  const std::lock_guard lock{mutex_};
  if (how.answer != nullptr) try {
      in_flight_limit::answer answer = *how.answer;
      answer.was_full = !has_room();
      came_bytes_ += answer.bytes;
      limit_.answered(answer, std::chrono::steady_clock::now());
      if (limit_.is_held_back()) counters().held_back.fetch_add(1, std::memory_order_relaxed);
      set_far_hint_bytes(
          std::min(limit_.wanted_ahead(), max_ahead.load(std::memory_order_relaxed) / 2));
    } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; this answer is not measured
    }
  if (how.was_throttled) limit_.refused();
  --in_flight_;
  --running_[thread];
}

bool transfer_queue::may_hedge(std::size_t thread) {
  const std::lock_guard lock{mutex_};
  if (is_ended_ || !second_requests.load() || hedges_ >= begun_ / requests_a_hedge + first_hedges ||
      limit_.is_refused())
    return false;
  ++hedges_;
  ++in_flight_;
  ++running_[thread];
  return true;
}

}  // namespace feedline::detail
