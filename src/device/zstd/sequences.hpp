#pragma once

#include "detail/host_device.hpp"
#include "device/zstd/bits.hpp"
#include "device/zstd/fse.hpp"
#include "device/zstd/repeat_offsets.hpp"
#include "device/zstd/reverse_stream.hpp"
#include "device/zstd/sequence_codes.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// The tables of a block's sequences, which the next one may use again.
struct sequence_tables {
  fse_entry literals[1U << 9U];
  fse_entry match[1U << 9U];
  fse_entry offset[1U << 8U];
};

/// What a sequence's states mean, and where its bits are.
struct alignas(16) sequence_bits {
  fse_entry literals;
  fse_entry match;
  fse_entry offset;
  std::int32_t position;
};

/// Sequences, one by a lane.
template <class Warp>
struct sequence_batch {
  using values = typename Warp::template per_lane<std::uint32_t>;

  std::uint32_t count;  ///< lanes with one
  values literals;      ///< bytes that come first,
  values offset;        ///< how far back lies what is repeated then,
  values match;         ///< and how many bytes of it
};

/// Decodes the sequences of a block (RFC 8878, section 3.1.1.3.2). What they are is one chain, of
/// which all lanes do the same: it finds the states and where the bits of each sequence lie. Its
/// numbers are worked out by a lane for each.
template <class Warp>
class sequence_reader {
 public:
  /// @param bits Memory that the warp shares, one for each lane.
  FEEDLINE_HOST_DEVICE sequence_reader(Warp& warp, const sequence_tables& tables,
                                       sequence_bits* bits, const reverse_stream& stream,
                                       std::uint32_t literals_log, std::uint32_t offset_log,
                                       std::uint32_t match_log, std::uint32_t count)
      : warp_{warp},
        tables_{tables},
        bits_{bits},
        stream_{stream},
        in_{warp, stream},
        left_{count} {
    literals_ = in_.take(literals_log);
    offset_ = in_.take(offset_log);
    match_ = in_.take(match_log);
    position_ = in_.position();
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t left() const { return left_; }
  /// Whether all bits were read, and no more. After the last sequence.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool is_at_end() const { return position_ == stream_.begin(); }

  /// The next sequences: as many as there are lanes, or all that are left.
  FEEDLINE_HOST_DEVICE sequence_batch<Warp> next(repeat_offsets& repeats) {
    sequence_batch<Warp> batch;
    batch.count = left_ < Warp::lanes ? left_ : Warp::lanes;
    for (std::uint32_t i = 0; i < batch.count; ++i) step(i);
    warp_.sync();
    const auto values = warp_.map([&](std::uint32_t lane) -> sequence {
      if (lane >= batch.count) return {0, 0, 0};
      return sequence_of(bits_[lane]);
    });
    batch.literals = warp_.map([&](std::uint32_t lane) { return values[lane].literals; });
    batch.match = warp_.map([&](std::uint32_t lane) { return values[lane].match; });
    batch.offset =
        resolve_offsets(warp_, repeats, batch.count,
                        warp_.map([&](std::uint32_t lane) { return values[lane].offset; }),
                        warp_.map([&](std::uint32_t lane) { return values[lane].literals == 0; }));
    return batch;
  }

 private:
  struct sequence {
    std::uint32_t literals;
    std::uint32_t offset;  ///< as it is coded: 1 to 3 are the last ones
    std::uint32_t match;
  };

  FEEDLINE_HOST_DEVICE void step(std::uint32_t number) {
    const fse_entry literals = tables_.literals[literals_];
    const fse_entry match = tables_.match[match_];
    const fse_entry offset = tables_.offset[offset_];
    warp_.one([&] { bits_[number] = {literals, match, offset, position_}; });
    // Sums of three fields do not reach into the next one.
    const fse_entry sum{literals.word + match.word + offset.word};
    const std::uint32_t extra = sum.extra();
    if (--left_ == 0) {  // there is no next state
      position_ -= static_cast<std::int32_t>(extra);
      return;
    }
    const std::uint32_t state_bits = sum.bits();
    std::uint32_t bits = in_.take_behind(extra, state_bits);
    position_ -= static_cast<std::int32_t>(extra + state_bits);
    offset_ = offset.next() + low_bits(bits, offset.bits());
    bits >>= offset.bits();
    match_ = match.next() + low_bits(bits, match.bits());
    literals_ = literals.next() + (bits >> match.bits());
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE sequence sequence_of(const sequence_bits& from) const {
    std::uint64_t bits = stream_.bits_below(from.position);
    const auto take = [&](std::uint32_t count) {
      const std::uint32_t taken = top_bits(bits, count);
      bits <<= count;
      return taken;
    };
    const std::uint32_t offset = (1U << from.offset.extra()) + take(from.offset.extra());
    const std::uint32_t match = match_code(from.match.symbol()).base + take(from.match.extra());
    const std::uint32_t literals =
        literals_code(from.literals.symbol()).base + take(from.literals.extra());
    return {literals, offset, match};
  }

  Warp& warp_;
  const sequence_tables& tables_;
  sequence_bits* bits_;
  const reverse_stream stream_;
  reverse_reader<Warp> in_;
  std::uint32_t left_;
  std::uint32_t literals_;  ///< states
  std::uint32_t offset_;
  std::uint32_t match_;
  std::int32_t position_;
};

}  // namespace feedline::detail
