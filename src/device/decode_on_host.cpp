#include "device/decode_on_host.hpp"

#include <cstring>
#include <span>

namespace feedline::detail {
namespace {

bool is_decoded(const block_store& store, const block_load& load,
                const std::byte* copy_destination) noexcept {
  if (load.missing != 0) return false;
  const block_store::field& field = store.fields[load.field];
  try {
    store.reference->decode(load.field, {copy_destination + std::size_t{load.at} * 16, load.bytes},
                            load.stored(),
                            {field.blocks + load.place * field.block_bytes, field.block_bytes});
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

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
