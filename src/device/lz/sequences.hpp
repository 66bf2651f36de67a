#pragma once

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// What Zstandard and LZ4 consist of: literals, and repetitions of what was decoded before.

/// Sequences, one by a lane: some literals, then a repetition.
template <class Warp>
struct sequence_batch {
  using values = typename Warp::template per_lane<std::uint32_t>;

  std::uint32_t count;  ///< lanes with one; others have no literals and repeat 0 bytes
  values literals_at;   ///< where the literals lie, from the first that may be taken,
  values literals;      ///< and how many,
  values offset;        ///< how far back lies what is repeated then,
  values match;         ///< and how many bytes of it
};

/// Literals that sequences take.
struct literal_source {
  const std::byte* from = nullptr;
  std::uint32_t left = 0;
  bool is_one = false;  ///< all are the byte at `from`
};

}  // namespace feedline::detail
