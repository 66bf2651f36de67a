#include "remote/transfer_loop.hpp"

#include "detail/threads.hpp"
#include "remote/counts.hpp"
#include "remote/per_process.hpp"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

namespace feedline::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds first_pause = 50ms;
constexpr std::chrono::milliseconds longest_pause = 5s;
constexpr int many = 1'000'000;  // tries that only a deadline ends

constinit std::atomic<int> max_in_flight{256};

/// Before the process's end, and before a copy of the library is closed: the thread's code goes.
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

void transfer_loop::set_max_in_flight(int requests) noexcept {
  max_in_flight.store(requests);
}

transfer_loop::transfer_loop() : multi_{curl_multi_init()} {
  if (!multi_) throw std::bad_alloc{};
}

void transfer_loop::submit(transfer_ptr wanted, urgency when) {
  {
    const std::lock_guard lock{mutex_};
    if (!is_ended_) {
      if (!thread_.joinable())
        thread_ = start_thread("the thread for remote objects", [this] { run(); });
      (when == urgency::now ? submitted_now_ : submitted_ahead_).push_back(std::move(wanted));
      curl_multi_wakeup(multi_.get());  // under the lock: `stop` ends `multi_`
      return;
    }
  }
  finish(wanted, {remote_fault::refused, "the process is ending"});
}

void transfer_loop::hurry(const transfer_ptr& wanted) {
  const std::lock_guard lock{mutex_};
  if (is_ended_) return;
  hurried_.push_back(wanted);
  curl_multi_wakeup(multi_.get());
}

void transfer_loop::stop() noexcept {
  std::thread thread;
  {
    const std::lock_guard lock{mutex_};
    is_ended_ = true;
    thread = std::move(thread_);
    if (!thread.joinable()) return;
    curl_multi_wakeup(multi_.get());
  }
  thread.join();
  idle_.clear();
  multi_.reset();
}

void transfer_loop::run() noexcept {
  name_this_thread("feedline net");
  // A server that ends a connection must not end the process; libcurl does not prevent it with
  // every library of TLS.
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  for (bool is_ended = false; !is_ended;) {
    try {
      step();
    } catch (...) {
      end_all("there is no memory for a request");
    }
    const std::lock_guard lock{mutex_};
    is_ended = is_ended_;
  }
  end_all("the process is ending");
}

void transfer_loop::step() {
  take_submitted();
  begin_due();
  int still_running = 0;
  curl_multi_perform(multi_.get(), &still_running);
  end_finished();
  end_late();
  begin_due();
  curl_multi_poll(multi_.get(), nullptr, 0, wait_time(), nullptr);
}

void transfer_loop::take_submitted() {
  std::vector<transfer_ptr> hurried;
  {
    const std::lock_guard lock{mutex_};
    for (auto& [from, to] : {std::pair{&submitted_now_, &now_}, {&submitted_ahead_, &ahead_}})
      for (; !from->empty(); from->pop_front()) to->push_back(from->front());
    hurried.swap(hurried_);
  }
  for (const transfer_ptr& each : hurried)
    if (const auto found = std::ranges::find(ahead_, each); found != ahead_.end()) {
      now_.push_back(each);
      ahead_.erase(found);
    }
  limit_.set_most(max_in_flight.load(std::memory_order_relaxed));
}

void transfer_loop::begin_due() {
  const auto now = clock::now();
  for (std::size_t i = 0; i < pausing_.size();) {
    if (pausing_[i]->due > now) {
      ++i;
      continue;
    }
    now_.push_front(pausing_[i]);
    pausing_[i] = std::move(pausing_.back());
    pausing_.pop_back();
  }
  while (running_.size() < static_cast<std::size_t>(limit_.now()))
    if (transfer_ptr next = next_due())
      begin(std::move(next));
    else
      break;
}

transfer_ptr transfer_loop::next_due() {
  auto& from = now_.empty() ? ahead_ : now_;
  if (from.empty()) return nullptr;
  transfer_ptr next = std::move(from.front());
  from.pop_front();
  return next;
}

void transfer_loop::begin(transfer_ptr wanted) try {
  curl_easy_ptr easy;
  if (!idle_.empty()) {
    easy = std::move(idle_.back());
    idle_.pop_back();
  } else {
    easy.reset(curl_easy_init());
    if (!easy) throw std::bad_alloc{};
  }
  if (wanted->tries++ == 0) wanted->first_try = clock::now();
  running_.push_back(std::make_unique<attempt>(wanted, std::move(easy)));
  if (curl_multi_add_handle(multi_.get(), running_.back()->easy()) != CURLM_OK) {
    running_.pop_back();
    throw std::bad_alloc{};
  }
  remote_counters& all = counters();
  all.requests.fetch_add(1, std::memory_order_relaxed);
  if (running_.size() > all.most_in_flight.load(std::memory_order_relaxed))
    all.most_in_flight.store(running_.size(), std::memory_order_relaxed);
} catch (const std::bad_alloc&) {
  finish(wanted, {remote_fault::refused, "there is no memory for a request"});
} catch (const std::exception& refusal) {
  finish(wanted, {remote_fault::refused, refusal.what()});
}

void transfer_loop::end_finished() {
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    const CURLcode code = message->data.result;
    const auto found = std::ranges::find(running_, easy, [](const auto& it) { return it->easy(); });
    if (found == running_.end()) continue;
    const bool was_full = running_.size() >= static_cast<std::size_t>(limit_.now());
    const answer_verdict verdict = (*found)->end(code);
    if (verdict.fault == remote_fault::none)
      limit_.answered((*found)->measured(was_full), clock::now());
    if (verdict.fault == remote_fault::throttled) limit_.refused();
    end(static_cast<std::size_t>(found - running_.begin()), verdict);
  }
}

void transfer_loop::end_late() {
  const auto now = clock::now();
  for (std::size_t i = running_.size(); i-- > 0;) {
    attempt& it = *running_[i];
    const remote_target& target = *it.of()->target;
    const bool is_over = it.of()->deadline() <= now;
    if (!is_over && it.last_byte() + target.stall_after > now) continue;
    std::string words = "no byte came for " + std::to_string(target.stall_after.count()) + " ms";
    if (is_over)
      words = "the answer is not whole within the deadline of " +
              std::to_string(target.deadline.count()) + " ms";
    if (const std::string& before = it.of()->fault.words; is_over && !before.empty())
      words += "; before that, " + before;
    (void)it.end(CURLE_OPERATION_TIMEDOUT);
    end(i, {remote_fault::stalled, std::move(words)});
  }
}

/// @param place Index in `running_`.
void transfer_loop::end(std::size_t place, answer_verdict verdict) {
  const std::unique_ptr<attempt> it = std::move(running_[place]);
  running_[place] = std::move(running_.back());
  running_.pop_back();
  curl_multi_remove_handle(multi_.get(), it->easy());
  const transfer_ptr of = it->of();
  try {
    idle_.push_back(std::move(*it).take_easy());
    if (verdict.fault != remote_fault::none && try_again(of, verdict)) return;
  } catch (const std::bad_alloc&) {
    finish(of, {remote_fault::refused, "no memory"});
    return;
  }
  finish(of, std::move(verdict));
}

bool transfer_loop::try_again(const transfer_ptr& failed, answer_verdict& verdict) {
  counters().count(verdict.fault);
  const auto now = clock::now();
  failed->due = now + pause_after(*failed);
  const bool is_opening = failed->wanted.what != wanted_bytes::kind::range;
  int max_tries = many;
  if (is_opening && verdict.fault != remote_fault::throttled) max_tries = 5;
  if (verdict.is_likely_lasting()) max_tries = 3;
  if (verdict.may_retry() && failed->tries < max_tries && failed->due < failed->deadline()) {
    failed->fault = verdict;
    pausing_.push_back(failed);
    return true;
  }
  if (failed->tries > 1)
    verdict.words += "; tried " + std::to_string(failed->tries) + " times in " +
                     std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        now - failed->first_try)
                                        .count()) +
                     " ms";
  return false;
}

/// Between half and all of a time that doubles, so that clients that failed together do not come
/// again together.
std::chrono::milliseconds transfer_loop::pause_after(const remote_transfer& failed) {
  const auto longest = std::min(first_pause * (1 << std::min(failed.tries - 1, 10)), longest_pause);
  std::uniform_int_distribution<std::int64_t> part{longest.count() / 2, longest.count()};
  const std::chrono::milliseconds pause{part(random_)};
  return std::max<std::chrono::milliseconds>(pause, failed.answer.retry_after.value_or(0s));
}

void transfer_loop::finish(const transfer_ptr& ended, answer_verdict verdict) noexcept {
  if (verdict.fault != remote_fault::none)
    counters().failed.fetch_add(1, std::memory_order_relaxed);
  ended->fault = std::move(verdict);
  const auto done = std::move(ended->done);
  done();
}

void transfer_loop::end_all(const std::string& words) noexcept {
  const answer_verdict verdict{remote_fault::refused, words};
  for (const auto& it : running_) {
    curl_multi_remove_handle(multi_.get(), it->easy());
    finish(it->of(), verdict);
  }
  running_.clear();
  std::deque<transfer_ptr> now, ahead;
  {
    const std::lock_guard lock{mutex_};
    now.swap(submitted_now_);
    ahead.swap(submitted_ahead_);
    hurried_.clear();
  }
  for (auto* queue : {&now_, &ahead_, &now, &ahead})
    for (; !queue->empty(); queue->pop_front()) finish(queue->front(), verdict);
  for (const transfer_ptr& each : pausing_) finish(each, verdict);
  pausing_.clear();
}

/// In ms, until the loop has something to do by itself.
int transfer_loop::wait_time() const {
  auto until = clock::now() + 1h;
  for (const transfer_ptr& each : pausing_) until = std::min(until, each->due);
  for (const auto& it : running_)
    until =
        std::min({until, it->last_byte() + it->of()->target->stall_after, it->of()->deadline()});
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
  return static_cast<int>(std::max<std::int64_t>(wait.count(), 0));
}

}  // namespace feedline::detail
