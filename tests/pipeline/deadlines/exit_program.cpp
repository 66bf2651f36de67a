/// A process that exits during an abandoned read: the read returns while static objects are
/// destroyed. Its dataset must not be destroyed then. Fails if it is.

#include <feedline/dataset/dataset.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/semaphore.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

std::atomic<bool> is_read{false};
std::atomic<bool> may_return{false};
std::atomic<bool> returned{false};
feedline::test::semaphore destroyed;

class hanging_dataset final : public feedline::dataset {
 public:
  hanging_dataset() = default;
  hanging_dataset(const hanging_dataset&) = delete;
  hanging_dataset& operator=(const hanging_dataset&) = delete;
  ~hanging_dataset() override { destroyed.post(); }

  [[nodiscard]] std::uint64_t size() const override { return 8; }
  [[nodiscard]] std::vector<feedline::field> fields() const override {
    return {{"x", feedline::element_type::u8, {}}};
  }
  void do_read(const feedline::read_request& request) const override {
    is_read.store(true);
    is_read.notify_all();
    may_return.wait(false);
    for (std::size_t i = 0; i < request.samples.size(); ++i) request.out[0][i] = std::byte{1};
    returned.store(true);
    returned.notify_all();
  }
};

/// Destroyed when the process has begun to exit.
struct last_moments {
  ~last_moments() {
    may_return.store(true);
    may_return.notify_all();
    returned.wait(false);
    // The thread continues from here. Nothing it does can be waited for, so it is given time.
    if (!destroyed.wait_for(std::chrono::milliseconds{200})) return;
    std::fputs("the dataset was destroyed while the process exited\n", stderr);
    std::_Exit(1);
  }
} const at_the_end;

}  // namespace

int main() {
  feedline::loader loader{std::make_shared<hanging_dataset>(),
                          feedline::sequential{},
                          feedline::make_host_device(),
                          {.batch_size = 8,
                           .readers = 1,
                           .expert = {.leave_reads_after = std::chrono::milliseconds{1}}}};
  const auto range = loader.epoch(0);
  is_read.wait(false);
  return 0;  // destroys the range; the loader abandons the read
}
