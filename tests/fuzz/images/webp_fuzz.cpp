/// Fuzz target of the reader of WebP: any bytes are an image or an error.

#include "fuzz/images/image_reader_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto reader = feedline::detail::make_webp_reader();
  feedline::test::check_image_reader(*reader, feedline::detail::is_webp, data, size);
  return 0;
}
