// The human-readable report.

#include "detail/printable.hpp"
#include "programs/doctor/examine.hpp"
#include "programs/doctor/words.hpp"

#include <algorithm>

namespace doctor {
namespace {

std::string line(const std::string& label, const std::string& text) {
  return fmt::format("  {:<14}{}\n", feedline::detail::printable(label),
                     feedline::detail::printable(text));
}

/// Long sentences, folded after the label's column.
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
template <class Each, class Describe>
std::string listed(const std::vector<Each>& all, Describe describe) {
  constexpr std::size_t most = 50;
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i) text += describe(all[i]);
  if (all.size() > most)
    text += line("", fmt::format("and {} more: --json FILE lists all", all.size() - most));
  return text;
}

std::string describe_sentences(const std::string& label, const std::vector<std::string>& texts) {
  return listed(texts, [&](const std::string& text) { return folded(label, text); });
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
  text += line("samples",
               fmt::format("{} of {}, {} in all", layout.samples, bytes_text(layout.sample_bytes),
                           bytes_text(layout.samples * layout.sample_bytes)));
  text += listed(layout.fields, [](const feedline::field& field) {
    return line("field", to_string(field) + ", " + bytes_text(sample_bytes(field)));
  });
  if (layout.in_chunks())
    text += folded("chunks", fmt::format("{} of {} samples, {} once read; {} are kept at most",
                                         layout.chunks(), layout.chunking.samples,
                                         bytes_text(layout.chunking.bytes), layout.chunking.kept));
  text += folded("way", layout.way);
  return text + line("opening", "took " + time_text(layout.opening));
}

std::string describe_storage(const storage_facts& storage) {
  std::string text = "\nstorage\n";
  text += line("files", fmt::format("{}, {}, on {}", storage.files, bytes_text(storage.bytes),
                                    storage.local ? "a local file system"
                                                  : "a network or unknown file system"));
  text +=
      line("page cache", storage.cached ? percent_text(*storage.cached) + " of the files is in it"
                                        : "the system does not tell the share of the files in it");
  for (const work_rate& each : storage.rates)
    text += line(counted(each.workers, "thread"),
                 fmt::format("{} past the page cache ({} in blocks of 1 MiB at random offsets)",
                             rate_text(each.rate()), bytes_text(each.done)));
  return text + (storage.not_measured.empty() ? "" : folded("not measured", storage.not_measured));
}

std::string describe_readers(const findings& measured, const std::vector<work_rate>& rates) {
  std::string text;
  for (const work_rate& each : rates)
    text += line(
        counted(each.workers, "reader"),
        fmt::format("{:.0f} samples/s, {}", each.rate(),
                    rate_text(each.rate() * static_cast<double>(measured.layout.sample_bytes))));
  return text;
}

std::string describe_rates(const findings& measured) {
  std::string text = "\nreading and decoding, one thread, as the page cache is now\n";
  for (const reading_facts& each : measured.reading)
    text += line(each.order, fmt::format("{} a sample{} ({} samples)", time_text(each.of_sample()),
                                         each.cpu_share >= 0 ? ", " + percent_text(each.cpu_share) +
                                                                   " of it on a core"
                                                             : "",
                                         each.samples));
  text += fmt::format("\ngather into batches of {}, {}; {}\n", measured.batch_size,
                      measured.readers_order, counted(measured.cores, "core"));
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
  const device_facts& gpu = *measured.device;
  return text +
         line("GPU", fmt::format("{}, {} of {} free", gpu.name, bytes_text(gpu.free_bytes),
                                 bytes_text(gpu.total_bytes))) +
         line("pinned", fmt::format("{} in copies of {}", rate_text(gpu.copy_rate),
                                    bytes_text(gpu.copied_bytes)));
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
  const std::string way = loop.plan.decode_on == feedline::decode_on::device
                              ? "decode_on device"
                              : "placement " + std::string{to_string(loop.plan.placement)};
  std::string text =
      fmt::format("\nthe loop {}: batches of {}, {}, {}, {}, {}\n", loop.name, measured.batch_size,
                  loop.order, counted(loop.plan.readers, "reader"), way,
                  measured.step ? "a step of " + time_text(*measured.step) : "no step");
  if (loop.batches == 0)
    return text + folded("not measured", "no batch was delivered in " + time_text(loop.took) +
                                             (loop.plan.decode_note.empty() ? "" : ": ") +
                                             loop.plan.decode_note);
  if (loop.batches < loop.plan.batches_per_epoch)
    text += line("begin", fmt::format("{} of the {} batches of an epoch", loop.batches,
                                      loop.plan.batches_per_epoch));
  text += describe_part(loop);
  if (!loop.later) return text;
  return text + line("later epochs", "find samples where the first epoch left them") +
         describe_part(*loop.later);
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
  if (!made.notes.empty()) text += "\nnotes\n" + describe_sentences("-", made.notes);
  text += describe_layout(measured.layout) + describe_storage(measured.storage) +
          describe_rates(measured);
  for (const loop_facts& loop : measured.loops) text += describe_loop(measured, loop);
  if (!measured.not_run.empty())
    text += "\nthe loop as recommended\n" + folded("not measured", measured.not_run);
  if (!measured.damages.empty())
    text += "\ndamage: samples that cannot be read; the rest was measured without them\n";
  for (const damage& each : measured.damages)
    text += folded(each.sample ? "sample " + std::to_string(*each.sample) : "", each.message);
  text += "\nrecommended\n" + describe_sentences("-", made.recommended.reasons) +
          describe_sentences("also", made.recommended.hints);
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
