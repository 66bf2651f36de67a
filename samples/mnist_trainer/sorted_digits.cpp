#include "sorted_digits.hpp"

#include <feedline/dataset/subset.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace mnist {
namespace {

/// A dataset like another one, but for what it says of its chunks. A loader needs to know no more.
class chunked final : public feedline::dataset {
 public:
  chunked(feedline::dataset_ptr of, feedline::chunking stored)
      : of_{std::move(of)}, stored_{stored} {}

  std::uint64_t size() const override { return of_->size(); }
  std::vector<feedline::field> fields() const override { return of_->fields(); }
  feedline::chunking chunks() const override { return stored_; }
  feedline::read_concurrency concurrency() const override { return of_->concurrency(); }
  void read(std::span<const feedline::sample_index> samples,
            std::span<const std::span<std::byte>> out) const override {
    of_->read_in_turn(samples, out);
  }

 private:
  feedline::dataset_ptr of_;
  feedline::chunking stored_;
};

}  // namespace

feedline::dataset_ptr sorted_in_chunks(const feedline::dataset_ptr& digits,
                                       std::uint64_t chunk_samples) {
  std::vector<feedline::sample_index> order(digits->size());
  for (std::uint64_t i = 0; i < order.size(); ++i) order[i] = {i};
  std::vector<std::byte> labels(order.size());
  const std::size_t image_bytes = feedline::sample_bytes(digits->fields().front());
  std::vector<std::byte> images;  // not wanted, but a read is of all fields
  constexpr std::size_t run = 1024;
  for (std::size_t at = 0; at < order.size(); at += run) {
    const std::size_t count = std::min(run, order.size() - at);
    images.resize(count * image_bytes);
    const std::vector<std::span<std::byte>> out{images, std::span{labels}.subspan(at, count)};
    digits->read(std::span{order}.subspan(at, count), out);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](feedline::sample_index left, feedline::sample_index right) {
                     return labels[left.value] < labels[right.value];
                   });
  // Nothing is read as a chunk here, so as many as there are are "kept": no warning of repeated reads.
  return std::make_shared<const chunked>(
      feedline::subset(digits, std::move(order)),
      feedline::chunking{.samples = chunk_samples,
                         .bytes = chunk_samples * (image_bytes + 1),
                         .kept = digits->size()});
}

}  // namespace mnist
