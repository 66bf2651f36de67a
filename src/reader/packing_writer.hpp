#pragma once

#include "reader/sample_source.hpp"
#include "reader/slot_writer.hpp"
#include "staging/device_row_cache.hpp"
#include "staging/landing_layout.hpp"

#include <cstdint>
#include <memory>

namespace feedline::detail {

/// Writes down for the device where each sample's row is, and reads only the rows that it does not
/// hold: for slots that are assembled on the device.
class packing_writer final : public slot_writer {
 public:
  /// Borrows the source for its life.
  /// @param kept Null where no rows are cached.
  packing_writer(sample_source& source, landing_layout layout,
                 std::shared_ptr<const device_row_cache> cached);
  void read(staging_slot& slot, sample_run run, reader_scratch& use) override;

 private:
  void find_rows(staging_slot& slot, sample_run run, reader_scratch& use);
  void read_missing(staging_slot& slot, std::uint64_t run_number, reader_scratch& use);

  sample_source& source_;
  landing_layout layout_;
  std::shared_ptr<const device_row_cache> cached_;
};

}  // namespace feedline::detail
