#pragma once

#include <feedline/device/block_decoder.hpp>

namespace feedline::detail {

/// Does at once, on the CPU, what `block_decoder::decode` and `find_bad` issue: the reference. All
/// memory that is named is the host's.
void decode_on_host(const block_store& store, const block_decoder::work& work) noexcept;
void find_bad_on_host(const block_store& store, const block_decoder::check& check) noexcept;

}  // namespace feedline::detail
