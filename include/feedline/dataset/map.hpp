#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace FEEDLINE_EXPORT feedline {

/// Turns one sample into another. `in` and `out` hold one value a field, in order; every byte of
/// `out` must be written. Runs on reader threads, several at once: it must not share state that
/// changes.
using sample_transform =
    std::function<void(sample_index sample, std::span<const std::span<const std::byte>> in,
                       std::span<const std::span<std::byte>> out)>;

/// A dataset whose samples are another's, transformed on the CPU as they are read.
/// @param fields What the transform writes.
/// @throws usage_error if the transform is empty or there are no fields.
[[nodiscard]] dataset_ptr map(dataset_ptr of, std::vector<field> fields,
                              sample_transform transform);

}  // namespace feedline
