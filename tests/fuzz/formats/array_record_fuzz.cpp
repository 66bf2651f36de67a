/// Fuzz target of ArrayRecord: any bytes are records or an error.
///
/// The first byte is a kind. 1: the data of a chunk, after its number of records and their size, in
/// a byte each; a chunk's hashes are right, so that the fuzzer need not find them. 2: an index,
/// after the number of its records and their ends. Others: a chunk that begins at this byte of a
/// file.

#include <feedline/error.hpp>

#include "formats/array_record/index.hpp"
#include "formats/array_record/riegeli.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

using namespace feedline;

namespace {

using byte_span = std::span<const std::byte>;

std::uint64_t take(byte_span& input) {
  if (input.empty()) return 0;
  const auto first = std::to_integer<std::uint64_t>(input.front());
  input = input.subspan(1);
  return first;
}

void read_records(const detail::riegeli_chunk& chunk) {
  const detail::packed_records packed = detail::find_records(chunk);
  std::vector<std::uint64_t> ends(static_cast<std::size_t>(packed.records));
  detail::unpack_record_ends(packed, ends);
  std::vector<std::byte> values(static_cast<std::size_t>(packed.raw_bytes));
  detail::unpack_records(packed, values);
}

void read_index(byte_span input) {
  std::vector<std::uint64_t> ends(static_cast<std::size_t>(1 + take(input)));
  std::uint64_t end = 0;
  for (std::uint64_t& each : ends) each = end += take(input);
  std::vector<std::byte> values(static_cast<std::size_t>(end));
  std::copy_n(input.begin(), std::min(input.size(), values.size()), values.begin());
  std::uint64_t last = 0;
  for (const detail::array_chunk& each : detail::parse_array_index(values, ends, 1 << 20)) {
    if (each.stored.begin >= each.stored.end || each.end <= last) __builtin_trap();
    last = each.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  byte_span input = std::as_bytes(std::span{data, size});
  const std::uint64_t kind = take(input);
  try {
    if (kind == 1) {
      const std::uint64_t records = take(input);
      const std::uint64_t bytes = take(input);
      read_records({'r', records, bytes, input});
    } else if (kind == 2) {
      read_index(input);
    } else {
      std::vector<std::byte> stored{input.begin(), input.end()};
      read_records(detail::take_riegeli_chunk(stored, kind == 0 ? 65536 : kind));
    }
  } catch (const error&) {  // any other ends the fuzzer
  }
  return 0;
}
