// The report for people.

#include "detail/printable.hpp"
#include "programs/doctor/report.hpp"
#include "programs/doctor/words.hpp"

#include <algorithm>
#include <utility>

namespace doctor {
namespace {

std::string line(const std::string& label, const std::string& text) {
  return fmt::format("  {:<14}{}\n", feedline::detail::printable(label),
                     feedline::detail::printable(text));
}

/// Long sentences, folded behind the label's column.
std::string folded(const std::string& label, const std::string& text) {
  constexpr std::size_t width = 84;
  std::string result;
  std::string rest = text;
  while (rest.size() > width) {
    std::size_t at = rest.rfind(' ', width);
    if (at == std::string::npos) at = rest.find(' ');
    if (at == std::string::npos) break;
    result += line(result.empty() ? label : "", rest.substr(0, at));
    rest = rest.substr(at + 1);
  }
  return result + line(result.empty() ? label : "", rest);
}

/// Lines of each of many, and how many more there are.
template <class Each>
std::string listed(const std::vector<Each>& all, std::string (*describe)(const Each&)) {
  constexpr std::size_t most = 50;
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i) text += describe(all[i]);
  if (all.size() > most)
    text += line("", fmt::format("and {} more: --json FILE lists all", all.size() - most));
  return text;
}

std::string describe_note(const std::string& text) {
  return folded("-", text);
}
std::string describe_hint(const std::string& text) {
  return folded("also", text);
}

std::string describe_type(const feedline::field& field) {
  return line("field", fmt::format("{}, {}", to_string(field),
                                   bytes_text(static_cast<double>(sample_bytes(field)))));
}

std::string describe_field(const offered_field& each) {
  if (!each.found.refusal.empty())
    return folded(each.found.name, "cannot be read: " + each.found.refusal);
  if (!each.found.left_out.empty())
    return folded(each.found.name, "left out: " + each.found.left_out);
  std::string spec = feedline::to_string(each.found.spec);
  spec = spec.substr(spec.find(": ") + 2);
  std::string text = fmt::format("{} of {}", each.found.samples, spec);
  if (each.found.is_ragged) text += ", any number of them in a sample";
  if (!each.access.empty()) text += "; " + each.access;
  if (const auto& classes = each.found.classes; !classes.empty())
    text +=
        fmt::format("; {} classes, '{}' to '{}'", classes.size(), classes.front(), classes.back());
  return folded(each.found.name, text);
}

std::string describe_layout(const layout_facts& layout) {
  std::string text = "\nhow it is read\n";
  text += line("samples", fmt::format("{} of {}, {} in all", layout.samples,
                                      bytes_text(static_cast<double>(layout.sample_bytes)),
                                      bytes_text(static_cast<double>(layout.samples) *
                                                 static_cast<double>(layout.sample_bytes))));
  text += listed(layout.fields, describe_type);
  if (layout.in_chunks())
    text += folded("chunks", fmt::format("{} of {} samples, {} once read; {} are kept at most",
                                         layout.chunks(), layout.chunking.samples,
                                         bytes_text(static_cast<double>(layout.chunking.bytes)),
                                         layout.chunking.kept));
  text += folded("way", layout.way);
  return text + line("opening", "took " + time_text(layout.opening));
}

std::string describe_storage(const storage_facts& storage) {
  std::string text = "\nstorage\n";
  if (!storage.not_measured.empty()) return text + line("not measured", storage.not_measured);
  text += line(
      "files",
      fmt::format("{}, {}, on {}", storage.files, bytes_text(static_cast<double>(storage.bytes)),
                  storage.local ? "a local file system" : "a network or unknown file system"));
  text +=
      line("page cache", storage.cached ? percent_text(*storage.cached) + " of the files was in it"
                                        : "the system does not tell what of the files is in it");
  std::string cold = "blocks were read as they were (--keep-cache)";
  if (storage.dropped && !storage.left)
    cold = "blocks were to be dropped from it; the system does not tell whether they were";
  else if (storage.is_cold())
    cold = fmt::format("blocks were dropped from it before ({} left)", percent_text(*storage.left));
  else if (storage.dropped)
    cold = fmt::format("could not be dropped ({} left): these are the page cache's rates",
                       percent_text(*storage.left));
  text += folded("cold", cold);
  for (const storage_rate& each : storage.first)
    text += line(fmt::format("{} thread{}", each.threads, each.threads == 1 ? "" : "s"),
                 fmt::format("{} ({} in blocks of 1 MiB at random places)", rate_text(each.rate()),
                             bytes_text(static_cast<double>(each.bytes))));
  return text + line("again", rate_text(storage.again.rate()) + " by 1 thread, the same blocks");
}

std::string describe_readers(const findings& measured, const std::vector<reader_rate>& rates) {
  std::string text;
  for (const reader_rate& each : rates)
    text += line(
        fmt::format("{} reader{}", each.readers, each.readers == 1 ? "" : "s"),
        fmt::format("{:.0f} samples/s, {}", each.rate(),
                    rate_text(each.rate() * static_cast<double>(measured.layout.sample_bytes))));
  return text;
}

std::string describe_rates(const findings& measured) {
  std::string text = "\nreading and decoding, one thread, as the page cache is now\n";
  for (const reading_facts& each : measured.reading)
    text += line(each.order, fmt::format("{} a sample, {} of it on a core ({} samples)",
                                         time_text(each.of_sample()),
                                         percent_text(each.cpu_share()), each.samples));
  text += fmt::format("\ngather into batches of {}, {}; {} core{}\n", measured.batch_size,
                      measured.readers_order, measured.cores, measured.cores == 1 ? "" : "s");
  text += describe_readers(measured, measured.readers);
  if (measured.device) {
    const decoder_facts& decoder = measured.decoder;
    text += "\ndecoding on the GPU, shuffled";
    if (decoder.window) text += fmt::format(" within {} chunks", *decoder.window);
    text += '\n' + describe_readers(measured, decoder.readers);
    if (!decoder.not_measured.empty()) text += folded("not measured", decoder.not_measured);
  }
  text += "\ncopies to the GPU\n";
  if (!measured.device) return text + line("not measured", measured.no_device);
  text += line("GPU", fmt::format("{}, {} of {} free", measured.device->name,
                                  bytes_text(static_cast<double>(measured.device->free_bytes)),
                                  bytes_text(static_cast<double>(measured.device->total_bytes))));
  return text + line("pinned",
                     fmt::format("{} in copies of {}", rate_text(measured.device->copy_rate),
                                 bytes_text(static_cast<double>(measured.device->copied_bytes))));
}

std::string describe_part(const loop_part& part) {
  std::string text =
      line("time", fmt::format("{} a batch, of {} batches in {}", time_text(part.of_batch()),
                               part.batches, time_text(part.took)));
  text += line("exposed", fmt::format("{}, {} of the loop's time{}", time_text(part.seen.exposed),
                                      percent_text(part.exposed()),
                                      part.seen.exposed_on_stream ? ", on its stream" : ""));
  text += folded("verdict", to_string(part.verdict.limit) + ": " + part.verdict.evidence);
  if (!part.verdict.next.empty()) text += folded("next", part.verdict.next);
  return text;
}

std::string describe_loop(const findings& measured, const loop_facts& loop) {
  const bool decodes = loop.plan.decode_on == feedline::decode_on::device;
  const std::string way =
      decodes ? "decode_on device" : "placement " + std::string{to_string(loop.plan.placement)};
  std::string text = fmt::format(
      "\nthe loop {}: batches of {}, {}, {} reader{}, {}, {}\n", loop.name, measured.batch_size,
      loop.order, loop.plan.readers, loop.plan.readers == 1 ? "" : "s", way,
      measured.step ? "a step of " + time_text(*measured.step) : "no step");
  if (loop.batches == 0)
    return text + folded("not measured", "no batch could be had in " + time_text(loop.took) +
                                             (loop.plan.decode_note.empty() ? "" : ": ") +
                                             loop.plan.decode_note);
  if (loop.batches < loop.plan.batches_per_epoch)
    text += line("begin", fmt::format("{} of the {} batches of an epoch", loop.batches,
                                      loop.plan.batches_per_epoch));
  text += describe_part(loop);
  if (!loop.later) return text;
  return text + line("later epochs", "find samples where the first one has left them") +
         describe_part(*loop.later);
}

std::string describe_damages(const std::vector<damage>& damages) {
  if (damages.empty()) return {};
  std::string text = "\ndamage: samples that cannot be read; the rest was measured without them\n";
  for (const damage& each : damages)
    text += folded(each.sample ? "sample " + std::to_string(*each.sample) : "", each.message);
  return text;
}

}  // namespace

std::string describe(const content& found) {
  std::string text = fmt::format("{}: {}", feedline::detail::printable(found.path), found.format);
  if (found.files.size() > 1) text += fmt::format(", {} files", found.files.size());
  text += '\n';
  if (!found.fields.empty()) text += "\nwhat is in it\n";
  return text + listed(found.fields, describe_field);
}

std::string describe(const examination& made) {
  const findings& measured = made.measured;
  std::string text;
  if (!made.notes.empty()) text += "\nnotes\n";
  text += listed(made.notes, describe_note) + describe_layout(measured.layout) +
          describe_storage(measured.storage) + describe_rates(measured);
  for (const loop_facts& loop : measured.loops) text += describe_loop(measured, loop);
  if (!measured.not_run.empty())
    text += "\nthe loop as recommended\n" + folded("not measured", measured.not_run);
  text += describe_damages(measured.damages) + "\nrecommended\n";
  text += listed(made.recommended.reasons, describe_note);
  text += listed(made.recommended.hints, describe_hint);
  if (made.recommended.batch.count() > 0)
    text += line("then", "a batch in about " + time_text(made.recommended.batch));
  if (measured.loops.size() == 2 && measured.loops.front().batches != 0 &&
      measured.loops.back().batches != 0)
    text += line("measured", fmt::format("{} a batch as it is, {} as recommended",
                                         time_text(measured.loops.front().lasting()),
                                         time_text(measured.loops.back().lasting())));
  return text + "\n" + made.program;
}

}  // namespace doctor
