#pragma once

#include "cpu.hpp"
#include "launch.hpp"

#include <algorithm>
#include <barrier>
#include <vector>

namespace mnist {

/// A meeting point where ranks that are threads of one process add up their values.
class cpu_team {
 public:
  explicit cpu_team(const process_ranks& ranks)
      : arrived_{static_cast<std::ptrdiff_t>(ranks.here.size())}, values_(ranks.here.size()) {}

  /// Gives every rank the sum, added in the order of ranks. All must call it alike.
  template <class Value>
  void sum(int rank, Value* values, std::size_t count) {
    values_[static_cast<std::size_t>(rank)] = values;
    arrived_.arrive_and_wait();
    if (rank == 0) {
      for (std::size_t other = 1; other < values_.size(); ++other)
        for (std::size_t i = 0; i < count; ++i) values[i] += static_cast<Value*>(values_[other])[i];
      for (std::size_t other = 1; other < values_.size(); ++other)
        std::copy_n(values, count, static_cast<Value*>(values_[other]));
    }
    arrived_.arrive_and_wait();
  }

 private:
  std::barrier<> arrived_;
  std::vector<void*> values_;  // one for each rank
};

/// The CPU as one of several ranks, which are threads.
class cpu_rank : public cpu {
 public:
  using team = cpu_team;

  explicit cpu_rank(const rank& self) : share_{self.share} {}
  /// Sums are over this rank alone until it joins.
  void join(cpu_team& all) { team_ = &all; }
  const feedline::shard& share() const { return share_; }

  template <class Value>
  void sum(Value* values, std::size_t count) {
    if (team_ != nullptr) team_->sum(share_.rank, values, count);
  }
  void sum_on_host(std::vector<unsigned long long>& values) { sum(values.data(), values.size()); }

 private:
  feedline::shard share_;
  cpu_team* team_ = nullptr;
};

}  // namespace mnist
