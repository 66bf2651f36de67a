/// Fuzz target of the NumPy reader: any bytes are an array or a dataset_error that says where; a
/// file and bytes that come one after the other give the same; and each element is where the format
/// says.

#include <feedline/error.hpp>

#include "detail/log.hpp"
#include "formats/npy/array.hpp"
#include "support/files/memory_file.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

using namespace feedline;

namespace {

using byte_vector = std::vector<std::byte>;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "npy_fuzz: does not hold: %s\n", what);
  std::abort();
}

template <class Open>
dataset_ptr opened(const Open& open) {
  try {
    std::vector<detail::rows_field> columns;
    columns.push_back(open());
    return detail::make_rows_dataset("npy", std::move(columns));
  } catch (const dataset_error& error) {
    require(error.field() == "x", "an error names the field");
    require(error.offset().has_value(), "an error names the byte");
    require(!error.message().empty(), "an error says what is wrong");
    return nullptr;
  }
}

byte_vector all_rows(const dataset& from) {
  std::vector<sample_index> samples(from.size());
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = sample_index{i};
  byte_vector rows(samples.size() * sample_bytes(from.fields()[0]));
  const std::span<std::byte> out{rows};
  from.read(samples, {&out, 1});
  return rows;
}

/// Content of the array, sample after sample, after the format's description alone: one element at
/// a time.
byte_vector by_the_book(const detail::npy_header& header, std::span<const std::byte> payload) {
  const std::size_t element = size_bytes(header.type);
  byte_vector rows(payload.size());
  std::vector<std::uint64_t> index(header.extents.size());
  for (std::size_t to = 0; to < rows.size(); to += element) {
    std::uint64_t from = 0;
    if (header.is_fortran)
      for (std::size_t i = index.size(); i-- > 0;) from = from * header.extents[i] + index[i];
    else
      from = to / element;
    std::memcpy(rows.data() + to, payload.data() + from * element, element);
    if (header.is_swapped) std::reverse(rows.data() + to, rows.data() + to + element);
    for (std::size_t i = index.size(); i-- > 0;) {
      if (++index[i] < header.extents[i]) break;
      index[i] = 0;
    }
  }
  return rows;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  detail::log()->set_level(spdlog::level::off);  // bytes after an array are expected here
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  detail::memory_source stream{bytes};
  const auto in_memory = opened([&] { return detail::read_npy_array(stream, size, {"", "x"}); });
  const auto file = test::memory_file(bytes);
  const auto in_file = opened([&] {
    return detail::open_npy_array(file, 0, file->size(), {"", "x"});
  });
  require((in_memory == nullptr) == (in_file == nullptr), "a file is refused as its bytes are");
  if (!in_memory) return 0;

  detail::memory_source again{bytes};
  const detail::npy_header header = detail::read_npy_header(again, {"", "x"});
  require(header.end() <= size, "the array ends no later than its bytes do");
  require(in_file->size() == header.extents[0], "as many samples as announced");
  require(in_file->fields() == in_memory->fields(), "one field, however it is read");
  const byte_vector expected =
      by_the_book(header, bytes.subspan(header.header_bytes, header.payload_bytes));
  require(all_rows(*in_file) == expected, "a file's elements are where the format says");
  require(all_rows(*in_memory) == expected, "elements in memory are where the format says");
  return 0;
}
