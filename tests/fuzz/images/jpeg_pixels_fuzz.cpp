/// Fuzz target of the parts that devices make JPEGs' pixels by. An input is no file: it says which
/// tables and coefficients are drawn, so that each is a legal file, and most have coefficients that
/// no image has. Pixels must be libjpeg's, to the bit.

#include "support/images/drawn_jpeg.hpp"
#include "support/images/jpeg_pixels.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>

using namespace feedline;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "jpeg_pixels_fuzz: does not hold: %s\n", what);
  std::abort();
}

void require_same(const std::optional<test::pixels>& seen, const test::pixels& wanted,
                  const char* what) {
  require(seen && (!test::libjpeg_is_reference || seen->values == wanted.values), what);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const test::byte_vector file = test::draw_jpeg({data, size});
  const test::pixels wanted = test::decode_jpeg(file);
  require(wanted.warnings == 0, "a file that is drawn is legal");
  require_same(test::decode_jpeg_by_parts<0>(file), wanted, "one reader's pixels are libjpeg's");
  require_same(test::decode_jpeg_by_parts<4>(file), wanted, "few lanes' pixels are libjpeg's");
  require_same(test::decode_jpeg_by_parts<32>(file), wanted, "a warp's pixels are libjpeg's");
  return 0;
}
