/// Fuzz target of LMDB: any bytes are a dataset or an error.

#include <feedline/error.hpp>

#include "formats/lmdb/records.hpp"
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
    std::vector<std::vector<std::byte>> rows;
    for (const field& each : opened->fields()) rows.emplace_back(sample_bytes(each));
    const std::vector<std::span<std::byte>> out{rows.begin(), rows.end()};
    const sample_index last{opened->size() - 1};
    opened->read({&last, 1}, out);
  } catch (const error&) {  // any other ends the fuzzer
  }
  return 0;
}
