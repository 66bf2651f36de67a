#pragma once

#include "cuda_support.cuh"
#include "wait_meter.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace mnist {

/// For a loop that computes on a GPU: how long the compute stream stood still for data.
///
/// The host's clock would mislead, both ways. Taking a batch does not block the host while its copy
/// is under way: it makes the *stream* wait, which the host never notices. And a host that is far
/// ahead of the GPU may well block for the next batch: as long as the stream has work queued, that
/// costs nothing. So the measuring is done where the waiting is: an event on the compute stream
/// before the batch is taken, one after. The GPU passes the first when the work before it is done,
/// the second when the batch is there too.
///
/// What is found is a little high: two events with nothing between them lie about a microsecond
/// apart.
class cuda_wait_meter final : public wait_meter {
 public:
  explicit cuda_wait_meter(std::shared_ptr<const cuda_stream> stream);
  ~cuda_wait_meter() override;

  void begin() override;
  void end() override;
  [[nodiscard]] seconds take() override;

 private:
  struct mark {
    cudaEvent_t before = nullptr;
    cudaEvent_t after = nullptr;
  };

  void count_oldest();
  void destroy() noexcept;

  std::shared_ptr<const cuda_stream> stream_;
  std::vector<mark> marks_;  // a ring; used marks are counted when it is full, and by `take`
  std::size_t next_ = 0;
  std::size_t pending_ = 0;
  seconds waited_{};
};

}  // namespace mnist
