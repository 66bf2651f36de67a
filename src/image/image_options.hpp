#pragma once

#include <feedline/dataset/batch_sizes.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/image/decode.hpp>

#include <optional>

namespace feedline::detail {

/// @throws usage_error if options contradict each other.
[[nodiscard]] image_options checked_image_options(image_options options);

/// The sizes of batches that options give; null: all have one size, or it depends on the images.
[[nodiscard]] batch_sizes_ptr sizes_of(const image_options& options);

/// The `field::by_batch` of images decoded with these options.
[[nodiscard]] std::optional<size_by_batch> by_batch_of(const image_options& options);

}  // namespace feedline::detail
