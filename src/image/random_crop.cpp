#include "image/random_crop.hpp"

#include <feedline/error.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace feedline::detail {
namespace {

/// Selects the random numbers of windows, so that they are independent of what else a sample's
/// decoder or `map` draws.
constexpr std::uint64_t crop_stream = 0x63726F70;  // "crop"

constexpr double max_ratio = 1000;

std::string text_of(const char* member, const value_range& range) {
  return std::string{"image_options::resized_crop."} + member + " is " + std::to_string(range.low) +
         " to " + std::to_string(range.high);
}

}  // namespace

random_crop::random_crop(const crop_ranges& ranges)
    : ratio_{ranges.ratio},
      draws_{.area = ranges.scale,
             .log_ratio = logarithms(ranges.ratio),
             .max_height = 0,
             .max_width = 0,
             .first_draw = static_cast<std::uint32_t>(choice::first_window)} {
  if (!(ranges.scale.low > 0 && ranges.scale.low <= ranges.scale.high && ranges.scale.high <= 1))
    throw usage_error{text_of("scale", ranges.scale) +
                      ", but it is a range of shares of the image's area, above 0 and up to 1"};
  if (!(ratio_.low >= 1 / max_ratio && ratio_.low <= ratio_.high && ratio_.high <= max_ratio))
    throw usage_error{text_of("ratio", ratio_) +
                      ", but it is a range of width over height, within 0.001 to 1000"};
}

image_box random_crop::draw(image_extents original, const sample_context& context) const {
  part_draws draws = draws_;
  draws.max_height = original.height;
  draws.max_width = original.width;
  image_part part;
  const std::uint32_t random_bits = context.random(crop_stream).u32();
  if (draw_part(draws, original.height, original.width, random_bits, part))
    return {part.top, part.left, {part.height, part.width}};
  // The largest window in the middle that a ratio allows.
  const double height = original.height;
  const double width = original.width;
  const auto whole = [](double side, std::uint32_t most) {
    return static_cast<std::uint32_t>(std::clamp(std::round(side), 1.0, double{1} * most));
  };
  image_extents extents = original;
  if (width / height < ratio_.low) extents.height = whole(width / ratio_.low, original.height);
  if (width / height > ratio_.high) extents.width = whole(height * ratio_.high, original.width);
  return {(original.height - extents.height) / 2, (original.width - extents.width) / 2, extents};
}

}  // namespace feedline::detail
