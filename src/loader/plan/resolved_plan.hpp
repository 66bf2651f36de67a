#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/loader/loader_plan.hpp>
#include <feedline/sampler/sampler.hpp>

#include "decoding/block_plan.hpp"
#include "loader/plan/slot_memory.hpp"
#include "sampler/rank_order.hpp"
#include "staging/request_layout.hpp"

#include <memory>

namespace feedline::detail {

/// Everything that options, dataset, sampler and device determine together. Computed once for a
/// loader, before any thread or memory; the loader's parts take what they need from here.
struct resolved_plan {
  loader_plan report;                        ///< the user's view of it
  shared_order order;                        ///< and the part of it that this process delivers
  slot_plan slots;                           ///< the readers' part
  slot_memory memory;                        ///< settled: the layouts of slots
  std::shared_ptr<const block_plan> blocks;  ///< blocks that the device decodes; null: readers
                                             ///< decode
  batch_sizes_ptr sizes;                     ///< null: all batches have one size
  bool tuned;                                ///< readers and staging slots are tuned
};

/// Allocates nothing, starts nothing. With tuning it is the plan for the whole budget, and contains
/// the loader's first setting.
/// @param sampler Bound, over all ranks.
/// @throws usage_error if the options cannot be met with this dataset and device; the message about
/// a budget says how many bytes would be needed.
[[nodiscard]] resolved_plan resolve(const dataset& dataset, const sampler& sampler,
                                    const device_capabilities& device,
                                    const loader_options& options);

}  // namespace feedline::detail
