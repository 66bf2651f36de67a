#pragma once

#include "codecs/lz/bits.hpp"
#include "codecs/lz/sequences.hpp"
#include "codecs/lz4/staged_bytes.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Position of a sequence, and the lengths of its parts. The two bytes after the literals are the
/// offset.
struct alignas(16) lz4_sequence {
  std::uint32_t literals_at;
  std::uint32_t literals;
  std::uint32_t match;
};

/// Finds the sequences of a block of LZ4 (github.com/lz4/lz4, doc/lz4_Block_format.md). The
/// begin of each follows from the one before it: all lanes compute this chain alike. Offsets are
/// read by one lane each.
template <class Warp>
class lz4_sequences {
 public:
  /// @param found Memory that the warp shares, one entry for each lane.
  /// @param room Decoded size of the block; not 0.
  FEEDLINE_HOST_DEVICE lz4_sequences(Warp& warp, byte_stage<Warp>& stage, lz4_sequence* found,
                                     const std::byte* from, std::uint32_t bytes, std::uint32_t room)
      : warp_{warp},
        in_{warp, stage, from, bytes},
        found_{found},
        from_{from},
        bytes_{bytes},
        left_{room} {}

  /// Finds the next sequences: one for each lane, or all that are left.
  /// @return Whether they are valid, and fit into the room.
  FEEDLINE_HOST_DEVICE bool find() {
    count_ = 0;
    while (count_ < Warp::lanes && !is_at_end_)
      if (!find_one()) return false;
    warp_.sync();
    return true;
  }
  /// The sequences that were found.
  [[nodiscard]] FEEDLINE_HOST_DEVICE sequence_batch<Warp> batch() const {
    using std::uint32_t;
    const auto found = warp_.map([&](uint32_t lane) -> lz4_sequence {
      if (lane >= count_) return {0, 0, 0};
      return found_[lane];
    });
    sequence_batch<Warp> batch;
    batch.count = count_;
    batch.literals_at = warp_.map([&](uint32_t lane) { return found[lane].literals_at; });
    batch.literals = warp_.map([&](uint32_t lane) { return found[lane].literals; });
    batch.match = warp_.map([&](uint32_t lane) { return found[lane].match; });
    batch.offset = warp_.map([&](uint32_t lane) -> uint32_t {
      if (lane >= count_) return 0;
      const std::byte* const at = from_ + found[lane].literals_at + found[lane].literals;
      return static_cast<uint32_t>(little_endian(at, 2));
    });
    return batch;
  }
  /// Whether all sequences were found.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool is_at_end() const { return is_at_end_; }
  /// The literals after the last sequence, which fill the room; call it once all sequences were
  /// found.
  [[nodiscard]] FEEDLINE_HOST_DEVICE literal_source last_literals() const {
    return {from_ + bytes_ - last_literals_, last_literals_, false};
  }

 private:
  // Limits for encoders, so that decoders may copy more than they need: the last sequence has only
  // literals, and the repetition before it ends at least `least_literals` bytes before the block's
  // end, and begins at least `least_from_match` bytes before it.
  static constexpr std::uint32_t least_literals = 5;
  static constexpr std::uint32_t least_from_match = 12;
  /// Bytes of an offset, of a token, and of the last literals.
  static constexpr std::uint32_t least_behind = 2 + 1 + least_literals;

  FEEDLINE_HOST_DEVICE bool find_one() {
    if (at_ >= bytes_) return false;
    in_.need(at_);
    const std::uint32_t token = in_[at_++];
    lz4_sequence one{0, token >> 4U, token & most};
    if (one.literals == most && !extend(one.literals)) return false;
    if (one.literals > bytes_ - at_ || one.literals > left_) return false;
    one.literals_at = at_;
    at_ += one.literals;
    left_ -= one.literals;
    if (at_ == bytes_) {
      is_at_end_ = true;
      last_literals_ = one.literals;
      return left_ == 0;
    }
    if (bytes_ - at_ < least_behind || left_ < least_from_match) return false;
    at_ += 2;
    if (one.match == most && !extend(one.match)) return false;
    one.match += least_match;
    if (one.match > left_ - least_literals) return false;
    left_ -= one.match;
    warp_.one([&] { found_[count_] = one; });
    ++count_;
    return true;
  }

  /// Adds the bytes that continue a length: all up to the first that is not 255. Each lane looks at
  /// one byte.
  FEEDLINE_HOST_DEVICE bool extend(std::uint32_t& length) {
    using std::uint32_t;
    constexpr uint32_t more = 255;
    for (;;) {
      in_.need(at_);
      const uint32_t ends =
          warp_.ballot(warp_.map([&](uint32_t lane) { return in_[at_ + lane] != more; }));
      const uint32_t full = ends == 0 ? Warp::lanes : lowest_bit(ends);
      if (full >= bytes_ - at_) return false;
      length += more * full;
      if (length > left_) return false;
      at_ += full;
      if (full == Warp::lanes) continue;
      length += in_[at_++];
      return true;
    }
  }

  static constexpr std::uint32_t most = 15;  ///< largest length that a token states
  static constexpr std::uint32_t least_match = 4;

  Warp& warp_;
  staged_bytes<Warp> in_;
  lz4_sequence* found_;
  const std::byte* from_;
  std::uint32_t bytes_;
  std::uint32_t left_;       ///< bytes left of the room
  std::uint32_t at_ = 0;     ///< bytes that were read, or that are literals
  std::uint32_t count_ = 0;  ///< sequences that were found together
  std::uint32_t last_literals_ = 0;
  bool is_at_end_ = false;
};

}  // namespace feedline::detail
