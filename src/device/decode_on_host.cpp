#include "device/decode_on_host.hpp"

#include <feedline/dataset/window_block.hpp>

#include "dataset/sparse/sparse_row.hpp"

#include <cstddef>
#include <cstring>
#include <span>

namespace feedline::detail {
namespace {

/// Copies a box; false if its chunk is missing.
bool is_copied(const block_store& chunks, const window_box& box, std::byte* row) noexcept {
  const std::byte* from = box.fill;
  if (box.place != window_box::no_chunk) {
    if (chunks.states[box.place * chunks.fields.size() + box.field] != 0) return false;
    const block_store::field& field = chunks.fields[box.field];
    from = field.blocks + box.place * field.block_bytes + box.from;
  }
  for (std::uint32_t unit = 0; unit < box.units; ++unit) {
    std::ptrdiff_t from_at = 0;
    std::ptrdiff_t to_at = box.to;
    std::uint32_t rest = unit;
    for (std::uint32_t d = box.rank; d-- > 0; rest /= box.count[d]) {
      const auto index = static_cast<std::ptrdiff_t>(rest % box.count[d]);
      from_at += index * box.from_stride[d];
      to_at += index * box.to_stride[d];
    }
    std::memcpy(row + to_at, from + from_at, box.unit);
  }
  return true;
}

bool is_cut(const block_store& chunks, const std::byte* block, std::byte* row) noexcept {
  window_block head;
  std::memcpy(&head, block, sizeof head);
  block += sizeof head;
  for (std::uint32_t i = 0; i < head.boxes; ++i, block += sizeof(window_box)) {
    window_box box;
    std::memcpy(&box, block, sizeof box);
    if (!is_copied(chunks, box, row)) return false;
  }
  return true;
}

/// Where the bytes of a box begin in its chunk; null: the chunk is missing, or has fewer bytes.
const std::byte* bytes_in_chunk(const block_store* chunks, const window_box& box) noexcept {
  if (chunks == nullptr || box.field >= chunks->fields.size() || box.place >= chunks->places)
    return nullptr;
  if (chunks->states[box.place * chunks->fields.size() + box.field] != 0) return nullptr;
  const block_store::field& field = chunks->fields[box.field];
  if (box.from + std::size_t{box.units} * box.unit > field.block_bytes) return nullptr;
  return field.blocks + box.place * field.block_bytes + box.from;
}

bool is_only(const block_store::field& field, block_filter filter) noexcept {
  return field.steps.size() == 1 && field.steps.front().filter == filter;
}

bool is_decoded(const block_store& store, const block_load& load,
                const std::byte* copy_destination) noexcept {
  if (load.missing != 0) return false;
  const block_store::field& field = store.fields[load.field];
  if (is_only(field, block_filter::window) && (load.skipped & 1U) == 0)
    return is_cut(*store.chunks, copy_destination + std::size_t{load.at} * 16,
                  field.blocks + load.place * field.block_bytes);
  try {
    if (is_only(field, block_filter::sparse_row) && (load.skipped & 1U) == 0)
      return make_dense(
          field.steps.front().sparse, {copy_destination + std::size_t{load.at} * 16, load.bytes},
          [&](const window_box& box) { return bytes_in_chunk(store.chunks.get(), box); },
          {field.blocks + load.place * field.block_bytes, field.block_bytes});
    store.reference->decode(load.field, {copy_destination + std::size_t{load.at} * 16, load.bytes},
                            load.stored(),
                            {field.blocks + load.place * field.block_bytes, field.block_bytes});
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

void decode_chunks_on_host(const block_store& store, const block_decoder::work& work) noexcept {
  if (store.chunks && work.chunk_loads != 0)
    decode_on_host(*store.chunks, {.copy_destination = work.copy_destination,
                                   .staged = work.staged,
                                   .loads_at = work.chunk_loads_at,
                                   .loads = work.chunk_loads});
}

void decode_on_host(const block_store& store, const block_decoder::work& work) noexcept {
  const std::byte* at = work.copy_destination + work.loads_at;
  for (std::uint32_t i = 0; i < work.loads; ++i, at += sizeof(block_load)) {
    block_load load;
    std::memcpy(&load, at, sizeof load);
    store.states[load.place * store.fields.size() + load.field] =
        is_decoded(store, load, work.copy_destination) ? 0 : 1;
  }
}

void find_bad_on_host(const block_store& store, const block_decoder::check& check) noexcept {
  const std::size_t fields = store.fields.size();
  *check.first_bad = 0xFFFF'FFFF;
  for (std::uint32_t sample = 0; sample < check.samples; ++sample) {
    const std::uint32_t* const states = store.states + check.sources[sample] / store.rows * fields;
    for (std::size_t field = 0; field < fields; ++field) {
      if (states[field] == 0) continue;
      *check.first_bad = sample;
      return;
    }
  }
}

}  // namespace feedline::detail
