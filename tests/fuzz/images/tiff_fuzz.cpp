/// Fuzz target of the reader of TIFF, for 8 and 16 bits: any bytes are an image or an error.

#include "fuzz/images/image_reader_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const std::uint32_t value_bytes : {1U, 2U}) {
    const auto reader = feedline::detail::make_tiff_reader(
        {.channels = 3, .value_bytes = value_bytes}, std::uint64_t{1} << 16U);
    feedline::test::check_image_reader(*reader, feedline::detail::is_tiff, data, size);
  }
  return 0;
}
