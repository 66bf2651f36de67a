#include "reader/packing_writer.hpp"

#include "device/sample_random_bits.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace feedline::detail {
namespace {

/// The u32 at a place of a staging slot, whose tables lie at multiples of four bytes.
std::uint32_t* words_at(staging_slot& slot, std::size_t at) noexcept {
  return reinterpret_cast<std::uint32_t*>(slot.data + at);
}

}  // namespace

packing_writer::packing_writer(sample_source& source, landing_layout layout,
                               std::shared_ptr<const device_row_cache> cached)
    : source_{source}, layout_{std::move(layout)}, cached_{std::move(cached)} {}

void packing_writer::read(staging_slot& slot, sample_run run, reader_scratch& use) {
  use.samples.resize(run.end - run.begin);
  source_.indices(slot.work.run->epoch, position{slot.work.first.value + run.begin}, use.samples);
  if (layout_.varies()) {
    std::uint32_t* const random_bits = words_at(slot, layout_.random_bits_at()) + run.begin;
    for (std::size_t i = 0; i < use.samples.size(); ++i)
      random_bits[i] =
          sample_random_bits(source_.seed(), slot.work.run->epoch, use.samples[i].value);
  }
  find_rows(slot, run, use);
  read_missing(slot, slot.work.layout.run_of(run.begin), use);
}

void packing_writer::find_rows(staging_slot& slot, sample_run run, reader_scratch& use) {
  std::uint32_t* const sources = words_at(slot, layout_.sources_at()) + run.begin;
  use.missing.clear();
  use.missing_at.clear();
  use.cached_as.clear();
  for (std::size_t i = 0; i < use.samples.size(); ++i) {
    const auto row = cached_ ? cached_->place_of(use.samples[i]) : std::nullopt;
    if (row && cached_->holds(*row)) {
      sources[i] = *row;
      continue;
    }
    sources[i] = assembly::arrived | static_cast<std::uint32_t>(use.missing.size());
    use.missing.push_back(use.samples[i]);
    use.missing_at.push_back(position{slot.work.first.value + run.begin + i});
    use.cached_as.push_back(row.value_or(assembly::not_cached));
  }
}

void packing_writer::read_missing(staging_slot& slot, std::uint64_t run_number,
                                  reader_scratch& use) {
  const std::uint64_t rows = use.missing.size();
  std::uint32_t* const entry = words_at(slot, layout_.entry_at(run_number));
  entry[0] = static_cast<std::uint32_t>(rows);
  if (rows == 0) return;

  const auto units = [](std::size_t at) {
    return static_cast<std::uint32_t>(at / landing_layout::alignment);
  };
  std::size_t at = layout_.chunks_at() + slot.chunk_bytes.fetch_add(layout_.chunk_bytes(rows));
  entry[1] = units(at);
  if (layout_.keeps()) {
    std::copy(use.cached_as.begin(), use.cached_as.end(), words_at(slot, at));
    at += layout_.keep_bytes(rows);
  }
  use.out.clear();
  for (std::size_t place = 0; place < layout_.fields(); ++place) {
    entry[2 + place] = units(at);
    use.out.emplace_back(slot.data + at, rows * layout_.row_bytes(place));
    at += layout_.field_bytes(place, rows);
  }
  source_.read(slot.work.run->epoch, use.missing, use.missing_at, use.out);
}

}  // namespace feedline::detail
