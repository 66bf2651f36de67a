#pragma once

#include <feedline/device/assembly.hpp>

#include "reader/sample_source.hpp"
#include "reader/slot_writer.hpp"
#include "staging/slot_layout.hpp"

#include <cstdint>
#include <vector>

namespace feedline::detail {

/// Reads samples and converts them on the reader's thread: for devices that read staging slots in
/// place, where there is no copy side to do it.
class converting_writer final : public slot_writer {
 public:
  /// Borrows the source for its life.
  /// @param rows     As the dataset has them.
  /// @param batches  As the consumer sees them.
  /// @param programs One a field.
  converting_writer(sample_source& source, const slot_layout& rows, slot_layout batches,
                    std::vector<field_conversion> conversions);
  void read(staging_slot& slot, sample_run run, reader_scratch& use) override;

 private:
  sample_source& source_;
  slot_layout batches_;
  std::vector<field_conversion> conversions_;
  std::vector<std::size_t> row_bytes_;
};

}  // namespace feedline::detail
