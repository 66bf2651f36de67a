#include "transfer/assembling_transfer.hpp"

#include "device/leak.hpp"
#include "device/sample_mix.hpp"
#include "device/transform_row.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace feedline::detail {

void batch_stage::run(std::byte* slot, const slot_work& work, std::uint64_t samples,
                      stream_ref stream) {
  std::uint64_t index = work.first_batch;
  const std::byte* from = memory_.data();
  for (std::uint64_t done = 0; done < samples; done += in_.batch_size()) {
    const std::uint64_t count = std::min(in_.batch_size(), samples - done);
    const auto size =
        work.sizes ? std::optional{work.sizes->of_batches[done / in_.batch_size()]} : std::nullopt;
    views_.clear();
    for (std::size_t place = 0; place < in_.fields().size(); ++place) {
      views_.emplace_back(in_.fields()[place], count, count * in_.row_bytes(place, size),
                          from + in_.field_offset(place), size);
    }
    spans_.clear();
    for (std::size_t place = 0; place < out_.fields().size(); ++place)
      spans_.emplace_back(slot + out_.field_offset(place), count * out_.row_bytes(place, size));
    try {
      transform_.run({.in = views_,
                      .out = spans_,
                      .epoch = work.pass->epoch,
                      .index = index,
                      .samples = count,
                      .stream = stream});
    } catch (...) {
      throw batch_failure{done / in_.batch_size(), std::current_exception()};
    }
    from += in_.batch_bytes();
    slot += out_.batch_bytes();
    ++index;
  }
}

void batch_stage::leak_memory() noexcept {
  leak(memory_, "a batch transform's input");
}

assembling_transfer::assembling_transfer(device_ptr device, formats slots,
                                         std::shared_ptr<device_row_cache> cached,
                                         std::unique_ptr<batch_stage> function,
                                         assembly_streams streams)
    : slot_transfer{device},
      device_{std::move(device)},
      formats_{std::move(slots)},
      cached_{std::move(cached)},
      batch_stage_{std::move(function)},
      takes_turns_{cached_ && streams == assembly_streams::automatic},
      memory_{device_, memory_kind::device,
              copy_destinations * formats_.copy_destination.destination_bytes()},
      copy_stream_{device_} {
  for (std::size_t i = 0; i < copy_destinations; ++i) {
    copy_destinations_.push_back(std::make_unique<copy_destination>(device_, streams));
    copy_destinations_.back()->data =
        memory_.data() + i * formats_.copy_destination.destination_bytes();
  }
  for (std::size_t place = 0; place < formats_.conversions.size(); ++place) {
    field_assembly field{.conversion = formats_.conversions[place]};
    const std::size_t rows = field.rows_of(place);
    if (cached_) {
      field.cached = cached_->field(rows);
      field.cached_on_host = cached_->on_host(rows);
      field.in_place = cached_->in_place(rows);
      if (rows == place) field.keep = cached_->keeping(place);
    }
    field.row_bytes = field.cached_row_bytes = formats_.rows.row_bytes(rows);  // largest images
    field.to_row_bytes = formats_.batches.row_bytes(place);
    fields_.push_back(field);
  }
}

namespace {

constexpr const char* whose_memory = "a copy destination";

}  // namespace

bool assembling_transfer::sync_before_freeing() noexcept {
  if (done_) return *done_;
  done_ = true;
  for (const auto& each : copy_destinations_)
    done_ = detail::sync_before_freeing(*device_, each->assembled.get(), whose_memory) &&
            !each->lost && *done_;
  return *done_;
}

assembling_transfer::~assembling_transfer() {
  if (sync_before_freeing() && !lost_) return;
  leak(memory_, whose_memory);
  if (cached_) cached_->leak_memory();
  if (batch_stage_) batch_stage_->leak_memory();
}

void assembling_transfer::carry(staging_slot& from, device_slot& to, std::uint64_t samples) {
  const std::uint64_t number = carried_++;
  copy_destination& through = *copy_destinations_[number % copy_destinations];
  bool keeps = false;
  visit_rows_to_keep(from, samples, [&](std::uint32_t) { keeps = true; });
  const stream_ref stream =
      copy_destinations_[takes_turns_ ? number % copy_destinations : 0]->own.get();
  try {
    device_->wait(copy_stream_.get(), through.assembled.get());
    copies_.copy(through.data, from.data,
                 formats_.copy_destination.chunks_at() + from.chunk_bytes.load(),
                 copy_stream_.get());
    device_->record(from.copied.get(), copy_stream_.get());
    device_->wait(stream, from.copied.get());
    device_->wait(stream, to.released.get());
    // On another stream, the batch's previous piece may still be in flight; so may data of an
    // abandoned epoch, in a slot that was never taken.
    device_->wait(stream, to.ready.get());
    wait_for_others(number, keeps, stream);
    before_assembly(from, through.data, samples, stream);
    assemble(from, through, to, samples, keeps, stream);
    device_->record(through.assembled.get(), stream);
    device_->record(to.ready.get(), stream);
  } catch (...) {
    // Issued work may use the slots and the device buffer; so may earlier work.
    bool joined = try_record_behind(*device_, copy_stream_.get(), {from.copied.get()});
    for (const event_handle before : {from.copied.get(), through.assembled.get(), to.ready.get()})
      joined = try_wait(*device_, stream, before) && joined;
    if (!try_record_behind(*device_, stream, {through.assembled.get(), to.ready.get()}) || !joined)
      from.lost = to.lost = through.lost = true;
    throw;
  }
  if (!keeps) return;
  keeper_ = number;
  // Readers may rely on these rows from now on: the work that does is issued after this.
  visit_rows_to_keep(from, samples, [&](std::uint32_t row) { cached_->hold(row); });
}

bool assembling_transfer::is_idle() {
  return std::all_of(copy_destinations_.begin(), copy_destinations_.end(),
                     [&](const auto& each) { return device_->is_done(each->assembled.get()); });
}

bool assembling_transfer::uses_others_memory() const noexcept {
  return batch_stage_ ||
         std::any_of(fields_.begin(), fields_.end(),
                     [](const field_assembly& field) { return field.cached_on_host; });
}

void assembling_transfer::wait_for_others(std::uint64_t number, bool keeps, stream_ref stream) {
  // The copy into this buffer has waited for everything earlier.
  for (std::uint64_t back = 1; back < copy_destinations && back <= number; ++back) {
    const std::uint64_t other = number - back;
    if (keeps || keeper_ == other || (batch_stage_ && back == 1))
      device_->wait(stream, copy_destinations_[other % copy_destinations]->assembled.get());
  }
}

void assembling_transfer::assemble(const staging_slot& from, const copy_destination& through,
                                   device_slot& to, std::uint64_t samples, bool keeps,
                                   stream_ref stream) {
  ticket_samples_ = samples + (from.work.begin == 0 ? 0 : ticket_samples_);
  // One call takes batches of one size.
  const std::uint64_t batch_size = formats_.batches.batch_size();
  for (std::uint64_t done = 0; done < samples;) {
    const std::uint64_t count = from.work.sizes ? std::min(batch_size, samples - done) : samples;
    set_fields(from, through, done);
    const std::uint64_t batch = done / batch_size;
    const destination_layout& tables = formats_.copy_destination;
    std::byte* const slot = batch_stage_ ? batch_stage_->input() : to.data;
    device_->assemble({.slot = slot + batch * formats_.batches.batch_bytes(),
                       .batch_size = batch_size,
                       .batch_bytes = formats_.batches.batch_bytes(),
                       .samples = count,
                       .copy_destination = through.data,
                       .staged = from.data,
                       .sources_at = tables.sources_at() + done * destination_layout::word,
                       .random_bits_at = tables.random_bits_at() + done * destination_layout::word,
                       .directory_at = tables.entry_at(batch * from.work.layout.runs_per_batch()),
                       .run_samples = from.work.layout.run_samples(),
                       .runs_per_batch = from.work.layout.runs_per_batch(),
                       .varies = tables.varies(),
                       .keeps = keeps,
                       .fields = fields_,
                       .mixing = formats_.mixing ? &*formats_.mixing : nullptr,
                       .epoch_bits = epoch_random_bits(formats_.seed, from.work.pass->epoch),
                       .first_batch = static_cast<std::uint32_t>(
                           from.work.first_batch + (from.work.begin + done) / batch_size)},
                      stream);
    done += count;
  }
  if (batch_stage_ && from.work.ends_ticket)
    batch_stage_->run(to.data, from.work, ticket_samples_, stream);
}

void assembling_transfer::set_fields(const staging_slot& from, const copy_destination& through,
                                     std::uint64_t done) {
  const auto size = from.work.size_at(done);
  for (std::size_t place = 0; place < fields_.size(); ++place) {
    field_assembly& field = fields_[place];
    field.row_bytes = formats_.rows.row_bytes(field.rows_of(place), size);
    field.to_row_bytes = formats_.batches.row_bytes(place, size);
    field.to_offset = formats_.batches.field_offset(place) + from.work.begin * field.to_row_bytes;
    const std::size_t passes_at = formats_.copy_destination.passes_at(place);
    field.passing = passes_at == 0 ? nullptr : through.data + passes_at;
    const field_conversion sized =
        sized_conversion(formats_.batches.fields()[place], formats_.conversions[place], size);
    const row_conversion& rows = sized;  // the rest stays
    static_cast<row_conversion&>(field.conversion) = rows;
  }
}

template <class Visit>
void assembling_transfer::visit_rows_to_keep(const staging_slot& slot, std::uint64_t samples,
                                             Visit visit) const {
  if (!formats_.copy_destination.keeps() || slot.chunk_bytes.load() == 0) return;
  const auto words_at = [&](std::size_t at) {
    return reinterpret_cast<const std::uint32_t*>(slot.data + at);
  };
  const std::uint64_t runs = slot.work.layout.runs(samples);
  for (std::uint64_t run = 0; run < runs; ++run) {
    const std::uint32_t* const entry = words_at(formats_.copy_destination.entry_at(run));
    if (entry[0] == 0) continue;
    const std::span rows{words_at(entry[1] * destination_layout::alignment), entry[0]};
    for (const std::uint32_t row : rows) {
      if (row != assembly::not_cached) visit(row);
    }
  }
}

}  // namespace feedline::detail
