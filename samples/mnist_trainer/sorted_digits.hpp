#pragma once

#include <feedline/dataset/dataset.hpp>

#include <cstdint>

namespace mnist {

/// The same digits as if they were stored sorted by label, in chunks that must be read whole: the worst
/// that a file can hold for an order that mixes few chunks at a time. To see what such an order costs
/// in accuracy; a file in chunks is no other for a loader.
/// @param digits Fields "image" and "label", a byte.
[[nodiscard]] feedline::dataset_ptr sorted_in_chunks(const feedline::dataset_ptr& digits,
                                                     std::uint64_t chunk_samples);

}  // namespace mnist
