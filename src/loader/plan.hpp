#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/device/device.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/loader/loader_plan.hpp>
#include <feedline/sampler/sampler.hpp>

#include "reader/request_layout.hpp"
#include "staging/inlet_layout.hpp"
#include "staging/slot_layout.hpp"

namespace feedline::detail {

/// Settles every size and depth of a loader; allocates nothing, starts nothing.
/// @throws usage_error if the options cannot be met with this dataset and device; a budget's
/// message says how many bytes would be needed.
[[nodiscard]] loader_plan settle(const dataset& dataset, const sampler& sampler,
                                 const device_capabilities& device, const loader_options& options);

/// The format of an assembled loader's staging slots.
/// @param rows   A slot of the plan's, as the dataset has it.
/// @param varies Some transform draws.
[[nodiscard]] inlet_layout inlet_of(const loader_plan& plan, const slot_layout& rows,
                                    const request_layout& runs, bool varies);

}  // namespace feedline::detail
