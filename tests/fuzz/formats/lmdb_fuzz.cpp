/// Fuzz target of LMDB: any bytes are a dataset or an error.

#include <feedline/error.hpp>

#include "formats/lmdb/records.hpp"
#include "fuzz/read_sample.hpp"
#include "support/files/memory_file.hpp"

#include <cstdint>
#include <span>
#include <vector>

using namespace feedline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = test::memory_file(std::as_bytes(std::span{data, size}));
  try {
    const detail::lmdb_records records = detail::open_lmdb_records({file}, {});
    const dataset_ptr opened = detail::make_lmdb_dataset(records, {});
    test::read_sample(*opened, opened->size() - 1);
  } catch (const error&) {  // any other ends the fuzzer
  }
  return 0;
}
