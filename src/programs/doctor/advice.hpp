#pragma once

#include <feedline/loader/placement.hpp>

#include "programs/doctor/findings.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace doctor {

/// The options that suit the measurements, and why.
struct advice {
  int readers = 1;
  feedline::placement placement = feedline::placement::stream;
  std::size_t device_cache_bytes = 0;        ///< `memory_limits::cache`
  std::optional<std::uint64_t> window = {};  ///< chunks of `shuffle{.within = …}`; empty: none
  bool load_into_memory = false;
  bool skip_damaged = false;              ///< samples that cannot be read are left out
  seconds batch{};                        ///< expected time of a batch, by the measured numbers
  std::vector<std::string> reasons = {};  ///< one for each choice
  std::vector<std::string> hints = {};    ///< further options worth trying
};

/// A pure function: the same numbers give the same advice.
/// @param measured All but `loops` is looked at.
[[nodiscard]] advice advise(const findings& measured);

}  // namespace doctor
