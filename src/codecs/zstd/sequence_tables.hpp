#pragma once

#include "codecs/zstd/fse.hpp"
#include "codecs/zstd/sequence_codes.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// The tables of a block's sequences, which the next block may reuse.
struct sequence_tables {
  fse_entry literals[1U << 9U];
  fse_entry match[1U << 9U];
  fse_entry offset[1U << 8U];
};

/// Bits of the tables' states, in the order in which the initial states are read.
struct sequence_logs {
  std::uint32_t literals = 0;
  std::uint32_t offset = 0;
  std::uint32_t match = 0;
};

/// Bytes that are read from the first to the last.
struct byte_source {
  const std::byte* at;
  std::uint32_t left;
};

/// Makes the table of a field, or keeps the existing one (RFC 8878, section 3.1.1.3.2.1).
/// @param is_there Whether there is one. @param from Bytes that may store the table; advanced past
///                 it if they do.
/// @return Whether there is a table now.
template <class Warp>
FEEDLINE_HOST_DEVICE bool make_sequence_table(Warp& warp, fse_scratch& scratch,
                                              sequence_field field, std::uint32_t mode,
                                              bool is_there, sequence_tables& tables,
                                              sequence_logs& logs, byte_source& from) {
  using std::uint32_t;
  const sequence_limits limits = limits_of(field);
  const bool of_literals = field == sequence_field::literals;
  const bool of_match = field == sequence_field::match;
  fse_entry* const entries = of_literals ? tables.literals
                             : of_match  ? tables.match
                                         : tables.offset;
  uint32_t& log = of_literals ? logs.literals : of_match ? logs.match : logs.offset;
  const auto entry = [&](uint32_t bits, uint32_t code, uint32_t next) {
    return entry_of(field, bits, code, next);
  };
  fse_counts counts;
  switch (mode) {
    case 0:
      warp.each([&](uint32_t lane) {
        for (uint32_t i = lane; i < limits.default_symbols; i += Warp::lanes)
          scratch.count[i] = default_count(field, i);
      });
      counts = {0, limits.default_log, limits.default_symbols};
      break;
    case 1: {
      if (from.left == 0) return false;
      const auto code = static_cast<uint32_t>(from.at[0]);
      if (code > limits.max_symbol) return false;
      warp.one([&] { entries[0] = entry(0, code, 0); });
      warp.sync();
      log = 0;
      ++from.at;
      --from.left;
      return true;
    }
    case 2:
      counts =
          read_fse_counts(warp, scratch, from.at, from.left, limits.max_symbol, limits.max_log);
      if (counts.bytes == 0) return false;
      break;
    default:
      return is_there;
  }
  build_fse_table(warp, scratch, counts, entries, entry);
  log = counts.log;
  from.at += counts.bytes;
  from.left -= counts.bytes;
  return true;
}

}  // namespace feedline::detail
