#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/semaphore.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace feedline::test {

/// 1000 samples that hold their own numbers.
class numbers final : public dataset {
 public:
  using hook = std::function<void()>;
  explicit numbers(hook before_read = {}, hook at_end = {})
      : before_read_{std::move(before_read)}, at_end_{std::move(at_end)} {}
  numbers(const numbers&) = delete;
  numbers& operator=(const numbers&) = delete;
  ~numbers() override {
    if (at_end_) at_end_();
  }
  [[nodiscard]] std::uint64_t size() const override { return 1000; }
  [[nodiscard]] std::vector<field> fields() const override {
    return {{"number", element_type::u64, {}}};
  }
  void do_read(const read_request& request) const override {
    if (before_read_) before_read_();
    std::memcpy(request.out[0].data(), request.samples.data(), request.samples.size_bytes());
  }

 private:
  hook before_read_;
  hook at_end_;
};

/// Whether a loader of this copy of the library, with threads, delivers two epochs as it must.
[[nodiscard]] inline bool delivers() {
  loader loader{std::make_shared<const numbers>(),
                shuffle{.seed = 1},
                make_host_device(),
                {.batch_size = 8, .epochs = 2, .readers = 2, .expert = {.batches_per_slot = 1}}};
  std::uint64_t batches = 0;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    for (const batch& taken : loader.epoch(epoch)) {
      const auto expected = taken.samples();
      const auto bytes = taken["number"].bytes();
      if (std::memcmp(expected.data(), bytes.data(), bytes.size()) != 0) return false;
      ++batches;
    }
  }
  return batches == 2 * 125;
}

/// Leaves a loader while a read of it waits for `gate`. Posts `ended` once nothing of it is left.
inline void leave_read(semaphore& gate, semaphore& ended) {
  std::atomic<bool> reading{false};
  const auto data = std::make_shared<const numbers>(
      [&reading, &gate, first = std::make_shared<std::atomic<bool>>(true)] {
        if (first->exchange(false)) {
          reading = true;
          reading.notify_all();
        }
        gate.pass();
      },
      [&ended] { ended.post(); });
  loader loader{data,
                shuffle{.seed = 1},
                make_host_device(),
                {.batch_size = 8,
                 .epochs = 1,
                 .readers = 2,
                 .expert = {.leave_reads_after = std::chrono::milliseconds{10}}}};
  reading.wait(false);
}

}  // namespace feedline::test
