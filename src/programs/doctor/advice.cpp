#include "programs/doctor/advice.hpp"

#include "programs/words/units.hpp"

#include <algorithm>

namespace doctor {
namespace {

using programs::bytes_text;
using programs::counted;
using programs::percent_text;
using programs::time_text;

/// Readers must do this much more than the loop takes, so that it never waits.
constexpr double headroom = 1.1;
/// More readers that give no more than this are not worth their cores.
constexpr double worth_more = 1.05;
/// Rows may take this share of free memory, since the model needs some, too.
constexpr double share_of_free = 0.5;
/// Chunks that are mixed with each other: enough for batches to be well mixed.
constexpr std::uint64_t max_window = 1024;
constexpr double no_limit = 1e30;

/// Numbers that several choices need.
struct needs {
  double sample_bytes = 0;
  double all_bytes = 0;
  double copy_rate = no_limit;        ///< samples a second that copies to the GPU take
  std::optional<double> wanted = {};  ///< samples a second that the loop takes; empty: any number
  double step = 0;                    ///< seconds that the loop computes on a batch
  std::size_t row_budget = 0;         ///< GPU memory that rows may take; 0 without a GPU
  bool keeps_chunks = false;          ///< once all chunks are read, nothing is read again

  explicit needs(const findings& measured)
      : sample_bytes{static_cast<double>(measured.layout.sample_bytes)},
        all_bytes{static_cast<double>(measured.layout.samples) * sample_bytes},
        keeps_chunks{measured.layout.in_chunks() && !measured.layout.forgets_chunks()} {
    if (measured.step) {
      step = seconds{*measured.step}.count();
      wanted = static_cast<double>(measured.batch_size) / step;
    }
    if (measured.device && measured.device->copy_rate > 0)
      copy_rate = measured.device->copy_rate / sample_bytes;
    const auto free = measured.device ? static_cast<double>(measured.device->free_bytes) : 0.0;
    row_budget = measured.device_budget.value_or(static_cast<std::size_t>(share_of_free * free));
  }
};

/// The smallest number of readers that suffices, of those that were tried.
struct reader_choice {
  int readers = 1;
  double rate = 0;  ///< samples a second; 0: none was measured
  std::string reason = "1 reader: no rate was measured";

  reader_choice(const std::optional<double>& wanted, const std::vector<work_rate>& rates) {
    double enough = wanted ? headroom * *wanted : no_limit;
    double best = 0;
    for (const work_rate& each : rates) best = std::max(best, each.rate());
    enough = std::min(enough, best / worth_more);
    for (const work_rate& each : rates)
      if (each.rate() >= enough && (rate == 0 || each.workers < readers)) {
        readers = each.workers;
        rate = each.rate();
      }
    if (rate == 0) return;
    reason = fmt::format("{} bring{} {:.0f} samples/s", counted(readers, "reader"),
                         readers == 1 ? "s" : "", rate);
    if (wanted && rate >= headroom * *wanted)
      reason += fmt::format(", and the step takes {:.0f}", *wanted);
    else
      reason += (wanted ? fmt::format(", of {:.0f} that the step takes", *wanted) : "") +
                ", and more bring no 5 % more";
  }
};

void choose_order(const findings& measured, const needs& needed, advice& given) {
  const layout_facts& layout = measured.layout;
  if (!layout.in_chunks()) return;
  if (needed.keeps_chunks) {
    given.reasons.push_back(fmt::format(
        "a full shuffle: all {} chunks are kept once read, so later epochs read and decode nothing",
        layout.chunks()));
  } else {
    given.window = std::clamp<std::uint64_t>(layout.chunking.kept / 2, 1, max_window);
    given.reasons.push_back(fmt::format(
        "shuffle within {} chunks of {} samples: {} of {} chunks are kept, so a full shuffle would "
        "read each chunk again and again",
        *given.window, layout.chunking.samples, layout.chunking.kept, layout.chunks()));
  }
}

void choose_memory(const findings& measured, const needs& needed, double rate, advice& given) {
  const layout_facts& layout = measured.layout;
  const bool keeps_up = needed.wanted && rate >= *needed.wanted;
  if (keeps_up || layout.in_memory || needed.keeps_chunks || layout.varies_by_epoch ||
      measured.in_order.done == 0)
    return;
  const auto free = static_cast<double>(measured.host_free_bytes);
  // Work for each sample, and waiting for the storage, can be limited to the first epoch.
  constexpr seconds plain_copy{2e-6};
  const seconds of_sample{1 / measured.in_order.rate()};
  if (needed.all_bytes > share_of_free * free || of_sample <= plain_copy) return;
  given.load_into_memory = true;
  given.window.reset();
  given.reasons.push_back(fmt::format(
      "load_into_memory: a sample takes {} of a thread, and all of them, {}, fit in half of the {} "
      "of memory that are free: later epochs read and decode nothing",
      time_text(of_sample), bytes_text(static_cast<std::uint64_t>(needed.all_bytes)),
      bytes_text(measured.host_free_bytes)));
}

void choose_placement(const findings& measured, const needs& needed, double rate, advice& given) {
  using enum feedline::placement;
  const auto choose = [&](feedline::placement placement, const std::string& why) {
    given.placement = placement;
    given.reasons.push_back(fmt::format("placement {}: {}", to_string(placement), why));
    if (placement == resident || placement == cached) given.device_cache_bytes = needed.row_budget;
  };
  if (!measured.device) return choose(stream, measured.no_device + ", so no other was considered");
  if (needed.wanted && std::min(rate, needed.copy_rate) >= headroom * *needed.wanted)
    return choose(stream, "reading and copying keep up with the step, and GPU memory stays free");
  if (measured.layout.varies_by_epoch) return choose(stream, "samples differ in each epoch");
  const auto budget = static_cast<double>(needed.row_budget);
  const std::string budget_text = bytes_text(needed.row_budget) + " of GPU memory";
  if (needed.all_bytes * 1.01 <= budget)
    return choose(resident, bytes_text(static_cast<std::uint64_t>(needed.all_bytes)) +
                                " of rows fit in " + budget_text);
  if (measured.layout.in_memory || given.load_into_memory) {
    given.readers = -1;
    return choose(gather, "rows lie in host memory, and the GPU fetches them with no reader; " +
                              bytes_text(static_cast<std::uint64_t>(needed.all_bytes)) +
                              " do not fit in " + budget_text);
  }
  if (budget > 0.1 * needed.all_bytes)
    return choose(cached, fmt::format("{} hold {} of the rows", budget_text,
                                      percent_text(budget / needed.all_bytes)));
  choose(stream, budget_text + " hold less than a tenth of the rows");
}

void add_hints(const findings& measured, advice& given) {
  for (const feedline::field& field : measured.layout.fields) {
    using enum feedline::element_type;
    if ((field.type == f32 || field.type == f64) && feedline::sample_bytes(field) >= 1024)
      given.hints.push_back(
          fmt::format("field '{}' holds {}: if these were made of bytes, store the bytes, and cast "
                      "and normalize on the device (loader_options::transforms)",
                      field.name, to_string(field.type)));
    if (field.type == u8 && field.shape.size() >= 2 && measured.device)
      given.hints.push_back("field '" + field.name +
                            "' holds bytes: cast and normalize it on the GPU with "
                            "loader_options::transforms, not in the readers");
  }
  for (const chunk_use& each : measured.layout.arrays)
    if (each.is_decoded_again())
      given.hints.push_back(fmt::format(
          "array '{}': {:.1f} windows of an epoch need a chunk, and {} of {} chunks are kept, so "
          "that windows in any order decode a chunk up to so many times; {}",
          each.array, each.in_epoch, each.kept, each.chunks,
          measured.layout.in_chunks()
              ? "the recommended order decodes a chunk once or twice"
              : "give more memory (max_host_cache_bytes), or store chunks as large as windows"));
  for (const image_decoding& each : measured.layout.images)
    if (each.left() != 0)
      given.hints.push_back(fmt::format(
          "field '{}': {} of the images are left to readers by decode_on::device ({}): store them "
          "as baseline JPEG (jpegtran -copy all changes no pixel) or as PNG that is not interlaced",
          each.field,
          percent_text(static_cast<double>(each.left()) / static_cast<double>(each.looked_at)),
          kinds_text(each)));
  if (measured.layout.serialized)
    given.hints.emplace_back(
        "one thread at a time reads this file: feedline-convert writes one that all threads can "
        "read at once");
}

}  // namespace

advice advise(const findings& measured) {
  using enum feedline::placement;
  const needs needed{measured};
  const reader_choice chosen{needed.wanted, measured.readers};
  advice given{.readers = measured.layout.serialized ? 1 : chosen.readers};
  given.reasons.push_back(measured.layout.serialized ? "1 reader: one thread at a time reads"
                                                     : chosen.reason);
  choose_order(measured, needed, given);
  choose_memory(measured, needed, chosen.rate, given);
  choose_placement(measured, needed, chosen.rate, given);
  double batch = needed.step;
  if ((given.placement == stream || given.placement == cached) && !given.load_into_memory)
    for (const double rate : {chosen.rate, needed.copy_rate})
      if (rate > 0 && rate < no_limit)
        batch = std::max(batch, static_cast<double>(measured.batch_size) / rate);
  given.batch = seconds{batch};
  if (!measured.damages.empty()) {
    given.skip_damaged = true;
    given.reasons.emplace_back("errors skip: samples that cannot be read are left out");
    given.hints.emplace_back("feedline-convert --skip-damaged writes a file of the readable ones");
  }
  add_hints(measured, given);
  return given;
}

}  // namespace doctor
