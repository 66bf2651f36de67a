// How the requests of a thread end.

#include "detail/log.hpp"
#include "remote/request/counts.hpp"
#include "remote/request/request_thread.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds first_pause = 50ms;
constexpr std::chrono::milliseconds longest_pause = 5s;
constexpr int many = 1'000'000;  // tries that only a deadline ends

/// Names the server without the object, whose address may have secrets.
void tell_unfit(const attempt& of, std::string_view why) noexcept try {
  const std::string status = of.status() == 0 ? "" : " with status " + std::to_string(of.status());
  log()->warn(
      "{}: an answer{} {}, so libcurl makes the requests to this server for a minute, at the cost "
      "of one more copy of each byte; then feedline's own connections are tried again (told once)",
      of.measured().server, status, why);
} catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; requests continue
}

}  // namespace

answer_verdict request_thread::refusal_of(const char* words) noexcept {
  answer_verdict made{remote_fault::refused, {}};
  try {
    made.words = words;
  } catch (...) {  // NOLINT(bugprone-empty-catch): the fault counts
  }
  return made;
}

/// A try without memory for its verdict is made again.
answer_verdict request_thread::verdict_of(attempt& ended, CURLcode code) noexcept {
  try {
    return ended.end(code);
  } catch (...) {
    return {remote_fault::reset, {}};
  }
}

void request_thread::end_finished() {
  while (const auto ended = direct_.next_ended()) end_direct(*ended);
  while (const CURLMsg* const message = connections_.next_ended()) {
    void* found = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &found);
    attempt& it = *static_cast<attempt*>(found);
    answer_verdict verdict = verdict_of(it, message->data.result);
    if (verdict.fault == remote_fault::none) {
      const auto reached = it.reached_server();
      const std::string_view server = it.measured().server;
      if (reached.ip != nullptr && !servers_.has(server))
        servers_.add(server, reached.ip, reached.port);
    }
    end_judged(it, std::move(verdict));
  }
}

/// Faults are counted, and libcurl makes the next try. Without a fault libcurl makes this one
/// again.
void request_thread::end_direct(const direct_connections::ended& ended) {
  using outcome = direct_connections::outcome;
  auto& it = static_cast<attempt&>(*ended.by);
  switch (ended.how) {
    case outcome::whole:
    case outcome::judged:
      return end_judged(it, verdict_of(it, CURLE_OK));
    case outcome::no_answer:
      return end_judged(it, verdict_of(it, CURLE_GOT_NOTHING));
    case outcome::ended_early:
      return end_judged(it, verdict_of(it, CURLE_PARTIAL_FILE));
    case outcome::broke:
      return end_judged(it, verdict_of(it, CURLE_RECV_ERROR));
    case outcome::no_http:
      return end_judged(it, verdict_of(it, CURLE_WEIRD_SERVER_REPLY));
    case outcome::no_memory:
      return end_judged(it, verdict_of(it, CURLE_OUT_OF_MEMORY));
    case outcome::unfit:
    case outcome::was_closed:
    case outcome::unreachable:
      break;
  }
  if (!ended.unfit_as.empty()) tell_unfit(it, ended.unfit_as);
  const transfer_ptr of = it.of();
  const bool is_alone = of->running == 1;
  if (!is_alone) return end_judged(it, verdict_of(it, CURLE_RECV_ERROR));
  (void)take_out(it);
  try {
    begin_attempt(of, attempt::role::first);
  } catch (...) {
    queue_.ended(number_, {});
    finish(of, refusal_of(no_memory));
  }
}

void request_thread::end_judged(attempt& ended, answer_verdict verdict) {
  if (verdict.fault != remote_fault::none) {
    const bool was_throttled = verdict.fault == remote_fault::throttled;
    return end(ended, std::move(verdict), {.was_throttled = was_throttled});
  }
  const auto answer = ended.measured();
  if (ended.of()->wanted.what == wanted_bytes::kind::range)
    times_.add(ended.of()->wanted.bytes, clock::now() - ended.begun());
  end(ended, std::move(verdict), {.answer = &answer});
}

std::unique_ptr<attempt> request_thread::take_out(attempt& ended) noexcept {
  const std::size_t index = ended.index();
  std::unique_ptr<attempt> it = std::move(running_[index]);
  running_[index] = std::move(running_.back());
  running_.pop_back();
  if (index < running_.size()) running_[index]->set_index(index);
  if (it->easy() != nullptr)
    connections_.end(it->group(), it->easy());
  else
    direct_.end(static_cast<int>(it->group()));
  --it->of()->running;
  return it;
}

/// Ends the other request for a transfer, if there is one.
void request_thread::end_others(const transfer_ptr& of) noexcept {
  for (std::size_t i = running_.size(); of->running != 0 && i-- > 0;)
    if (running_[i]->of() == of) {
      (void)take_out(*running_[i]);  // its connection has bytes on their way: it is closed
      queue_.ended(number_, {});
    }
}

void request_thread::end(attempt& ended, answer_verdict verdict,
                         const transfer_queue::ending& how) {
  const std::unique_ptr<attempt> it = take_out(ended);
  queue_.ended(number_, how);
  const transfer_ptr of = it->of();
  if (verdict.fault == remote_fault::none || !verdict.may_retry()) end_others(of);
  if (of->running != 0) {  // the other one may succeed
    counters().count(verdict.fault);
    return;
  }
  try {
    if (verdict.fault == remote_fault::none) it->deliver();
    if (it->easy() != nullptr) idle_.push_back(std::move(*it).take_handle());
    if (verdict.fault != remote_fault::none && try_again(of, verdict)) return;
  } catch (const std::bad_alloc&) {
    verdict = {remote_fault::refused, "no memory"};
  }
  finish(of, std::move(verdict));
}

bool request_thread::try_again(const transfer_ptr& failed, answer_verdict& verdict) {
  counters().count(verdict.fault);
  const auto now = clock::now();
  failed->due = now + pause_after(*failed);
  const bool is_opening = failed->wanted.what != wanted_bytes::kind::range;
  int max_tries = many;
  if (is_opening && verdict.fault != remote_fault::throttled) max_tries = 5;
  if (verdict.is_likely_lasting()) max_tries = 3;
  if (failed->is_unwanted.load()) return false;
  if (verdict.may_retry() && failed->tries < max_tries && failed->due < failed->deadline()) {
    failed->fault = verdict;
    pausing_.push_back(failed);
    counters().retries.fetch_add(1, std::memory_order_relaxed);
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
std::chrono::milliseconds request_thread::pause_after(const remote_transfer& failed) {
  const auto longest = std::min(first_pause * (1 << std::min(failed.tries - 1, 10)), longest_pause);
  std::uniform_int_distribution<std::int64_t> part{longest.count() / 2, longest.count()};
  const std::chrono::milliseconds pause{part(random_)};
  return std::max<std::chrono::milliseconds>(pause, failed.answer.retry_after.value_or(0s));
}

void request_thread::finish(const transfer_ptr& ended, answer_verdict verdict) noexcept {
  if (verdict.fault != remote_fault::none && !ended->is_unwanted.load())
    counters().failed.fetch_add(1, std::memory_order_relaxed);
  ended->fault = std::move(verdict);
  ended->give_memory = {};
  const auto done = std::move(ended->done);
  done();
}

void request_thread::end_all(const char* words) noexcept {
  while (!running_.empty()) {
    const transfer_ptr of = running_.back()->of();
    (void)take_out(*running_.back());
    queue_.ended(number_, {});
    if (of->running == 0) finish(of, refusal_of(words));
  }
  for (auto* const some : {&pausing_, &taken_}) {
    for (const transfer_ptr& each : *some) {
      if (!each) continue;
      if (some == &taken_) queue_.ended(number_, {});
      finish(each, refusal_of(words));
    }
    some->clear();
  }
}

}  // namespace feedline::detail
