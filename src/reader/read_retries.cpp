#include "reader/read_retries.hpp"

#include <feedline/error.hpp>

#include "dataset/error_policies.hpp"
#include "dataset/foreign_error.hpp"
#include "detail/log.hpp"
#include "detail/saturated.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// The exception that reading a sample throws, or null. @throws exceptions that say nothing about
/// the data.
std::exception_ptr failure_of(const read_retries::read_sample& read, std::size_t place) {
  try {
    read(place);
    return nullptr;
  } catch (...) {
    if (!is_of_data(std::current_exception())) throw;
    return std::current_exception();
  }
}

std::string words_of(const std::exception_ptr& of_data) {
  try {
    std::rethrow_exception(of_data);
  } catch (const dataset_error& error) {
    return error.what();
  }
}

}  // namespace

void read_retries::read_again(std::size_t count, std::size_t blamed, const read_sample& read,
                              const std::atomic<bool>& unwanted,
                              std::vector<unreadable_sample>& bad) {
  const std::exception_ptr of_run = std::current_exception();
  if (!is_of_data(of_run)) std::rethrow_exception(of_run);
  const bool finds_samples = policy_.action != error_action::fail;
  if (!finds_samples && policy_.retries == 0) std::rethrow_exception(of_run);
  const std::size_t at_a_time = finds_samples ? count : 1;
  bool any_failed = false;
  for (std::size_t first = 0; first < count; first += at_a_time) {
    any_failed |= read_alone(first, first + at_a_time, blamed, read, unwanted, bad);
    if (!finds_samples && !bad.empty()) std::rethrow_exception(bad.front().cause);
  }
  if (!any_failed) ++recovered_;
}

bool read_retries::read_alone(std::size_t first, std::size_t end, std::size_t blamed,
                              const read_sample& read, const std::atomic<bool>& unwanted,
                              std::vector<unreadable_sample>& bad) {
  const std::exception_ptr of_run = std::current_exception();
  std::exception_ptr why = of_run;
  const auto check_wanted = [&] {
    if (unwanted.load() || is_stopped()) std::rethrow_exception(why);
  };
  for (std::size_t place = first; place < end; ++place) {
    check_wanted();
    auto failed = place == blamed ? of_run : failure_of(read, place);
    if (failed) bad.push_back({.place = place, .sample = {}, .at = {}, .cause = std::move(failed)});
  }
  const bool any_failed = !bad.empty();
  for (int done = 0; !bad.empty() && done < policy_.retries; ++done) {
    why = bad.front().cause;
    if (!pause(done, why, unwanted)) std::rethrow_exception(why);
    std::erase_if(bad, [&](unreadable_sample& each) {
      check_wanted();
      auto again = failure_of(read, each.place);
      if (!again) ++recovered_;
      if (again) each.cause = again;
      return !again;
    });
  }
  return any_failed;
}

void read_retries::stop() noexcept {
  const std::scoped_lock lock{mutex_};
  stopped_ = true;
  stops_.notify_all();
}

bool read_retries::is_stopped() {
  const std::scoped_lock lock{mutex_};
  return stopped_;
}

bool read_retries::pause(int done, const std::exception_ptr& why,
                         const std::atomic<bool>& unwanted) {
  using namespace std::chrono_literals;
  const auto length = pause_before(done, policy_);
  if (warnings_.is_due())
    log()->warn("a read failed and is tried again in {} ms, for time {} of {}: {}", length.count(),
                done + 1, policy_.retries, words_of(why));
  const auto end = deadline_after(length);
  std::unique_lock lock{mutex_};
  // No notification comes when an epoch is abandoned, so this is checked now and then.
  while (!stopped_ && !unwanted.load()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= end) return true;
    stops_.wait_until(lock, std::min<std::chrono::steady_clock::time_point>(end, now + 20ms));
  }
  return false;
}

}  // namespace feedline::detail
