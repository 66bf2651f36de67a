// The report for programs.

#include <feedline/version.hpp>

#include "detail/json/json_object.hpp"
#include "programs/doctor/report.hpp"

#include <spdlog/fmt/fmt.h>

namespace doctor {
namespace {

using feedline::detail::json_object;
using feedline::detail::json_string;

std::chrono::nanoseconds nanoseconds(seconds time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time);
}

std::string strings(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + json_string(text);
  return '[' + list + ']';
}

std::string optional_number(std::optional<double> value) {
  return value ? fmt::format("{}", *value) : "null";
}

std::string json_of(const feedline::field& field) {
  std::vector<std::string> shape;
  for (const std::uint64_t extent : field.shape) shape.push_back(std::to_string(extent));
  return json_object{}
      .string("name", field.name)
      .string("type", to_string(field.type))
      .array("shape", shape)
      .member("bytes", feedline::sample_bytes(field))
      .text();
}

std::string json_of(const offered_field& each) {
  json_object field;
  field.string("name", each.found.name);
  if (!each.found.refusal.empty()) return field.string("refusal", each.found.refusal).text();
  if (!each.found.left_out.empty()) return field.string("left_out", each.found.left_out).text();
  return field.member("samples", each.found.samples)
      .member("ragged", each.found.is_ragged)
      .member("field", json_of(each.found.spec))
      .string("access", each.access)
      .text();
}

std::string json_of(const layout_facts& layout) {
  std::vector<std::string> fields;
  for (const feedline::field& field : layout.fields) fields.push_back(json_of(field));
  return json_object{}
      .array("fields", fields)
      .member("samples", layout.samples)
      .member("sample_bytes", layout.sample_bytes)
      .member("chunk_samples", layout.chunking.samples)
      .member("chunk_bytes", layout.chunking.bytes)
      .member("chunks_kept", layout.chunking.kept)
      .member("in_memory", layout.in_memory)
      .member("serialized", layout.serialized)
      .member("varies_by_epoch", layout.varies_by_epoch)
      .time("opening", nanoseconds(layout.opening))
      .string("way", layout.way)
      .text();
}

std::string json_of(const storage_rate& rate) {
  return json_object{}
      .member("threads", rate.threads)
      .member("bytes", rate.bytes)
      .time("time", nanoseconds(rate.took))
      .member("bytes_per_second", rate.rate())
      .text();
}

std::string json_of(const storage_facts& storage) {
  json_object json;
  json.member("files", storage.files).member("bytes", storage.bytes);
  if (!storage.not_measured.empty())
    return json.string("not_measured", storage.not_measured).text();
  std::vector<std::string> first;
  for (const storage_rate& rate : storage.first) first.push_back(json_of(rate));
  return json.member("local", storage.local)
      .member("cached_share", optional_number(storage.cached))
      .member("dropped", storage.dropped)
      .member("left_share", optional_number(storage.left))
      .member("cold", storage.is_cold())
      .array("first", first)
      .member("again", json_of(storage.again))
      .text();
}

std::string json_of(const findings& measured, const reader_rate& rate) {
  return json_object{}
      .member("readers", rate.readers)
      .member("samples", rate.samples)
      .time("time", nanoseconds(rate.took))
      .member("samples_per_second", rate.rate())
      .member("bytes_per_second", rate.rate() * static_cast<double>(measured.layout.sample_bytes))
      .text();
}

std::string json_of(const reading_facts& reading) {
  return json_object{}
      .string("order", reading.order)
      .member("samples", reading.samples)
      .member("sample_ns", 1e9 * reading.of_sample().count())
      .member("cpu_share", reading.cpu_share())
      .text();
}

json_object& add_part(json_object& json, const loop_part& part) {
  return json.member("batches", part.batches)
      .time("time", nanoseconds(part.took))
      .time("batch", nanoseconds(part.of_batch()))
      .member("exposed_share", part.exposed())
      .member("statistics", to_json(part.seen));
}

std::string json_of(const loop_facts& loop) {
  json_object json;
  json.string("name", loop.name)
      .string("order", loop.order)
      .member("readers", loop.plan.readers)
      .string("placement", feedline::to_string(loop.plan.placement))
      .string("decode_on", feedline::to_string(loop.plan.decode_on))
      .string("plan", to_string(loop.plan));
  add_part(json, loop);
  json_object later;
  return json.member("later_epochs", loop.later ? add_part(later, *loop.later).text() : "null")
      .text();
}

std::string json_of(const damage& each) {
  return json_object{}
      .member("sample", each.sample ? std::to_string(*each.sample) : "null")
      .string("message", each.message)
      .text();
}

std::string copies_json(const findings& measured) {
  if (!measured.device) return json_object{}.string("not_measured", measured.no_device).text();
  return json_object{}
      .string("device", measured.device->name)
      .member("free_bytes", measured.device->free_bytes)
      .member("total_bytes", measured.device->total_bytes)
      .member("copy_bytes", measured.device->copied_bytes)
      .member("bytes_per_second", measured.device->copy_rate)
      .text();
}

std::string decoder_json(const findings& measured) {
  std::vector<std::string> readers;
  for (const reader_rate& rate : measured.decoder.readers)
    readers.push_back(json_of(measured, rate));
  const auto& window = measured.decoder.window;
  return json_object{}
      .member("window_chunks", window ? std::to_string(*window) : "null")
      .array("readers", readers)
      .string("not_measured", measured.device ? measured.decoder.not_measured : measured.no_device)
      .text();
}

std::string json_of(const advice& given, const std::string& program) {
  return json_object{}
      .member("readers", given.readers)
      .string("decode_on", feedline::to_string(given.decode_on))
      .string("placement", feedline::to_string(given.placement))
      .member("memory_cache", given.device_cache_bytes)
      .member("window_chunks", given.window ? std::to_string(*given.window) : "null")
      .member("load_into_memory", given.load_into_memory)
      .member("skip_damaged", given.skip_damaged)
      .time("batch", nanoseconds(given.batch))
      .member("reasons", strings(given.reasons))
      .member("hints", strings(given.hints))
      .string("code", program)
      .text();
}

template <class Value>
std::vector<std::string> each_of(const std::vector<Value>& values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(json_of(value));
  return texts;
}

}  // namespace

std::string to_json(const request& asked, const examination& made) {
  const findings& measured = made.measured;
  std::vector<std::string> readers;
  for (const reader_rate& rate : measured.readers) readers.push_back(json_of(measured, rate));
  std::string formats;
  std::vector<std::string> offered;
  for (const content& input : made.found) {
    if (formats.find(input.format) == std::string::npos)
      formats += (formats.empty() ? "" : ", ") + input.format;
    for (const offered_field& each : input.fields) offered.push_back(json_of(each));
  }
  return json_object{}
             .string("program", "feedline-doctor")
             .string("version", fmt::format("{}.{}.{}", FEEDLINE_VERSION_MAJOR,
                                            FEEDLINE_VERSION_MINOR, FEEDLINE_VERSION_PATCH))
             .string("path", asked.path)
             .string("format", formats)
             .array("offered", offered)
             .member("notes", strings(made.notes))
             .member("layout", json_of(measured.layout))
             .member("batch_size", measured.batch_size)
             .member("step_ns", measured.step ? std::to_string(measured.step->count()) : "null")
             .member("cores", measured.cores)
             .member("storage", json_of(measured.storage))
             .array("reading", each_of(measured.reading))
             .string("gather_order", measured.readers_order)
             .array("gather", readers)
             .member("decoder", decoder_json(measured))
             .member("copies", copies_json(measured))
             .array("loops", each_of(measured.loops))
             .string("not_run", measured.not_run)
             .array("damage", each_of(measured.damages))
             .member("recommended", json_of(made.recommended, made.program))
             .text() +
         '\n';
}

}  // namespace doctor
