#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Turns one sample into another. `in` and `out` hold one value a field, in order; every byte of
/// `out` must be written. Runs on reader threads, several at once: it must not share state that
/// changes.
/// @param sample Of the dataset that is mapped.
using sample_transform =
    std::function<void(sample_index sample, std::span<const std::span<const std::byte>> in,
                       std::span<const std::span<std::byte>> out)>;

/// The same by what the sample is read for: random augmentation that is another in each epoch, and
/// the same for any number of readers.
///
///     auto noisy = feedline::map(images, images->fields(),
///         [](feedline::sample_index, auto in, auto out, const feedline::sample_context& context) {
///           feedline::sample_random random = context.random();
///           …
///         });
using sample_augmentation =
    std::function<void(sample_index sample, std::span<const std::span<const std::byte>> in,
                       std::span<const std::span<std::byte>> out, const sample_context& context)>;

/// A dataset whose samples are another's, transformed on the CPU as they are read.
/// @param fields What the transform writes.
/// @throws usage_error if the transform is empty or there are no fields. What the transform throws
///         is nested in a dataset_error that names the sample.
[[nodiscard]] dataset_ptr map(dataset_ptr of, std::vector<field> fields,
                              sample_transform transform);

/// The same; the samples vary by epoch, so they cannot be held, though what they are made of can.
[[nodiscard]] dataset_ptr map(dataset_ptr of, std::vector<field> fields,
                              sample_augmentation transform);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
