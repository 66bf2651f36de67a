/// Fuzz target of records in columns, as MDS and LitData store them: any bytes are samples or an
/// error.
///
/// The input is the encoding of a column, up to the first zero, then a record of an int column
/// and that column. An encoding that begins with "!" is a serializer of LitData.

#include <feedline/error.hpp>

#include "formats/columns/dataset.hpp"
#include "formats/litdata/serializers.hpp"
#include "formats/mds/encodings.hpp"
#include "fuzz/read_sample.hpp"
#include "ragged/file_values.hpp"
#include "support/files/memory_file.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace feedline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span all{data, size};
  const auto zero = std::ranges::find(all, std::uint8_t{0});
  const std::string encoding{all.begin(), zero};
  if (zero == all.end()) return 0;
  const auto record = std::as_bytes(std::span{zero + 1, all.end()});
  try {
    detail::columned_records of{
        detail::make_file_values({{test::memory_file(record), {{0, record.size()}}}}), {}};
    of.layout.columns.push_back(detail::mds_column("n", "int"));
    of.layout.columns.push_back(encoding.starts_with('!')
                                    ? detail::litdata_column("x", encoding.substr(1))
                                    : detail::mds_column("x", encoding));
    const dataset_ptr opened = detail::make_columns_dataset("columns", of, {});
    test::read_sample(*opened, 0);
  } catch (const error&) {  // any other ends the fuzzer
  }
  return 0;
}
