#pragma once

#include "dataset/encoded_rows.hpp"
#include "formats/zarr/chunks.hpp"

#include <memory>

namespace feedline::detail {

/// An array's chunks as they are stored, for devices that decode them. Null if chunks are not
/// blocks of whole rows as in memory, are stored without codecs, or are not known.
[[nodiscard]] std::shared_ptr<const encoded_rows> make_zarr_encoded_rows(
    std::shared_ptr<const zarr_chunks> chunks);

}  // namespace feedline::detail
