#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/error_policy.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace convert {

using failures = std::vector<feedline::sample_failure>;

/// Reads a dataset whole, and lists the samples that cannot be read, by index.
/// @param readers Same as `loader_options::readers`.
/// @param tell Told how many samples were read.
/// @throws feedline::dataset_error if no sample can be read. @throws What is no dataset_error comes
/// through as the loader throws it.
[[nodiscard]] failures find_damage(const feedline::dataset_ptr& in, std::uint64_t batch_size,
                                   int readers, const std::function<void(std::uint64_t)>& tell);

}  // namespace convert
