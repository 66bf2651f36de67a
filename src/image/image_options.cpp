#include "image/image_options.hpp"

#include <feedline/dataset/sample_random.hpp>
#include <feedline/error.hpp>

#include "detail/image_side.hpp"
#include "detail/known_value.hpp"
#include "detail/text.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// Selects the random numbers of sizes, which are keyed by batch and not by sample.
constexpr std::uint64_t size_stream = 0x73697A65;  // "size"

class drawn_sizes final : public batch_sizes {
 public:
  explicit drawn_sizes(std::vector<image_size> sizes) : sizes_{std::move(sizes)} {}

  image_size largest() const override {
    image_size largest;
    for (const image_size& each : sizes_)
      largest = {std::max(largest.height, each.height), std::max(largest.width, each.width)};
    return largest;
  }
  bool depends_on_samples() const override { return false; }
  image_size of(const sized_batch& batch) const override {
    return sizes_[sample_random{batch.seed, batch.epoch, batch.number, size_stream}.below(
        sizes_.size())];
  }
  bool equals(const batch_sizes& other) const override {
    const auto* const same = dynamic_cast<const drawn_sizes*>(&other);
    return same != nullptr && same->sizes_ == sizes_;
  }

 private:
  std::vector<image_size> sizes_;
};

/// @throws usage_error if the options about the size of samples contradict each other.
void check_sizes(image_options& options) {
  require_known("image_options::fit", options.fit, {"stretch", "letterbox", "pad"});
  require_known("image_options::larger", options.larger, {"shrink", "error"});
  const bool is_padded = options.fit == image_fit::pad;
  if (options.fit != image_fit::stretch && options.resized_crop)
    throw usage_error{
        "image_options::resized_crop is set, and fit is not stretch: a window that is cut out of "
        "an image has the shape of the sample, so nothing is left to pad; set one"};
  if (options.fit == image_fit::letterbox && options.shorter_side != 0)
    throw usage_error{
        "image_options::shorter_side is set, and fit is letterbox, which shows the whole image in "
        "height x width; set one"};
  if (!(options.flip >= 0 && options.flip <= 1))
    throw usage_error{"image_options::flip is " + detail::text_of(options.flip) +
                      ", but must be 0 to 1"};
  if (!is_padded && options.flip != 0)
    throw usage_error{
        "image_options::flip is set, and fit is not pad: only padded images are flipped by "
        "readers; set field_transform::flip, by which the device flips others"};
  if (!is_padded && options.larger == larger_image::error)
    throw usage_error{
        "image_options::larger is error, and fit is not pad: every other image is resized to its "
        "sample, so none is too large; leave it out"};
  constexpr std::uint32_t max_divisor = 4096;
  if (is_padded && (options.size_divisible == 0 || options.size_divisible > max_divisor))
    throw usage_error{"image_options::size_divisible is " + std::to_string(options.size_divisible) +
                      ", but must be 1 to " + std::to_string(max_divisor)};
  if (options.sizes.empty()) return;
  if (is_padded)
    throw usage_error{
        "image_options::sizes is set, and fit is pad, where the size of a batch follows from its "
        "images; set one"};
  options.height = options.width = 0;
  for (const image_size& each : options.sizes) {
    if (!is_image_side(each.height) || !is_image_side(each.width))
      throw usage_error{"image_options::sizes has " + std::to_string(each.height) + " x " +
                        std::to_string(each.width) + ", but a side must be 1 to " +
                        std::to_string(max_image_side)};
    options.height = std::max(options.height, each.height);
    options.width = std::max(options.width, each.width);
  }
}

}  // namespace

image_options checked_image_options(image_options options) {
  const auto require_side = [](const char* name, std::uint32_t value, std::uint32_t least) {
    if (value >= least && is_image_side(value)) return;
    throw usage_error{std::string{"image_options::"} + name + " is " + std::to_string(value) +
                      ", but must be " + std::to_string(least) + " to " +
                      std::to_string(max_image_side)};
  };
  check_sizes(options);
  require_side("height", options.height, 1);
  require_side("width", options.width, 1);
  if (options.shorter_side != 0)
    require_side("shorter_side", options.shorter_side,
                 options.fit == image_fit::pad ? 1 : std::max(options.height, options.width));
  if (options.resized_crop && options.shorter_side != 0)
    throw usage_error{
        "image_options::resized_crop and shorter_side are set: each says which part "
        "of an image becomes a sample; set one"};
  require_known("image_options::interpolation", options.interpolation,
                {"bilinear", "bicubic", "nearest"});
  // A reduced image has none of the pixels that are stored.
  if (options.interpolation == interpolation::nearest) options.reduced_decoding = false;
  require_known("image_options::layout", options.layout, {"hwc", "chw"});
  if (options.channels != 1 && options.channels != 3)
    throw usage_error{"image_options::channels is " + std::to_string(options.channels) +
                      ", but must be 1 for grey or 3 for colours"};
  if (options.type != element_type::u8 && options.type != element_type::u16)
    throw usage_error{"image_options::type is " + std::string{to_string(options.type)} +
                      ", but must be u8 or u16; field_transform converts pixels to other types"};
  if (options.max_pixels == 0) throw usage_error{"image_options::max_pixels is 0"};
  if (!options.damaged_images)
    options.damaged_images = std::make_shared<std::atomic<std::uint64_t>>(0);
  return options;
}

batch_sizes_ptr sizes_of(const image_options& options) {
  if (options.sizes.empty()) return nullptr;
  return std::make_shared<const drawn_sizes>(options.sizes);
}

std::optional<size_by_batch> by_batch_of(const image_options& options) {
  const bool is_padded = options.fit == image_fit::pad;
  if (!is_padded && options.sizes.empty()) return std::nullopt;
  return size_by_batch{options.layout, is_padded};
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

std::vector<image_size> square_sizes(std::uint32_t from, std::uint32_t to, std::uint32_t step) {
  if (from == 0 || step == 0 || to < from)
    throw usage_error{"square_sizes: " + std::to_string(from) + " to " + std::to_string(to) +
                      " by steps of " + std::to_string(step) +
                      ": the first side and the step are at least 1, and the last side is not less "
                      "than the first"};
  std::vector<image_size> sizes;
  for (std::uint64_t side = from; side <= to; side += step)
    sizes.push_back({static_cast<std::uint32_t>(side), static_cast<std::uint32_t>(side)});
  return sizes;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
