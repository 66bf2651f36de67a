#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/sampler/sampler.hpp>

namespace feedline::detail {

/// Whether a dataset's samples come while it is read (`live_source`).
[[nodiscard]] bool is_live(const dataset& of) noexcept;

/// The options with which a loader reads a live source: one reader, one batch a slot in one piece,
/// and one request a batch.
/// @throws usage_error if options or sampler ask for what a live source cannot give.
[[nodiscard]] loader_options options_for_live(loader_options options, const sampler& order);

}  // namespace feedline::detail
