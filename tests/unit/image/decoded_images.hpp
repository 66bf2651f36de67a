#pragma once

#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/error.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/weighted.hpp>

#include "support/checks/catch.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/images/image_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Images that devices decode, and some that readers do; and loaders of both kinds.

namespace feedline::test {

inline constexpr std::uint32_t images = 40;
inline const image_options small{.height = 12, .width = 10, .shorter_side = 14};

/// A baseline JPEG, except that each fifth is a PNG and the one after it a progressive JPEG.
inline byte_vector image_file(std::uint32_t number) {
  const auto image = paint(20 + number, 25 + number % 7, 3, number);
  if (number % 5 == 0) return png_bytes(image);
  return jpeg_bytes(image, {.is_progressive = number % 5 == 1, .halves_chroma = number % 2 == 0});
}

/// Whether readers decode it, also where a device decodes the others.
inline bool is_for_readers(std::uint64_t number) {
  return number % 5 == 1;
}

/// How the image is given to a device.
inline encoded_blocks::stored_block given(const dataset_ptr& of, std::uint64_t number,
                                          const sample_context& context = {}) {
  const auto blocks = of->encoded();
  REQUIRE(blocks);
  std::vector<std::byte> out(blocks->stored(0, number).bytes);
  return blocks->read(0, number, out, context);
}

struct run {
  std::vector<std::vector<std::byte>> fields;  ///< fields of each batch
  std::optional<std::string> error;
};

inline loader make(const scripted& on, const dataset_ptr& data, decode_on who, const sampler& order,
                   loader_options options) {
  options.decode_on = who;
  options.placement = placement::stream;
  loader made{data, order, on.device, options};
  CAPTURE(made.plan().decode_note);
  REQUIRE(made.plan().decode_on == who);
  return made;
}

inline void consume(loader& from, const scripted& on, std::uint64_t epoch, std::uint64_t batches,
                    run& seen) try {
  for (const batch& batch : from.epoch(epoch, on.stream)) {
    on.device->drain(on.stream);
    for (const field& each : from.plan().fields)
      seen.fields.emplace_back(batch[each.name].bytes().begin(), batch[each.name].bytes().end());
    if (batch.index() + 1 == batches) return;
  }
} catch (const stage_error& failure) {
  seen.error = failure.what();
}

inline run deliver(const dataset_ptr& data, decode_on who, const sampler& order,
                   const loader_options& options, std::uint64_t epochs = 2) {
  const scripted on;
  loader from = make(on, data, who, order, options);
  run seen;
  for (std::uint64_t epoch = 0; epoch < epochs && !seen.error; ++epoch)
    consume(from, on, epoch, UINT64_MAX, seen);
  return seen;
}

inline sampler drawn() {
  std::vector<double> weights(images);
  for (std::uint32_t i = 0; i < images; ++i) weights[i] = i % 3;
  return weighted{weights, {.seed = 3, .epoch_size = 50}};
}

inline void check_same(const dataset_ptr& data, const sampler& order, const loader_options& options,
                       std::uint64_t epochs = 2) {
  const run expected = deliver(data, decode_on::cpu, order, options, epochs);
  const run seen = deliver(data, decode_on::device, order, options, epochs);
  CHECK(seen.error == expected.error);
  CHECK(seen.fields == expected.fields);
}

}  // namespace feedline::test
