// Over 250 lines: the reason why nothing is overwritten before it is read can be followed in one
// file.

#pragma once

#include "codecs/lz/bits.hpp"
#include "codecs/lz/copy.hpp"
#include "codecs/lz/sequences.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// The last bytes that were decoded, in memory that a warp shares: most repetitions repeat these
/// bytes, and a GPU's other memory has ten times the latency. Valid while sequences are executed.
struct lz_window {
  static constexpr std::uint32_t bytes = 4096;

  alignas(16) std::byte ring[bytes];
};

/// A repetition: offsets in the decoded bytes.
struct alignas(16) repetition {
  std::uint32_t to;
  std::uint32_t from;
  std::uint32_t offset;  ///< `to` - `from`
  std::uint32_t bytes;
};

/// Takes decoded bytes, in order. Between blocks all of them are at their destination. Sequences
/// write to the window, and from there the bytes go to their destination.
///
/// Literals may be stored at the end of the room: those that were not taken yet are never
/// overwritten, as long as the decoded bytes fit before them.
template <class Warp>
class lz_output {
 public:
  FEEDLINE_HOST_DEVICE lz_output(Warp& warp, std::byte* to, std::uint32_t room, lz_window& window,
                                 repetition* repetitions)
      : warp_{warp},
        to_{to},
        ring_{window.ring},
        repetitions_{repetitions},
        room_{room},
        skew_{static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(to) % unit_bytes)} {}

  /// Number of decoded bytes.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t at() const { return at_; }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t room() const { return room_ - at_; }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::byte* place(std::uint32_t at) const { return to_ + at; }

  /// Counts bytes that were decoded directly to their destination. @param bytes `room()` at most;
  /// also for the functions below.
  FEEDLINE_HOST_DEVICE void skip(std::uint32_t bytes) { written_ = at_ += bytes; }
  FEEDLINE_HOST_DEVICE void put(const std::byte* from, std::uint32_t bytes) {
    copy_bytes_by(warp_, to_ + at_, from, bytes);
    skip(bytes);
  }
  FEEDLINE_HOST_DEVICE void fill(std::byte value, std::uint32_t bytes) {
    fill_bytes_by(warp_, to_ + at_, value, bytes);
    skip(bytes);
  }

  /// Call it before the first sequences of a block.
  FEEDLINE_HOST_DEVICE void open_window() {
    const std::uint32_t begin = at_ < lz_window::bytes ? 0 : at_ - lz_window::bytes;
    by_units(
        begin, at_, [&](std::uint32_t at) { in_ring<unit>(at) = at_place<unit>(at); },
        [&](std::uint32_t at) { in_ring<std::byte>(at) = at_place<std::byte>(at); });
  }
  /// Call it after the last sequences of a block. Writes the remaining literals.
  FEEDLINE_HOST_DEVICE void close_window(const literal_source& literals) {
    put_literals(literals, 0, literals.left);
    write(at_);
  }

  /// Executes sequences.
  /// @param begin Begin of the frame or block: nothing before it may be repeated.
  /// @param limit Most bytes that the sequences may make.
  /// @return False, with nothing done, if a sequence repeats bytes that do not exist, or if the
  ///         sequences make too many bytes.
  FEEDLINE_HOST_DEVICE bool execute(const sequence_batch<Warp>& batch,
                                    const literal_source& literals, std::uint32_t begin,
                                    std::uint32_t limit) {
    using std::uint32_t;
    const values both =
        warp_.map([&](uint32_t lane) { return batch.literals[lane] + batch.match[lane]; });
    const values before = warp_.sum_before(both);
    if (warp_.last(before) + warp_.last(both) > limit) return false;
    const auto is_wrong = warp_.map([&](uint32_t lane) {
      const uint32_t behind = at_ - begin + before[lane] + batch.literals[lane];
      return lane < batch.count && (batch.offset[lane] == 0 || batch.offset[lane] > behind);
    });
    if (warp_.any(is_wrong)) return false;

    const uint32_t start = at_;
    for (uint32_t first = 0; first < batch.count;) {
      const uint32_t fit = count_bits(warp_.ballot(warp_.map([&](uint32_t lane) {
        return lane >= first && lane < batch.count &&
               start + before[lane] + both[lane] - at_ <= max_together;
      })));
      if (fit > 0) {
        execute_together({first, first + fit, start}, batch, literals, before);
      } else {
        put_literals(literals, warp_.from(batch.literals_at, first),
                     warp_.from(batch.literals, first));
        repeat(warp_.from(batch.offset, first), warp_.from(batch.match, first));
      }
      first += fit > 0 ? fit : 1;
    }
    return true;
  }

 private:
  using values = typename Warp::template per_lane<std::uint32_t>;
  struct alignas(16) unit {
    std::uint32_t words[4];
  };
  /// Sequences from `first` to `last`, of a batch that began at `start`.
  struct share {
    std::uint32_t first;
    std::uint32_t last;
    std::uint32_t start;
  };

  static constexpr std::uint32_t unit_bytes = sizeof(unit);
  static constexpr std::uint32_t some = 512;           ///< bytes written together, about
  static constexpr std::uint32_t max_together = 1536;  ///< most bytes that sequences make at once
  static constexpr std::uint32_t few_literals = 16;    ///< most literals that one lane copies
  static constexpr std::uint32_t few = 24;             ///< most bytes that one lane repeats
  // Bytes that have left the window must have been written before they are read.
  static_assert(2 * max_together + some + 2 * unit_bytes <= lz_window::bytes);

  template <class T>
  [[nodiscard]] FEEDLINE_HOST_DEVICE T& in_ring(std::uint32_t at) const {
    return reinterpret_cast<T&>(ring_[(at + skew_) % lz_window::bytes]);
  }
  template <class T>
  [[nodiscard]] FEEDLINE_HOST_DEVICE T& at_place(std::uint32_t at) const {
    return reinterpret_cast<T&>(to_[at]);
  }
  /// Begin of the window when all bytes up to `end` are in it.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint32_t window_begin(std::uint32_t end) {
    return end < lz_window::bytes ? 0 : end - lz_window::bytes;
  }

  template <class Unit, class Byte>
  FEEDLINE_HOST_DEVICE void by_units(std::uint32_t begin, std::uint32_t end, Unit one_unit,
                                     Byte one_byte) {
    using std::uint32_t;
    const uint32_t aligned = (begin + skew_ + unit_bytes - 1) / unit_bytes * unit_bytes - skew_;
    const uint32_t first = aligned < end ? aligned : end;
    const uint32_t last = first + (end - first) / unit_bytes * unit_bytes;
    warp_.each([&](uint32_t lane) {
      for (uint32_t at = begin + lane; at < first; at += Warp::lanes) one_byte(at);
      for (uint32_t at = first + unit_bytes * lane; at < last; at += unit_bytes * Warp::lanes)
        one_unit(at);
      for (uint32_t at = last + lane; at < end; at += Warp::lanes) one_byte(at);
    });
  }
  FEEDLINE_HOST_DEVICE void write(std::uint32_t end) {
    by_units(
        written_, end, [&](std::uint32_t at) { at_place<unit>(at) = in_ring<unit>(at); },
        [&](std::uint32_t at) { at_place<std::byte>(at) = in_ring<std::byte>(at); });
    written_ = end;
  }
  FEEDLINE_HOST_DEVICE void write_some() {
    if (at_ - written_ >= some) write((at_ + skew_) / unit_bytes * unit_bytes - skew_);
  }

  FEEDLINE_HOST_DEVICE void put_literals(const literal_source& literals, std::uint32_t first,
                                         std::uint32_t bytes) {
    const std::byte* from = literals.from + (literals.is_one ? 0 : first);
    while (bytes > 0) {
      const std::uint32_t piece = bytes < some ? bytes : some;
      copy_literals(from, literals.is_one, at_, piece);
      if (!literals.is_one) from += piece;
      at_ += piece;
      bytes -= piece;
      write_some();
    }
  }
  FEEDLINE_HOST_DEVICE void copy_literals(const std::byte* from, bool is_one, std::uint32_t to,
                                          std::uint32_t bytes) {
    warp_.each([&](std::uint32_t lane) {
      for (std::uint32_t i = lane; i < bytes; i += Warp::lanes)
        in_ring<std::byte>(to + i) = from[is_one ? 0 : i];
    });
  }
  FEEDLINE_HOST_DEVICE void repeat(std::uint32_t offset, std::uint32_t bytes) {
    while (bytes > 0) {
      const std::uint32_t piece = bytes < some ? bytes : some;
      repeat_at_once({at_, at_ - offset, offset, piece}, window_begin(at_ + piece));
      at_ += piece;
      bytes -= piece;
      write_some();
    }
  }
  /// @param begin Begin of the window.
  FEEDLINE_HOST_DEVICE void repeat_at_once(const repetition& what, std::uint32_t begin) {
    warp_.each([&](std::uint32_t lane) {
      for (std::uint32_t i = lane; i < what.bytes; i += Warp::lanes) {
        std::uint32_t from = what.from + i;
        if (what.offset < what.bytes) from = what.from + (what.offset == 1 ? 0 : i % what.offset);
        in_ring<std::byte>(what.to + i) =
            what.from < begin ? at_place<std::byte>(from) : in_ring<std::byte>(from);
      }
    });
  }

  /// Executes sequences that make at most `max_together` bytes. First each lane does what it can by
  /// itself: copies few literals, and repeats few bytes if they were there before. The remaining
  /// ones follow in order, each done by all lanes.
  FEEDLINE_HOST_DEVICE void execute_together(const share& of, const sequence_batch<Warp>& batch,
                                             const literal_source& literals, const values& before) {
    using std::uint32_t;
    const uint32_t end = of.start + warp_.from(before, of.last - 1) +
                         warp_.from(batch.literals, of.last - 1) +
                         warp_.from(batch.match, of.last - 1);
    const uint32_t begin = window_begin(end);
    const auto is_here = [&](uint32_t lane) { return lane >= of.first && lane < of.last; };
    const auto of_lane = [&](uint32_t lane) -> repetition {
      const uint32_t to = of.start + before[lane] + batch.literals[lane];
      return {to, to - batch.offset[lane], batch.offset[lane], batch.match[lane]};
    };
    const auto is_early = [&](const repetition& what) {
      return what.bytes <= few && what.from + what.bytes <= at_;
    };
    warp_.each([&](uint32_t lane) {
      if (!is_here(lane)) return;
      const repetition what = of_lane(lane);
      repetitions_[lane] = what;
      if (batch.literals[lane] <= few_literals) {
        const uint32_t to = of.start + before[lane];
        const std::byte* const from =
            literals.from + (literals.is_one ? 0 : batch.literals_at[lane]);
        for (uint32_t i = 0; i < batch.literals[lane]; ++i)
          in_ring<std::byte>(to + i) = from[literals.is_one ? 0 : i];
      }
      if (!is_early(what)) return;
      if (what.from >= begin) {
        for (uint32_t i = 0; i < what.bytes; ++i)
          in_ring<std::byte>(what.to + i) = in_ring<std::byte>(what.from + i);
      } else {
        for (uint32_t i = 0; i < what.bytes; ++i)
          in_ring<std::byte>(what.to + i) = at_place<std::byte>(what.from + i);
      }
    });
    uint32_t many = warp_.ballot(warp_.map(
        [&](uint32_t lane) { return is_here(lane) && batch.literals[lane] > few_literals; }));
    for (; many != 0; many &= many - 1) {
      const uint32_t lane = lowest_bit(many);
      copy_literals(literals.from + (literals.is_one ? 0 : warp_.from(batch.literals_at, lane)),
                    literals.is_one, of.start + warp_.from(before, lane),
                    warp_.from(batch.literals, lane));
    }
    uint32_t late = warp_.ballot(
        warp_.map([&](uint32_t lane) { return is_here(lane) && !is_early(of_lane(lane)); }));
    for (; late != 0; late &= late - 1) repeat_at_once(repetitions_[lowest_bit(late)], begin);
    at_ = end;
    write_some();
  }

  Warp& warp_;
  std::byte* to_;
  std::byte* ring_;
  repetition* repetitions_;
  std::uint32_t room_;
  std::uint32_t skew_;         ///< offset of the room's begin in its unit
  std::uint32_t at_ = 0;       ///< bytes that were decoded,
  std::uint32_t written_ = 0;  ///< and bytes that are at their destination
};

}  // namespace feedline::detail
