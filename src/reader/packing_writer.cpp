#include "device/sample_random_bits.hpp"
#include "reader/slot_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace feedline::detail {
namespace {

/// The u32 at an offset of a staging slot, whose tables lie at multiples of four bytes.
std::uint32_t* words_at(staging_slot& slot, std::size_t at) noexcept {
  return reinterpret_cast<std::uint32_t*>(slot.data + at);
}

}  // namespace

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
