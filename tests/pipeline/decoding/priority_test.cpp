/// On streams of which priority slots are assembled.

#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "pipeline/decoding/loading.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/devices/wrapped_device.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Counts assemblies, and those on streams of high priority.
class counting_device final : public wrapped_device {
 public:
  using wrapped_device::wrapped_device;

  [[nodiscard]] stream_ref make_high_priority_stream() override {
    const std::scoped_lock lock{mutex_};
    return high_.emplace_back(wrapped_device::make_high_priority_stream());
  }
  void assemble(const assembly& work, stream_ref stream) override {
    {
      const std::scoped_lock lock{mutex_};
      ++assemblies_;
      if (std::ranges::find(high_, stream) != high_.end()) ++first_;
    }
    wrapped_device::assemble(work, stream);
  }

  [[nodiscard]] std::size_t assemblies() const {
    const std::scoped_lock lock{mutex_};
    return assemblies_;
  }
  [[nodiscard]] std::size_t first() const {
    const std::scoped_lock lock{mutex_};
    return first_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<stream_ref> high_;
  std::size_t assemblies_ = 0;
  std::size_t first_ = 0;
};

}  // namespace

TEST_CASE("decoding on the device: assemblies come before the decoding of others, traced or not",
          "[loader][host]") {
  const bool traced = GENERATE(false, true);
  CAPTURE(traced);
  const scripted on;
  const auto device = std::make_shared<counting_device>(on.device);
  {
    loader loader{make_encoded(make_identity_rows(sample_count, row_bytes), 16),
                  sequential{},
                  device,
                  {.batch_size = 16,
                   .decode_on = decode_on::device,
                   .expert = {.trace_events = traced ? std::size_t{1000} : 0}}};
    REQUIRE(loader.plan().decode_on == decode_on::device);
    CHECK(all_intact(consume(loader, on, 1).batches));
  }
  CHECK(device->assemblies() > 0);
  CHECK(device->first() == device->assemblies());
}

TEST_CASE("loader: assemblies have the usual priority where no blocks are decoded",
          "[loader][host]") {
  const scripted on;
  const auto device = std::make_shared<counting_device>(on.device);
  {
    loader loader{make_identity_rows(sample_count, row_bytes),
                  sequential{},
                  device,
                  {.batch_size = 16, .placement = placement::gather}};
    CHECK(all_intact(consume(loader, on, 1).batches));
  }
  CHECK(device->assemblies() > 0);
  CHECK(device->first() == 0);
}
