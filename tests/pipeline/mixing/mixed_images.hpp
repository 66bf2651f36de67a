#pragma once

#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/loader/loader.hpp>

#include "device/sample_mix.hpp"
#include "device/sample_random_bits.hpp"
#include "support/devices/data_paths.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace feedline::test {

/// Images of 6 × 5 × 3 in which each byte tells its position, labels 0 to 9, and the sample's
/// number.
struct mixed_images {
  static constexpr std::uint64_t samples = 45;
  static constexpr std::size_t height = 6;
  static constexpr std::size_t width = 5;
  static constexpr std::size_t pixels = 90;
  static constexpr std::size_t classes = 10;
  static constexpr std::size_t row_bytes = pixels + sizeof(std::int32_t) + sizeof(std::uint64_t);

  [[nodiscard]] static std::uint8_t pixel(std::uint64_t sample, std::size_t at) {
    return static_cast<std::uint8_t>(((sample * pixels + at) * 0x9e3779b97f4a7c15U) >> 56);
  }
  [[nodiscard]] static std::size_t label(std::uint64_t sample) { return sample * 7 % classes; }

  [[nodiscard]] static dataset_ptr make() {
    std::vector<std::uint8_t> bytes(samples * pixels);
    std::vector<std::int32_t> labels(samples);
    std::vector<std::uint64_t> ids(samples);
    for (std::uint64_t i = 0; i < samples; ++i) {
      for (std::size_t at = 0; at < pixels; ++at) bytes[i * pixels + at] = pixel(i, at);
      labels[i] = static_cast<std::int32_t>(label(i));
      ids[i] = i;
    }
    return make_memory_dataset({own("image", std::move(bytes), {height, width, 3}),
                                own("label", std::move(labels)), own("id", std::move(ids))});
  }

  /// Elements stay where they are, as floats; labels become shares of classes.
  [[nodiscard]] static loader_options mixed(std::uint64_t batch_size, int readers,
                                            mixing_draws draws = mixing_draws::batch) {
    loader_options options{.batch_size = batch_size, .readers = readers};
    options.transforms = {{.field = "image", .layout = image_layout::hwc},
                          {.field = "label", .one_hot = classes}};
    options.seed = 77;
    options.mixing = mixing{.image = "image",
                            .label = "label",
                            .mixup_alpha = 0.4,
                            .cutmix_alpha = 1.0,
                            .probability = 0.9,
                            .draws = draws};
    return options;
  }
};

/// A batch as it was delivered.
struct mixed_batch {
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;
  std::vector<std::uint64_t> ids = {};
  std::vector<float> images = {};
  std::vector<float> labels = {};

  friend bool operator==(const mixed_batch&, const mixed_batch&) = default;
};

/// Takes batches to the end of an epoch, or this many of them.
inline void take_batches(loader& loader, const path_setup& by, std::uint64_t epoch,
                         std::vector<mixed_batch>& seen, std::size_t most = ~std::size_t{0}) {
  // Where an epoch fails, the device has looks at batches before that still to do.
  const auto mutex = std::make_shared<std::mutex>();
  auto range = loader.epoch(epoch, by.stream);
  for (std::size_t taken = 0; taken < most; ++taken) {
    const auto batch = range.next();
    if (!batch) break;
    const auto look = [&seen, mutex, epoch, index = batch->index(), id = (*batch)["id"],
                       image = (*batch)["image"], label = (*batch)["label"]] {
      const auto numbers = id.values<std::uint64_t>();
      const auto pixels = image.values<float>();
      const auto classes = label.values<float>();
      const std::scoped_lock lock{*mutex};
      seen.push_back({epoch,
                      index,
                      {numbers.begin(), numbers.end()},
                      {pixels.begin(), pixels.end()},
                      {classes.begin(), classes.end()}});
    };
    if (by.stream) {
      by.on.device->launch(by.stream, look);
    } else {
      look();
    }
  }
  if (by.stream) by.on.device->drain(by.stream);
}

/// A loader of mixed images on a way. `transformed` adds a transform of identity data, which these
/// are not.
[[nodiscard]] inline loader load_mixed(const path_setup& by, const dataset_ptr& data,
                                       const sampler& order, const loader_options& options) {
  return loader{data, order, by.device,
                on_data_path(by.through == data_path::transformed ? data_path::stream : by.through,
                             *data, options)};
}

[[nodiscard]] inline std::vector<mixed_batch> deliver_mixed(data_path through,
                                                            const dataset_ptr& data,
                                                            const sampler& order,
                                                            const loader_options& options,
                                                            std::uint64_t epochs = 2) {
  const path_setup by{through};
  loader loader = load_mixed(by, data, order, options);
  std::vector<mixed_batch> seen;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) take_batches(loader, by, epoch, seen);
  return seen;
}

/// The random bits by which the sample at an index is mixed.
[[nodiscard]] inline std::uint32_t mixing_bits_at(const mixed_batch& batch, mixing_draws draws,
                                                  std::uint64_t seed, std::size_t place) {
  if (draws == mixing_draws::batch)
    return detail::draw(detail::sample_random_bits(seed, batch.epoch, ~std::uint64_t{0}),
                        detail::choice{static_cast<std::uint32_t>(batch.index)});
  const std::size_t drawing = draws == mixing_draws::pair ? place / 2 * 2 : place;
  return detail::sample_random_bits(seed, batch.epoch, batch.ids[drawing]);
}

/// Elements of a batch that are not what its samples' numbers, the draws and the neighbours make of
/// the dataset, computed in double precision.
[[nodiscard]] inline std::uint64_t wrong_elements(const mixed_batch& batch, const pair_mixing& by,
                                                  std::uint64_t seed) {
  using images = mixed_images;
  std::uint64_t wrong = 0;
  const auto is_off = [](float found, double expected) {
    return !(std::abs(found - expected) <= 1e-4);
  };
  for (std::size_t place = 0; place < batch.ids.size(); ++place) {
    const std::size_t other = place ^ 1U;
    const std::uint64_t id = batch.ids[place];
    const bool alone = other >= batch.ids.size();
    const std::uint64_t partner = alone ? id : batch.ids[other];
    detail::sample_mix mix;
    if (!alone) mix = detail::mix_of(by, mixing_bits_at(batch, by.draws, seed, place));
    for (std::size_t at = 0; at < images::pixels; ++at) {
      const auto y = static_cast<std::uint32_t>(at / 3 / images::width);
      const auto x = static_cast<std::uint32_t>(at / 3 % images::width);
      double own = mix.own;
      if (mix.cuts())
        own = y - mix.box.top < mix.box.height && x - mix.box.left < mix.box.width ? 0 : 1;
      const double expected = own * images::pixel(id, at) + (1 - own) * images::pixel(partner, at);
      if (is_off(batch.images[place * images::pixels + at], expected)) ++wrong;
    }
    for (std::size_t at = 0; at < images::classes; ++at) {
      const double expected = (at == images::label(id) ? double{mix.own} : 0.0) +
                              (at == images::label(partner) ? 1 - double{mix.own} : 0.0);
      if (is_off(batch.labels[place * images::classes + at], expected)) ++wrong;
    }
  }
  return wrong;
}

}  // namespace feedline::test
