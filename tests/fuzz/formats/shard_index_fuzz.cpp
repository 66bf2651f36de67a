/// Fuzz target of the indexes of MDS and LitData, and of LitData's batches: any text is an index or
/// an error. The first byte says which.

#include <feedline/error.hpp>

#include "formats/litdata/frames.hpp"
#include "formats/litdata/set.hpp"
#include "formats/mds/set.hpp"
#include "support/files/memory_file.hpp"

#include <cstdint>
#include <span>
#include <string>

using namespace feedline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span rest{data + 1, size - 1};
  const std::string text{rest.begin(), rest.end()};
  try {
    if (data[0] == 'm') (void)detail::read_mds_index(text, "index.json");
    if (data[0] == 'l') (void)detail::read_litdata_index(text, "index.json");
    if (data[0] == 'f')
      (void)detail::read_litdata_frames(test::memory_file(std::as_bytes(rest)), 4);
    if (data[0] == 'o' && size > 17)
      (void)detail::read_offsets(std::as_bytes(rest), 2, rest.size());
  } catch (const error&) {  // any other ends the fuzzer
  }
  return 0;
}
