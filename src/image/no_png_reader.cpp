#include "image/reader.hpp"

namespace feedline::detail {
namespace {

class no_png_reader final : public image_reader {
 public:
  image_extents read(std::span<const std::byte>, const image_geometry&, rgb_image&) override {
    throw image_error{
        "this feedline was built without libpng; install libpng-dev, and build feedline anew"};
  }
};

}  // namespace

std::unique_ptr<image_reader> make_png_reader(const image_options&) {
  return std::make_unique<no_png_reader>();
}

}  // namespace feedline::detail
