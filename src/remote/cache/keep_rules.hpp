#pragma once

#include "remote/cache/use_times.hpp"

#include <cstdint>
#include <optional>

namespace feedline::detail {

/// Decides about a block by when it is needed: the rules of `object_cache` and of its
/// simulation. Pure functions. Times are on the clock of `use_times`.
namespace keep_rules {

/// Whether a block is to be kept, as far as the order says.
struct wish {
  bool is_wanted = true;
  bool may_replace = false;
  bool may_be_in_memory = true;  ///< other ranks' processes would fetch it, too
  double reuse_end = 0;          ///< the end of the epoch that needs it again
};

/// @param bytes Size of the block.
[[nodiscard]] inline wish judge(const use_times::answer& all, std::uint64_t bytes,
                                double clock) noexcept {
  if (!all.is_known) return {};
  // Without another use it is not worth its room, and with few used bytes it costs more than it
  // saves.
  const bool is_reused = all.reuse != use_times::never || !all.sees_reuse;
  if (!is_reused || 2 * all.bytes < bytes) return {.is_wanted = false};
  return {.is_wanted = true,
          .may_replace = all.reuse != use_times::never,
          .may_be_in_memory = !all.is_shared,
          .reuse_end = clock + all.reuse_end};
}

/// When a cached block is needed next; nothing: no loader is known that needs it.
[[nodiscard]] inline std::optional<double> needed_at(const use_times::answer& all,
                                                     double clock) noexcept {
  if (!all.is_of_loader) return std::nullopt;
  const double reuse = all.sees_reuse || all.reuse != use_times::never ? all.reuse : 1;
  return clock + (all.is_in_use || all.next == use_times::never ? reuse : all.next);
}

}  // namespace keep_rules
}  // namespace feedline::detail
