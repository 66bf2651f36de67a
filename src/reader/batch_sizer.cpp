#include "reader/batch_sizer.hpp"

#include <feedline/error.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace feedline::detail {
namespace {

std::string size_text(image_size size) {
  return std::to_string(size.height) + " x " + std::to_string(size.width);
}

}  // namespace

std::shared_ptr<const ticket_sizes> batch_sizer::of(const epoch_pass& pass,
                                                    std::uint64_t first_batch,
                                                    std::uint64_t batches) const {
  auto sizes = std::make_shared<ticket_sizes>();
  sizes->batch_size = batch_size_;
  for (std::uint64_t batch = first_batch; batch < first_batch + batches; ++batch)
    sizes->of_batches.push_back(of_batch(pass.epoch, batch));
  return sizes;
}

image_size batch_sizer::of_batch(std::uint64_t epoch, std::uint64_t batch) const {
  const image_size largest = sizes_->largest();
  std::vector<sample_index> samples;
  if (sizes_->depends_on_samples()) {
    const std::uint64_t first = batch * batch_size_;
    samples.resize(std::min(batch_size_, samples_per_epoch_ - first));
    try {
      source_->indices(epoch, position{first}, samples);
    } catch (...) {  // readers ask for these samples too: their batch then fails, in its turn
      return largest;
    }
  }
  const image_size size =
      sizes_->of({.seed = source_->seed(), .epoch = epoch, .number = batch, .samples = samples});
  if (size.pixels() == 0 || size.height > largest.height || size.width > largest.width)
    throw usage_error{"batch_sizes::of gives batch " + std::to_string(batch) + " of epoch " +
                      std::to_string(epoch) + " the size " + size_text(size) +
                      ", but a size is at least 1 x 1 and at most batch_sizes::largest(), " +
                      size_text(largest)};
  return size;
}

}  // namespace feedline::detail
