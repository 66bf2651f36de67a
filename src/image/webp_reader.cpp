#include "image/reader.hpp"

#include <webp/decode.h>

namespace feedline::detail {
namespace {

const char* words_of(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return "there is not enough memory";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "it has a feature that the library does not know";
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return "the file ends early";
    default:
      return "its data is damaged";
  }
}

void require_ok(VP8StatusCode status) {
  if (status != VP8_STATUS_OK) throw image_error{std::string{"libwebp says: "} + words_of(status)};
}

/// Still images, lossy or not. Alpha is dropped.
class webp_reader final : public image_reader {
 public:
  resample_window read(std::span<const std::byte> file, const image_cut& cut,
                       pixel_image& out) override {
    WebPDecoderConfig config;
    if (WebPInitDecoderConfig(&config) == 0)
      throw image_error{"libwebp has another version than the one feedline was built with"};
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(file.data());
    require_ok(WebPGetFeatures(bytes, file.size(), &config.input));
    if (config.input.has_animation != 0)
      throw image_error{"it is an animated WebP; only still images are read"};
    const image_extents extents{static_cast<std::uint32_t>(config.input.height),
                                static_cast<std::uint32_t>(config.input.width)};
    const resample_window window = cut(extents);
    out.resize(extents);
    config.output.colorspace = MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = {.rgba = out.data(),
                            .stride = static_cast<int>(out.row_bytes()),
                            .size = out.row_bytes() * extents.height};
    require_ok(WebPDecode(bytes, file.size(), &config));
    return window;
  }
};

}  // namespace

std::unique_ptr<image_reader> make_webp_reader() {
  return std::make_unique<webp_reader>();
}

}  // namespace feedline::detail
