/// The order of a loader's hints, where they become requests to other machines.

#include <feedline/device/host_device.hpp>
#include <feedline/sampler/sequential.hpp>

#include "io/far_reads.hpp"
#include "reader/read_ahead.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/stages.hpp"

#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::make_identity_dataset;
using feedline::test::stages;

namespace {

constexpr std::uint64_t hinted_samples = 96;

/// Records which samples were hinted, in order. The hint of sample 8 takes until `go_on`.
class slow_to_hint final : public dataset {
 public:
  slow_to_hint() : of_{make_identity_dataset(hinted_samples, 13)} {}

  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override { return of_->fields(); }
  bool wants_prefetch() const noexcept override { return true; }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    if (samples.front().value == 8) {
      begun_.set_value();
      go_on_.get_future().wait();
    }
    const std::lock_guard lock{mutex_};
    for (const sample_index each : samples) hinted_.push_back(each.value);
  }

  void await_slow() { begun_.get_future().wait(); }
  void go_on() { go_on_.set_value(); }
  [[nodiscard]] std::vector<std::uint64_t> hinted() const {
    const std::lock_guard lock{mutex_};
    return hinted_;
  }

 private:
  void do_read(const read_request& request) const override { of_->read(request); }

  dataset_ptr of_;
  mutable std::promise<void> begun_, go_on_;
  mutable std::mutex mutex_;
  mutable std::vector<std::uint64_t> hinted_;
};

}  // namespace

TEST_CASE("hints that become requests: one reader hints at a time, in order", "[remote][host]") {
  set_hints_are_requests();
  const auto data = std::make_shared<slow_to_hint>();
  // Requests of 4 samples, and hints of two batches more.
  const stages parts{make_host_device(),
                     data,
                     {.batch_size = 4, .expert = {.batches_per_slot = 1, .request_bytes = 4 * 21}}};
  const read_ahead ahead{parts.source, parts.slots};
  epoch_pass pass{0};
  const auto reads = [&](std::uint64_t first) {
    std::vector<sample_index> own;
    ahead.before_reading(pass, position{first}, position{first + 4}, own);
    return data->hinted();
  };
  std::thread one{[&] { (void)reads(0); }};
  data->await_slow();
  // Samples 4 to 7 are hinted, so their reader leaves the rest to the other one.
  CHECK(reads(4) == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7});
  // Samples 8 to 11 are not, so their reader waits.
  std::vector<std::uint64_t> seen;
  std::thread two{[&] { seen = reads(8); }};
  data->go_on();
  one.join();
  two.join();
  REQUIRE(seen.size() == 20);
  for (std::uint64_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == i);
}
