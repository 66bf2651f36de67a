#pragma once

#include <feedline/backend/block_decoder.hpp>

namespace feedline::detail {

/// These do on the CPU, before they return, what the functions of `block_decoder` issue: the
/// reference implementation. All memory in the arguments is host memory.
void decode_chunks_on_host(const block_store& store, const block_decoder::work& work) noexcept;
void decode_on_host(const block_store& store, const block_decoder::work& work) noexcept;
void find_bad_on_host(const block_store& store, const block_decoder::check& check) noexcept;

}  // namespace feedline::detail
