#include "programs/convert/order.hpp"

#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include <algorithm>
#include <utility>

namespace convert {
namespace {

feedline::sampler whole_order(const job& job) {
  if (!job.shuffle) return feedline::sequential{};
  feedline::shuffle order{.seed = *job.shuffle};
  if (job.within_chunks != 0) order.within = feedline::chunks(job.within_chunks);
  return order;
}

}  // namespace

order_without::order_without(feedline::sampler whole, std::uint64_t samples,
                             const failures& left_out)
    : whole_{std::move(whole)} {
  if (left_out.empty()) return;
  std::vector<feedline::sample_index> run(std::uint64_t{1} << 16);
  const std::uint64_t positions = whole_.size(samples);
  for (std::uint64_t first = 0; first < positions; first += run.size()) {
    run.resize(std::min<std::uint64_t>(run.size(), positions - first));
    whole_.indices(samples, 0, {first}, run);
    for (std::uint64_t i = 0; i < run.size(); ++i)
      if (std::ranges::binary_search(left_out, run[i].value, {},
                                     [](const auto& each) { return each.sample.value; }))
        gaps_.push_back(first + i - gaps_.size());
  }
}

void order_without::indices(std::uint64_t samples, std::uint64_t epoch, feedline::position at,
                            std::span<feedline::sample_index> out) const {
  auto gap = std::ranges::upper_bound(gaps_, at.value);
  while (!out.empty()) {
    const auto passed = static_cast<std::uint64_t>(gap - gaps_.begin());
    const std::uint64_t until = gap == gaps_.end() ? at.value + out.size() : *gap;
    const auto count = std::min<std::uint64_t>(out.size(), until - at.value);
    whole_.indices(samples, epoch, {at.value + passed}, out.first(count));
    out = out.subspan(count);
    at.value += count;
    while (gap != gaps_.end() && *gap <= at.value) ++gap;
  }
}

feedline::sampler order_of(const feedline::dataset& from, const job& job, std::uint64_t batch_size,
                           const failures& left_out) {
  feedline::sampler whole = whole_order(job);
  if (left_out.empty()) return whole;
  return order_without{whole.bind(from, batch_size), from.size(), left_out};
}

}  // namespace convert
