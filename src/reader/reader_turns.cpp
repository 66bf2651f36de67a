#include "reader/reader_turns.hpp"

#include <feedline/error.hpp>

#include <system_error>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

namespace feedline::detail {

thread_local bool reader_turns::in_turn = false;

reader_turns& reader_turns::of_process() {
  // Never freed: readers may end after static objects do.
  static std::atomic<reader_turns*> current{
      new reader_turns{budget_of(std::getenv("FEEDLINE_CPU_BUDGET"))}};
  reader_turns* turns = current.load();
  if (turns->process_.is_this()) return *turns;
  // In a child of fork those who have turns are not there, and one may have locked the mutex.
  auto* const own = new reader_turns{turns->limit()};
  if (current.compare_exchange_strong(turns, own)) return *own;
  delete own;
  return *turns;
}

unsigned reader_turns::budget_of(const char* text) {
  if (text == nullptr || *text == '\0') return 0;
  unsigned readers = 0;
  const char* const end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, readers);
  if (read.ec == std::errc{} && read.ptr == end) return readers;
  throw usage_error{
      "FEEDLINE_CPU_BUDGET is '" + std::string{text} +
      "': give the number of reader threads that may work at a time, or leave it out"};
}

void reader_turns::set_limit(unsigned limit) {
  const std::scoped_lock lock{mutex_};
  limit_.store(limit, std::memory_order_relaxed);
  hand_out();
}

void reader_turns::refuse_in_turn() const {
  if (!held()) return;
  throw usage_error{
      "a dataset takes batches from a loader that has readers, while it is read under a CPU budget "
      "of " +
      std::to_string(limit()) +
      ": they might never get their turn. Give that loader no_readers, or set no budget"};
}

void reader_turns::wake() {
  const std::scoped_lock lock{mutex_};
  for (waiter* const each : waiting_) each->changed.notify_one();
}

void reader_turns::hand_out() {
  for (; !waiting_.empty() && has_room(); waiting_.pop_front()) {
    ++working_;
    waiting_.front()->has_turn = true;
    waiting_.front()->changed.notify_one();
  }
}

reader_turns::turn::turn(reader_turns& turns, const std::atomic<bool>& stopping) {
  if (turns.limit() == 0) return;
  std::unique_lock lock{turns.mutex_};
  waiter own;
  try {
    turns.waiting_.push_back(&own);
  } catch (const std::bad_alloc&) {  // no memory to stand in line: it works without a turn
    return;
  }
  turns.hand_out();
  own.changed.wait(lock, [&] { return own.has_turn || stopping.load(); });
  if (!own.has_turn) {
    std::erase(turns.waiting_, &own);
    return;
  }
  turns_ = &turns;
  in_turn = true;
}

reader_turns::turn::~turn() {
  if (turns_ == nullptr) return;
  in_turn = false;
  const std::scoped_lock lock{turns_->mutex_};
  --turns_->working_;
  turns_->hand_out();
}

}  // namespace feedline::detail
