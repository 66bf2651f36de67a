#pragma once

#include <cuda_runtime_api.h>

namespace feedline::test {

/// Holds streams on the GPU until the host opens it: a kernel that spins on a flag in mapped
/// memory.
///
/// While it holds a stream, calls that wait for the whole device (cudaFree, cudaDeviceSynchronize)
/// wait for it too.
class gpu_gate {
 public:
  gpu_gate();
  gpu_gate(const gpu_gate&) = delete;
  gpu_gate& operator=(const gpu_gate&) = delete;
  /// Opens, and waits until nothing is held.
  ~gpu_gate();

  /// Work issued on `stream` after this waits for the gate.
  void hold(cudaStream_t stream);
  /// Releases everything held, and everything held later.
  void open();

 private:
  volatile int* flag_ = nullptr;
};

}  // namespace feedline::test
