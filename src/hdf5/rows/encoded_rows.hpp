#pragma once

#include "dataset/encoded_rows.hpp"
#include "hdf5/rows/open_rows.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace feedline::detail {

/// Text for `hdf5_listing::decoding`.
/// @param extents The dataset's, the samples' first.
[[nodiscard]] std::string decoding_of(const hdf5_storage_layout& place,
                                      std::span<const std::uint64_t> extents);

/// A field's chunks in their stored form. Null unless each chunk, after filters that feedline
/// undoes, has several whole rows in the form that they have in memory. A chunk that was never
/// written, or has no bytes, comes decoded, with all steps skipped.
/// @param found Its rows must be open. @param tiles Each chunk is a block, also if it splits rows.
[[nodiscard]] std::shared_ptr<const encoded_rows> make_hdf5_encoded_rows(
    const hdf5_resolved_field& found, bool tiles = false);

}  // namespace feedline::detail
