#include "reader/batch_sizer.hpp"

#include <feedline/error.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

std::string size_text(image_size size) {
  return std::to_string(size.height) + " x " + std::to_string(size.width);
}

}  // namespace

image_size batch_sizer::of(std::uint64_t epoch, std::uint64_t batch) {
  if (std::exchange(epoch_, epoch) != epoch) known_.clear();
  if (const auto known = known_.find(batch); known != known_.end()) return known->second;
  const image_size largest = sizes_->largest();
  std::vector<sample_index> samples;
  if (sizes_->depends_on_samples()) {
    const std::uint64_t first = batch * batch_size_;
    samples.resize(std::min(batch_size_, samples_ - first));
    try {
      source_.indices(epoch, position{first}, samples);
    } catch (...) {
      return largest;
    }
  }
  const image_size size =
      sizes_->of({.seed = source_.seed(), .epoch = epoch, .number = batch, .samples = samples});
  if (size.pixels() == 0 || size.height > largest.height || size.width > largest.width)
    throw usage_error{"batch_sizes::of gives batch " + std::to_string(batch) + " of epoch " +
                      std::to_string(epoch) + " the size " + size_text(size) +
                      ", but a size is at least 1 x 1 and at most batch_sizes::largest(), " +
                      size_text(largest)};
  known_.emplace(batch, size);
  return size;
}

std::shared_ptr<const ticket_sizes> batch_sizer::of_ticket(std::uint64_t epoch,
                                                           std::uint64_t first_batch,
                                                           std::uint64_t batches) {
  auto sizes = std::make_shared<ticket_sizes>();
  sizes->batch_size = batch_size_;
  for (std::uint64_t i = 0; i < batches; ++i)
    sizes->of_batches.push_back(of(epoch, first_batch + i));
  known_.erase(known_.begin(), known_.lower_bound(first_batch));
  return sizes;
}

}  // namespace feedline::detail
