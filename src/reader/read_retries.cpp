#include "reader/read_retries.hpp"

#include <feedline/error.hpp>

#include "dataset/foreign_error.hpp"
#include "detail/error_policies.hpp"
#include "detail/log.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// What a read throws, or null. @throws what says nothing about the data.
std::exception_ptr failure_of(const read_retries::read_part& read, std::size_t first,
                              std::size_t count) {
  try {
    read(first, count);
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

void read_retries::read_again(std::size_t count, const read_part& read,
                              const std::atomic<bool>& unwanted,
                              std::vector<unreadable_sample>& bad) {
  std::exception_ptr why = std::current_exception();
  if (!is_of_data(why)) std::rethrow_exception(why);
  const bool finds_samples = policy_.action != error_action::fail;
  int done = 0;
  while (done < policy_.retries) {
    if (!pause(done++, why, unwanted)) std::rethrow_exception(why);
    const auto again = failure_of(read, 0, count);
    if (!again) {
      ++recovered_;
      return;
    }
    why = again;
    if (finds_samples) break;
  }
  if (!finds_samples) std::rethrow_exception(why);

  const auto check_wanted = [&] {
    if (unwanted.load() || is_stopped()) std::rethrow_exception(why);
  };
  for (std::size_t place = 0; place < count; ++place) {
    check_wanted();
    auto alone = count == 1 ? why : failure_of(read, place, 1);
    if (alone) bad.push_back({.place = place, .sample = {}, .at = {}, .cause = std::move(alone)});
  }
  if (bad.empty()) ++recovered_;
  while (!bad.empty() && done < policy_.retries) {
    if (!pause(done++, bad.front().cause, unwanted)) std::rethrow_exception(why);
    std::erase_if(bad, [&](unreadable_sample& each) {
      check_wanted();
      auto again = failure_of(read, each.place, 1);
      if (!again) ++recovered_;
      if (again) each.cause = again;
      return !again;
    });
  }
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
  const auto end = std::chrono::steady_clock::now() + length;
  std::unique_lock lock{mutex_};
  // Nobody rings when an epoch is left: so that is looked at now and then.
  while (!stopped_ && !unwanted.load()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= end) return true;
    stops_.wait_until(lock, std::min<std::chrono::steady_clock::time_point>(end, now + 20ms));
  }
  return false;
}

}  // namespace feedline::detail
