#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/device/device.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/loader/loader_plan.hpp>

#include "reader/run_reader.hpp"
#include "reader/sample_source.hpp"
#include "staging/kept_rows.hpp"
#include "transfer/carrier.hpp"

#include <memory>

namespace feedline::detail {

/// How samples get from the dataset into a device slot: what depends on placement, transforms and
/// the kind of device, and nothing else does.
///
/// |                             | readers             | transfer    |
/// | --------------------------- | ------------------- | ----------- |
/// | in place                    | `batch_reader`      | —           |
/// | in place, with transforms   | `converting_reader` | —           |
/// | stream                      | `batch_reader`      | `copier`    |
/// | else                        | `packing_reader`    | `assembler` |
///
/// In place is out of the question where a user's function makes batches of batches.
struct slot_path {
  std::unique_ptr<run_reader> reader;
  std::unique_ptr<detail::carrier> carrier;  ///< null where slots are read in place
  std::shared_ptr<const kept_rows> kept;     ///< null where no rows are
};

/// Builds it; allocates what rows are kept in.
/// @param plan   Settled with the same dataset, device and options.
/// @param source Outlives the path.
/// @throws out_of_memory, device_error.
[[nodiscard]] slot_path make_slot_path(const loader_plan& plan, const dataset& dataset,
                                       const device_ptr& device, const loader_options& options,
                                       sample_source& source);

}  // namespace feedline::detail
