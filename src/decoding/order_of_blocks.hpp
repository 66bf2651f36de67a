#pragma once

#include "decoding/block_plan.hpp"
#include "reader/read_ahead.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace feedline::detail {

/// The blocks of a plan in the order in which they are read, for hints.
class order_of_blocks final : public hinted_blocks {
 public:
  order_of_blocks(std::shared_ptr<const block_plan> plan, std::uint64_t batch_size)
      : plan_{std::move(plan)}, batch_size_{batch_size} {}

  [[nodiscard]] std::uint64_t count() const noexcept override { return plan_->order.blocks(); }
  [[nodiscard]] std::uint64_t usual_bytes() const noexcept override {
    return std::max<std::size_t>(plan_->usual_bytes, 1);
  }
  [[nodiscard]] std::uint64_t first_of(const epoch_pass& pass) const noexcept override {
    if (pass.first_batch == 0) return 0;
    return plan_->order.window_of(pass.epoch, position{pass.first_batch * batch_size_}).first_place;
  }
  [[nodiscard]] std::uint64_t index_of(position needed) const noexcept override {
    return needed.value / plan_->order.rows();
  }
  void samples(std::uint64_t epoch, std::uint64_t begin, std::uint64_t end,
               std::vector<sample_index>& out) const override {
    out.resize(end - begin);
    plan_->order.blocks(epoch, begin, out);
    std::erase(out, block_order::none);
    for (sample_index& each : out) each.value *= plan_->order.rows();
  }

 private:
  const std::shared_ptr<const block_plan> plan_;
  const std::uint64_t batch_size_;
};

}  // namespace feedline::detail
