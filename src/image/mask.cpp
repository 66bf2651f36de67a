#include <feedline/dataset/read_counts.hpp>
#include <feedline/error.hpp>
#include <feedline/image/decode.hpp>

#include "image/device_files.hpp"
#include "image/image_options.hpp"
#include "image/orientation.hpp"
#include "image/place_pixels.hpp"
#include "image/reader.hpp"
#include "image/resize/nearest_taps.hpp"
#include "io/file_magic.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// Working memory of one thread.
struct mask_worker {
  std::unique_ptr<image_reader> png = make_png_reader(png_pixels::indices, {}, nullptr);
  pixel_image decoded;
  std::vector<std::size_t> columns;
  std::vector<std::byte> shown;  ///< a mask before it is padded
};

block_step step_of(const image_options& options, image_extents largest) {
  block_step step{.filter = block_filter::image, .image = row_on_device(options, largest)};
  step.image.layout = image_layout::hwc;
  step.image.allow_damaged = false;
  step.image.interpolation = interpolation::nearest;
  step.image.channels = 1;
  step.image.type = element_type::u8;
  step.image.is_mask = true;
  return step;
}

class mask_decoder final : public sized_decoder {
 public:
  explicit mask_decoder(const image_options& options)
      : options_{checked_image_options(options)},
        geometry_{options_},
        step_{step_of(options_, geometry_.largest())} {}

  field describe(std::span<const std::byte>) const override {
    field made{{}, element_type::u8, {geometry_.largest().height, geometry_.largest().width}};
    made.by_batch = by_batch_of(options_);
    return made;
  }

  batch_sizes_ptr sizes() const override { return sizes_; }

  bool varies_by_epoch() const override { return geometry_.is_random(); }
  const image_options& options() const noexcept override { return options_; }

  void decode(std::span<const std::byte> stored, const field& as, std::span<std::byte> out,
              const sample_context& context) const override {
    assert(out.size() == sample_bytes(as, context.size));
    static_cast<void>(as);
    decode(stored, out, [&](image_extents original) { return geometry_.place(original, context); });
  }

  void decode_described(std::span<const std::byte> stored,
                        const encoded_blocks::stored_block& described, const field& as,
                        std::span<std::byte> out) const override {
    assert(out.size() == sample_bytes(as));
    static_cast<void>(as);
    decode(stored, out, [&](image_extents original) {
      return geometry_.place(original, described.window, described.in_row);
    });
  }

  std::span<const block_step> steps() const noexcept override { return steps_on_device(step_); }

  /// Masks that must be refused are not left to devices: decoding them gives the reason.
  std::optional<encoded_blocks::stored_block> for_device(
      std::span<const std::byte> file, const sample_context& context) const override {
    auto described = is_png(file) ? describe_for_device(file) : std::nullopt;
    if (!described) {
      if (is_png(file)) left_.add(kind_left_to_readers(file));
      return std::nullopt;
    }
    const bool turns = options_.follow_orientation && !orientation::of(file).is_upright();
    if (turns || !described->has_indices) return std::nullopt;
    if (!place_for_device(described->block, options_, geometry_, {}, context)) return std::nullopt;
    return described->block;
  }

  std::string left_to_readers(std::span<const std::byte> file) const override {
    if (!is_png(file) || describe_for_device(file)) return {};
    return kind_left_to_readers(file);
  }

 private:
  /// @param out The sample is at its beginning. @param place Returns the `placed_image` of an image
  /// with some extents.
  template <class Place>
  void decode(std::span<const std::byte> stored, std::span<std::byte> out,
              const Place& place) const {
    const auto worker = workers_.take();
    placed_image placed;
    try {
      const resample_window window = read(stored, *worker, [&](image_extents original) {
        placed = place(original);
        return placed.window;
      });
      out = out.first(placed.sample.pixels());
      std::span<std::byte> shown = out;
      if (!placed.is_all()) {
        worker->shown.resize(window.extents.pixels());
        shown = worker->shown;
      }
      pick(*worker, window, reinterpret_cast<std::uint8_t*>(shown.data()));
      if (!placed.is_all())
        place_pixels(shown, placed, {.channels = 1}, image_layout::hwc, options_.fill, out);
    } catch (const image_error& error) {
      throw dataset_error{{}, std::string{"the mask cannot be decoded: "} + error.what()};
    }
    count_read({.decoded = 1});
    count_padding(options_, placed);
  }

  resample_window read(std::span<const std::byte> stored, mask_worker& worker,
                       const image_cut& cut) const {
    if (stored.empty()) throw image_error{"it is empty"};
    if (is_jpeg(stored))
      throw image_error{"it is a JPEG, which changes values: store masks as PNG, or as .npy"};
    if (!is_png(stored)) throw image_error{"it is not a PNG"};
    if (!worker.png) throw image_error{missing_library("libpng")};
    if (options_.follow_orientation)
      if (const orientation turns = orientation::of(stored); !turns.is_upright())
        throw image_error{"it has EXIF orientation " + std::to_string(turns.number()) +
                          ", and masks are not turned: store it as it is shown"};
    return worker.png->read(stored, cut, worker.decoded);
  }

  static void pick(mask_worker& worker, const resample_window& window, std::uint8_t* to) {
    const pixel_image& from = worker.decoded;
    image_box source = window.source;
    if (source.extents.pixels() == 0) source = {0, 0, from.extents()};
    worker.columns.resize(window.extents.width);
    for (std::uint32_t x = 0; x < window.extents.width; ++x)
      worker.columns[x] =
          source.left +
          nearest_taps{source.extents.width, window.resized.width, window.left + x}.first();
    for (std::uint32_t y = 0; y < window.extents.height; ++y) {
      const std::size_t row =
          source.top +
          nearest_taps{source.extents.height, window.resized.height, window.top + y}.first();
      const std::uint8_t* const line = from.data() + row * from.extents().width;
      for (const std::size_t column : worker.columns) *to++ = line[column];
    }
  }

  image_options options_;
  image_geometry geometry_;
  batch_sizes_ptr sizes_ = sizes_of(options_);
  block_step step_;
  mutable images_left_to_readers left_;
  mutable scratch_pool<mask_worker> workers_{[] { return std::make_unique<mask_worker>(); }};
};

}  // namespace
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

decoder_ptr make_mask_decoder(const image_options& options) {
  return std::make_shared<const detail::mask_decoder>(options);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
