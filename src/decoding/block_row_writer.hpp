#pragma once

#include "decoding/block_plan.hpp"
#include "reader/slot_writer.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace feedline::detail {

/// Writes for the device where each sample's row is in the store of decoded blocks. It reads
/// nothing: blocks have requests of their own (`block_reader`).
class block_row_writer final : public slot_writer {
 public:
  /// Borrows the source for its life.
  block_row_writer(sample_source& source, destination_layout layout,
                   std::shared_ptr<const block_plan> plan)
      : source_{source}, layout_{std::move(layout)}, plan_{std::move(plan)} {}
  void read(staging_slot& slot, sample_run run, reader_scratch& use) override;
  /// Never called: where the device decodes, errors end the epoch.
  void replace(staging_slot& slot, std::uint64_t place, sample_index by, position at,
               reader_scratch& use) override;

 private:
  sample_source& source_;
  destination_layout layout_;
  std::shared_ptr<const block_plan> plan_;
};

}  // namespace feedline::detail
