#include "hdf5/filter/undo.hpp"

#include <lzo/lzo1x.h>

namespace feedline::detail {

namespace {

/// A stream of LZO1X, whose decoder needs no extra memory. PyTables before 0.8 wrote a checksum and
/// a size after it: eight bytes, which are ignored.
std::size_t undo_lzo(std::span<const unsigned>, std::span<const std::byte> stored,
                     std::span<std::byte> out, hdf5_decoder&) {
  lzo_uint given = out.size();
  const int result =
      lzo1x_decompress_safe(reinterpret_cast<const unsigned char*>(stored.data()), stored.size(),
                            reinterpret_cast<unsigned char*>(out.data()), &given, nullptr);
  switch (result) {
    case LZO_E_OK:
    case LZO_E_INPUT_NOT_CONSUMED:
      return given;
    case LZO_E_OUTPUT_OVERRUN:
      fail_for_more_than(out.size());
    case LZO_E_INPUT_OVERRUN:
      fail_for_early_end(stored.size(), given);
    default:
      throw hdf5_filter_error{"the stream is damaged: liblzo2 reports error " +
                              std::to_string(result)};
  }
}

}  // namespace

hdf5_undo undo_of_lzo(std::span<const unsigned>) {
  static const bool has_begun = lzo_init() == LZO_E_OK;  // checks how liblzo2 was compiled
  if (!has_begun) return {.refusal = "needs liblzo2, which does not fit this machine"};
  return {.effect = hdf5_size_effect::compression, .function = undo_lzo};
}

}  // namespace feedline::detail
