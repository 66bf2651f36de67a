#pragma once

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// The parts of Zstandard and LZ4: literals, and repetitions of bytes that were decoded before.

/// Sequences, one for each lane: some literals, then a repetition.
template <class Warp>
struct sequence_batch {
  using values = typename Warp::template per_lane<std::uint32_t>;

  std::uint32_t count;  ///< lanes with a sequence; others have no literals and repeat 0 bytes
  values literals_at;   ///< offset of the literals from the first that may be taken
  values literals;      ///< number of literals
  values offset;        ///< how far back the repeated bytes begin
  values match;         ///< number of bytes to repeat
};

/// Literals for sequences.
struct literal_source {
  const std::byte* from = nullptr;
  std::uint32_t left = 0;
  bool is_one = false;  ///< all are the byte at `from`
};

}  // namespace feedline::detail
