#pragma once

#include "dataset/encoded_rows.hpp"
#include "formats/zarr/chunks.hpp"

#include <memory>
#include <string>

namespace feedline::detail {

/// Reason why chunks cannot go to devices as they are stored; empty if they can.
/// @param are_listed Whether the store lists its objects. @param tiles Chunks may split rows.
[[nodiscard]] std::string why_not_encoded(const zarr_array& array, bool are_listed,
                                          bool tiles = false);

/// Text for `listed_field::decoding`.
[[nodiscard]] std::string decoding_of(const zarr_array& array, bool are_listed);

/// An array's chunks as they are stored, for devices that decode them. Null if they
/// cannot go there.
/// @param tiles Each chunk is a block, also if it splits rows.
[[nodiscard]] std::shared_ptr<const encoded_rows> make_zarr_encoded_rows(
    std::shared_ptr<const zarr_chunks> chunks, bool tiles = false);

}  // namespace feedline::detail
