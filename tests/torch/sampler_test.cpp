#include <feedline/error.hpp>
#include <feedline/sampler/sampler.hpp>

#include "support/checks/message_of.hpp"
#include "support/checks/sampler_contract.hpp"
#include "torch/support.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

using namespace feedline;
using namespace feedline::test;
namespace samplers = torch::data::samplers;

namespace {

/// The indices of a sampler's next epoch, as libtorch's loader would draw them in batches of 7.
std::vector<std::uint64_t> drawn(samplers::Sampler<>& from) {
  std::vector<std::uint64_t> all;
  from.reset(std::nullopt);
  while (const auto some = from.next(7)) all.insert(all.end(), some->begin(), some->end());
  return all;
}

/// A sampler of libtorch's with an epoch of 3, then of 4 indices.
class growing final : public samplers::Sampler<> {
 public:
  void reset(std::optional<std::size_t> /*new_size*/) override { left_ = size_++; }
  std::optional<std::vector<std::size_t>> next(std::size_t /*batch_size*/) override {
    if (left_ == 0) return std::nullopt;
    return std::vector<std::size_t>{--left_};
  }
  void save(torch::serialize::OutputArchive& /*archive*/) const override {}
  void load(torch::serialize::InputArchive& /*archive*/) override {}

 private:
  std::size_t size_ = 3;
  std::size_t left_ = 0;
};

}  // namespace

TEST_CASE("torch: a sampler of libtorch's gives a loader the order it would give libtorch's",
          "[sampler][host]") {
  constexpr std::uint64_t samples = 10'000;  // more than are drawn at once
  samplers::RandomSampler shuffled{samples};
  torch::manual_seed(5);
  const sampler order = libtorch::draw_order(shuffled, 3);
  torch::manual_seed(5);
  CHECK(order.size(samples) == samples);
  std::vector<std::vector<std::uint64_t>> epochs;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    epochs.push_back(drawn(shuffled));
    CHECK(epoch_of(order, samples, epoch) == epochs.back());
    CHECK(times_of(epochs.back(), samples) == std::vector<std::uint64_t>(samples, 1));
  }
  CHECK(epochs[0] != epochs[1]);
  CHECK(epoch_of(order, samples, 3) == epochs[0]);
  CHECK(epoch_of(order, samples, 5) == epochs[2]);
}

TEST_CASE("torch: an order that was drawn is pure", "[sampler][host]") {
  samplers::RandomSampler shuffled{300};
  check_is_pure(libtorch::draw_order(shuffled, 2), 300);
  samplers::SequentialSampler in_turn{300};
  const sampler order = libtorch::draw_order(in_turn);
  check_is_pure(order, 300);
  CHECK(run_of(order, 300, 9, 17, 3) == std::vector<std::uint64_t>{17, 18, 19});
}

TEST_CASE("torch: a distributed sampler gives each rank its own part, another in each epoch",
          "[sampler][host]") {
  constexpr std::uint64_t samples = 100;
  std::vector<std::uint64_t> seen;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    samplers::DistributedRandomSampler part{samples, 4, rank};
    const sampler order = libtorch::draw_order(part, 2);
    CHECK(order.size(samples) == 25);
    const auto first = epoch_of(order, samples, 0);
    seen.insert(seen.end(), first.begin(), first.end());
    const auto second = epoch_of(order, samples, 1);
    CHECK(first != second);
    part.set_epoch(1);
    CHECK(second == drawn(part));
  }
  CHECK(times_of(seen, samples) == std::vector<std::uint64_t>(samples, 1));
}

TEST_CASE("torch: a sampler of libtorch's that no order can be made of is refused",
          "[sampler][host]") {
  samplers::SequentialSampler none{0};
  CHECK_THROWS_AS(libtorch::draw_order(none), usage_error);
  samplers::SequentialSampler some{5};
  CHECK_THROWS_AS(libtorch::draw_order(some, 0), usage_error);
  CHECK_THROWS_AS(libtorch::draw_order(some).size(4), usage_error);
  growing other_lengths;
  CHECK(message_of<usage_error>([&] { (void)libtorch::draw_order(other_lengths, 2); }) ==
        "libtorch's sampler has 4 indices in epoch 1 and 3 in epoch 0: a loader's epochs have one "
        "length");
}
