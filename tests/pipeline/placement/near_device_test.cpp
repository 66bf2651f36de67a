/// On which cores a loader's threads run.

#include <feedline/backend/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "detail/cores.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/devices/wrapped_device.hpp"

#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using feedline::detail::allowed_cores;
using feedline::detail::core_list;

namespace {

/// A device near some cores, which notes the cores of threads that begin.
class near_device final : public wrapped_device {
 public:
  near_device(device_ptr real, core_list near)
      : wrapped_device{std::move(real)}, near_{std::move(near)} {}

  device_capabilities capabilities() const override {
    device_capabilities all = wrapped_device::capabilities();
    all.near_cores = near_;
    return all;
  }
  void begin_thread() noexcept override {
    const std::scoped_lock lock{mutex_};
    begun_.push_back(allowed_cores());
  }
  std::vector<core_list> begun() const {
    const std::scoped_lock lock{mutex_};
    return begun_;
  }

 private:
  const core_list near_;
  mutable std::mutex mutex_;
  std::vector<core_list> begun_;
};

struct run {
  std::vector<core_list> threads;  ///< cores of the threads as they began
  std::set<core_list> reads;       ///< cores of all reads
};

/// @param near The device's cores.
run deliver(core_list near, const loader_options& options) {
  run seen;
  const scripted on;
  const auto device = std::make_shared<near_device>(on.device, std::move(near));
  {
    std::mutex mutex;
    const auto data = gated(make_identity_rows(64, 16), [&](auto) {
      const std::scoped_lock lock{mutex};
      seen.reads.insert(allowed_cores());
    });
    loader loader{data, sequential{}, device, options};
    for (const batch& batch : loader.epoch(0, on.stream)) CHECK(batch.size() == 8);
  }
  seen.threads = device->begun();
  return seen;
}

}  // namespace

TEST_CASE("near device: reader and transfer run on the device's cores, the caller as before",
          "[loader][host]") {
  const core_list allowed = allowed_cores();
  if (allowed.size() == 1) FEEDLINE_SKIP("this process may use one core alone");
  const core_list near{allowed.back()};
  const run bound = deliver(near, {.batch_size = 8, .readers = 1});
  CHECK(bound.reads == std::set{near});
  CHECK(bound.threads == std::vector<core_list>{near, near});
  CHECK(allowed_cores() == allowed);
}

TEST_CASE("near device: all threads run anywhere, if readers are more than its cores",
          "[loader][host]") {
  const core_list allowed = allowed_cores();
  const run free = deliver({allowed.back()}, {.batch_size = 8, .readers = 2});
  CHECK(free.reads == std::set{allowed});
  CHECK(free.threads == std::vector<core_list>{allowed, allowed, allowed});
}

TEST_CASE("near device: a calling thread that reads by itself keeps its cores", "[loader][host]") {
  const core_list allowed = allowed_cores();
  const run alone = deliver({allowed.back()}, {.batch_size = 8, .readers = no_readers});
  CHECK(alone.reads == std::set{allowed});
  CHECK(alone.threads.empty());
  CHECK(allowed_cores() == allowed);
}
