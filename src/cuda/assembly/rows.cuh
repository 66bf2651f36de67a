#pragma once

#include "cuda/assembly/assembly_plan.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// An item: the row it belongs to, and its index among that row's items.
struct row_item {
  std::uint32_t row;
  std::uint32_t item;
};

__device__ inline row_item split(const assembly_part& part, std::uint64_t item) {
  const std::uint32_t row_items = part.row_items.divisor();
  if (part.items <= divider::limit) {
    const auto narrow = static_cast<std::uint32_t>(item);
    const std::uint32_t row = part.row_items.quotient(narrow);
    return {row, narrow - row * row_items};
  }
  const std::uint64_t row = item / row_items;
  return {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(item - row * row_items)};
}

/// A field's rows in a run's chunk.
__device__ inline const std::byte* chunk_rows(const slot_frame& frame, const assembly_part& part,
                                              std::uint32_t run) {
  const std::uint32_t* const entry = frame.directory + std::size_t{run} * frame.entry_words;
  return frame.copy_destination + std::size_t{__ldg(entry + 2 + part.field)} * 16;
}

/// A sample's source: the number of a cached row, or the index of a row in its run's chunk.
__device__ inline std::uint32_t source_of(const slot_frame& frame, std::uint32_t sample) {
  return frame.sources == nullptr ? sample : __ldg(frame.sources + sample);
}

/// A cached row: `field_assembly::cached_row`.
__device__ inline const std::byte* cached_row(const assembly_part& part, std::uint32_t number) {
  const field_assembly::rows_in_place& in_place = part.in_place;
  if (number - in_place.first < in_place.count)
    return part.cached + std::size_t{number} * part.cached_row_bytes;
  const std::uint32_t place = number < in_place.first ? number : number - in_place.count;
  return in_place.apart + std::size_t{place} * part.cached_row_bytes;
}

/// The dataset's row of a sample, by its source.
__device__ inline const std::byte* sample_row(const slot_frame& frame, const assembly_part& part,
                                              std::uint32_t sample, std::uint32_t source) {
  if ((source & assembly::arrived) == 0) return cached_row(part, source);
  const std::uint32_t batch = frame.batch_size.quotient(sample);
  const std::uint32_t in_batch = sample - batch * frame.batch_size.divisor();
  const std::uint32_t run = batch * frame.runs_per_batch + frame.run_samples.quotient(in_batch);
  return chunk_rows(frame, part, run) + std::size_t{source & ~assembly::arrived} * part.row_bytes;
}

/// A sample's row in the slot.
__device__ inline std::byte* slot_row(const slot_frame& frame, const assembly_part& part,
                                      std::uint32_t sample) {
  const std::uint32_t batch = frame.batch_size.quotient(sample);
  const std::uint32_t in_batch = sample - batch * frame.batch_size.divisor();
  return part.to + std::size_t{batch} * frame.batch_bytes +
         std::size_t{in_batch} * part.to_row_bytes;
}

/// A sample's random bits; 0 if there are none.
__device__ inline std::uint32_t random_bits_of_sample(const slot_frame& frame,
                                                      std::uint32_t sample) {
  return frame.random_bits == nullptr ? 0 : __ldg(frame.random_bits + sample);
}

/// A row that arrived and the cached row that it is copied to; null if there is none.
struct kept_pair {
  const std::byte* from;
  std::byte* to;
};

/// @param row Index over all runs, as if each run had its maximum number of rows.
__device__ inline kept_pair row_to_keep(const slot_frame& frame, const assembly_part& part,
                                        std::uint32_t row) {
  const std::uint32_t run = frame.run_samples.quotient(row);
  const std::uint32_t place = row - run * frame.run_samples.divisor();
  const std::uint32_t* const entry = frame.directory + std::size_t{run} * frame.entry_words;
  if (place >= __ldg(entry)) return {nullptr, nullptr};
  const auto* const keeps = reinterpret_cast<const std::uint32_t*>(
      frame.copy_destination + std::size_t{__ldg(entry + 1)} * 16);
  const std::uint32_t number = __ldg(keeps + place);
  if (number == assembly::not_cached) return {nullptr, nullptr};
  return {chunk_rows(frame, part, run) + std::size_t{place} * part.row_bytes,
          part.to + std::size_t{number} * part.row_bytes};
}

/// The 16 bytes that one item of a part `by_lines` reads of a row, wherever the row begins. They
/// may begin before the row or end after it, but never in another page.
struct line_piece {
  const std::byte* from;
  std::int32_t offset;  ///< from the row's start
  bool wanted;          ///< whether some of the bytes belong to the row
};

/// @param item Index counted from the start of the line in which the row begins.
__device__ inline line_piece piece_of(const assembly_part& part, const std::byte* row,
                                      std::uint32_t item) {
  const auto behind = static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(row) % line_bytes);
  const std::int32_t offset = static_cast<std::int32_t>(item * 16) - behind;
  return {row + offset, offset, offset > -16 && offset < static_cast<std::int32_t>(part.row_bytes)};
}

/// Loads a vector that no kernel in flight writes.
template <class Vector>
__device__ Vector load_vector(const std::byte* row, std::uint32_t vector = 0) {
  return __ldg(reinterpret_cast<const Vector*>(row) + vector);
}

}  // namespace feedline::detail
