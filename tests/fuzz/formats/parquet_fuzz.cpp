/// Fuzz target of Parquet files, as Arrow decodes them and as they become fields: any bytes are a
/// dataset or an error.

#include <feedline/error.hpp>

#include "formats/parquet/dataset.hpp"
#include "fuzz/read_sample.hpp"
#include "support/files/memory_file.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

using namespace feedline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = test::memory_file(std::as_bytes(std::span{data, size}));
  try {
    const parquet_options options;
    const auto source = std::make_shared<const detail::parquet_source>(
        std::make_shared<const detail::parquet_table>(std::vector{file}, options), 1);
    const auto opened = detail::make_parquet_dataset(source, options);
    for (const std::uint64_t sample : {std::uint64_t{0}, opened->size() - 1})
      test::read_sample(*opened, sample);
  } catch (const error&) {  // any other ends the fuzzer
  } catch (const std::bad_alloc&) {
  }
  return 0;
}
