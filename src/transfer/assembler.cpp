#include "transfer/assembler.hpp"

#include "device/leak.hpp"
#include "device/record_behind.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

namespace feedline::detail {

assembler::assembler(device_ptr device, formats slots, std::shared_ptr<kept_rows> kept,
                     std::unique_ptr<batch_stage> function)
    : device_{std::move(device)},
      formats_{std::move(slots)},
      kept_{std::move(kept)},
      function_{std::move(function)},
      memory_{device_, memory_kind::device, inlets * formats_.inlet.slot_bytes()} {
  for (std::size_t i = 0; i < inlets; ++i) {
    inlets_.push_back(std::make_unique<inlet>(device_));
    inlets_.back()->data = memory_.data() + i * formats_.inlet.slot_bytes();
  }
  for (std::size_t place = 0; place < formats_.programs.size(); ++place) {
    fields_.push_back({.kept = kept_ ? kept_->field(place) : nullptr,
                       .kept_on_host = kept_ && kept_->on_host(place),
                       .keep = kept_ ? kept_->keeping(place) : nullptr,
                       .row_bytes = formats_.rows.row_bytes(place),
                       .to_offset = formats_.batches.field_offset(place),
                       .to_row_bytes = formats_.batches.row_bytes(place),
                       .program = formats_.programs[place]});
  }
}

assembler::~assembler() {
  constexpr const char* whose = "an inlet";
  bool done = true;
  for (const auto& each : inlets_)
    done = sync_before_freeing(*device_, each->assembled.get(), whose) && !each->lost && done;
  if (done) return;
  leak(memory_, whose);
  if (kept_) kept_->leak_memory();
  if (function_) function_->leak_memory();
}

void assembler::carry(staging_slot& from, device_slot& to, std::uint64_t samples) {
  const std::uint64_t number = carried_++;
  inlet& through = *inlets_[number % inlets];
  bool keeps = false;
  visit_rows_to_keep(from, samples, [&](std::uint32_t) { keeps = true; });
  const stream_ref stream = through.order.get();
  try {
    const std::size_t bytes = formats_.inlet.chunks_at() + from.chunk_bytes.load();
    device_->copy(through.data, from.data, bytes, stream);
    device_->record(from.copied.get(), stream);
    device_->wait(stream, to.released.get());
    // A slot of an epoch that was left may be on its way still, on another stream: nobody took it.
    device_->wait(stream, to.ready.get());
    wait_for_others(number, keeps, stream);
    assemble(from, through, to, samples, keeps);
    device_->record(through.assembled.get(), stream);
    device_->record(to.ready.get(), stream);
  } catch (...) {
    // What was issued may use the slots, and the inlet.
    if (!try_record_behind(*device_, stream,
                           {from.copied.get(), through.assembled.get(), to.ready.get()})) {
      from.lost = to.lost = through.lost = true;
    }
    throw;
  }
  if (!keeps) return;
  keeper_ = number;
  // Readers may count on these rows from now on: the work that does is issued behind this.
  visit_rows_to_keep(from, samples, [&](std::uint32_t row) { kept_->hold(row); });
}

bool assembler::is_idle() {
  return std::all_of(inlets_.begin(), inlets_.end(),
                     [&](const auto& each) { return device_->is_done(each->assembled.get()); });
}

bool assembler::uses_others_memory() const noexcept {
  return function_ || std::any_of(fields_.begin(), fields_.end(),
                                  [](const field_assembly& field) { return field.kept_on_host; });
}

void assembler::wait_for_others(std::uint64_t number, bool keeps, stream_ref stream) {
  // What is further back stands on this stream, or is waited for by what does.
  for (std::uint64_t back = 1; back < inlets && back <= number; ++back) {
    const std::uint64_t other = number - back;
    if (keeps || keeper_ == other || (function_ && back == 1))
      device_->wait(stream, inlets_[other % inlets]->assembled.get());
  }
}

void assembler::assemble(const staging_slot& from, const inlet& through, device_slot& to,
                         std::uint64_t samples, bool keeps) {
  const stream_ref stream = through.order.get();
  device_->assemble({.slot = function_ ? function_->input() : to.data,
                     .batch_size = formats_.batches.batch_size(),
                     .batch_bytes = formats_.batches.batch_bytes(),
                     .samples = samples,
                     .inlet = through.data,
                     .sources_at = formats_.inlet.sources_at(),
                     .variations_at = formats_.inlet.variations_at(),
                     .directory_at = formats_.inlet.directory_at(),
                     .run_samples = from.work.layout.run_samples(),
                     .runs_per_batch = from.work.layout.runs_per_batch(),
                     .varies = formats_.inlet.varies(),
                     .keeps = keeps,
                     .fields = fields_},
                    stream);
  if (function_) function_->run(to.data, from.work, samples, stream);
}

template <class Visit>
void assembler::visit_rows_to_keep(const staging_slot& slot, std::uint64_t samples,
                                   Visit visit) const {
  if (!formats_.inlet.keeps() || slot.chunk_bytes.load() == 0) return;
  const auto words_at = [&](std::size_t at) {
    return reinterpret_cast<const std::uint32_t*>(slot.data + at);
  };
  const std::uint64_t runs = slot.work.layout.runs(samples);
  for (std::uint64_t run = 0; run < runs; ++run) {
    const std::uint32_t* const entry = words_at(formats_.inlet.entry_at(run));
    if (entry[0] == 0) continue;
    const std::span rows{words_at(entry[1] * inlet_layout::alignment), entry[0]};
    for (const std::uint32_t row : rows) {
      if (row != assembly::not_kept) visit(row);
    }
  }
}

}  // namespace feedline::detail
