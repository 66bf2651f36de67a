#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/device/device.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/loader/loader_plan.hpp>
#include <feedline/sampler/sampler.hpp>

#include "staging/slot_plan.hpp"

namespace feedline::detail {

/// Settles every size and depth of a loader; allocates nothing, starts nothing.
/// @throws usage_error if the options cannot be met with this dataset and device; a budget's
/// message says how many bytes would be needed.
[[nodiscard]] loader_plan make_plan(const dataset& dataset, const sampler& sampler,
                                    const device_capabilities& device,
                                    const loader_options& options);

/// What readers need to know of it.
[[nodiscard]] slot_plan slots_of(const loader_plan& plan) noexcept;

}  // namespace feedline::detail
