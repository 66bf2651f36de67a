#include "reader/slot_writer.hpp"

#include "device/sample_random_bits.hpp"
#include "device/transform_row.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace feedline::detail {

void count_bytes(reader_scratch& use) {
  for (const std::span<std::byte>& field : use.out) use.clock.count_bytes(field.size());
}

std::uint64_t take_live(const live_source& source, staging_slot& slot, std::uint64_t most,
                        const reader_scratch& use) {
  slot.work.live = source.take(slot.work.pass, most, use.out);
  return slot.work.samples = slot.work.live->samples;
}

void draw_samples(const sample_source& source, const staging_slot& slot, sample_run run,
                  reader_scratch& use) {
  const auto draw = [&](sample_run wanted) {
    use.drawn_run = {};
    use.drawn.resize(wanted.end - wanted.begin);
    source.indices(slot.work.pass->epoch, position{slot.work.first.value + wanted.begin},
                   use.drawn);
    use.drawn_run = wanted;
  };
  if (run.begin < use.drawn_run.begin || run.end > use.drawn_run.end) {
    const std::uint64_t end = std::max(run.end, use.request.end);
    try {
      draw({run.begin, end});
    } catch (...) {
      if (end == run.end) throw;
      draw(run);
    }
  }
  use.samples = std::span{use.drawn}.subspan(run.begin - use.drawn_run.begin, run.end - run.begin);
}

batch_writer::batch_writer(sample_source& source, slot_layout batches, const slot_layout& rows,
                           const std::vector<field_conversion>& conversions, held_rows held,
                           host_rows host)
    : source_{source}, layout_{std::move(batches)}, rows_{rows.rows()}, host_{std::move(host)} {
  for (std::size_t place = 0; place < conversions.size(); ++place) {
    if (conversions[place].what == field_conversion::operation::copy) continue;
    conversions_.push_back({place, conversions[place]});
  }
  if (conversions_.empty()) held_ = std::move(held);
}

void batch_writer::read(staging_slot& slot, sample_run run, reader_scratch& use) {
  draw_samples(source_, slot, run, use);
  if (!held_.empty()) return copy_held(slot, run, use);
  if (const live_source* const live = source_.live()) {
    set_destinations(slot, run, use);
    use.samples = use.samples.first(take_live(*live, slot, run.end - run.begin, use));
    convert(slot, run, use);
    return keep(slot, {run.begin, run.begin + use.samples.size()});
  }
  read_rows(slot, run, source_.in_epoch(position{slot.work.first.value + run.begin}), use);
  if (slot.work.sizes) count_bytes(use);
  if (use.bad.empty()) [[likely]]
    return;
  for (unreadable_sample& each : use.bad) each.place += run.begin;
  slot.mark(use.bad);
}

void batch_writer::replace(staging_slot& slot, std::uint64_t place, sample_index by, position at,
                           reader_scratch& use) {
  use.samples = {&by, 1};
  read_rows(slot, {place, place + 1}, at, use);
}

void batch_writer::read_rows(const staging_slot& slot, sample_run run, position first,
                             reader_scratch& use) {
  set_destinations(slot, run, use);
  const epoch_pass& pass = *slot.work.pass;
  const read_context context{source_.seed(), pass.epoch, use.samples, first};
  source_.read(pass, {use.samples, use.out, context.with(slot.work.size_at(run.begin))}, use.bad);
  convert(slot, run, use);
  keep(slot, run);
}

std::byte* batch_writer::place_of(const staging_slot& slot, std::uint64_t sample,
                                  std::size_t field) const {
  if (layout_.leaves_out(field)) return slot.data + host_.at(*host_.find(field), sample);
  const std::uint64_t batch = sample / layout_.batch_size();
  return slot.data + batch * layout_.batch_bytes() + layout_.field_offset(field) +
         (sample - batch * layout_.batch_size()) *
             layout_.row_bytes(field, slot.work.size_at(sample));
}

void batch_writer::copy_held(const staging_slot& slot, sample_run run,
                             const reader_scratch& use) const {
  const std::uint64_t batch = run.begin / layout_.batch_size();
  const std::uint64_t first = batch * layout_.batch_size();
  for (std::size_t field = 0; field < held_.fields().size(); ++field)
    held_.copy(field, use.samples, place_of(slot, first, field), layout_.batch_size(),
               layout_.leaves_out(field) ? host_.batch_bytes() : layout_.batch_bytes(),
               run.begin - first);
  keep(slot, run);
}

void batch_writer::keep(const staging_slot& slot, sample_run run) const {
  for (const host_rows::column& each : host_.columns()) {
    if (!each.on_device_too) continue;
    for (std::uint64_t at = run.begin; at < run.end;) {
      const std::uint64_t count =
          std::min(run.end - at, layout_.batch_size() - at % layout_.batch_size());
      std::memcpy(slot.data + host_.at(each, at), place_of(slot, at, each.place),
                  count * each.row_bytes);
      at += count;
    }
  }
}

void batch_writer::set_destinations(const staging_slot& slot, sample_run run,
                                    reader_scratch& use) const {
  const std::uint64_t count = run.end - run.begin;
  const auto size = slot.work.size_at(run.begin);
  use.out.clear();
  for (std::size_t field = 0; field < layout_.fields().size(); ++field)
    use.out.emplace_back(place_of(slot, run.begin, field), count * layout_.row_bytes(field, size));
  std::size_t converted_bytes = 0;
  for (const conversion& each : conversions_) converted_bytes += rows_.of(each.place, size);
  use.rows.resize(count * converted_bytes);
  std::byte* aside = use.rows.data();
  for (const conversion& each : conversions_) {
    const std::size_t bytes = count * rows_.of(each.place, size);
    use.out[each.place] = {aside, bytes};
    aside += bytes;
  }
}

void batch_writer::convert(const staging_slot& slot, sample_run run,
                           const reader_scratch& use) const {
  const auto size = slot.work.size_at(run.begin);
  for (const conversion& each : conversions_) {
    const field_conversion conversion =
        sized_conversion(layout_.fields()[each.place], each.conversion, size);
    const std::size_t row_bytes = rows_.of(each.place, size);
    const std::byte* row = use.out[each.place].data();
    std::byte* converted = place_of(slot, run.begin, each.place);
    for (const sample_index sample : use.samples) {
      transform_row(conversion, row, row_bytes,
                    sample_random_bits(source_.seed(), slot.work.pass->epoch, sample.value),
                    converted);
      row += row_bytes;
      converted += layout_.row_bytes(each.place, size);
    }
  }
}

}  // namespace feedline::detail
