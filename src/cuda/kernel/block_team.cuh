#pragma once

#include "cuda/kernel/warp.cuh"

#include <cstdint>

namespace feedline::detail {

/// A team as `jpeg_scan_segments` needs it, made of some warps of a thread block. Each team of a
/// block has its own barrier, so teams do not wait for each other.
template <std::uint32_t Lanes>
class block_team {
 public:
  static constexpr std::uint32_t lanes = Lanes;
  static constexpr std::uint32_t max_teams = 16;  ///< barriers in a thread block: one a team
  static_assert(lanes % warp_team::width == 0);

  /// The calling thread's team in its thread block, and the thread's index in the team.
  __device__ static std::uint32_t number() { return threadIdx.x / lanes; }
  __device__ static std::uint32_t lane() { return threadIdx.x % lanes; }

  template <class T>
  using per_lane = lane_values<T>;

  /// Shared memory of one team.
  struct memory {
    std::uint64_t of_lane[lanes];
    std::uint32_t of_warp[lanes / warp_team::width];
  };

  __device__ explicit block_team(memory& shared) : shared_{shared} {}

  template <class Function>
  __device__ void each(Function f) {
    f(lane());
    sync();
  }
  template <class Function>
  __device__ bool once(Function f) {
    return sync_or(lane() == 0 && f());
  }
  __device__ bool any(const per_lane<bool>& values) { return sync_or(values.own); }
  __device__ std::uint32_t least(const per_lane<std::uint32_t>& values) {
    gather(warp_team::least(values.own));
    std::uint32_t least = shared_.of_warp[0];
    for (const std::uint32_t each : shared_.of_warp) least = min(least, each);
    return least;
  }
  __device__ std::uint32_t sum(const per_lane<std::uint32_t>& values) {
    gather(warp_team::sum(values.own));
    std::uint32_t sum = 0;
    for (const std::uint32_t each : shared_.of_warp) sum += each;
    return sum;
  }
  __device__ per_lane<std::uint32_t> sum_before(const per_lane<std::uint32_t>& values) {
    std::uint32_t sum = warp_team::sum_before(values.own);
    gather(warp_team::from(sum + values.own, warp_team::width - 1));
    for (std::uint32_t warp = 0; warp < lane() / warp_team::width; ++warp)
      sum += shared_.of_warp[warp];
    return {sum};
  }
  __device__ per_lane<std::uint64_t> before(const per_lane<std::uint64_t>& values) {
    sync();
    shared_.of_lane[lane()] = values.own;
    sync();
    return {shared_.of_lane[lane() == 0 ? 0 : lane() - 1]};
  }
  /// Waits for all threads of the team.
  __device__ void sync() {
    asm volatile("bar.sync %0, %1;" ::"r"(number()), "n"(lanes) : "memory");
  }

 private:
  /// Stores a value of each warp in shared memory.
  __device__ void gather(std::uint32_t value) {
    sync();
    if (warp_team::lane() == 0) shared_.of_warp[lane() / warp_team::width] = value;
    sync();
  }
  /// Waits for all threads of the team. @return Whether `says` is true in any thread.
  __device__ bool sync_or(bool says) {
    std::uint32_t any = 0;
    asm volatile(
        "{\n\t"
        ".reg .pred own, any;\n\t"
        "setp.ne.u32 own, %3, 0;\n\t"
        "bar.red.or.pred any, %1, %2, own;\n\t"
        "selp.u32 %0, 1, 0, any;\n\t"
        "}"
        : "=r"(any)
        : "r"(number()), "n"(lanes), "r"(static_cast<std::uint32_t>(says))
        : "memory");
    return any != 0;
  }

  memory& shared_;
};

}  // namespace feedline::detail
