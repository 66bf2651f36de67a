#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/sampler/sampler.hpp>

#include "programs/doctor/findings.hpp"
#include "programs/doctor/gpu.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace doctor {

/// Upper limit of unreadable samples that are reported.
inline constexpr std::size_t max_damages = 10;

/// Leaves out samples that cannot be read, however many.
[[nodiscard]] inline feedline::error_policy skipping() {
  return {.action = feedline::error_action::skip, .max_share = 1, .listed = max_damages};
}

/// Adds what is not there yet, as far as there is room.
/// @param what In the library's words.
void note_damage(std::vector<damage>& damages, std::optional<std::uint64_t> sample,
                 const std::string& what);

/// When a measurement ends: with the first that is reached, but not before something was measured.
struct limits {
  seconds time{1};
  std::uint64_t samples = std::uint64_t{1} << 23;
  bool one_epoch = false;  ///< at the latest with the first epoch
  /// Measure only what follows the first epoch, if this ends within three times the time.
  bool later = false;
};

/// @param paths Files and folders.
[[nodiscard]] storage_facts examine_storage(const std::vector<std::string>& paths);

/// The rate of copies of 8 MiB from pinned memory.
/// @throws feedline::device_error
[[nodiscard]] device_facts measure_copies(gpu& on, seconds time);

/// Takes batches, and computes on each for a time: a kernel on the GPU, or a pause on the host.
/// @param on Null: the host.
/// @param step 0: none.
[[nodiscard]] loop_facts measure_loop(const feedline::dataset_ptr& samples,
                                      const feedline::sampler& order,
                                      const feedline::loader_options& options, gpu* on,
                                      std::chrono::nanoseconds step, const limits& until,
                                      std::vector<damage>& damages);

}  // namespace doctor
