#pragma once

#include "cuda/assembly/convert_rows.cuh"
#include "cuda/assembly/elements.cuh"
#include "cuda/assembly/rows.cuh"
#include "transform/operations/packed_elements.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Writes into the slot what follows from the offsets of samples' packed rows: one block's share of
/// a part. A thread finds the document of its group's first element, and continues from there.
__device__ inline void write_packed(const slot_frame& frame, const assembly_part& part,
                                    const conversion& by, std::uint32_t block) {
  const std::uint32_t documents =
      static_cast<std::uint32_t>(part.row_bytes / sizeof(std::int32_t)) - 1;
  const bool is_byte = by.to == element_type::u8;
  for (std::uint64_t each = std::uint64_t{block} * block_threads + threadIdx.x; each < part.items;
       each += std::uint64_t{part.blocks} * block_threads) {
    const row_item place = split(part, each);
    const std::byte* const row = sample_row(frame, part, place.row, source_of(frame, place.row));
    const auto load = [&](std::uint32_t index) {
      return load_element<std::int32_t>(row, index, by.aligned_loads);
    };
    const std::uint32_t first = place.item * group_elements;
    packed_elements elements{by.values, load, documents, first};
    std::int32_t values[group_elements];
#pragma unroll
    for (std::uint32_t i = 0; i < group_elements; ++i) values[i] = elements.at(first + i);
    std::byte* const to = slot_row(frame, part, place.row);
    if (by.group_stores && is_byte) {
      reinterpret_cast<uchar4*>(to)[place.item] =
          make_uchar4(values[0], values[1], values[2], values[3]);
    } else if (by.group_stores) {
      reinterpret_cast<int4*>(to)[place.item] =
          make_int4(values[0], values[1], values[2], values[3]);
    } else {
      const std::uint32_t length = group_length(by, first);
      for (std::uint32_t i = 0; i < length; ++i)
        store_whole(to, first + i, static_cast<std::uint64_t>(values[i]), by.to);
    }
  }
}

}  // namespace feedline::detail
