#include "remote/request/request_thread.hpp"

#include "detail/threads.hpp"
#include "remote/request/counts.hpp"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <new>
#include <span>
#include <stdexcept>
#include <utility>

namespace feedline::detail {
namespace {

using namespace std::chrono_literals;

/// How often requests in flight are looked at.
constexpr std::chrono::milliseconds look_every = 10ms;

}  // namespace

request_thread::request_thread(transfer_queue& queue, direct_servers& servers,
                               connection_room& room, std::size_t number,
                               std::function<void(std::size_t)> wake_other)
    : queue_{queue},
      servers_{servers},
      room_{room},
      number_{number},
      wake_other_{std::move(wake_other)},
      events_{::epoll_create1(EPOLL_CLOEXEC)},
      wakes_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      connections_{events_, room},
      direct_{events_, servers_, room},
      surroundings_{.on_open = &connection_groups::on_open,
                    .on_close = &connection_groups::on_close,
                    .sockets = &connections_} {
  epoll_event woken{};
  woken.events = EPOLLIN;
  woken.data.fd = wakes_;
  const bool is_made =
      events_ >= 0 && wakes_ >= 0 && ::epoll_ctl(events_, EPOLL_CTL_ADD, wakes_, &woken) == 0;
  if (!is_made) {
    if (events_ >= 0) ::close(events_);
    if (wakes_ >= 0) ::close(wakes_);
    throw std::bad_alloc{};
  }
}

request_thread::~request_thread() {
  join();
  ::close(events_);
  ::close(wakes_);
}

void request_thread::start() {
  thread_ = start_thread("a thread for remote objects", [this] { run(); });
}

void request_thread::wake() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(wakes_, &one, sizeof(one));
}

void request_thread::join() noexcept {
  is_ended_.store(true);
  if (!thread_.joinable()) return;
  wake();
  thread_.join();
  idle_.clear();
  connections_.clear();
  direct_.clear();
}

void request_thread::run() noexcept {
  name_this_thread("feedline net");
  // A server that ends a connection must not end the process; libcurl does not prevent it with
  // every library of TLS.
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  while (!is_ended_.load()) {
    try {
      step();
    } catch (...) {
      end_all(no_memory);
    }
  }
  end_all(process_ends);
}

void request_thread::step() {
  begin_due();
  wait();
  connections_.on_time(clock::now());
  end_finished();
  if (const auto now = clock::now(); now >= looked_ + look_every) {
    looked_ = now;
    look_for_late();
  }
}

/// Earlier requests are received first: their bytes are needed first.
void request_thread::wait() {
  std::array<epoll_event, 256> room;  // NOLINT: filled by the call
  const int count = ::epoll_wait(events_, room.data(), static_cast<int>(room.size()), wait_time());
  const auto events = std::span{room}.first(static_cast<std::size_t>(std::max(count, 0)));
  if (events.size() > 1)
    std::ranges::sort(events, {},
                      [&](const epoll_event& each) { return direct_.turn_of(each.data.fd); });
  for (const epoll_event& event : events) {
    if (event.data.fd == wakes_) {
      std::uint64_t times = 0;
      (void)!::read(wakes_, &times, sizeof(times));
      continue;
    }
    if (!direct_.on_event(event.data.fd)) connections_.on_event(event.data.fd, event.events);
  }
}

void request_thread::begin_due() {
  const auto now = clock::now();
  for (std::size_t i = 0; i < pausing_.size();) {
    if (pausing_[i]->due > now) {
      ++i;
      continue;
    }
    transfer_queue::wanted_thread other;
    const bool is_added = queue_.add_again(pausing_[i], other);  // it stays there, if this throws
    const transfer_ptr due = std::move(pausing_[i]);
    pausing_[i] = std::move(pausing_.back());
    pausing_.pop_back();
    if (is_added)
      wake_if(other);
    else
      finish(due, refusal_of(process_ends));
  }
  wake_if(queue_.take(number_, taken_));
  for (const transfer_ptr& each : taken_) begin(each);
  taken_.clear();
}

void request_thread::wake_if(const transfer_queue::wanted_thread& other) {
  if (other && *other != number_) wake_other_(*other);
}

void request_thread::begin(const transfer_ptr& wanted) noexcept {
  answer_verdict refusal;
  try {
    if (wanted->is_unwanted.load()) throw std::runtime_error{"the bytes are not wanted any more"};
    if (wanted->tries++ == 0) wanted->first_try = clock::now();
    if (!begin_direct(wanted)) begin_attempt(wanted, attempt::role::first);
    return;
  } catch (const std::bad_alloc&) {
    refusal = refusal_of(no_memory);
  } catch (const std::exception& why) {
    refusal = refusal_of(why.what());
  }
  queue_.ended(number_, {});
  finish(wanted, std::move(refusal));
}

void request_thread::begin_attempt(const transfer_ptr& of, attempt::role as) {
  request_handle handle;
  if (!idle_.empty()) {
    handle = std::move(idle_.back());
    idle_.pop_back();
  } else {
    handle.easy.reset(curl_easy_init());
    if (!handle.easy) throw std::bad_alloc{};
  }
  if (!room_.is_left()) direct_.close_idle();
  running_.push_back(
      std::make_unique<attempt>(of, std::move(handle), as, running_.size(), surroundings_));
  try {
    running_.back()->set_group(connections_.begin(running_.back()->easy()));
  } catch (...) {
    running_.pop_back();
    throw;
  }
  ++of->running;
  counters().requests.fetch_add(1, std::memory_order_relaxed);
}

/// Room for one more connection. @return False: requests in flight have all.
bool request_thread::make_room() noexcept {
  if (!room_.is_left()) connections_.close_idle();
  if (!room_.is_left()) direct_.close_idle();
  return room_.is_left();
}

/// @return False: libcurl is to make it.
bool request_thread::begin_direct(const transfer_ptr& of) {
  const auto to = attempt::direct_to(*of);
  if (!to || !servers_.find(to->server)) return false;
  if (!direct_.has_idle(to->server) && !make_room()) return false;
  running_.push_back(std::make_unique<attempt>(of, running_.size()));
  std::optional<int> socket;
  try {
    socket = direct_.begin(*to, attempt::direct_head(*of, *to), *running_.back());
  } catch (...) {
    running_.pop_back();
    throw;
  }
  if (!socket) {
    running_.pop_back();
    return false;
  }
  running_.back()->set_group(static_cast<std::size_t>(*socket));
  ++of->running;
  counters().requests.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void request_thread::look_for_late() {
  const auto now = clock::now();
  for (std::size_t i = running_.size(); i-- > 0;) {
    if (i >= running_.size()) continue;  // the end of another one took it, too
    attempt& it = *running_[i];
    const remote_target& target = *it.of()->target;
    const bool is_over = it.of()->deadline() <= now;
    if (!is_over && it.last_byte() + target.stall_after > now) {
      hedge(it, now);
      continue;
    }
    std::string words = "no byte came for " + std::to_string(target.stall_after.count()) + " ms";
    if (is_over)
      words = "the answer is not whole within the deadline of " +
              std::to_string(target.deadline.count()) + " ms";
    if (const std::string& before = it.of()->fault.words; is_over && !before.empty())
      words += "; before that, " + before;
    (void)it.end(CURLE_OPERATION_TIMEDOUT);
    end(it, {remote_fault::stalled, std::move(words)}, {});
  }
}

/// Only where both answers must be of one version.
void request_thread::hedge(attempt& lagging, clock::time_point now) {
  const transfer_ptr& of = lagging.of();
  const bool may = of->running == 1 && of->wanted.what == wanted_bytes::kind::range &&
                   of->wanted.pin.has_strong_tag();
  if (!may) return;
  const auto after = times_.lags_after(of->wanted.bytes);
  if (!after || now - lagging.begun() < *after || !queue_.may_hedge(number_)) return;
  try {
    begin_attempt(of, attempt::role::hedge);
    counters().hedged.fetch_add(1, std::memory_order_relaxed);
  } catch (...) {  // the first one continues
    queue_.ended(number_, {});
  }
}

/// In ms, until the thread has something to do by itself.
int request_thread::wait_time() const {
  auto until = connections_.next_time();
  for (const transfer_ptr& each : pausing_) until = std::min(until, each->due);
  if (!running_.empty()) until = std::min(until, looked_ + look_every);
  if (until == clock::time_point::max()) return -1;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(wait.count(), 0, 60'000));
}

}  // namespace feedline::detail
