#include "reader/batch_sizer.hpp"

#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using feedline::detail::batch_sizer;
using feedline::detail::sample_source;

namespace {

/// The height of a batch is 1 + its first sample, its width 1 + the epoch. Records what is asked.
struct recorded_sizes final : batch_sizes {
  [[nodiscard]] image_size largest() const override { return {90, 9}; }
  [[nodiscard]] bool depends_on_samples() const override { return true; }
  [[nodiscard]] image_size of(const sized_batch& batch) const override {
    asked.emplace_back(batch.epoch, batch.number);
    return {static_cast<std::uint32_t>(1 + batch.samples.front().value),
            static_cast<std::uint32_t>(1 + batch.epoch)};
  }

  mutable std::vector<std::pair<std::uint64_t, std::uint64_t>> asked = {};
};

/// In order; throws while `is_broken`.
struct breaking_order {
  static std::uint64_t size(std::uint64_t samples) { return samples; }
  void indices(std::uint64_t, std::uint64_t, position first, std::span<sample_index> out) const {
    if (*is_broken) throw std::runtime_error{"broken"};
    for (sample_index& each : out) each = sample_index{first.value++};
  }

  std::shared_ptr<bool> is_broken = std::make_shared<bool>(false);
};

struct sized {
  std::shared_ptr<recorded_sizes> sizes = std::make_shared<recorded_sizes>();
  breaking_order order = {};
  sample_source source{make_identity_dataset(100, 4), order};
  batch_sizer under_test{sizes, source, 10, 95};
};

}  // namespace

TEST_CASE("batch_sizer: a size is asked for once, although two ask", "[reader][host]") {
  sized with;
  CHECK(with.under_test.of(0, 2) == image_size{21, 1});
  CHECK(with.under_test.of(0, 2) == image_size{21, 1});
  const auto ticket = with.under_test.of_ticket(0, 1, 3);
  CHECK(ticket->batch_size == 10);
  CHECK(ticket->of_batches == std::vector<image_size>{{11, 1}, {21, 1}, {31, 1}});
  CHECK(with.under_test.of(0, 3) == image_size{31, 1});
  CHECK(with.sizes->asked ==
        std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 2}, {0, 1}, {0, 3}});
}

TEST_CASE("batch_sizer: batches before a ticket are forgotten, and so are other epochs",
          "[reader][host]") {
  sized with;
  (void)with.under_test.of_ticket(0, 0, 2);
  (void)with.under_test.of_ticket(0, 2, 1);
  with.sizes->asked.clear();
  CHECK(with.under_test.of(0, 2) == image_size{21, 1});
  CHECK(with.sizes->asked.empty());
  CHECK(with.under_test.of(0, 1) == image_size{11, 1});  // a seek asks again
  CHECK(with.sizes->asked.size() == 1);
  CHECK(with.under_test.of(1, 2) == image_size{21, 2});
  CHECK(with.under_test.of(0, 2) == image_size{21, 1});
  CHECK(with.sizes->asked.size() == 3);
}

TEST_CASE("batch_sizer: if the sampler fails, the size is the largest for this time",
          "[reader][host]") {
  sized with;
  *with.order.is_broken = true;
  CHECK(with.under_test.of(0, 2) == with.sizes->largest());
  *with.order.is_broken = false;
  CHECK(with.under_test.of(0, 2) == image_size{21, 1});
  CHECK(with.sizes->asked.size() == 1);
}

TEST_CASE("batch_sizer: a size above the largest is refused each time", "[reader][host]") {
  sized with;
  for (int i = 0; i < 2; ++i)
    CHECK(message_of<usage_error>([&] {
            (void)with.under_test.of(0, 9);
          }).starts_with("batch_sizes::of gives batch 9 of epoch 0 the size 91 x 1, but"));
}
