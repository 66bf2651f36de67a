#include "reader/batch_writer.hpp"

#include "device/sample_random_bits.hpp"
#include "device/transform_row.hpp"

#include <utility>

namespace feedline::detail {

batch_writer::batch_writer(sample_source& source, slot_layout batches)
    : source_{source}, layout_{std::move(batches)} {}

batch_writer::batch_writer(sample_source& source, slot_layout batches, const slot_layout& rows,
                           const std::vector<field_conversion>& conversions)
    : batch_writer{source, std::move(batches)} {
  for (std::size_t place = 0; place < conversions.size(); ++place) {
    if (conversions[place].what == field_conversion::operation::copy) continue;
    conversions_.push_back({place, rows.row_bytes(place), conversions[place]});
    converted_bytes_ += rows.row_bytes(place);
  }
}

void batch_writer::read(staging_slot& slot, sample_run run, reader_scratch& use) {
  const std::uint64_t count = run.end - run.begin;
  const std::uint64_t batch = run.begin / layout_.batch_size();
  const std::uint64_t within = run.begin - batch * layout_.batch_size();
  const std::uint64_t epoch = slot.work.run->epoch;
  std::byte* const batch_data = slot.data + batch * layout_.batch_bytes();
  const auto place_of = [&](std::size_t field) {
    return batch_data + layout_.field_offset(field) + within * layout_.row_bytes(field);
  };

  use.samples.resize(count);
  const position first{slot.work.first.value + run.begin};
  source_.indices(epoch, first, use.samples);
  use.out.clear();
  for (std::size_t field = 0; field < layout_.fields().size(); ++field)
    use.out.emplace_back(place_of(field), count * layout_.row_bytes(field));
  use.rows.resize(count * converted_bytes_);
  std::byte* aside = use.rows.data();
  for (const conversion& each : conversions_) {
    use.out[each.place] = {aside, count * each.row_bytes};
    aside += count * each.row_bytes;
  }
  source_.read(epoch, use.samples, first, use.out);

  for (const conversion& each : conversions_) {
    const std::byte* row = use.out[each.place].data();
    std::byte* converted = place_of(each.place);
    for (const sample_index sample : use.samples) {
      transform_row(each.conversion, row, each.row_bytes,
                    sample_random_bits(source_.seed(), epoch, sample.value), converted);
      row += each.row_bytes;
      converted += layout_.row_bytes(each.place);
    }
  }
}

}  // namespace feedline::detail
