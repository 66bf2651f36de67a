#include "cuda/page_uses.hpp"

#include <algorithm>
#include <iterator>

namespace feedline::detail {

void page_uses::add(range pages) {
  if (pages.begin == pages.end) return;
  uses pinned;
  try {
    for (const range gap : gaps_in(pages)) {
      for (const piece& each : pin_(gap))
        pinned.emplace(each.pages.begin, use{each.pages.end, each.ours, 0});
    }
  } catch (...) {
    for (const auto& [begin, each] : pinned) {
      if (each.ours) unpin_({begin, each.end});
    }
    throw;
  }
  uses_.merge(pinned);
  for (auto each = first_in(pages); each != uses_.end() && each->first < pages.end; ++each)
    ++each->second.count;
}

void page_uses::remove(range pages) noexcept {
  if (pages.begin == pages.end) return;
  auto each = first_in(pages);
  while (each != uses_.end() && each->first < pages.end) {
    if (--each->second.count != 0) {
      ++each;
      continue;
    }
    if (each->second.ours) unpin_({each->first, each->second.end});
    each = uses_.erase(each);
  }
}

page_uses::uses::iterator page_uses::first_in(range pages) {
  auto each = uses_.upper_bound(pages.begin);
  if (each != uses_.begin() && std::prev(each)->second.end > pages.begin) --each;
  return each;
}

std::vector<page_uses::range> page_uses::gaps_in(range pages) {
  std::vector<range> gaps;
  std::uintptr_t at = pages.begin;
  for (auto each = first_in(pages); each != uses_.end() && each->first < pages.end; ++each) {
    if (each->first > at) gaps.push_back({at, each->first});
    at = std::max(at, each->second.end);
  }
  if (at < pages.end) gaps.push_back({at, pages.end});
  return gaps;
}

}  // namespace feedline::detail
