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

image_size batch_sizer::of(std::uint64_t epoch, std::uint64_t batch) const {
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
  return size;
}

}  // namespace feedline::detail
