#pragma once

#include "cuda/assembly/elements.cuh"
#include "cuda/assembly/geometry.cuh"
#include "cuda/assembly/rows.cuh"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace feedline::detail {

/// How many of a group's elements belong to the row.
__device__ inline std::uint32_t group_length(const conversion& by, std::uint32_t first) {
  return min(group_elements, by.to_elements - first);
}

__device__ inline void store_values(const conversion& by, std::byte* row, std::uint32_t first,
                                    const float (&values)[group_elements]) {
  if (by.group_stores) return store_group(row, first, values, by.to);
  const std::uint32_t length = group_length(by, first);
#pragma unroll
  for (std::uint32_t i = 0; i < group_elements; ++i) {
    if (i < length) store_element(row, first + i, values[i], by.to);
  }
}

/// Loads a group of elements that is aligned to its size, or to 16.
template <class T>
__device__ __forceinline__ void load_group(const std::byte* row, std::uint32_t first,
                                           T (&elements)[4]) {
  constexpr std::size_t bytes = 4 * sizeof(T);
  constexpr std::size_t word_bytes = bytes < 16 ? bytes : 16;
  using word = word_of_bytes<word_bytes>;
  word words[bytes / word_bytes];
  const auto* const from =
      reinterpret_cast<const word*>(row) + std::size_t{first} * sizeof(T) / word_bytes;
#pragma unroll
  for (std::size_t i = 0; i < bytes / word_bytes; ++i) words[i] = __ldg(from + i);
  memcpy(elements, words, bytes);
}

/// Computes the values of a group.
template <class T>
__device__ __forceinline__ void convert_group(const conversion& by, const std::byte* row,
                                              std::uint32_t first,
                                              float (&values)[group_elements]) {
  T elements[group_elements] = {};
  if (by.group_loads) {
    load_group(row, first, elements);
  } else {
    const std::uint32_t length = group_length(by, first);
#pragma unroll
    for (std::uint32_t i = 0; i < group_elements; ++i) {
      if (i < length) elements[i] = load_element<T>(row, first + i, by.aligned_loads);
    }
  }
#pragma unroll
  for (std::uint32_t i = 0; i < group_elements; ++i) {
    std::uint32_t channel = 0;
    if (by.per_channel) {
      const std::uint32_t quotient = by.outer.quotient(first + i);
      channel = by.to_channels_last ? first + i - quotient * by.outer.divisor() : quotient;
      channel = min(channel, by.channels - 1);  // the group reaches past the row's end
    }
    values[i] = scaled(by, channel, to_float(elements[i]));
  }
}

/// Converts samples' rows, whose elements keep their order, into the slot: one block's share of a
/// part.
template <class T>
__device__ __forceinline__ void convert_samples(const slot_frame& frame, const assembly_part& part,
                                                const conversion& by, std::uint32_t block) {
  constexpr std::uint32_t tile = block_threads * groups_a_thread;
  for (std::uint64_t first = std::uint64_t{block} * tile + threadIdx.x; first < part.items;
       first += std::uint64_t{part.blocks} * tile) {
    row_item places[groups_a_thread];
    const std::byte* rows[groups_a_thread];
    float values[groups_a_thread][group_elements];
#pragma unroll
    for (std::uint32_t i = 0; i < groups_a_thread; ++i) {
      const std::uint64_t item = first + i * block_threads;
      // Threads past the end load the last item again, so that loads need no branch.
      places[i] = split(part, item < part.items ? item : part.items - 1);
      rows[i] = sample_row(frame, part, places[i].row, source_of(frame, places[i].row));
    }
#pragma unroll
    for (std::uint32_t i = 0; i < groups_a_thread; ++i)
      convert_group<T>(by, rows[i], places[i].item * group_elements, values[i]);
#pragma unroll
    for (std::uint32_t i = 0; i < groups_a_thread; ++i) {
      if (first + i * block_threads < part.items) {
        store_values(by, slot_row(frame, part, places[i].row), places[i].item * group_elements,
                     values[i]);
      }
    }
  }
}

/// Sets the elements of samples' rows that are padding: one block's share of a part.
__device__ inline void fill_padding(const slot_frame& frame, const assembly_part& part,
                                    const conversion& by, std::uint32_t block) {
  for (std::uint64_t each = std::uint64_t{block} * block_threads + threadIdx.x; each < part.items;
       each += std::uint64_t{part.blocks} * block_threads) {
    const row_item place = split(part, each);
    const image_window window = window_of(by, random_bits_of_sample(frame, place.row));
    const std::uint32_t first = place.item * group_elements;
    const std::uint32_t length = group_length(by, first);
    for (std::uint32_t i = 0; i < length; ++i) {
      const pixel source =
          source_pixel(by, window, pixel_of(first + i, by.to_channels_last, by.outer, by.lines));
      if (!is_inside(by, source)) {
        store_element(slot_row(frame, part, place.row), first + i, scaled(by, source.channel, 0.0F),
                      by.to);
      }
    }
  }
}

/// Casts samples' rows into the slot, or converts those that `convert_tiles` cannot convert: one
/// block's share of a part, element by element.
template <class T>
__device__ __forceinline__ void convert_singly(const slot_frame& frame, const assembly_part& part,
                                               const conversion& by, std::uint32_t block) {
  for (std::uint64_t each = std::uint64_t{block} * block_threads + threadIdx.x; each < part.items;
       each += std::uint64_t{part.blocks} * block_threads) {
    const row_item place = split(part, each);
    const std::byte* const row = sample_row(frame, part, place.row, source_of(frame, place.row));
    std::byte* const to = slot_row(frame, part, place.row);
    const image_window window = window_of(by, random_bits_of_sample(frame, place.row));
    const std::uint32_t first = place.item * group_elements;
    const std::uint32_t length = group_length(by, first);
    for (std::uint32_t i = 0; i < length; ++i) {
      std::uint32_t from = first + i;
      std::uint32_t channel = 0;  // used only in the branch below
      T element = {};
      bool inside = true;
      if (!by.straight) {
        const pixel source =
            source_pixel(by, window, pixel_of(from, by.to_channels_last, by.outer, by.lines));
        inside = is_inside(by, source);
        channel = source.channel;
        from = element_of(source, by.channels_last, by.channels, by.height, by.width);
      }
      if (inside) element = load_element<T>(row, from, by.aligned_loads);
      if (part.kind == part_kind::single) {
        store_element(to, first + i, scaled(by, channel, to_float(element)), by.to);
      } else if constexpr (is_whole_element<T>) {
        store_whole(to, first + i, to_whole(element), by.to);
      }
    }
  }
}

/// Writes samples' classes into the slot: one block's share of a part.
__device__ inline void write_classes(const slot_frame& frame, const assembly_part& part,
                                     const conversion& by, std::uint32_t block) {
  for (std::uint64_t each = std::uint64_t{block} * block_threads + threadIdx.x; each < part.items;
       each += std::uint64_t{part.blocks} * block_threads) {
    const row_item place = split(part, each);
    const std::byte* const row = sample_row(frame, part, place.row, source_of(frame, place.row));
    std::uint64_t index = 0;
    visit_element(by.from, [&](auto type) {
      index = to_index(load_element<decltype(type)>(row, 0, by.aligned_loads));
    });
    const std::uint32_t first = place.item * group_elements;
    float values[group_elements];
#pragma unroll
    for (std::uint32_t i = 0; i < group_elements; ++i) values[i] = index == first + i ? 1.0F : 0.0F;
    store_values(by, slot_row(frame, part, place.row), first, values);
  }
}

}  // namespace feedline::detail
