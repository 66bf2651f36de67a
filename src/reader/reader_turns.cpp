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
  // In a child of fork the threads with turns do not exist, and one may have locked the mutex.
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
  for (turn* const each : waiting_) each->changed_.notify_one();
}

void reader_turns::give_up(const std::atomic<bool>& stopping) {
  const std::scoped_lock lock{mutex_};
  working_.remove_if([&](turn* each) {
    if (&each->stopping_ != &stopping) return false;
    each->listed_ = false;
    return true;
  });
  hand_out();
}

void reader_turns::hand_out() {
  while (!waiting_.empty() && has_room()) {
    waiting_.front()->has_turn_ = true;
    waiting_.front()->changed_.notify_one();
    working_.splice(working_.end(), waiting_, waiting_.begin());
  }
}

reader_turns::turn::turn(reader_turns& turns, const std::atomic<bool>& stopping, stage_clock* clock)
    : turns_{turns}, stopping_{stopping} {
  if (turns.limit() == 0) return;
  const in_activity waiting{clock, activity::starved};
  std::unique_lock lock{turns.mutex_};
  try {
    turns.waiting_.push_back(this);
  } catch (const std::bad_alloc&) {  // no memory for an entry in the line: it works without a turn
    return;
  }
  listed_ = true;
  turns.hand_out();
  changed_.wait(lock, [&] { return has_turn_ || stopping.load(); });
  if (has_turn_) {
    in_turn = true;
  } else {
    turns.waiting_.remove(this);
    listed_ = false;
  }
}

reader_turns::turn::~turn() {
  if (!has_turn_) return;
  in_turn = false;
  const std::scoped_lock lock{turns_.mutex_};
  if (!listed_) return;
  turns_.working_.remove(this);
  turns_.hand_out();
}

}  // namespace feedline::detail
