#include "image/image_geometry.hpp"

#include "detail/image_side.hpp"
#include "image/image_options.hpp"
#include "transform/operations/draws.hpp"

#include <algorithm>
#include <string>

namespace feedline::detail {
namespace {

/// The most of `room` that an image of this shape takes. @param half 1: sides are rounded to the
/// nearest, 0: down.
image_extents within(image_extents original, image_extents room, std::uint64_t half) noexcept {
  const auto scaled = [half](std::uint64_t side, std::uint64_t to, std::uint64_t of,
                             std::uint32_t most) {
    const std::uint64_t rounded = (2 * side * to + half * of) / (2 * of);
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(rounded, 1, most));
  };
  const bool is_tall =
      std::uint64_t{original.height} * room.width >= std::uint64_t{original.width} * room.height;
  if (is_tall)
    return {room.height, scaled(original.width, room.height, original.height, room.width)};
  return {scaled(original.height, room.width, original.width, room.height), room.width};
}

bool fits(image_extents one, image_extents room) noexcept {
  return one.height <= room.height && one.width <= room.width;
}

std::uint32_t next_multiple(std::uint32_t side, std::uint32_t of) noexcept {
  return (side + of - 1) / of * of;
}

std::uint16_t narrow(std::uint32_t side) noexcept {
  return static_cast<std::uint16_t>(side);
}

std::string text_of(image_extents extents) {
  return std::to_string(extents.width) + " x " + std::to_string(extents.height);
}

}  // namespace

image_geometry::image_geometry(const image_options& options)
    : wanted_{options.height, options.width},
      largest_{wanted_},
      shorter_side_{options.shorter_side},
      max_pixels_{options.max_pixels},
      fit_{options.fit},
      larger_{options.larger},
      flip_below_{draw_bound(options.flip)},
      by_batch_{by_batch_of(options).has_value()} {
  if (options.resized_crop) crop_.emplace(*options.resized_crop);
  if (fit_ == image_fit::pad)
    largest_ = {next_multiple(wanted_.height, options.size_divisible),
                next_multiple(wanted_.width, options.size_divisible)};
}

void image_geometry::check(image_extents original) const {
  const auto [shorter, longer] = std::minmax<std::uint64_t>({original.height, original.width});
  if (!is_image_side(shorter) || !is_image_side(longer))
    throw image_error{"it claims to be " + text_of(original) + " pixels, and a side is 1 to " +
                      std::to_string(max_image_side) + " long"};
  if (original.pixels() > max_pixels_)
    throw image_error{"it claims to be " + text_of(original) + " pixels, and more than " +
                      std::to_string(max_pixels_) +
                      " are refused; raise image_options::max_pixels if the size is right"};
}

placed_image image_geometry::place(image_extents original, const sample_context& context) const {
  check(original);
  image_extents sample = largest_;
  if (by_batch_ && context.size) sample = {context.size->height, context.size->width};
  placed_image placed = place_whole(original, sample);
  if (crop_) placed.window = resized_part(crop_->draw(original, context), sample);
  placed.sample = sample;
  placed.is_mirrored = is_flipped(context);
  return placed;
}

placed_image image_geometry::place_whole(image_extents original, image_extents sample) const {
  if (fit_ == image_fit::stretch) {
    const image_extents extents = resized_extents(original, sample, shorter_side_);
    if (extents.pixels() == 0) throw image_error{"its sides are too unequal to resize it"};
    return {middle_window(extents, sample), sample};
  }
  image_extents extents = fit_ == image_fit::pad ? padded(original) : within(original, sample, 1);
  if (fit_ == image_fit::letterbox) {
    const std::uint32_t top = (sample.height - extents.height) / 2;
    const std::uint32_t left = (sample.width - extents.width) / 2;
    return {middle_window(extents, extents), sample, top, left};
  }
  const image_extents natural = resized_extents(original, original, shorter_side_);
  if (larger_ == larger_image::error && (natural.pixels() == 0 || !fits(natural, wanted_)))
    throw image_error{"it would be " + text_of(natural) + " pixels, and more than " +
                      text_of(wanted_) +
                      " are refused (image_options::larger); shrink larger images, or raise "
                      "image_options::height and width"};
  if (!fits(extents, sample)) extents = within(original, sample, 0);  // a replacement sample
  return {middle_window(extents, extents), sample};
}

image_extents image_geometry::padded(image_extents original) const noexcept {
  const image_extents natural = resized_extents(original, original, shorter_side_);
  const bool is_within = natural.pixels() != 0 && fits(natural, wanted_);
  return is_within ? natural : within(original, wanted_, 0);
}

bool image_geometry::is_flipped(const sample_context& context) const noexcept {
  if (flip_below_ == 0 || !context.epoch) return false;
  return draw(sample_random_bits(context.seed, *context.epoch, context.sample.value),
              choice::flip) < flip_below_;
}

placed_image image_geometry::place(image_extents original, const source_window& drawn,
                                   const image_in_row& in_row) const {
  check(original);
  if (drawn.height != 0 && !is_within(drawn, original))
    throw image_error{"its window is not within it"};
  const image_extents row = row_extents(in_row, largest_);
  if (!is_within(in_row, largest_)) throw image_error{"its pixels are not within its row"};
  if (in_row.height != 0) {
    const image_extents shown{in_row.height, in_row.width};
    placed_image placed{middle_window(shown, shown), row, in_row.top, in_row.left, in_row.mirrored};
    if (drawn.height != 0) placed.window = resized_part(box_of(drawn), shown);
    return placed;
  }
  if (drawn.height != 0) return {resized_part(box_of(drawn), row), row};
  return place_whole(original, row);
}

source_window image_geometry::source_of(const placed_image& placed) noexcept {
  const image_box& source = placed.window.source;
  return {narrow(source.top), narrow(source.left), narrow(source.extents.height),
          narrow(source.extents.width)};
}

image_in_row image_geometry::in_row(const placed_image& placed) const noexcept {
  image_in_row where;
  if (by_batch_) {
    where.row_height = narrow(placed.sample.height);
    where.row_width = narrow(placed.sample.width);
  }
  if (fit_ == image_fit::stretch) return where;
  where.top = narrow(placed.top);
  where.left = narrow(placed.left);
  where.height = narrow(placed.window.extents.height);
  where.width = narrow(placed.window.extents.width);
  where.mirrored = placed.is_mirrored;
  return where;
}

}  // namespace feedline::detail
