// windows_of_chunks DIGITS: the accuracy lost by an order that mixes few chunks of digits sorted by
// label, and a check that the order is the same for any number of readers.

#include <feedline/dataset/subset.hpp>
#include <feedline/feedline.hpp>

#include "cpu.hpp"
#include "digits.hpp"
#include "network.hpp"

#include <algorithm>
#include <cstdio>

namespace {

/// A dataset like another one, except for what it says of its chunks. A loader needs to know no
/// more.
class chunked final : public feedline::dataset {
 public:
  chunked(feedline::dataset_ptr of, feedline::chunking stored)
      : of_{std::move(of)}, stored_{stored} {}

  std::uint64_t size() const override { return of_->size(); }
  std::vector<feedline::field> fields() const override { return of_->fields(); }
  feedline::chunking chunks() const override { return stored_; }
  feedline::read_concurrency concurrency() const override { return of_->concurrency(); }
  void do_read(const feedline::read_request& request) const override { of_->read(request); }

 private:
  feedline::dataset_ptr of_;
  feedline::chunking stored_;
};

/// The same digits as if they were stored sorted by label, in chunks that must be read whole: the
/// worst that a file can hold for an order that mixes few chunks at a time. (Files of this size are
/// held in memory, where there are no chunks.)
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
  // Nothing is read as a chunk here, so all are "kept": no warning of repeated reads.
  return std::make_shared<const chunked>(
      feedline::subset(digits, std::move(order)),
      feedline::chunking{.samples = chunk_samples,
                         .bytes = chunk_samples * (image_bytes + 1),
                         .kept = digits->size()});
}

/// Accuracy after one epoch over the digits in windows of this many chunks.
double trained(const feedline::dataset_ptr& train, const feedline::dataset_ptr& test,
               std::uint64_t window, int readers) {
  mnist::cpu on;
  const std::size_t inputs = feedline::sample_bytes(train->fields().front());
  mnist::network<mnist::cpu> model{on, inputs, 32, 1};
  auto* const score = on.allocate<float>(3);
  const auto view = [](const feedline::batch& batch) {
    return mnist::digits_view{batch["image"].data<float>(), batch["label"].data<float>(),
                              batch.size(), batch.size(), batch.size()};
  };
  feedline::loader_options options{.batch_size = 32, .readers = readers};
  options.transforms = {{.field = "image", .mean = {33.3}, .stddev = {78.6}},
                        {.field = "label", .one_hot = mnist::classes}};
  feedline::loader training{train, feedline::shuffle{.seed = 1, .within = feedline::chunks(window)},
                            on.device(), options};
  feedline::loader testing{test, feedline::sequential{}, on.device(), options};
  for (const feedline::batch& batch : training.epoch(0)) model.train(view(batch), score, 0.02F);
  double right = 0;
  for (const feedline::batch& batch : testing.epoch(0)) {
    model.test(view(batch), score);
    right += score[1];
  }
  return right / static_cast<double>(test->size());
}

}  // namespace

int main(int, char** argv) {
  const auto [train, test] = mnist::open_digits(argv[1]);
  const feedline::dataset_ptr sorted = sorted_in_chunks(train, 100);
  const double poor = trained(sorted, test, 1, 0);
  const double good = trained(sorted, test, 60, 0);
  std::printf("accuracy in windows of 1 chunk %.4f, of all chunks %.4f\n", poor, good);
  const bool same = trained(sorted, test, 20, 0) == trained(sorted, test, 20, 3);
  if (!same) std::puts("other batches for other readers");
  return poor < 0.5 && good > 0.7 && same ? 0 : 1;
}
