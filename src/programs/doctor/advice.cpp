#include "programs/doctor/advice.hpp"

#include "programs/doctor/choices.hpp"
#include "programs/doctor/words.hpp"

#include <algorithm>
#include <cmath>

namespace doctor {
namespace {

/// A full shuffle that costs no more than this does not need windows of chunks.
constexpr double costs_no_more = 1.3;
/// Who waits for a core for this share of the time is not alone on the machine.
constexpr double much_waiting = 0.2;

double batch_bytes(const findings& measured) {
  return static_cast<double>(measured.batch_size) *
         static_cast<double>(measured.layout.sample_bytes);
}

void choose_order(const findings& measured, advice& given) {
  const layout_facts& layout = measured.layout;
  if (!layout.in_chunks()) return;
  if (measured.reading.size() == 2 &&
      measured.reading[1].of_sample() < costs_no_more * measured.reading[0].of_sample()) {
    given.reasons.emplace_back(fmt::format(
        "a full shuffle: a sample takes {} in it, and {} in the order of the chunks",
        time_text(measured.reading[1].of_sample()), time_text(measured.reading[0].of_sample())));
    return;
  }
  if (!layout.forgets_chunks()) {
    given.reasons.emplace_back(fmt::format(
        "a full shuffle: all {} chunks are kept once read, so later epochs read and decode nothing",
        layout.chunks()));
    return;
  }
  const std::uint64_t window = std::clamp<std::uint64_t>(layout.chunking.kept / 2, 1, max_window);
  given.window = window;
  given.reasons.emplace_back(fmt::format(
      "shuffle within {} chunks of {} samples: {} of {} chunks are kept, so a full shuffle would "
      "read each chunk again and again",
      window, layout.chunking.samples, layout.chunking.kept, layout.chunks()));
}

void choose_memory(const findings& measured, const reader_choice& chosen, advice& given) {
  const layout_facts& layout = measured.layout;
  const bool stays = layout.in_memory || (layout.in_chunks() && !layout.forgets_chunks());
  if (chosen.keeps_up() || stays || layout.varies_by_epoch || measured.reading.empty()) return;
  const bool fits =
      all_bytes(measured) <= share_of_free * static_cast<double>(measured.host_free_bytes);
  // What computes for each sample, or waits for the storage, need not do so in each epoch.
  constexpr double plain_copy = 2e-6;
  const bool costs = measured.reading.front().of_sample().count() > plain_copy;
  if (!fits || !costs) return;
  given.load_into_memory = true;
  given.window.reset();
  given.reasons.emplace_back(fmt::format(
      "load_into_memory: a sample takes {} of a thread, and all of them, {}, fit in half of the {} "
      "of memory that are free: later epochs read and decode nothing",
      time_text(measured.reading.front().of_sample()), bytes_text(all_bytes(measured)),
      bytes_text(static_cast<double>(measured.host_free_bytes))));
}

void choose_placement(const findings& measured, const reader_choice& chosen, advice& given) {
  using enum feedline::placement;
  if (!measured.device) {
    given.reasons.emplace_back("placement stream: " + measured.no_device +
                               ", so no other was looked at");
    return;
  }
  const double copied = measured.device->copy_rate;
  const double streamed =
      std::min(chosen.rate() * static_cast<double>(measured.layout.sample_bytes),
               copied > 0 ? copied : 1e30);
  const auto wanted = wanted_rate(measured);
  if (wanted &&
      streamed >= headroom * *wanted * static_cast<double>(measured.layout.sample_bytes)) {
    given.reasons.emplace_back(
        "placement stream: reading and copying keep up with the step, and GPU "
        "memory stays free");
    return;
  }
  if (measured.layout.varies_by_epoch) {
    given.reasons.emplace_back("placement stream: samples are others in each epoch");
    return;
  }
  const std::size_t budget = row_budget(measured);
  const auto budget_text = bytes_text(static_cast<double>(budget));
  if (all_bytes(measured) * 1.01 <= static_cast<double>(budget)) {
    given.placement = resident;
    given.device_cache_bytes = budget;
    given.reasons.emplace_back("placement resident: " + bytes_text(all_bytes(measured)) +
                               " of rows fit in " + budget_text + " of GPU memory");
  } else if (measured.layout.in_memory || given.load_into_memory) {
    given.placement = gather;
    given.readers = -1;
    given.reasons.emplace_back(
        "placement gather: rows lie in host memory, and the GPU fetches them "
        "with no reader; " +
        bytes_text(all_bytes(measured)) + " do not fit in " + budget_text + " of GPU memory");
  } else if (static_cast<double>(budget) > 0.1 * all_bytes(measured)) {
    given.placement = cached;
    given.device_cache_bytes = budget;
    given.reasons.emplace_back(
        fmt::format("placement cached: {} of GPU memory hold {} of the rows", budget_text,
                    percent_text(static_cast<double>(budget) / all_bytes(measured))));
  } else {
    given.reasons.emplace_back("placement stream: " + budget_text +
                               " of GPU memory hold less than a tenth of the rows");
  }
}

void add_hints(const findings& measured, advice& given) {
  for (const feedline::field& field : measured.layout.fields) {
    const bool wide =
        field.type == feedline::element_type::f32 || field.type == feedline::element_type::f64;
    if (wide && feedline::sample_bytes(field) >= 1024)
      given.hints.emplace_back("field '" + field.name + "' holds " +
                               std::string{to_string(field.type)} +
                               ": if these were made of bytes, store the bytes, and cast and "
                               "normalize on the device (loader_options::transforms)");
    if (field.type == feedline::element_type::u8 && field.shape.size() >= 2 && measured.device)
      given.hints.emplace_back("field '" + field.name +
                               "' travels as bytes: have loader_options::transforms cast and "
                               "normalize it on the GPU, not the readers");
  }
  if (measured.layout.serialized)
    given.hints.emplace_back(
        "one thread at a time reads this file: feedline-convert writes one that all can");
  if (measured.storage.is_cold() && !measured.storage.first.empty() && !given.load_into_memory) {
    double best = 0;
    for (const storage_rate& each : measured.storage.first) best = std::max(best, each.rate());
    const auto wanted = wanted_rate(measured);
    const bool in_files = measured.storage.bytes > 0;
    const double file_bytes = in_files ? static_cast<double>(measured.storage.bytes) /
                                             static_cast<double>(measured.layout.samples)
                                       : 0;
    if (wanted && best < *wanted * file_bytes)
      given.hints.emplace_back(fmt::format(
          "where the file is not in the page cache, the storage gives {}, of {} that the step "
          "takes: copy it to faster storage, or compress it",
          rate_text(best), rate_text(*wanted * file_bytes)));
  }
}

/// What suits if readers decode.
advice by_readers(const findings& measured, const reader_choice& chosen) {
  advice given;
  given.readers = measured.layout.serialized ? 1 : chosen.readers();
  given.reasons.emplace_back(measured.layout.serialized ? "1 reader: one thread at a time reads"
                                                        : chosen.reason());
  choose_order(measured, given);
  choose_memory(measured, chosen, given);
  choose_placement(measured, chosen, given);

  const double read =
      chosen.rate() > 0 ? static_cast<double>(measured.batch_size) / chosen.rate() : 0;
  const double copy = measured.device && measured.device->copy_rate > 0
                          ? batch_bytes(measured) / measured.device->copy_rate
                          : 0;
  const bool streams = given.placement == feedline::placement::stream ||
                       given.placement == feedline::placement::cached;
  given.batch = seconds{std::max(measured.step ? seconds{*measured.step}.count() : 0.0,
                                 streams && !given.load_into_memory ? std::max(read, copy) : 0.0)};
  return given;
}

}  // namespace

advice advise(const findings& measured) {
  const reader_choice chosen{measured, measured.readers};
  advice given = by_readers(measured, chosen);
  choose_decoder(measured, chosen, given);
  if (!measured.damages.empty()) {
    given.skip_damaged = true;
    given.reasons.emplace_back("errors skip: samples that cannot be read are left out");
    given.hints.emplace_back("feedline-convert --skip-damaged writes a file of those that can be");
  }
  add_hints(measured, given);
  return given;
}

std::string doubt_of(const findings& measured) {
  if (measured.loops.empty()) return {};
  const feedline::loader_statistics& seen = measured.loops.front().seen;
  if (!seen.queue_known || seen.sampled_reading.count() == 0 || seen.reader.threads > seen.cores)
    return {};
  const double waited = seconds{seen.sampled_queue} / seconds{seen.sampled_reading};
  if (waited < much_waiting) return {};
  return fmt::format(
      "the machine is busy with other work: {} of the time of a read was waiting for a core; "
      "measure again when it is idle",
      percent_text(std::min(waited, 1.0)));
}

}  // namespace doctor
