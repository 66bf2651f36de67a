// What takes the place of readers whose library was absent when feedline was built.

#include "image/reader.hpp"

#include <string>
#include <utility>

namespace feedline::detail {
namespace {

class no_reader final : public image_reader {
 public:
  explicit no_reader(std::string library) : library_{std::move(library)} {}

  image_extents read(std::span<const std::byte>, const image_geometry&, rgb_image&) override {
    throw image_error{"this feedline was built without " + library_ + "; install " + library_ +
                      "-dev, and build feedline anew"};
  }

 private:
  std::string library_;
};

}  // namespace

#ifndef FEEDLINE_HAS_JPEG
std::unique_ptr<image_reader> make_jpeg_reader(const image_options&) {
  return std::make_unique<no_reader>("libjpeg");
}
#endif

#ifndef FEEDLINE_HAS_PNG
std::unique_ptr<image_reader> make_png_reader(const image_options&) {
  return std::make_unique<no_reader>("libpng");
}
#endif

}  // namespace feedline::detail
