#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "formats/columns/shards.hpp"

#include <string>

namespace feedline::detail {

std::vector<std::uint32_t> read_offsets(std::span<const std::byte> begin, std::uint64_t samples,
                                        std::uint64_t bytes) {
  constexpr std::size_t number_bytes = 4;
  const std::uint64_t stated = little_endian(begin.first(number_bytes));
  if (stated != samples)
    throw dataset_error{{.path = {}, .field = {}, .sample = {}, .offset = 0},
                        "the shard says that it has " + std::to_string(stated) +
                            " records, but the index says " + std::to_string(samples) +
                            "; get both again"};
  std::vector<std::uint32_t> offsets(static_cast<std::size_t>(samples) + 1);
  std::uint64_t last = offset_table_bytes(samples);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::size_t at = number_bytes * (i + 1);
    offsets[i] = static_cast<std::uint32_t>(little_endian(begin.subspan(at, number_bytes)));
    if (offsets[i] < last || offsets[i] > bytes)
      throw dataset_error{{.path = {}, .field = {}, .sample = {}, .offset = at},
                          "the offset of record " + std::to_string(i) + " is " +
                              std::to_string(offsets[i]) + ", but should be from " +
                              std::to_string(last) + " to " + std::to_string(bytes) +
                              ": the shard is damaged; get it again"};
    last = offsets[i];
  }
  return offsets;
}

}  // namespace feedline::detail
