#pragma once

#include "io/byte_source.hpp"
#include "rows/row_storage.hpp"

#include <algorithm>
#include <cstddef>

namespace feedline::detail {

/// Reads bytes into memory that grows with them, where their number is only a claim.
/// @param at_once The claim was checked: all memory is taken before.
/// @param end_early Called with how many bytes came, where these are fewer; throws.
/// @throws std::bad_alloc
template <class EndEarly>
[[nodiscard]] row_storage read_elements(byte_source& from, std::size_t wanted, bool at_once,
                                        const EndEarly& end_early) {
  constexpr std::size_t first_piece_bytes = std::size_t{1} << 20;
  row_storage storage;
  for (std::size_t count = 0; count < wanted;) {
    const std::size_t doubled = at_once || count > wanted / 2 ? wanted : 2 * count;
    storage.grow(std::min(wanted, std::max(doubled, first_piece_bytes)));
    const auto room = storage.bytes().subspan(count);
    const std::size_t got = from.read(room);
    count += got;
    if (got < room.size()) end_early(count);
  }
  return storage;
}

}  // namespace feedline::detail
