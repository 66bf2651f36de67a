#pragma once

#include "remote/request/transfer.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

namespace feedline::detail {

/// Transfers that wait for their requests. Those of one loader come in the order of asking, and
/// loaders take turns, so that one with many does not hold up the others. Not thread-safe.
class fair_queue {
 public:
  /// @throws std::bad_alloc; then all is as it was
  void push(const transfer_ptr& more) {
    put(more, [&](std::deque<transfer_ptr>& line) { line.push_back(more); });
  }
  /// Before all others of its loader. @throws std::bad_alloc; then all is as it was
  void push_first(const transfer_ptr& more) {
    put(more, [&](std::deque<transfer_ptr>& line) { line.push_front(more); });
  }

  /// Null if it is empty. Transfers that have begun meanwhile are left out.
  [[nodiscard]] transfer_ptr pop() {
    while (!lines_.empty()) {
      auto line = lines_.upper_bound(last_);
      if (line == lines_.end()) line = lines_.begin();
      last_ = line->first;
      transfer_ptr next = std::move(line->second.front());
      line->second.pop_front();
      if (line->second.empty()) lines_.erase(line);
      if (!next->is_begun) return next;
    }
    return nullptr;
  }

 private:
  template <class Body>
  void put(const transfer_ptr& more, Body body) {
    const auto line = lines_.try_emplace(more->loader).first;
    try {
      body(line->second);
    } catch (...) {
      if (line->second.empty()) lines_.erase(line);
      throw;
    }
  }

  std::map<std::uint64_t, std::deque<transfer_ptr>> lines_;  ///< keys are loaders; none is empty
  std::uint64_t last_ = 0;                                   ///< loader whose turn was last
};

}  // namespace feedline::detail
