#pragma once

#include <feedline/backend/device.hpp>

#include "bench/support/bare/cpu_gather.hpp"
#include "device/owned.hpp"

#include <array>
#include <cstddef>

namespace feedline::bench {

/// A ring of pinned pieces between threads that only gather and a GPU: the least that a loader can
/// be, written by hand for one order of rows, which is known beforehand, and no labels.
class bare_ring {
 public:
  /// @param gather Outlives this.
  bare_ring(device_ptr device, const cpu_gather& gather, int threads, row_copies copies);

  /// Bytes a second that reach the GPU. The calling thread issues the copies, and spins.
  [[nodiscard]] double rate(double seconds);

 private:
  static constexpr std::size_t pieces = 4;

  device_ptr device_;
  const cpu_gather& gather_;
  int threads_;
  row_copies copies_;
  std::size_t requests_;  ///< requests of a piece
  std::size_t piece_bytes_;
  detail::device_memory pinned_;
  detail::device_memory on_device_;
  detail::stream stream_;
  std::array<detail::event, pieces> copied_;
};

}  // namespace feedline::bench
