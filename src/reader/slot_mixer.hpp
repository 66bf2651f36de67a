#pragma once

#include <feedline/backend/assembly.hpp>
#include <feedline/index.hpp>

#include "reader/sample_source.hpp"
#include "staging/slot_layout.hpp"
#include "staging/slot_repairs.hpp"
#include "staging/staging_slot.hpp"

#include <cstdint>
#include <vector>

namespace feedline::detail {

/// Mixes samples of filled staging slots that the consumer reads in place, or that are copied to a
/// device that cannot assemble; where slots are assembled, the device does it. It runs
/// after `sample_replacer`, because a replaced sample draws the
/// random bits of its replacement. Threads: the transfer's.
class slot_mixer {
 public:
  /// Borrows the source for its life. @param pieces Layout of a staging slot.
  slot_mixer(const sample_source& source, const pair_mixing& by, const slot_layout& pieces);

  /// @param samples Number of samples in the slot's first batches, which are whole except for an
  /// epoch's last.
  /// @param repairs Repairs of the ticket; null: no sample was replaced.
  /// @throws as `sample_source::indices`.
  void mix(const staging_slot& slot, std::uint64_t samples, const slot_repairs* repairs);

 private:
  void find_random_bits(const slot_work& work, std::uint64_t samples, const slot_repairs* repairs);

  const sample_source& source_;
  const pair_mixing by_;
  const std::uint64_t batch_size_;
  const std::size_t batch_bytes_;
  std::vector<field_assembly> fields_;
  std::vector<sample_index> samples_;
  std::vector<std::uint32_t> random_bits_;
};

}  // namespace feedline::detail
