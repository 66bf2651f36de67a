#include "hdf5/filter/undo.hpp"

#include <cstring>

namespace feedline::detail {

namespace {

/// Copies the `count` bytes that begin `distance` bytes back. If `distance` is less than `count`,
/// they repeat.
/// @param room Bytes that may be written from `to` on; those after `count` may be overwritten.
void copy_back(std::byte* to, std::size_t distance, std::size_t count, std::size_t room) noexcept {
  const std::byte* const from = to - distance;
  constexpr std::size_t step = 16;
  if (distance >= step && room >= count + step) {
    for (std::size_t i = 0; i < count; i += step) std::memcpy(to + i, from + i, step);
  } else if (distance == 1) {
    std::memset(to, std::to_integer<int>(*from), count);
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
  }
}

[[noreturn]] void fail_at_end(std::size_t given) {
  throw hdf5_filter_error{"the stream ends within an instruction, after " + std::to_string(given) +
                          " decoded bytes"};
}

}  // namespace

/// LibLZF's format: a control byte below 32 is followed by that number of plain bytes plus one; any
/// other has a length, less 2, in its upper three bits (7: a byte with the rest follows) and a
/// distance, less 1, in its lower five and the next byte.
std::size_t undo_lzf(std::span<const unsigned>, std::span<const std::byte> stored,
                     std::span<std::byte> out, hdf5_decoder&) {
  constexpr std::size_t longest_plain = 32;
  const std::byte* from = stored.data();
  std::byte* to = out.data();
  std::size_t left = stored.size();
  std::size_t room = out.size();
  while (left != 0) {
    const auto control = std::to_integer<std::size_t>(*from);
    ++from;
    --left;
    std::size_t count = control + 1;
    if (control < longest_plain) {
      if (left < count) fail_at_end(out.size() - room);
      if (room < count) fail_for_more_than(out.size());
      const bool is_roomy = left >= longest_plain && room >= longest_plain;
      std::memcpy(to, from, is_roomy ? longest_plain : count);
      from += count;
      left -= count;
    } else {
      const std::size_t more_bytes = control >> 5U == 7 ? 2 : 1;
      if (left < more_bytes) fail_at_end(out.size() - room);
      count = (control >> 5U) + 2 + (more_bytes == 2 ? std::to_integer<std::size_t>(*from) : 0);
      const std::size_t distance =
          ((control & 0x1fU) << 8U) + std::to_integer<std::size_t>(from[more_bytes - 1]) + 1;
      from += more_bytes;
      left -= more_bytes;
      if (distance > out.size() - room)
        throw hdf5_filter_error{"the stream refers to bytes before its start, after " +
                                std::to_string(out.size() - room) + " decoded ones"};
      if (room < count) fail_for_more_than(out.size());
      copy_back(to, distance, count, room);
    }
    to += count;
    room -= count;
  }
  return out.size() - room;
}

}  // namespace feedline::detail
