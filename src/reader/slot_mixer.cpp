#include "reader/slot_mixer.hpp"

#include "device/assemble_on_host.hpp"
#include "device/sample_mix.hpp"
#include "device/sample_random_bits.hpp"

#include <cstddef>
#include <span>

namespace feedline::detail {

slot_mixer::slot_mixer(const sample_source& source, const pair_mixing& by,
                       const slot_layout& pieces)
    : source_{source},
      by_{by},
      batch_size_{pieces.batch_size()},
      batch_bytes_{pieces.batch_bytes()} {
  for (std::size_t place = 0; place < pieces.fields().size(); ++place) {
    field_assembly field;
    field.to_offset = pieces.field_offset(place);
    field.to_row_bytes = pieces.row_bytes(place);
    fields_.push_back(field);
  }
}

void slot_mixer::mix(const staging_slot& slot, std::uint64_t samples, const slot_repairs* repairs) {
  if (samples == 0) return;
  find_random_bits(slot.work, samples, repairs);
  assembly work;
  work.slot = slot.data;
  work.batch_size = batch_size_;
  work.batch_bytes = batch_bytes_;
  work.samples = samples;
  work.copy_destination = std::as_bytes(std::span{random_bits_}).data();
  work.varies = true;
  work.fields = fields_;
  work.mixing = &by_;
  work.epoch_bits = epoch_random_bits(source_.seed(), slot.work.pass->epoch);
  work.first_batch = static_cast<std::uint32_t>(slot.work.first_batch +
                                                slot.work.begin / slot.work.layout.batch_size());
  mix_on_host(work);
}

void slot_mixer::find_random_bits(const slot_work& work, std::uint64_t samples,
                                  const slot_repairs* repairs) {
  samples_.resize(samples);
  source_.indices(work.pass->epoch, work.first, samples_);
  if (repairs != nullptr) {
    for (const slot_repairs::replacement& each : repairs->replacements)
      if (each.place >= work.begin && each.place - work.begin < samples)
        samples_[each.place - work.begin] = each.by;
  }
  random_bits_.clear();
  for (const sample_index sample : samples_)
    random_bits_.push_back(sample_random_bits(source_.seed(), work.pass->epoch, sample.value));
}

}  // namespace feedline::detail
