#pragma once

#include <feedline/device/assembly.hpp>

#include "reader/sample_source.hpp"
#include "reader/slot_writer.hpp"
#include "staging/slot_layout.hpp"

#include <cstddef>
#include <vector>

namespace feedline::detail {

/// Lays samples down as the batches that the consumer will see: the staging slot is a device slot's
/// image. Fields may be converted on the way, on the reader's thread: for devices that read staging
/// slots in place, where there is no copy side to do it.
class batch_writer final : public slot_writer {
 public:
  /// Borrows the source for its life.
  /// @param batches As the consumer sees them.
  batch_writer(sample_source& source, slot_layout batches);
  /// @param rows     As the dataset has them.
  /// @param programs One a field.
  batch_writer(sample_source& source, slot_layout batches, const slot_layout& rows,
               const std::vector<field_conversion>& conversions);
  void read(staging_slot& slot, sample_run run, reader_scratch& use) override;

 private:
  /// A field that does not stay as it is.
  struct conversion {
    std::size_t place;
    std::size_t row_bytes;  ///< of the dataset's rows
    field_conversion conversion;
  };

  sample_source& source_;
  slot_layout layout_;
  std::vector<conversion> conversions_;
  std::size_t converted_bytes_ = 0;  ///< of a sample's rows, as the dataset has them
};

}  // namespace feedline::detail
