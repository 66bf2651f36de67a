// The code that docs/guide/samplers.md shows.

// [includes]
#include <feedline/feedline.hpp>
#include <feedline/testing/checked.hpp>
// [/includes]

#include <cstdint>
#include <span>
#include <vector>

feedline::loader by_weight(const feedline::dataset_ptr& train, const feedline::device_ptr& gpu) {
  // [weighted]
  auto weights = feedline::open_npy("weights.npy", "weight");  // one number a sample
  feedline::loader loader{
      train, feedline::weighted{weights, "weight", {.seed = 42}}, gpu, {.batch_size = 256}};
  // [/weighted]
  return loader;
}

feedline::sampler without_replacement(std::span<const double> weights) {
  // [without_replacement]
  // 100,000 different samples an epoch.
  feedline::weighted order{weights, {.seed = 42, .epoch_size = 100'000, .replacement = false}};
  // [/without_replacement]
  return order;
}

feedline::loader by_class(const feedline::dataset_ptr& train, const feedline::device_ptr& gpu) {
  // [class_balanced]
  feedline::loader loader{train,
                          feedline::class_balanced{train, "label", {.seed = 42, .classes = 1000}},
                          gpu,
                          {.batch_size = 256}};
  // [/class_balanced]
  return loader;
}

feedline::loader of_several(const feedline::device_ptr& gpu) {
  // [mixture]
  std::vector<feedline::dataset_ptr> parts{
      feedline::open_tokens({"web-*.bin"}, {.tokens_per_sample = 2048}),
      feedline::open_tokens({"books-*.bin"}, {.tokens_per_sample = 2048})};
  feedline::mixture order{parts, {0.7, 0.3}, {.seed = 42, .epoch_size = 1'000'000}};
  feedline::loader loader{feedline::concatenate(parts), order, gpu, {.batch_size = 8}};
  // [/mixture]
  return loader;
}

feedline::loader by_schedule(const std::vector<feedline::dataset_ptr>& parts,
                             const feedline::device_ptr& gpu) {
  // [scheduled_mixture]
  // Only web pages at first, then more and more books, and from position 600,000 on a half of each.
  feedline::scheduled_mixture order{
      parts, {{0, {1, 0}}, {600'000, {0.5, 0.5}}}, {.seed = 42, .epoch_size = 1'000'000}};
  feedline::loader loader{feedline::concatenate(parts), order, gpu, {.batch_size = 8}};
  // [/scheduled_mixture]
  return loader;
}

void of_fewer_positions(std::vector<feedline::sampler>& orders) {
  // [take]
  // 10,000 positions an epoch; ten epochs of a dataset of 100,000 samples see each sample once.
  feedline::take short_epochs{feedline::shuffle{.seed = 42}, 10'000};
  // The easiest fifth, by an order that begins with what is easy.
  feedline::explicit_order by_difficulty{feedline::open_npy("order.npy", "order"), "order"};
  feedline::take easy{by_difficulty, 0.2, feedline::take_from::epoch_begin};
  // [/take]
  orders.insert(orders.end(), {short_epochs, easy});
}

// [own]
/// The dataset's order, backwards in odd epochs.
struct to_and_fro {
  std::uint64_t size(std::uint64_t samples) const { return samples; }
  void indices(std::uint64_t samples, std::uint64_t epoch, feedline::position first,
               std::span<feedline::sample_index> out) const {
    for (std::uint64_t i = 0; i < out.size(); ++i) {
      const std::uint64_t at = first.value + i;
      out[i] = {epoch % 2 == 0 ? at : samples - 1 - at};
    }
  }
};
// [/own]

feedline::loader of_ones_own(const feedline::dataset_ptr& train, const feedline::device_ptr& gpu) {
  // [checked]
  feedline::loader loader{train, feedline::checked{to_and_fro{}}, gpu, {.batch_size = 256}};
  // [/checked]
  return loader;
}
