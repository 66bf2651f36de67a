/// The order of a loader's hints, where they become requests to other machines.

#include <feedline/device/host_device.hpp>
#include <feedline/sampler/sequential.hpp>

#include "io/far_reads.hpp"
#include "reader/read_ahead.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/stages.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
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
  bool hints_ranges() const noexcept override { return true; }
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
  /// The plan has recorded some hints.
  void forget() {
    const std::lock_guard lock{mutex_};
    hinted_.clear();
  }
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
  set_far_hint_bytes(0);
  const auto data = std::make_shared<slow_to_hint>();
  // Requests of 4 samples, and hints of two batches more.
  const stages parts{make_host_device(),
                     data,
                     {.batch_size = 4, .expert = {.batches_per_slot = 1, .request_bytes = 4 * 21}}};
  const read_ahead ahead{parts.source, parts.slots};
  data->forget();
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

namespace {

/// Records which samples were hinted; some hints wait.
class hinted_by_hand final : public dataset {
 public:
  using on_hint = std::function<void(std::uint64_t first)>;
  explicit hinted_by_hand(on_hint before)
      : of_{make_identity_dataset(hinted_samples, 13)}, before_{std::move(before)} {}

  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override { return of_->fields(); }
  bool wants_prefetch() const noexcept override { return true; }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    before_(samples.front().value);
    const std::lock_guard lock{mutex_};
    for (const sample_index each : samples) ++times_[each.value];
  }
  [[nodiscard]] std::map<std::uint64_t, int> times() const {
    const std::lock_guard lock{mutex_};
    return times_;
  }

 private:
  void do_read(const read_request& request) const override { of_->read(request); }

  dataset_ptr of_;
  on_hint before_;
  mutable std::mutex mutex_;
  mutable std::map<std::uint64_t, int> times_;
};

loader_options four_at_a_time() {
  return {.batch_size = 4, .expert = {.batches_per_slot = 1, .request_bytes = 4 * 21}};
}

}  // namespace

TEST_CASE("hints that become requests: a prefetch that blocks stops no other reader",
          "[remote][host]") {
  set_hints_are_requests();
  set_far_hint_bytes(0);
  std::promise<void> begun;
  std::promise<void> go_on;
  const auto data = std::make_shared<hinted_by_hand>([&](std::uint64_t first) {
    if (first != 0) return;
    begun.set_value();
    go_on.get_future().wait();
  });
  const stages parts{make_host_device(), data, four_at_a_time()};
  const read_ahead ahead{parts.source, parts.slots};
  epoch_pass pass{0};
  const auto reads = [&](std::uint64_t first) {
    std::vector<sample_index> own;
    ahead.before_reading(pass, position{first}, position{first + 4}, own);
  };
  std::thread one{[&] { reads(0); }};
  begun.get_future().wait();
  auto two = std::async(std::launch::async, [&] { reads(4); });
  const bool goes_on = two.wait_for(std::chrono::seconds{20}) == std::future_status::ready;
  CHECK(goes_on);
  CHECK(data->times().empty());
  go_on.set_value();
  one.join();
  two.wait();
  for (const auto& [sample, times] : data->times()) {
    CHECK((sample < 4 || sample >= 8));  // those are read by then
    CHECK(times == 1);
  }
  CHECK(data->times().size() == 8);
}

TEST_CASE("hints that become requests while readers hint: no sample is hinted twice",
          "[remote][host]") {
  set_hints_are_requests(false);
  set_far_hint_bytes(0);
  std::promise<void> first_hints;
  std::promise<void> second_is_on;  // it hints, too, or does without
  std::promise<void> first_ends;
  const auto second_goes_on = second_is_on.get_future().share();
  const auto first_has_ended = first_ends.get_future().share();
  std::atomic<bool> was_told{false};
  const auto tell = [&] {
    if (!was_told.exchange(true)) second_is_on.set_value();
  };
  std::thread::id second;
  std::mutex mutex;
  const auto data = std::make_shared<hinted_by_hand>([&](std::uint64_t first) {
    if (first == 0) {
      first_hints.set_value();
      second_goes_on.wait();
      return;
    }
    const bool is_second = [&] {
      const std::lock_guard lock{mutex};
      return std::this_thread::get_id() == second;
    }();
    if (!is_second) return;
    tell();
    first_has_ended.wait();
  });
  const stages parts{make_host_device(), data, four_at_a_time()};
  const read_ahead ahead{parts.source, parts.slots};
  epoch_pass pass{0};
  const auto reads = [&](std::uint64_t first) {
    std::vector<sample_index> own;
    ahead.before_reading(pass, position{first}, position{first + 4}, own);
  };
  std::thread one{[&] {
    reads(0);
    first_ends.set_value();
  }};
  first_hints.get_future().wait();
  set_hints_are_requests();
  std::thread two{[&] {
    {
      const std::lock_guard lock{mutex};
      second = std::this_thread::get_id();
    }
    reads(4);
    tell();
  }};
  one.join();
  two.join();
  for (const auto& [sample, times] : data->times()) CHECK(times == 1);
  CHECK(pass.hinted.load() >= 12);
}
