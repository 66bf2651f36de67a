#pragma once

#include "reader/run_reader.hpp"
#include "reader/sample_source.hpp"
#include "staging/inlet_layout.hpp"
#include "staging/kept_rows.hpp"

#include <cstdint>
#include <memory>

namespace feedline::detail {

/// Writes down for the device where each sample's row is, and reads only the rows that it does not
/// hold: for slots that are assembled on the device.
class packing_reader final : public run_reader {
 public:
  /// Borrows the source for its life.
  /// @param kept Null where no rows are kept.
  packing_reader(sample_source& source, inlet_layout layout, std::shared_ptr<const kept_rows> kept);
  void read(staging_slot& slot, sample_run run, reader_scratch& use) override;

 private:
  void find_rows(staging_slot& slot, sample_run run, reader_scratch& use);
  void read_missing(staging_slot& slot, std::uint64_t run_number, reader_scratch& use);

  sample_source& source_;
  inlet_layout layout_;
  std::shared_ptr<const kept_rows> kept_;
};

}  // namespace feedline::detail
