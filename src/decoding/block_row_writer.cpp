#include "decoding/block_row_writer.hpp"

#include "device/sample_random_bits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace feedline::detail {

void block_row_writer::read(staging_slot& slot, sample_run run, reader_scratch& use) {
  const auto words_at = [&](std::size_t at) {
    return reinterpret_cast<std::uint32_t*>(slot.data + at);
  };
  const std::uint64_t epoch = slot.work.pass->epoch;
  const position first{slot.work.first.value + run.begin};
  use.drawn.resize(run.end - run.begin);
  if (layout_.varies()) {
    source_.indices(epoch, first, use.drawn);
    std::uint32_t* const random_bits = words_at(layout_.random_bits_at()) + run.begin;
    for (std::size_t i = 0; i < use.drawn.size(); ++i)
      random_bits[i] = sample_random_bits(source_.seed(), epoch, use.drawn[i].value);
  }
  plan_->order.locate(epoch, first, use.drawn);
  std::uint32_t* const sources = words_at(layout_.sources_at()) + run.begin;
  // The ring of blocks holds everything that the run needs at once, so a row is at most one lap
  // ahead of the first. A comparison is enough; a division would take a third of the time of a
  // draw.
  const std::uint64_t ring = std::uint64_t{plan_->places} * plan_->order.rows();
  const std::uint64_t lap = std::ranges::min(use.drawn).value / ring * ring;
  for (std::size_t i = 0; i < use.drawn.size(); ++i) {
    const std::uint64_t row = use.drawn[i].value - lap;
    sources[i] = static_cast<std::uint32_t>(row < ring ? row : row - ring);
  }
  words_at(layout_.entry_at(slot.work.layout.run_of(run.begin)))[0] = 0;  // no rows arrive
  if (const auto size = slot.work.size_at(run.begin)) {
    std::size_t row_bytes = 0;
    for (std::size_t place = 0; place < layout_.fields(); ++place)
      row_bytes += layout_.row_bytes(place, size);
    use.clock.count_bytes((run.end - run.begin) * row_bytes);
  }
}

void block_row_writer::replace(staging_slot& /*slot*/, std::uint64_t /*index*/, sample_index /*to*/,
                               position /*at*/, reader_scratch& /*use*/) {
  throw std::logic_error{"feedline: a block's row cannot be replaced"};
}

}  // namespace feedline::detail
