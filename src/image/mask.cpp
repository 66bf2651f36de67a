#include <feedline/dataset/read_counts.hpp>
#include <feedline/error.hpp>
#include <feedline/image/decode.hpp>

#include "image/image_options.hpp"
#include "image/orientation.hpp"
#include "image/place_pixels.hpp"
#include "image/reader.hpp"
#include "image/resize/nearest_taps.hpp"
#include "io/file_magic.hpp"
#include "rows/scratch_pool.hpp"

#include <cassert>
#include <cstring>
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

class mask_decoder final : public sized_decoder {
 public:
  explicit mask_decoder(const image_options& options)
      : options_{checked_image_options(options)}, geometry_{options_} {}

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
    const auto worker = workers_.take();
    placed_image placed;
    try {
      const resample_window window = read(stored, context, *worker, placed);
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

 private:
  resample_window read(std::span<const std::byte> stored, const sample_context& context,
                       mask_worker& worker, placed_image& placed) const {
    if (stored.empty()) throw image_error{"it is empty"};
    if (is_jpeg(stored))
      throw image_error{"it is a JPEG, which changes values: store masks as PNG, or as .npy"};
    if (!is_png(stored)) throw image_error{"it is not a PNG"};
    if (!worker.png) throw image_error{missing_library("libpng")};
    if (options_.follow_orientation)
      if (const orientation turns = orientation::of(stored); !turns.is_upright())
        throw image_error{"it has EXIF orientation " + std::to_string(turns.number()) +
                          ", and masks are not turned: store it as it is shown"};
    return worker.png->read(
        stored,
        [&](image_extents original) {
          placed = geometry_.place(original, context);
          return placed.window;
        },
        worker.decoded);
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
