#include <feedline/dataset/read_counts.hpp>

#include "dataset/read_tally.hpp"

#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

thread_local detail::read_tally* tally = nullptr;

}  // namespace

void count_read(const read_counts& more) noexcept {
  if (tally != nullptr) tally->add(more);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline

namespace feedline::detail {

tallied_reads::tallied_reads(read_tally& to) noexcept : before_{std::exchange(tally, &to)} {}

tallied_reads::~tallied_reads() {
  tally = before_;
}

}  // namespace feedline::detail
