#pragma once

#include "codecs/lz/bits.hpp"
#include "codecs/lz/framed_blocks.hpp"
#include "codecs/lz/output.hpp"
#include "codecs/zstd/frame_header.hpp"
#include "codecs/zstd/fse.hpp"
#include "codecs/zstd/huffman.hpp"
#include "codecs/zstd/literals.hpp"
#include "codecs/zstd/sequence_codes.hpp"
#include "codecs/zstd/sequence_tables.hpp"
#include "codecs/zstd/sequences.hpp"
#include "codecs/zstd/xxh64.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// Decodes Zstandard (RFC 8878). For any frames, nothing is written outside the given room, nothing
// is read but the words that contain the frames, and decoding ends: so damaged files do no harm.
//
// The result is that of libzstd, bit for bit, for complete frames of any encoder. libzstd accepts
// some damaged frames that are refused here (docs/decisions/0077).

/// Memory that a warp shares while it decodes.
template <class Warp>
struct zstd_tables {
  sequence_tables sequences;
  huffman_weights weights;
  sequence_scratch<Warp> scratch;
  union {
    sequence_bits bits[Warp::lanes];
    repetition repetitions[Warp::lanes];
  };
  union {  // never used at once: the parts needed later are made or read again
    lz_window window;
    huffman_table huffman;
    huffman_scratch huffman_parts;
    fse_scratch fse_parts;
  };
};

/// @tparam Warp A class like `host_warp` (tests/support/devices) and `block_warp` (cuda/kernel):
///   lanes           a power of two, 4 to 32
///   per_lane<T>     a value of each lane; a lane's own value is `[lane]`
///   each(f)         calls f(lane) for each lane, which sees earlier writes; afterwards all lanes
///                   see its writes
///   map(f)          per_lane of f(lane); may read what was written before the last `each`
///   one(f)          calls f() by one lane; others see its writes after `sync()`
///   from(v, lane)   the value of a lane
///   sum(v), sum_before(v), any(v), ballot(v), before(v, apart), peers(v)
/// All other work is done by all lanes alike.
template <class Warp>
class zstd_decoder {
 public:
  FEEDLINE_HOST_DEVICE zstd_decoder(Warp& warp, const std::byte* from, std::uint32_t bytes,
                                    std::byte* to, std::uint32_t room, zstd_tables<Warp>& tables)
      : warp_{warp},
        from_{from},
        left_{bytes},
        tables_{tables},
        out_{warp, to, room, tables.window, tables.repetitions} {}

  /// @return Whether the frames are complete, and fill the room.
  FEEDLINE_HOST_DEVICE bool run() {
    while (left_ > 0) {
      const zstd_frame_header header = read_zstd_frame_header(from_, left_);
      if (header.kind == zstd_frame_kind::none) return false;
      take(header.bytes);
      if (header.kind == zstd_frame_kind::data && !frame(header)) return false;
    }
    return out_.room() == 0;
  }

 private:
  FEEDLINE_HOST_DEVICE const std::byte* take(std::uint32_t bytes) {
    const std::byte* const taken = from_;
    from_ += bytes;
    left_ -= bytes;
    return taken;
  }

  FEEDLINE_HOST_DEVICE bool frame(const zstd_frame_header& header) {
    begin_ = out_.at();
    max_block_bytes_ = header.max_block_bytes;
    repeats_ = {};
    has_weights_ = has_tables_ = false;
    for (bool is_last = false; !is_last;) {
      constexpr std::uint32_t header_bytes = 3;
      if (left_ < header_bytes) return false;
      const auto said = static_cast<std::uint32_t>(little_endian(take(header_bytes), header_bytes));
      is_last = (said & 1U) != 0;
      if (!block(said >> 1U & 3U, said >> 3U)) return false;
    }
    const std::uint32_t made = out_.at() - begin_;
    if (header.has_size && header.size != made) return false;
    if (!header.has_checksum) return true;
    constexpr std::uint32_t sum_bytes = 4;
    if (left_ < sum_bytes) return false;
    const std::uint64_t said = little_endian(take(sum_bytes), sum_bytes);
    return static_cast<std::uint32_t>(xxh64<Warp>::of(warp_, out_.place(begin_), made)) == said;
  }

  FEEDLINE_HOST_DEVICE bool block(std::uint32_t kind, std::uint32_t bytes) {
    switch (kind) {
      case 0:
        if (bytes > left_ || bytes > out_.room()) return false;
        out_.put(take(bytes), bytes);
        return true;
      case 1:
        if (left_ == 0 || bytes > out_.room()) return false;
        out_.fill(*take(1), bytes);
        return true;
      case 2:
        if (bytes > left_ || bytes > max_block_bytes_) return false;
        return compressed_block(take(bytes), bytes);
      default:
        return false;
    }
  }

  FEEDLINE_HOST_DEVICE bool compressed_block(const std::byte* from, std::uint32_t bytes) {
    const literals_header header = read_literals_header(from, bytes);
    if (header.header_bytes == 0) return false;
    const std::uint32_t limit = out_.room() < max_block_bytes_ ? out_.room() : max_block_bytes_;
    if (header.count > limit) return false;
    const std::uint32_t literals_end = header.header_bytes + header.bytes;
    if (literals_end >= bytes) return false;
    const std::byte* const sequences = from + literals_end;
    const std::uint32_t sequences_bytes = bytes - literals_end;
    const bool has_sequences = *sequences != std::byte{0};
    if (!has_sequences && sequences_bytes > 1) return false;

    literal_source literals{from + header.header_bytes, header.count,
                            header.kind == literals_kind::one};
    if (header.kind == literals_kind::coded || header.kind == literals_kind::coded_as_before) {
      std::byte* const to =
          out_.place(out_.at() + (has_sequences ? out_.room() - header.count : 0));
      if (!coded_literals(header, literals.from, to)) return false;
      literals.from = to;
    }
    if (has_sequences) return sequences_of(sequences, sequences_bytes, literals, limit);
    if (literals.is_one)
      out_.fill(*literals.from, literals.left);
    else if (literals.from == out_.place(out_.at()))
      out_.skip(literals.left);
    else
      out_.put(literals.from, literals.left);
    return true;
  }

  FEEDLINE_HOST_DEVICE bool coded_literals(const literals_header& header, const std::byte* from,
                                           std::byte* to) {
    std::uint32_t said = 0;
    if (header.kind == literals_kind::coded) {
      said =
          read_huffman_weights(warp_, tables_.huffman_parts, tables_.weights, from, header.bytes);
      if (said == 0) return false;
      has_weights_ = true;
    }
    if (!has_weights_) return false;
    build_huffman_table(warp_, tables_.weights, tables_.huffman);
    return decode_huffman(warp_, tables_.weights, tables_.huffman,
                          {header.streams, from + said, header.bytes - said, to, header.count});
  }

  FEEDLINE_HOST_DEVICE bool sequences_of(const std::byte* from, std::uint32_t bytes,
                                         literal_source& literals, std::uint32_t limit) {
    const auto first = static_cast<std::uint32_t>(from[0]);
    const std::uint32_t count_bytes = first < 128 ? 1 : first < 255 ? 2 : 3;
    if (bytes < count_bytes + 1) return false;
    std::uint32_t count = first;
    if (count_bytes == 2) count = (first - 128) << 8U | static_cast<std::uint32_t>(from[1]);
    if (count_bytes == 3) count = 0x7F00 + static_cast<std::uint32_t>(little_endian(from + 1, 2));
    if (count == 0) return false;
    const auto modes = static_cast<std::uint32_t>(from[count_bytes]);
    if ((modes & 3U) != 0) return false;
    byte_source source{from + count_bytes + 1, bytes - count_bytes - 1};
    const auto has_table = [&](sequence_field field, std::uint32_t mode) {
      return make_sequence_table(warp_, tables_.fse_parts, field, mode & 3U, has_tables_,
                                 tables_.sequences, logs_, source);
    };
    if (!has_table(sequence_field::literals, modes >> 6U) ||
        !has_table(sequence_field::offset, modes >> 4U) ||
        !has_table(sequence_field::match, modes >> 2U))
      return false;
    has_tables_ = true;

    const reverse_stream stream{source.at, source.left};
    if (!stream.is_marked()) return false;
    out_.open_window();
    sequence_reader<Warp> reader{
        warp_, tables_.sequences, tables_.scratch, tables_.bits, stream, logs_, count};
    const std::uint32_t start = out_.at();
    while (reader.left() > 0) {
      const sequence_batch<Warp> batch = reader.next(repeats_);
      const std::uint32_t taken = warp_.last(batch.literals_at) + warp_.last(batch.literals);
      if (taken > literals.left) return false;
      literals.left -= taken;  // the block outputs these, too
      const std::uint32_t may_make = limit - (out_.at() - start) - literals.left;
      if (!out_.execute(batch, literals, begin_, may_make)) return false;
      if (!literals.is_one) literals.from += taken;
    }
    if (!reader.is_at_end()) return false;
    out_.close_window(literals);
    return true;
  }

  Warp& warp_;
  const std::byte* from_;
  std::uint32_t left_;  ///< bytes from `from_` on
  zstd_tables<Warp>& tables_;
  lz_output<Warp> out_;
  // State of the frame:
  std::uint32_t begin_ = 0;  ///< its offset in the decoded bytes
  std::uint32_t max_block_bytes_ = 0;
  repeat_offsets repeats_;
  bool has_weights_ = false;
  bool has_tables_ = false;
  sequence_logs logs_;
};

/// @return Whether a block's frames are complete, and fill the room.
template <class Warp>
FEEDLINE_HOST_DEVICE bool decode_zstd_block(Warp& warp, zstd_tables<Warp>& tables,
                                            const coded_block& block) {
  return zstd_decoder<Warp>{warp, block.from, block.bytes, block.to, block.room, tables}.run();
}

}  // namespace feedline::detail
