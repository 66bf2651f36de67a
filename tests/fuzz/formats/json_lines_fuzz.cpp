/// Fuzz target of JSON lines: any bytes are a dataset or an error.
///
/// The input: a byte of options, then the file.

#include <feedline/error.hpp>

#include "formats/json_lines/table.hpp"
#include "fuzz/read_sample.hpp"
#include "support/files/memory_file.hpp"

#include <cstdint>
#include <span>
#include <vector>

using namespace feedline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned flags = data[0];
  const auto file = test::memory_file(std::as_bytes(std::span{data, size}).subspan(1));
  table_options options;
  if ((flags & 1U) != 0) options.looked_at = 1;
  if ((flags & 2U) != 0) options.columns["a"].labels = text_labels{};
  if ((flags & 4U) != 0) options.columns["a"].fill = std::int64_t{1};
  if ((flags & 8U) != 0) options.columns["a"].is_ragged = true;
  try {
    const auto opened = detail::make_table_dataset(
        "open_json_lines", detail::open_json_table({file}, options), options);
    test::read_sample(*opened, opened->size() - 1);
  } catch (const error&) {  // any other ends the fuzzer
  }
  return 0;
}
