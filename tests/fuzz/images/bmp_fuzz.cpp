/// Fuzz target of the reader of BMP: any bytes are an image or an error.

#include "fuzz/images/image_reader_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto reader = feedline::detail::make_bmp_reader();
  feedline::test::check_image_reader(*reader, feedline::detail::is_bmp, data, size);
  return 0;
}
