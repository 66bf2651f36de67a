/// Undoing HDF5's filters: whatever a chunk's bytes are, they decode to all of the chunk or to an
/// error that says why; to the same, whatever the decoder and the chunk's memory held before.

#include "fuzz/codecs/hdf5_filters_input.hpp"
#include "hdf5/filter/filters.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;

namespace {

void require(bool is_so, const char* what) {
  if (is_so) return;
  std::fprintf(stderr, "hdf5_filters_fuzz: this must hold: %s\n", what);
  std::abort();
}

struct outcome {
  std::vector<std::byte> out;  ///< if there is no message
  std::string said;

  bool operator==(const outcome&) const = default;
};

outcome decode(const detail::hdf5_filters& filters, const fuzz::filters_input& input,
               detail::hdf5_decoder& decoder, std::byte before) {
  outcome result;
  result.out.assign(input.chunk_bytes, before);
  try {
    filters.decode(input.stored, input.mask, input.verify, decoder, result.out);
  } catch (const detail::hdf5_filter_error& error) {
    result.out.clear();
    result.said = error.what();
    require(!result.said.empty(), "an error says what is wrong");
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = fuzz::parse(std::as_bytes(std::span{data, size}));
  const detail::hdf5_filters filters{input.pipeline};
  require(!filters.describe().empty() || filters.empty(), "filters are described");

  static detail::hdf5_decoder used;
  detail::hdf5_decoder fresh;
  const outcome first = decode(filters, input, used, std::byte{0x00});
  require(first == decode(filters, input, fresh, std::byte{0xff}),
          "what was in memory before does not show");
  if (!filters.refusal().empty()) require(first.said == filters.refusal(), "refused is refused");
  return 0;
}
