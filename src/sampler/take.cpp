#include <feedline/error.hpp>
#include <feedline/sampler/take.hpp>

#include "detail/known_value.hpp"
#include "sampler/draws.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

take::take(sampler of, split_size size, take_from from)
    : of_{std::move(of)}, size_{size}, from_{from} {
  detail::require_known("take: from", from_, {"last_end", "epoch_begin"});
  if (const double* share = std::get_if<double>(&size_.size());
      share && !(*share > 0 && *share <= 1))
    throw usage_error{"take: the share is " + std::to_string(*share) +
                      "; a share is above 0 and up to 1, and an integer counts positions"};
  if (const std::int64_t* count = std::get_if<std::int64_t>(&size_.size()); count && *count <= 0)
    throw usage_error{"take: the epoch should have " + std::to_string(*count) +
                      " positions; ask for 1 or more"};
}

std::uint64_t take::size(std::uint64_t samples) const {
  const std::uint64_t all = of_.size(samples);
  if (all == 0) throw usage_error{"take: the sampler has no positions, so none can be taken"};
  if (const double* share = std::get_if<double>(&size_.size())) {
    if (*share == 1) return all;
    const double count = std::round(*share * static_cast<double>(all));
    if (count < 1)
      throw usage_error{"take: the share " + std::to_string(*share) + " of " + std::to_string(all) +
                        " positions is less than one; take a larger share"};
    return count < 0x1p64 ? std::min(static_cast<std::uint64_t>(count), all) : all;
  }
  const auto count = static_cast<std::uint64_t>(std::get<std::int64_t>(size_.size()));
  if (from_ == take_from::epoch_begin && count > all)
    throw usage_error{
        "take: " + std::to_string(count) +
        " positions should be taken from the beginning of each epoch, but an epoch has " +
        std::to_string(all) + "; take fewer, or use take_from::last_end"};
  return count;
}

void take::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                   std::span<sample_index> out) const {
  const std::uint64_t count = size(samples);
  if (from_ == take_from::epoch_begin) return of_.indices(samples, epoch, first, out);
  const std::uint64_t all = of_.size(samples);
  const detail::u128 place = detail::u128{epoch} * count + first.value;
  auto inner_epoch = static_cast<std::uint64_t>(place / all);
  auto at = static_cast<std::uint64_t>(place % all);
  while (!out.empty()) {
    const auto run = out.first(std::min<std::uint64_t>(out.size(), all - at));
    of_.indices(samples, inner_epoch, position{at}, run);
    out = out.subspan(run.size());
    ++inner_epoch;
    at = 0;
  }
}

sampler take::bind(const dataset& of, std::uint64_t batch_size) const {
  return take{of_.bind(of, batch_size), size_, from_};
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
