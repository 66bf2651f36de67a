#include "reader/batch_writer.hpp"

#include <utility>

namespace feedline::detail {

batch_writer::batch_writer(sample_source& source, slot_layout layout)
    : source_{source}, layout_{std::move(layout)} {}

void batch_writer::read(staging_slot& slot, sample_run run, reader_scratch& use) {
  const std::uint64_t count = run.end - run.begin;
  const std::uint64_t batch = run.begin / layout_.batch_size();
  const std::uint64_t within = run.begin - batch * layout_.batch_size();

  use.samples.resize(count);
  const position first{slot.work.first.value + run.begin};
  source_.indices(slot.work.run->epoch, first, use.samples);
  use.out.clear();
  std::byte* const batch_data = slot.data + batch * layout_.batch_bytes();
  for (std::size_t place = 0; place < layout_.fields().size(); ++place) {
    const std::size_t row = layout_.row_bytes(place);
    use.out.emplace_back(batch_data + layout_.field_offset(place) + within * row, count * row);
  }
  source_.read(slot.work.run->epoch, use.samples, first, use.out);
}

}  // namespace feedline::detail
