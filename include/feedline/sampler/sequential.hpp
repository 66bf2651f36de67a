#pragma once

#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstdint>
#include <span>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Every sample once, in the dataset's order, the same in every epoch.
struct sequential {
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const noexcept { return samples; }
  void indices(std::uint64_t /*samples*/, std::uint64_t /*epoch*/, position first,
               std::span<sample_index> out) const noexcept {
    for (sample_index& sample : out) sample = sample_index{first.value++};
  }
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
