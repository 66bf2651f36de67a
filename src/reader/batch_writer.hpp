#pragma once

#include "reader/sample_source.hpp"
#include "reader/slot_writer.hpp"
#include "staging/slot_layout.hpp"

namespace feedline::detail {

/// Lays samples down as the batches that the consumer will see: the staging slot is a device slot's
/// image.
class batch_writer final : public slot_writer {
 public:
  /// Borrows the source for its life.
  batch_writer(sample_source& source, slot_layout layout);
  void read(staging_slot& slot, sample_run run, reader_scratch& use) override;

 private:
  sample_source& source_;
  slot_layout layout_;
};

}  // namespace feedline::detail
