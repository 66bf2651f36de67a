#pragma once

#include "codecs/lz/bits.hpp"
#include "codecs/lz/sequences.hpp"
#include "codecs/zstd/fse.hpp"
#include "codecs/zstd/repeat_offsets.hpp"
#include "codecs/zstd/reverse_stream.hpp"
#include "codecs/zstd/sequence_codes.hpp"
#include "codecs/zstd/sequence_tables.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// The entries of a sequence's states, and the position of its bits.
struct alignas(16) sequence_bits {
  fse_entry literals;
  fse_entry match;
  fse_entry offset;
  std::int32_t position;
};

/// Memory that a warp shares while it decodes sequences.
template <class Warp>
struct sequence_scratch {
  /// Words of the stream that contain all bits of a batch, where a sequence has at most 89 bits.
  /// There are two more words before the first and two after the last that are needed.
  static constexpr std::uint32_t words = 3 * Warp::lanes + 4;

  std::uint32_t word[words];
};

/// Decodes the sequences of a block (RFC 8878, section 3.1.1.3.2). Their states form one chain,
/// which all lanes compute alike: it gives the states and the position of each sequence's bits. The
/// numbers of a sequence are then computed by one lane each.
template <class Warp>
class sequence_reader {
 public:
  /// @param bits Memory that the warp shares, one entry for each lane.
  FEEDLINE_HOST_DEVICE sequence_reader(Warp& warp, const sequence_tables& tables,
                                       sequence_scratch<Warp>& scratch, sequence_bits* bits,
                                       const reverse_stream& stream, const sequence_logs& of,
                                       std::uint32_t count)
      : warp_{warp},
        tables_{tables},
        scratch_{scratch},
        bits_{bits},
        stream_{stream},
        left_{count},
        position_{stream.end() - static_cast<std::int32_t>(of.literals + of.offset + of.match)} {
    std::uint64_t first = stream.bits_below(stream.end());
    const auto take = [&](std::uint32_t count_of_bits) {
      const std::uint32_t taken = top_bits(first, count_of_bits);
      first <<= count_of_bits;
      return taken;
    };
    literals_ = take(of.literals);
    offset_ = take(of.offset);
    match_ = take(of.match);
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t left() const { return left_; }
  /// Whether exactly all bits were read. Call it after the last sequence.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool is_at_end() const { return position_ == stream_.begin(); }

  /// The next sequences: one for each lane, or all that are left.
  FEEDLINE_HOST_DEVICE sequence_batch<Warp> next(repeat_offsets& repeats) {
    sequence_batch<Warp> batch;
    batch.count = left_ < Warp::lanes ? left_ : Warp::lanes;
    left_ -= batch.count;
    walk(batch.count);
    const auto values = warp_.map([&](std::uint32_t lane) -> sequence {
      if (lane >= batch.count) return {0, 0, 0};
      return sequence_of(bits_[lane]);
    });
    batch.literals = warp_.map([&](std::uint32_t lane) { return values[lane].literals; });
    batch.literals_at = warp_.sum_before(batch.literals);
    batch.match = warp_.map([&](std::uint32_t lane) { return values[lane].match; });
    batch.offset =
        resolve_offsets(warp_, repeats, batch.count,
                        warp_.map([&](std::uint32_t lane) { return values[lane].offset; }),
                        warp_.map([&](std::uint32_t lane) { return values[lane].literals == 0; }));
    return batch;
  }

 private:
  static constexpr std::uint32_t words = sequence_scratch<Warp>::words;
  struct sequence {
    std::uint32_t literals;
    std::uint32_t offset;  ///< coded: 1 to 3 are the last offsets
    std::uint32_t match;
  };

  /// Walks the chain of states. After the block's last sequence there is no next state.
  FEEDLINE_HOST_DEVICE void walk(std::uint32_t count) {
    const std::int32_t first =
        reverse_stream::word_below(position_) + 3 - static_cast<std::int32_t>(words);
    warp_.each([&](std::uint32_t lane) {
      for (std::uint32_t i = lane; i < words; i += Warp::lanes)
        scratch_.word[i] = stream_.word(first + static_cast<std::int32_t>(i));
    });
    std::int32_t position = position_ - 32 * first;  // position in those words
    const std::uint32_t steps = left_ == 0 ? count - 1 : count;
    for (std::uint32_t i = 0; i < steps; ++i) {
      const fse_entry literals = tables_.literals[literals_];
      const fse_entry match = tables_.match[match_];
      const fse_entry offset = tables_.offset[offset_];
      warp_.one([&] { bits_[i] = {literals, match, offset, position}; });
      // Sums of the fields do not carry into the next field.
      position = without_low_bytes(position, literals.word + match.word + offset.word);
      const auto at = static_cast<std::uint32_t>(position);
      const std::uint32_t bits = moved_down(scratch_.word[at / 32], scratch_.word[at / 32 + 1], at);
      // Shifted by known numbers, so that the three states are independent of each other.
      offset_ = offset.next() + low_bits(bits, offset.bits());
      match_ = match.next() + low_bits(bits >> offset.bits(), match.bits());
      literals_ =
          literals.next() + low_bits(bits >> (offset.bits() + match.bits()), literals.bits());
    }
    if (left_ == 0) {
      const sequence_bits last{tables_.literals[literals_], tables_.match[match_],
                               tables_.offset[offset_], position};
      warp_.one([&] { bits_[steps] = last; });
      position -= static_cast<std::int32_t>(last.literals.extra() + last.match.extra() +
                                            last.offset.extra());
    }
    position_ = position + 32 * first;
    warp_.sync();
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE sequence sequence_of(const sequence_bits& from) const {
    const auto at = static_cast<std::uint32_t>(reverse_stream::word_below(from.position));
    const std::uint32_t above = reverse_stream::bits_above(from.position);
    const std::uint32_t* const word = scratch_.word + at;
    const std::uint64_t high = (std::uint64_t{word[0]} << 32U | word[-1]) << above;
    const std::uint64_t low = (std::uint64_t{word[-1]} << 32U | word[-2]) << above;
    std::uint64_t bits = high >> 32U << 32U | low >> 32U;
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
  sequence_scratch<Warp>& scratch_;
  sequence_bits* bits_;
  const reverse_stream stream_;
  std::uint32_t left_;
  std::uint32_t literals_;  ///< states
  std::uint32_t offset_;
  std::uint32_t match_;
  std::int32_t position_;
};

}  // namespace feedline::detail
