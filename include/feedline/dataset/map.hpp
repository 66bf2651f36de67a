#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Transforms one sample into another. `in` and `out` hold one value a field, in order; every
/// byte of `out` must be written. Runs on reader threads, several at once, so it must not share
/// mutable state.
/// @param sample Index in the source dataset.
using sample_transform =
    std::function<void(sample_index sample, std::span<const std::span<const std::byte>> in,
                       std::span<const std::span<std::byte>> out)>;

/// Same, with a context for random augmentation. The augmentation differs in each epoch, and is the
/// same for any number of readers.
///
///     auto noisy = feedline::map(images, images->fields(),
///         [](feedline::sample_index, auto in, auto out, const feedline::sample_context& context) {
///           feedline::sample_random random = context.random();
///           …
///         });
using sample_augmentation =
    std::function<void(sample_index sample, std::span<const std::span<const std::byte>> in,
                       std::span<const std::span<std::byte>> out, const sample_context& context)>;

/// A dataset whose samples are those of another one, transformed on the CPU while they are read.
/// @param fields Fields that the transform writes.
/// @throws usage_error if the transform is empty or there are no fields. While reading, an
/// exception of the transform is nested in a dataset_error that names the sample.
[[nodiscard]] dataset_ptr map(dataset_ptr of, std::vector<field> fields,
                              sample_transform transform);

/// Same. The samples vary by epoch, so they cannot be cached; the source dataset can.
[[nodiscard]] dataset_ptr map(dataset_ptr of, std::vector<field> fields,
                              sample_augmentation transform);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
