// The report for programs.

#include "detail/json/json_object.hpp"
#include "programs/doctor/examine.hpp"
#include "programs/inputs/command_line.hpp"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <string_view>
#include <type_traits>

namespace doctor {
namespace {

/// Text that is JSON already.
struct raw {
  std::string text;
};

raw json_of(const feedline::field& field);
raw json_of(const offered_field& each);
raw json_of(const reading_facts& reading);
raw json_of(const loop_part& part);
raw json_of(const loop_facts& loop);
raw json_of(const damage& each);
raw json_of(raw json) {
  return json;
}

template <class Value>
std::string json(const Value& value) {
  if constexpr (std::is_floating_point_v<Value>) {
    return std::isfinite(value) ? fmt::format("{}", value) : "null";
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return fmt::format("{}", value);
  } else if constexpr (std::is_convertible_v<Value, std::string_view>) {
    return feedline::detail::json_string(value);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? json(*value) : "null";
  } else if constexpr (requires { value.count(); }) {
    return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(value).count());
  } else if constexpr (requires { value.begin(); }) {
    std::string list;
    for (const auto& each : value) list += (list.empty() ? "" : ", ") + json(each);
    return '[' + list + ']';
  } else {
    return json_of(value).text;
  }
}

void add(feedline::detail::json_object& /*to*/) {}

template <class Value, class... More>
void add(feedline::detail::json_object& to, const char* name, const Value& value,
         const More&... more) {
  to.member(name, json(value));
  add(to, more...);
}

/// @param members Names and values in turn.
template <class... Members>
raw object(const Members&... members) {
  feedline::detail::json_object made;
  add(made, members...);
  return {made.text()};
}

raw json_of(const feedline::field& field) {
  return object("name", field.name, "type", to_string(field.type), "shape", field.shape, "bytes",
                feedline::sample_bytes(field));
}

raw json_of(const offered_field& each) {
  const feedline::listed_field& found = each.found;
  if (!found.refusal.empty()) return object("name", found.name, "refusal", found.refusal);
  if (!found.left_out.empty()) return object("name", found.name, "left_out", found.left_out);
  return object("name", found.name, "samples", found.samples, "ragged", found.is_ragged, "field",
                found.spec, "access", each.access);
}

raw layout_json(const layout_facts& layout) {
  return object("fields", layout.fields, "samples", layout.samples, "sample_bytes",
                layout.sample_bytes, "chunk_samples", layout.chunking.samples, "chunk_bytes",
                layout.chunking.bytes, "chunks_kept", layout.chunking.kept, "in_memory",
                layout.in_memory, "serialized", layout.serialized, "varies_by_epoch",
                layout.varies_by_epoch, "opening_ns", layout.opening, "way", layout.way);
}

std::vector<raw> readers_json(const findings& measured, const std::vector<work_rate>& rates) {
  std::vector<raw> list;
  for (const work_rate& each : rates)
    list.push_back(object("readers", each.workers, "samples", each.done, "time_ns", each.took,
                          "samples_per_second", each.rate(), "bytes_per_second",
                          each.rate() * static_cast<double>(measured.layout.sample_bytes)));
  return list;
}

raw storage_json(const storage_facts& storage) {
  std::vector<raw> rates;
  for (const work_rate& each : storage.rates)
    rates.push_back(object("threads", each.workers, "bytes", each.done, "time_ns", each.took,
                           "bytes_per_second", each.rate()));
  return object("files", storage.files, "bytes", storage.bytes, "local", storage.local,
                "cached_share", storage.cached, "rates", rates, "not_measured",
                storage.not_measured);
}

raw json_of(const reading_facts& reading) {
  return object("order", reading.order, "samples", reading.samples, "sample_ns",
                1e9 * reading.of_sample().count(), "cpu_share", reading.cpu_share);
}

raw json_of(const loop_part& part) {
  return object("batches", part.batches, "time_ns", part.took, "batch_ns", part.of_batch(),
                "exposed_share", part.exposed(), "statistics", raw{to_json(part.seen)});
}

raw json_of(const loop_facts& loop) {
  raw all =
      object("name", loop.name, "order", loop.order, "readers", loop.plan.readers, "placement",
             to_string(loop.plan.placement), "decode_on", to_string(loop.plan.decode_on), "plan",
             to_string(loop.plan), "later_epochs", loop.later);
  all.text.back() = ',';  // the members of its part follow
  all.text += ' ' + json_of(static_cast<const loop_part&>(loop)).text.substr(1);
  return all;
}

raw json_of(const damage& each) {
  return object("sample", each.sample, "message", each.message);
}

raw copies_json(const findings& measured) {
  if (!measured.device) return object("not_measured", measured.no_device);
  const device_facts& gpu = *measured.device;
  return object("device", gpu.name, "free_bytes", gpu.free_bytes, "total_bytes", gpu.total_bytes,
                "copy_bytes", gpu.copied_bytes, "bytes_per_second", gpu.copy_rate);
}

raw advice_json(const advice& given, const std::string& program) {
  return object("readers", given.readers, "decode_on", to_string(given.decode_on), "placement",
                to_string(given.placement), "memory_cache", given.device_cache_bytes,
                "window_chunks", given.window, "load_into_memory", given.load_into_memory,
                "skip_damaged", given.skip_damaged, "batch_ns", given.batch, "reasons",
                given.reasons, "hints", given.hints, "code", program);
}

}  // namespace

std::string to_json(const request& asked, const examination& made) {
  const findings& measured = made.measured;
  const decoder_facts& decoder = measured.decoder;
  std::string formats;
  std::vector<offered_field> offered;
  for (const content& input : made.found) {
    if (formats.find(input.format) == std::string::npos)
      formats += (formats.empty() ? "" : ", ") + input.format;
    offered.insert(offered.end(), input.fields.begin(), input.fields.end());
  }
  const raw decoding =
      object("window_chunks", decoder.window, "readers", readers_json(measured, decoder.readers),
             "not_measured", measured.device ? decoder.not_measured : measured.no_device);
  return object("program", "feedline-doctor", "version", programs::version(), "path", asked.path,
                "format", formats, "offered", offered, "notes", made.notes, "layout",
                layout_json(measured.layout), "batch_size", measured.batch_size, "step_ns",
                measured.step, "cores", measured.cores, "storage", storage_json(measured.storage),
                "reading", measured.reading, "gather_order", measured.readers_order, "gather",
                readers_json(measured, measured.readers), "decoder", decoding, "copies",
                copies_json(measured), "loops", measured.loops, "not_run", measured.not_run,
                "damage", measured.damages, "recommended",
                advice_json(made.recommended, made.program))
             .text +
         '\n';
}

}  // namespace doctor
