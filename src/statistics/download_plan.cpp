#include <feedline/statistics/download_plan.hpp>

#include "statistics/size_text.hpp"

#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

using detail::size_text;

std::string to_string(const download_plan& plan) {
  if (!plan.is_known) return {};
  std::string text = "epoch " + std::to_string(plan.epoch) + " downloads " +
                     size_text(plan.epoch_bytes) + " of " + size_text(plan.needed_bytes) +
                     ", each later one " + size_text(plan.later_bytes);
  if (plan.cache_bytes != 0) text += ", by a cache of " + size_text(plan.cache_bytes);
  const char* begin = "; with a cache of ";
  for (const auto& [bytes, later] : {std::pair{plan.larger_cache, plan.later_with_larger},
                                     std::pair{plan.whole_cache, plan.later_with_whole}}) {
    if (bytes == 0) continue;
    text += begin + size_text(bytes) + " " + size_text(later);
    begin = ", of ";
  }
  return text;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
