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
  void push(transfer_ptr more) {
    const std::uint64_t loader = more->loader;
    lines_[loader].push_back(std::move(more));
  }
  /// Before all others of its loader.
  void push_first(transfer_ptr more) {
    const std::uint64_t loader = more->loader;
    lines_[loader].push_front(std::move(more));
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
  std::map<std::uint64_t, std::deque<transfer_ptr>> lines_;  ///< keys are loaders; none is empty
  std::uint64_t last_ = 0;                                   ///< loader whose turn was last
};

}  // namespace feedline::detail
