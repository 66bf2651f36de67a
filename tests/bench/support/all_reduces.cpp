#include "bench/support/all_reduces.hpp"

#include "cuda/check.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <nccl.h>

namespace feedline::bench {
namespace {

void check(ncclResult_t result, const std::string& call) {
  if (result != ncclSuccess)
    throw std::runtime_error{call + " failed: " + ncclGetErrorString(result) + ": " +
                             ncclGetLastError(nullptr)};
}

}  // namespace

class all_reduces::engine {
 public:
  engine(int gpus, std::size_t bytes) : floats_{bytes / sizeof(float)}, ends_(as_size(gpus)) {
    std::vector<ncclComm_t> members(ends_.size());
    check(ncclCommInitAll(members.data(), gpus, nullptr), "ncclCommInitAll");
    for (int gpu = 0; gpu < gpus; ++gpu) {
      end& at = ends_[as_size(gpu)];
      at.member = members[as_size(gpu)];
      FEEDLINE_CUDA_CHECK(cudaSetDevice(gpu));
      FEEDLINE_CUDA_CHECK(cudaMalloc(&at.values, bytes));
      FEEDLINE_CUDA_CHECK(cudaMemset(at.values, 0, bytes));
      FEEDLINE_CUDA_CHECK(cudaStreamCreateWithFlags(&at.stream, cudaStreamNonBlocking));
      for (cudaEvent_t& event : at.reduced)
        FEEDLINE_CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
    issue(0);  // the first one connects the GPUs
    wait_for(0);
    done_ = 0;
  }
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  ~engine() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    for (const end& at : ends_) {  // the program ends: errors are ignored
      ncclCommDestroy(at.member);
      for (const cudaEvent_t event : at.reduced) cudaEventDestroy(event);
      cudaStreamDestroy(at.stream);
      cudaFree(at.values);
    }
  }

  void start() {
    const std::scoped_lock lock{mutex_};
    if (!thread_.joinable()) thread_ = std::thread{[this] { run(); }};
  }
  std::uint64_t done() {
    const std::scoped_lock lock{mutex_};
    if (failure_) std::rethrow_exception(failure_);
    return done_;
  }

 private:
  static constexpr std::uint64_t ahead = 4;

  struct end {
    ncclComm_t member = nullptr;
    float* values = nullptr;
    cudaStream_t stream = nullptr;
    std::array<cudaEvent_t, ahead> reduced{};
  };
  static std::size_t as_size(int number) { return static_cast<std::size_t>(number); }

  /// One thread issues for all GPUs, so that all of them have the same number.
  void run() {
    try {
      std::uint64_t issued = 0;
      while (!stop_) {
        if (issued >= ahead) wait_for(issued - ahead);
        issue(issued++);
      }
      for (; done_ < issued; wait_for(done_)) {
      }
    } catch (...) {
      const std::scoped_lock lock{mutex_};
      failure_ = std::current_exception();
    }
  }
  void issue(std::uint64_t number) {
    check(ncclGroupStart(), "ncclGroupStart");
    for (const end& at : ends_)
      check(ncclAllReduce(at.values, at.values, floats_, ncclFloat, ncclSum, at.member, at.stream),
            "ncclAllReduce");
    check(ncclGroupEnd(), "ncclGroupEnd");
    for (const end& at : ends_)
      FEEDLINE_CUDA_CHECK(cudaEventRecord(at.reduced[number % ahead], at.stream));
  }
  void wait_for(std::uint64_t number) {
    for (const end& at : ends_)
      FEEDLINE_CUDA_CHECK(cudaEventSynchronize(at.reduced[number % ahead]));
    done_ = number + 1;
  }

  std::size_t floats_;
  std::vector<end> ends_;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

all_reduces::all_reduces(int gpus, std::size_t bytes)
    : engine_{std::make_unique<engine>(gpus, bytes)} {}
all_reduces::~all_reduces() = default;

void all_reduces::start() {
  engine_->start();
}
std::uint64_t all_reduces::done() const {
  return engine_->done();
}

}  // namespace feedline::bench
