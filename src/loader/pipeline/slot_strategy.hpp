#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/loader/loader_options.hpp>

#include "decoding/decoding_parts.hpp"
#include "loader/plan/resolved_plan.hpp"
#include "reader/sample_replacer.hpp"
#include "reader/sample_source.hpp"
#include "reader/slot_mixer.hpp"
#include "reader/slot_writer.hpp"
#include "staging/device_row_cache.hpp"
#include "transfer/slot_transfer.hpp"

#include <memory>

namespace feedline::detail {

/// The parts that move samples from the dataset into a device slot: everything that depends on
/// placement, transforms and the kind of device, and nothing else.
///
/// |          | slot writer        | slot transfer                                   |
/// | -------- | ------------------ | ----------------------------------------------- |
/// | in place | `batch_writer`     | —                                               |
/// | stream   | `batch_writer`     | `copy_transfer`                                 |
/// | decoded  | `block_row_writer` | `decoded_transfer`                              |
/// | else     | `packing_writer`   | `assembling_transfer`                           |
///
/// If a user's function makes batches from batches, slots are always assembled. In place, and where
/// the device cannot assemble, the readers convert fields and the transfer mixes samples.
struct slot_strategy {
  std::unique_ptr<slot_writer> writer;
  std::unique_ptr<detail::slot_transfer> slot_transfer;      ///< null where slots are read in place
  std::shared_ptr<const device_row_cache> cached = nullptr;  ///< null where no rows are cached
  std::unique_ptr<sample_replacer> replacer = nullptr;       ///< null where errors end the epoch
  std::unique_ptr<slot_mixer> mixer = nullptr;  ///< null where samples are not mixed in staging
  std::unique_ptr<decoding_parts> decoding = nullptr;  ///< null where readers decode
};

/// Builds it; allocates the memory for cached rows.
/// @param plan   Resolved from the same dataset, device and options.
/// @param source, sizer Outlive the strategy. The sizer is null where all batches have one size.
/// @throws out_of_memory, device_error.
[[nodiscard]] slot_strategy make_slot_strategy(const resolved_plan& plan, const dataset& dataset,
                                               const device_ptr& device,
                                               const loader_options& options, sample_source& source,
                                               batch_sizer* sizer = nullptr);

}  // namespace feedline::detail
