#include "python/loader/turn.hpp"

namespace feedline::python {

bool turn_line::try_take() {
  if (waiting_.load() != 0 || !turn_.try_lock()) return false;
  owner_.store(std::this_thread::get_id());
  return true;
}

bool turn_line::take_within(std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  struct waits {
    explicit waits(std::atomic<int>& all) : count{all} { ++count; }
    waits(const waits&) = delete;
    waits& operator=(const waits&) = delete;
    ~waits() { --count; }
    std::atomic<int>& count;
  } const waiting{waiting_};
  const std::unique_lock next{next_, deadline};
  if (!next || !turn_.try_lock_until(deadline)) return false;
  owner_.store(std::this_thread::get_id());
  return true;
}

void turn_line::end() noexcept {
  owner_.store({});
  turn_.unlock();
}

}  // namespace feedline::python
