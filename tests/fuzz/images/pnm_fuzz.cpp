/// Fuzz target of the reader of PPM and PGM, for 8 and 16 bits: any bytes are an image or an error.

#include "fuzz/images/image_reader_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const std::uint32_t value_bytes : {1U, 2U}) {
    const auto reader =
        feedline::detail::make_pnm_reader({.channels = 3, .value_bytes = value_bytes});
    feedline::test::check_image_reader(*reader, feedline::detail::is_pnm, data, size);
  }
  return 0;
}
