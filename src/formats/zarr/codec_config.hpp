#pragma once

#include "formats/zarr/codecs.hpp"
#include "formats/zarr/json/document.hpp"

#include <optional>
#include <string>

namespace feedline::detail {

/// A codec that changes bytes, as its configuration describes it.
/// @param name "zstd", "numcodecs.shuffle".
/// @param config Its configuration; its errors name the codec.
/// @param element_bytes Bytes of an element of the array.
/// @return Nothing if the codec changed nothing that reading must undo, such as rounding.
/// @throws dataset_error if feedline does not know the codec, or not with this configuration; it
/// says what to do.
[[nodiscard]] std::optional<zarr_codec> parse_codec(const std::string& name,
                                                    const zarr_members& config,
                                                    std::size_t element_bytes);

}  // namespace feedline::detail
