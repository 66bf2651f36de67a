// Each fact of the report stands here once, with its words and its JSON.

#include "programs/doctor/report.hpp"

#include "programs/doctor/json.hpp"
#include "programs/inputs/command_line.hpp"
#include "programs/words/units.hpp"

#include <algorithm>

namespace doctor {
namespace {

using programs::bytes_text;
using programs::counted;
using programs::percent_text;
using programs::rate_text;
using programs::time_text;

using enum section::in_json;

raw field_json(const feedline::field& field) {
  return object(members("name", field.name, "type", to_string(field.type), "shape", field.shape,
                        "bytes", feedline::sample_bytes(field)));
}

fact offered(const offered_field& each) {
  const feedline::listed_field& found = each.found;
  if (!found.refusal.empty())
    return {found.name,
            "cannot be read: " + found.refusal +
                (found.packing.changes_values() ? "; --window makes samples of its values" : ""),
            members("name", found.name, "refusal", found.refusal), true};
  if (!found.left_out.empty())
    return {found.name, "left out: " + found.left_out,
            members("name", found.name, "left_out", found.left_out), true};
  const std::string spec = to_string(found.spec);
  std::string words = fmt::format("{} of {}", found.samples, spec.substr(spec.find(": ") + 2));
  if (found.is_ragged) words += ", any number of them in a sample";
  if (!found.access.empty()) words += "; " + found.access;
  if (!found.decoding.empty()) words += "; decoded by " + found.decoding;
  const std::string packing = packing_text(found.packing);
  if (!packing.empty())
    words += "; packed " + packing + ": rows are the stored numbers, windows (--window) the values";
  return {found.name, words,
          members("name", found.name, "samples", found.samples, "ragged", found.is_ragged, "field",
                  field_json(found.spec), "access", found.access, "decoding", found.decoding,
                  "dimensions", found.dimensions, "packing", packing),
          true};
}

section layout_section(const layout_facts& layout) {
  const feedline::chunking& chunks = layout.chunking;
  section all{"layout", "how it is read"};
  all.facts.push_back(
      {"samples",
       fmt::format("{} of {}, {} in all", layout.samples, bytes_text(layout.sample_bytes),
                   bytes_text(layout.samples * layout.sample_bytes)),
       members("samples", layout.samples, "sample_bytes", layout.sample_bytes)});
  std::vector<raw> fields;
  for (const feedline::field& field : layout.fields) {
    fields.push_back(field_json(field));
    all.facts.push_back(
        {"field", to_string(field) + ", " + bytes_text(sample_bytes(field)), {}, true});
  }
  const std::string in_chunks = fmt::format("{} of {} samples, {} once read; {} are kept at most",
                                            layout.in_chunks() ? layout.chunks() : 0,
                                            chunks.samples, bytes_text(chunks.bytes), chunks.kept);
  all.facts.push_back({"chunks", layout.in_chunks() ? in_chunks : "",
                       members("fields", fields, "chunk_samples", chunks.samples, "chunk_bytes",
                               chunks.bytes, "chunks_kept", chunks.kept)});
  all.facts.push_back({"way", layout.way,
                       members("way", layout.way, "in_memory", layout.in_memory, "serialized",
                               layout.serialized, "varies_by_epoch", layout.varies_by_epoch)});
  all.facts.push_back(
      {"opening", "took " + time_text(layout.opening), members("opening_ns", layout.opening)});
  return all;
}

section arrays_section(const layout_facts& layout) {
  section all{"arrays", "chunks of the arrays, and the windows that need them", list_of_facts};
  for (const chunk_use& each : layout.arrays)
    all.facts.push_back(
        {each.array,
         fmt::format("{} of {}, {} each; a window needs {:.1f} of them and uses {} of "
                     "their values; {:.1f} windows of an epoch need a chunk; {} are kept decoded",
                     counted(each.chunks, "chunk"), json(each.extents), bytes_text(each.bytes),
                     each.needed, percent_text(each.used), each.in_epoch,
                     each.kept < each.chunks ? std::to_string(each.kept) : "all"),
         members("name", each.array, "chunk", each.extents, "chunk_bytes", each.bytes, "chunks",
                 each.chunks, "chunks_kept", each.kept, "chunks_a_window", each.needed,
                 "used_share", each.used, "windows_a_chunk", each.in_epoch),
         true});
  return all;
}

section images_section(const layout_facts& layout) {
  section all{"images", "who decodes images with decode_on::device", list_of_facts};
  for (const image_decoding& each : layout.images) {
    std::string words = fmt::format("field '{}': a GPU decodes {} of {} that were looked at",
                                    each.field, each.looked_at - each.left(), each.looked_at);
    if (each.left() != 0) words += "; readers decode the others: " + kinds_text(each);
    std::vector<raw> kinds;
    for (const auto& [kind, count] : each.by_readers)
      kinds.push_back(object(members("kind", kind, "images", count)));
    all.facts.push_back({"images", words,
                         members("field", each.field, "looked_at", each.looked_at, "on_gpu",
                                 each.looked_at - each.left(), "by_readers", kinds),
                         true});
  }
  return all;
}

section storage_section(const storage_facts& storage) {
  section all{"storage", "storage"};
  all.facts.push_back(
      {"files",
       fmt::format("{}, {}, on {}", storage.files, bytes_text(storage.bytes),
                   storage.local ? "a local file system" : "a network or unknown file system"),
       members("files", storage.files, "bytes", storage.bytes, "local", storage.local)});
  all.facts.push_back({"page cache",
                       storage.cached ? percent_text(*storage.cached) + " of the files is in it"
                                      : "the system does not tell the share of the files in it",
                       members("cached_share", storage.cached)});
  return all;
}

section reading_section(const work_rate& in_order) {
  const seconds of_sample =
      in_order.took / static_cast<double>(std::max<std::uint64_t>(in_order.done, 1));
  section all{"reading", "reading and decoding, one thread, as the page cache is now"};
  all.facts.push_back({"in order",
                       fmt::format("{} a sample ({} samples)", time_text(of_sample), in_order.done),
                       members("samples", in_order.done, "sample_ns", 1e9 * of_sample.count())});
  return all;
}

section readers_section(const findings& measured) {
  section all{"gather",
              fmt::format("gather into batches of {}, {}; {}", measured.batch_size,
                          measured.readers_order, counted(measured.cores, "core")),
              list_of_facts};
  for (const work_rate& each : measured.readers) {
    const double bytes = each.rate() * static_cast<double>(measured.layout.sample_bytes);
    all.facts.push_back(
        {counted(each.workers, "reader"),
         fmt::format("{:.0f} samples/s, {}", each.rate(), rate_text(bytes)),
         members("readers", each.workers, "samples", each.done, "time_ns", each.took,
                 "samples_per_second", each.rate(), "bytes_per_second", bytes)});
  }
  return all;
}

section copies_section(const findings& measured) {
  section all{"copies", "copies to the GPU"};
  if (!measured.device) {
    all.facts.push_back(
        {"not measured", measured.no_device, members("not_measured", measured.no_device)});
    return all;
  }
  const device_facts& gpu = *measured.device;
  all.facts.push_back(
      {"GPU",
       fmt::format("{}, {} of {} free", gpu.name, bytes_text(gpu.free_bytes),
                   bytes_text(gpu.total_bytes)),
       members("device", gpu.name, "free_bytes", gpu.free_bytes, "total_bytes", gpu.total_bytes)});
  all.facts.push_back(
      {"pinned",
       fmt::format("{} in copies of {}", rate_text(gpu.copy_rate), bytes_text(gpu.copied_bytes)),
       members("copy_bytes", gpu.copied_bytes, "bytes_per_second", gpu.copy_rate)});
  return all;
}

section loop_section(const findings& measured, const loop_facts& loop) {
  const std::string placement{to_string(loop.plan.placement)};
  section all{
      "loops",
      fmt::format("the loop {}: batches of {}, {}, {}, placement {}, {}", loop.name,
                  measured.batch_size, loop.order, counted(loop.seen.reader.threads, "reader"),
                  placement, measured.step ? "a step of " + time_text(*measured.step) : "no step"),
      item_of_list};
  const auto add = [&](const char* label, bool is_told, const std::string& words,
                       const json_members& told = {}) {
    all.facts.push_back({label, is_told ? words : "", told});
  };
  const bool has_batches = loop.batches != 0;
  add("not measured", !has_batches, "no batch was delivered in " + time_text(loop.took),
      members("name", loop.name, "order", loop.order, "readers", loop.seen.reader.threads,
              "placement", placement, "plan", to_string(loop.plan)));
  add("begin", has_batches && !loop.later && loop.batches < loop.plan.batches_per_epoch,
      fmt::format("{} of the {} batches of an epoch", loop.batches, loop.plan.batches_per_epoch));
  add("later epochs", loop.later, "find samples where the first epoch left them",
      members("later_epochs", loop.later));
  add("time", has_batches,
      fmt::format("{} a batch, of {} batches in {}", time_text(loop.of_batch()), loop.batches,
                  time_text(loop.took)),
      members("batches", loop.batches, "time_ns", loop.took, "batch_ns", loop.of_batch()));
  add("exposed", has_batches,
      fmt::format("{}, {} of the loop's time{}", time_text(loop.seen.exposed),
                  percent_text(loop.exposed()),
                  loop.seen.exposed_on_stream ? ", on its stream" : ""),
      members("exposed_share", loop.exposed(), "statistics", raw{to_json(loop.seen)}));
  add("verdict", has_batches, to_string(loop.verdict.limit) + ": " + loop.verdict.evidence);
  add("next", has_batches, loop.verdict.next);
  return all;
}

section damage_section(const std::vector<damage>& damages) {
  section all{"damage", "damage: samples that cannot be read; the rest was measured without them",
              list_of_facts};
  for (const damage& each : damages)
    all.facts.push_back({each.sample ? "sample " + std::to_string(*each.sample) : "", each.message,
                         members("sample", each.sample, "message", each.message)});
  return all;
}

section advice_section(const examination& made) {
  const advice& given = made.recommended;
  const auto& loops = made.measured.loops;
  section all{"recommended", "recommended"};
  for (const std::string& reason : given.reasons) all.facts.push_back({"-", reason, {}});
  for (const std::string& hint : given.hints) all.facts.push_back({"also", hint, {}, true});
  all.facts.push_back(
      {"then", given.batch.count() > 0 ? "a batch in about " + time_text(given.batch) : "",
       members("readers", given.readers, "placement", to_string(given.placement), "memory_cache",
               given.device_cache_bytes, "window_chunks", given.window, "load_into_memory",
               given.load_into_memory, "skip_damaged", given.skip_damaged, "batch_ns", given.batch,
               "reasons", given.reasons, "hints", given.hints, "code", made.program)});
  if (loops.size() == 2 && loops.front().batches != 0 && loops.back().batches != 0)
    all.facts.push_back(
        {"measured",
         fmt::format("{} a batch as it is, {} as recommended", time_text(loops.front().of_batch()),
                     time_text(loops.back().of_batch())),
         {}});
  return all;
}

}  // namespace

section content_section(const content& found) {
  section all{"offered", "what is in it", list_of_facts};
  for (const offered_field& each : found.fields) all.facts.push_back(offered(each));
  return all;
}

std::vector<section> sections_of(const request& asked, const examination& made) {
  const findings& measured = made.measured;
  std::string formats;
  std::vector<section> all(1);
  for (const content& input : made.found) {
    if (formats.find(input.format) == std::string::npos)
      formats += (formats.empty() ? "" : ", ") + input.format;
    all.push_back(content_section(input));
    all.back().title.clear();  // it was printed before anything was opened
  }
  all.front().facts.push_back(
      {"", "",
       members("program", "feedline-doctor", "version", programs::version(), "path", asked.path,
               "format", formats, "notes", made.notes, "batch_size", measured.batch_size, "step_ns",
               measured.step, "cores", measured.cores, "gather_order", measured.readers_order,
               "not_run", measured.not_run)});
  section notes{"", "notes"};
  for (const std::string& note : made.notes) notes.facts.push_back({"-", note, {}, true});
  all.insert(all.end(), {notes, layout_section(measured.layout), arrays_section(measured.layout),
                         images_section(measured.layout), storage_section(measured.storage),
                         reading_section(measured.in_order), readers_section(measured),
                         copies_section(measured)});
  for (const loop_facts& loop : measured.loops) all.push_back(loop_section(measured, loop));
  all.push_back({"", "the loop as recommended"});
  all.back().facts.push_back({"not measured", measured.not_run, {}});
  all.push_back(damage_section(measured.damages));
  all.push_back(advice_section(made));
  return all;
}

}  // namespace doctor
