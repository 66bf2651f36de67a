#include <feedline/dataset/read_counts.hpp>
#include <feedline/error.hpp>
#include <feedline/image/decode.hpp>

#include "detail/log.hpp"
#include "image/all_readers.hpp"
#include "image/damage_count.hpp"
#include "image/device_files.hpp"
#include "image/image_options.hpp"
#include "image/orientation.hpp"
#include "image/place_pixels.hpp"
#include "image/reader.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// Working memory of one thread.
struct image_worker {
  image_worker(const image_options& options, std::shared_ptr<std::atomic<bool>> palette_told)
      : readers{options, std::move(palette_told)}, resizes{options.interpolation} {}

  all_readers readers;
  pixel_image decoded;
  resampler resizes;
  std::vector<std::byte> as_stored;  ///< an image before it is turned
  std::vector<std::byte> shown;      ///< an image before it is padded
};

class image_decoder final : public sized_decoder {
 public:
  explicit image_decoder(const image_options& options)
      : options_{checked_image_options(options)},
        geometry_{options_},
        step_{.filter = block_filter::image, .image = row_on_device(options_, geometry_.largest())},
        workers_{[checked = options_, told = palette_told_] {
          return std::make_unique<image_worker>(checked, told);
        }} {}

  field describe(std::span<const std::byte>) const override {
    const std::uint64_t height = geometry_.largest().height;
    const std::uint64_t width = geometry_.largest().width;
    const std::uint64_t channels = options_.channels;
    field made{{}, options_.type, {height, width, channels}};
    if (options_.layout == image_layout::chw) made.shape = {channels, height, width};
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
    const orientation turns = orientation_of(stored);
    placed_image placed;
    decode(stored, out, turns, placed, [&](image_extents original) {
      placed = geometry_.place(turns.turned(original), context);
      return turns.as_stored(placed.window, original);
    });
  }

  void decode_described(std::span<const std::byte> stored,
                        const encoded_blocks::stored_block& described, const field& as,
                        std::span<std::byte> out) const override {
    assert(out.size() == sample_bytes(as));
    static_cast<void>(as);
    const orientation turns{described.orientation};
    placed_image placed;
    decode(stored, out, turns, placed, [&](image_extents original) {
      source_window shown = described.window;
      if (shown.height != 0) shown = window_at(turns.as_shown(box_of(shown), original));
      placed = geometry_.place(turns.turned(original), shown, described.in_row);
      return turns.as_stored(placed.window, original);
    });
  }

  std::span<const block_step> steps() const noexcept override { return steps_on_device(step_); }

  /// Images that must be refused are not left to devices: decoding them gives the reason.
  std::optional<encoded_blocks::stored_block> for_device(
      std::span<const std::byte> file, const sample_context& context) const override {
    auto described = describe_for_device(file);
    if (!described) {
      left_.add(kind_left_to_readers(file));
      return std::nullopt;
    }
    encoded_blocks::stored_block& block = described->block;
    if (!place_for_device(block, options_, geometry_, orientation_of(file), context))
      return std::nullopt;
    if (described->has_palette) report_palette(*palette_told_, {block.height, block.width});
    if (described->has_stray_bytes) count_damaged(options_, "stray bytes between its segments");
    return block;
  }

  std::string left_to_readers(std::span<const std::byte> file) const override {
    return describe_for_device(file) ? std::string{} : kind_left_to_readers(file);
  }

 private:
  /// How an image has to be turned.
  orientation orientation_of(std::span<const std::byte> file) const {
    if (options_.follow_orientation) return orientation::of(file);
    if (orientation_told_.load(std::memory_order_relaxed)) return {};
    const orientation found = orientation::of(file);
    if (!found.is_upright() && !orientation_told_.exchange(true))
      log()->warn(
          "images: an image has EXIF orientation {}, and is read as it is stored; set "
          "image_options::follow_orientation to turn such images. This is logged once for all "
          "images of one decoder",
          found.number());
    return {};
  }

  /// @param out The sample is at its beginning. @param placed Set by `cut`.
  void decode(std::span<const std::byte> stored, std::span<std::byte> out, orientation turns,
              const placed_image& placed, const image_cut& cut) const {
    const auto worker = workers_.take();
    resample_window window;
    try {
      window = worker->readers.of(stored).read(stored, cut, worker->decoded);
    } catch (const image_error& error) {
      throw dataset_error{{}, std::string{"the image cannot be decoded: "} + error.what()};
    }
    worker->decoded.convert(format_of(options_));
    const pixel_format format = worker->decoded.format();
    out = out.first(placed.sample.pixels() * format.pixel_bytes());
    std::span<std::byte> shown = out;
    if (!placed.is_all()) {
      worker->shown.resize(placed.window.extents.pixels() * format.pixel_bytes());
      shown = worker->shown;
    }
    if (turns.is_upright()) {
      worker->resizes.resize(worker->decoded, window, options_.layout, shown);
    } else {
      worker->as_stored.resize(shown.size());
      worker->resizes.resize(worker->decoded, window, options_.layout, worker->as_stored);
      turns.turn(worker->as_stored, window.extents, format, options_.layout, shown);
    }
    if (!placed.is_all()) place_pixels(shown, placed, format, options_.layout, options_.fill, out);
    count_read({.decoded = 1});
    count_padding(options_, placed);
  }

  image_options options_;
  image_geometry geometry_;
  batch_sizes_ptr sizes_ = sizes_of(options_);
  block_step step_;
  std::shared_ptr<std::atomic<bool>> palette_told_ = std::make_shared<std::atomic<bool>>(false);
  mutable std::atomic<bool> orientation_told_{false};
  mutable images_left_to_readers left_;
  mutable scratch_pool<image_worker> workers_;
};

}  // namespace

void report_palette(std::atomic<bool>& told, image_extents extents) {
  if (told.exchange(true)) return;
  log()->warn(
      "images: a PNG of {} x {} pixels has a palette, and its colours are read, not its indices; "
      "if it is a mask of classes, decode it by make_mask_decoder. This is logged once for all "
      "images of one decoder",
      extents.width, extents.height);
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

decoder_ptr make_image_decoder(const image_options& options) {
  return std::make_shared<const detail::image_decoder>(options);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
