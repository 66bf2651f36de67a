#include "reader/converting_reader.hpp"

#include "device/transform_row.hpp"
#include "device/variation.hpp"

#include <cstddef>
#include <utility>

namespace feedline::detail {

converting_reader::converting_reader(sample_source& source, const slot_layout& rows,
                                     slot_layout batches, std::vector<field_program> programs)
    : source_{source}, batches_{std::move(batches)}, programs_{std::move(programs)} {
  for (std::size_t place = 0; place < programs_.size(); ++place)
    row_bytes_.push_back(rows.row_bytes(place));
}

void converting_reader::read(staging_slot& slot, sample_run run, reader_scratch& use) {
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
  for (std::size_t place = 0; place < programs_.size(); ++place) {
    if (programs_[place].what != field_program::operation::copy)
      scratch_bytes += count * row_bytes_[place];
  }
  use.rows.resize(scratch_bytes);
  use.out.clear();
  std::size_t at = 0;
  for (std::size_t place = 0; place < programs_.size(); ++place) {
    const std::size_t bytes = count * row_bytes_[place];
    if (programs_[place].what == field_program::operation::copy) {
      use.out.emplace_back(converted_at(place), bytes);
    } else {
      use.out.emplace_back(use.rows.data() + at, bytes);
      at += bytes;
    }
  }
  source_.read(epoch, use.samples, first, use.out);

  for (std::size_t place = 0; place < programs_.size(); ++place) {
    if (programs_[place].what == field_program::operation::copy) continue;
    const std::byte* row = use.out[place].data();
    std::byte* converted = converted_at(place);
    for (std::uint64_t i = 0; i < count; ++i) {
      transform_row(programs_[place], row, row_bytes_[place],
                    variation_of(source_.seed(), epoch, use.samples[i].value), converted);
      row += row_bytes_[place];
      converted += batches_.row_bytes(place);
    }
  }
}

}  // namespace feedline::detail
