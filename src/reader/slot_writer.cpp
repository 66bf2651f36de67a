#include "reader/slot_writer.hpp"

#include "device/sample_random_bits.hpp"
#include "device/transform_row.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace feedline::detail {
namespace {

/// The u32 at an offset of a staging slot, whose tables lie at multiples of four bytes.
std::uint32_t* words_at(staging_slot& slot, std::size_t at) noexcept {
  return reinterpret_cast<std::uint32_t*>(slot.data + at);
}

/// Counts the bytes of a read whose fields' sizes differ from batch to batch.
void count_bytes(reader_scratch& use) {
  for (const std::span<std::byte>& field : use.out) use.clock.count_bytes(field.size());
}

/// Reads what a live source has: the slot, of one run, then has only these samples.
/// @return Number of samples.
std::uint64_t take_live(const live_source& source, staging_slot& slot, std::uint64_t most,
                        const reader_scratch& use) {
  slot.work.live = source.take(slot.work.pass, most, use.out);
  return slot.work.samples = slot.work.live->samples;
}

}  // namespace

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

void packing_writer::read(staging_slot& slot, sample_run run, reader_scratch& use) {
  draw_samples(source_, slot, run, use);
  if (layout_.varies()) {
    std::uint32_t* const random_bits = words_at(slot, layout_.random_bits_at()) + run.begin;
    for (std::size_t i = 0; i < use.samples.size(); ++i)
      random_bits[i] =
          sample_random_bits(source_.seed(), slot.work.pass->epoch, use.samples[i].value);
  }
  find_rows(slot, run, use);
  read_missing(slot, run, use);
}

void packing_writer::replace(staging_slot& slot, std::uint64_t place, sample_index by, position at,
                             reader_scratch& use) {
  std::uint32_t* const source = words_at(slot, layout_.sources_at()) + place;
  const std::uint32_t number = *source & ~assembly::arrived;  // the row that it should have been
  const std::uint32_t* const entry =
      words_at(slot, layout_.entry_at(slot.work.layout.run_of(place)));
  if (layout_.varies())
    words_at(slot, layout_.random_bits_at())[place] =
        sample_random_bits(source_.seed(), slot.work.pass->epoch, by.value);
  use.bad.clear();
  const auto row = cached_ ? cached_->place_of(by) : std::nullopt;
  if (row && cached_->holds(*row)) {
    *source = *row;
    return;
  }
  const auto size = slot.work.size_at(place);
  use.out.clear();
  for (std::size_t field = 0; field < layout_.fields(); ++field) {
    const std::size_t row_bytes = layout_.row_bytes(field, size);
    use.out.emplace_back(
        slot.data + entry[2 + field] * destination_layout::alignment + number * row_bytes,
        row_bytes);
  }
  use.samples = {&by, 1};
  const read_context context{source_.seed(), slot.work.pass->epoch, use.samples, at};
  source_.read(*slot.work.pass, {use.samples, use.out, context.with(size)}, use.bad);
  keep(slot, place, use);
  if (layout_.keeps() && use.bad.empty())
    words_at(slot, entry[1] * destination_layout::alignment)[number] =
        row.value_or(assembly::not_cached);
}

void packing_writer::find_rows(staging_slot& slot, sample_run run, reader_scratch& use) {
  std::uint32_t* const sources = words_at(slot, layout_.sources_at()) + run.begin;
  use.missing.clear();
  use.missing_at.clear();
  use.cached_as.clear();
  if (cached_ && cached_->holds_all()) {  // each at its sample's index
    for (std::size_t i = 0; i < use.samples.size(); ++i)
      sources[i] = static_cast<std::uint32_t>(use.samples[i].value);
    add(use.cached, use.samples.size());
    return;
  }
  const position first = source_.in_epoch(position{slot.work.first.value + run.begin});
  for (std::size_t i = 0; i < use.samples.size(); ++i) {
    const auto row = cached_ ? cached_->place_of(use.samples[i]) : std::nullopt;
    if (row && cached_->holds(*row)) {
      sources[i] = *row;
      continue;
    }
    sources[i] = assembly::arrived | static_cast<std::uint32_t>(use.missing.size());
    use.missing.push_back(use.samples[i]);
    use.missing_at.push_back(position{first.value + i});
    use.cached_as.push_back(row.value_or(assembly::not_cached));
  }
  add(use.cached, use.samples.size() - use.missing.size());
}

void packing_writer::read_missing(staging_slot& slot, sample_run run, reader_scratch& use) {
  const std::uint64_t rows = use.missing.size();
  std::uint32_t* const entry = words_at(slot, layout_.entry_at(slot.work.layout.run_of(run.begin)));
  entry[0] = static_cast<std::uint32_t>(rows);
  if (rows == 0) return;

  const auto units = [](std::size_t at) {
    return static_cast<std::uint32_t>(at / destination_layout::alignment);
  };
  const auto size = slot.work.size_at(run.begin);
  std::size_t at =
      layout_.chunks_at() + slot.chunk_bytes.fetch_add(layout_.chunk_bytes(rows, size));
  entry[1] = units(at);
  const std::size_t keep_at = at;
  if (layout_.keeps()) {
    std::copy(use.cached_as.begin(), use.cached_as.end(), words_at(slot, at));
    at += layout_.keep_bytes(rows);
  }
  use.out.clear();
  for (std::size_t place = 0; place < layout_.fields(); ++place) {
    entry[2 + place] = units(at);
    use.out.emplace_back(slot.data + at, rows * layout_.row_bytes(place, size));
    at += layout_.field_bytes(place, rows, size);
  }
  if (const live_source* const live = source_.live()) {
    entry[0] = static_cast<std::uint32_t>(take_live(*live, slot, rows, use));
    return keep(slot, run.begin, use);
  }
  const read_context context{source_.seed(), slot.work.pass->epoch, use.missing, use.missing_at};
  source_.read(*slot.work.pass, {use.missing, use.out, context.with(size)}, use.bad);
  if (size) count_bytes(use);
  keep(slot, run.begin, use);
  if (!use.bad.empty()) [[unlikely]]
    mark(slot, run, keep_at, use);
}

void packing_writer::keep(const staging_slot& slot, std::uint64_t first,
                          const reader_scratch& use) const {
  for (const host_rows::column& each : host_.columns()) {
    const std::span<std::byte> rows = use.out[each.place];
    std::memcpy(slot.data + host_.at(each, first), rows.data(), rows.size());
  }
}

void packing_writer::mark(staging_slot& slot, sample_run run, std::size_t keep_at,
                          reader_scratch& use) {
  const position first = source_.in_epoch(position{slot.work.first.value + run.begin});
  for (unreadable_sample& each : use.bad) {
    if (layout_.keeps()) words_at(slot, keep_at)[each.place] = assembly::not_cached;
    each.place = run.begin + (each.at.value - first.value);
  }
  slot.mark(use.bad);
}

}  // namespace feedline::detail
