#include "reader/converting_writer.hpp"

#include "device/sample_random_bits.hpp"
#include "device/transform_row.hpp"

#include <cstddef>
#include <utility>

namespace feedline::detail {

converting_writer::converting_writer(sample_source& source, const slot_layout& rows,
                                     slot_layout batches, std::vector<field_conversion> conversions)
    : source_{source}, batches_{std::move(batches)}, conversions_{std::move(conversions)} {
  for (std::size_t place = 0; place < conversions_.size(); ++place)
    row_bytes_.push_back(rows.row_bytes(place));
}

void converting_writer::read(staging_slot& slot, sample_run run, reader_scratch& use) {
  const std::uint64_t count = run.end - run.begin;
  const std::uint64_t batch = run.begin / batches_.batch_size();
  const std::uint64_t within = run.begin - batch * batches_.batch_size();
  const std::uint64_t epoch = slot.work.run->epoch;
  std::byte* const batch_data = slot.data + batch * batches_.batch_bytes();
  const auto converted_at = [&](std::size_t place) {
    return batch_data + batches_.field_offset(place) + within * batches_.row_bytes(place);
  };

  use.samples.resize(count);
  const position first{slot.work.first.value + run.begin};
  source_.indices(epoch, first, use.samples);

  std::size_t scratch_bytes = 0;  // fields that stay as they are go where they belong at once
  for (std::size_t place = 0; place < conversions_.size(); ++place) {
    if (conversions_[place].what != field_conversion::operation::copy)
      scratch_bytes += count * row_bytes_[place];
  }
  use.rows.resize(scratch_bytes);
  use.out.clear();
  std::size_t at = 0;
  for (std::size_t place = 0; place < conversions_.size(); ++place) {
    const std::size_t bytes = count * row_bytes_[place];
    if (conversions_[place].what == field_conversion::operation::copy) {
      use.out.emplace_back(converted_at(place), bytes);
    } else {
      use.out.emplace_back(use.rows.data() + at, bytes);
      at += bytes;
    }
  }
  source_.read(epoch, use.samples, first, use.out);

  for (std::size_t place = 0; place < conversions_.size(); ++place) {
    if (conversions_[place].what == field_conversion::operation::copy) continue;
    const std::byte* row = use.out[place].data();
    std::byte* converted = converted_at(place);
    for (std::uint64_t i = 0; i < count; ++i) {
      transform_row(conversions_[place], row, row_bytes_[place],
                    sample_random_bits(source_.seed(), epoch, use.samples[i].value), converted);
      row += row_bytes_[place];
      converted += batches_.row_bytes(place);
    }
  }
}

}  // namespace feedline::detail
