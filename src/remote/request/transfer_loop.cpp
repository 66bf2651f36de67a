#include "remote/request/transfer_loop.hpp"

#include <feedline/error.hpp>

#include "detail/threads.hpp"
#include "io/far_reads.hpp"
#include "remote/request/per_process.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include <curl/curl.h>

namespace feedline::detail {
namespace {

constinit std::atomic<int> wanted_threads{0};

std::size_t threads_of_process() noexcept {
  const int wanted = wanted_threads.load();
  if (wanted > 0) return static_cast<std::size_t>(wanted);
  return std::clamp<std::size_t>(usable_cores(), 1, 8);
}

/// Before the process's end, and before a copy of the library is closed: the threads' code goes.
void stop_current() {
  if (transfer_loop* const loop = per_process<transfer_loop>::find()) loop->stop();
}

}  // namespace

transfer_loop& transfer_loop::of_this_process() {
  return per_process<transfer_loop>::get([] {
    // After libcurl's libraries, so that it is called before their own handlers.
    static const bool is_ready =
        curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK && std::atexit(&stop_current) == 0;
    if (!is_ready) throw std::bad_alloc{};
    return new transfer_loop;
  });
}

void transfer_loop::set_threads(int count) noexcept {
  wanted_threads.store(count);
}

transfer_loop::transfer_loop() : max_threads_{threads_of_process()}, queue_{max_threads_} {
  for (std::size_t i = 0; i < max_threads_; ++i)
    threads_.push_back(std::make_unique<request_thread>(
        queue_, servers_, room_, i, [this](std::size_t other) { threads_[other]->wake(); }));
}

void transfer_loop::submit(const transfer_ptr& wanted, urgency when) {
  wanted->loader = reading_for();
  if (started_.load(std::memory_order_acquire) < max_threads_) start_for(queue_.demand() + 1);
  transfer_queue::wanted_thread wake;
  if (!queue_.add(wanted, when, wake))
    request_thread::finish(wanted, request_thread::refusal_of(request_thread::process_ends));
  else if (wake)
    threads_[*wake]->wake();
}

/// Starts one more thread while there are more transfers than threads.
void transfer_loop::start_for(std::size_t demand) {
  const std::lock_guard lock{starting_};
  std::size_t started = started_.load();
  if (is_ended_ || started >= std::min(demand, max_threads_)) return;
  try {
    threads_[started]->start();
  } catch (const thread_error&) {
    if (started == 0) throw;
    return;  // those that there are do its work
  }
  queue_.set_threads(++started);
  started_.store(started, std::memory_order_release);
}

void transfer_loop::stop() noexcept {
  const std::lock_guard lock{starting_};
  is_ended_ = true;
  while (const transfer_ptr each = queue_.close())
    request_thread::finish(each, request_thread::refusal_of(request_thread::process_ends));
  for (const auto& each : threads_) each->join();
}

}  // namespace feedline::detail
