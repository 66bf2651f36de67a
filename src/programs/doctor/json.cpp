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

template <class Value>
std::string or_null(const std::optional<Value>& value) {
  return value ? fmt::format("{}", *value) : "null";
}

template <class Value, class To>
std::vector<std::string> each_of(const std::vector<Value>& values, To to) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(to(value));
  return texts;
}

std::string field_json(const feedline::field& field) {
  return json_object{}
      .string("name", field.name)
      .string("type", to_string(field.type))
      .array("shape", each_of(field.shape, [](std::uint64_t x) { return std::to_string(x); }))
      .member("bytes", feedline::sample_bytes(field))
      .text();
}

std::string offered_json(const offered_field& each) {
  json_object field;
  field.string("name", each.found.name);
  if (!each.found.refusal.empty()) return field.string("refusal", each.found.refusal).text();
  if (!each.found.left_out.empty()) return field.string("left_out", each.found.left_out).text();
  return field.member("samples", each.found.samples)
      .member("ragged", each.found.is_ragged)
      .member("field", field_json(each.found.spec))
      .string("access", each.access)
      .text();
}

std::string layout_json(const layout_facts& layout) {
  return json_object{}
      .array("fields", each_of(layout.fields, field_json))
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

json_object rate_json(const work_rate& rate, const std::string& workers, const std::string& what) {
  json_object json;
  json.member(workers, rate.workers).member(what, rate.done).time("time", nanoseconds(rate.took));
  json.member(what + "_per_second", rate.rate());
  return json;
}

std::vector<std::string> readers_json(const findings& measured,
                                      const std::vector<work_rate>& rates) {
  return each_of(rates, [&](const work_rate& rate) {
    const auto bytes = rate.rate() * static_cast<double>(measured.layout.sample_bytes);
    return rate_json(rate, "readers", "samples").member("bytes_per_second", bytes).text();
  });
}

std::string storage_json(const storage_facts& storage) {
  return json_object{}
      .member("files", storage.files)
      .member("bytes", storage.bytes)
      .member("local", storage.local)
      .member("cached_share", or_null(storage.cached))
      .array("rates", each_of(storage.rates,
                              [](const work_rate& rate) {
                                return rate_json(rate, "threads", "bytes").text();
                              }))
      .string("not_measured", storage.not_measured)
      .text();
}

std::string reading_json(const reading_facts& reading) {
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

std::string loop_json(const loop_facts& loop) {
  json_object json;
  json.string("name", loop.name)
      .string("order", loop.order)
      .member("readers", loop.plan.readers)
      .string("placement", feedline::to_string(loop.plan.placement))
      .string("decode_on", feedline::to_string(loop.plan.decode_on))
      .string("plan", to_string(loop.plan));
  json_object later;
  return add_part(json, loop)
      .member("later_epochs", loop.later ? add_part(later, *loop.later).text() : "null")
      .text();
}

std::string damage_json(const damage& each) {
  return json_object{}
      .member("sample", or_null(each.sample))
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
  return json_object{}
      .member("window_chunks", or_null(measured.decoder.window))
      .array("readers", readers_json(measured, measured.decoder.readers))
      .string("not_measured", measured.device ? measured.decoder.not_measured : measured.no_device)
      .text();
}

std::string advice_json(const advice& given, const std::string& program) {
  return json_object{}
      .member("readers", given.readers)
      .string("decode_on", feedline::to_string(given.decode_on))
      .string("placement", feedline::to_string(given.placement))
      .member("max_device_cache_bytes", given.device_cache_bytes)
      .member("window_chunks", or_null(given.window))
      .member("load_into_memory", given.load_into_memory)
      .member("skip_damaged", given.skip_damaged)
      .time("batch", nanoseconds(given.batch))
      .array("reasons", each_of(given.reasons, json_string))
      .array("hints", each_of(given.hints, json_string))
      .string("code", program)
      .text();
}

}  // namespace

std::string to_json(const request& asked, const examination& made) {
  const findings& measured = made.measured;
  std::string formats;
  std::vector<std::string> offered;
  for (const content& input : made.found) {
    if (formats.find(input.format) == std::string::npos)
      formats += (formats.empty() ? "" : ", ") + input.format;
    for (const offered_field& each : input.fields) offered.push_back(offered_json(each));
  }
  return json_object{}
             .string("program", "feedline-doctor")
             .string("version", fmt::format("{}.{}.{}", FEEDLINE_VERSION_MAJOR,
                                            FEEDLINE_VERSION_MINOR, FEEDLINE_VERSION_PATCH))
             .string("path", asked.path)
             .string("format", formats)
             .array("offered", offered)
             .array("notes", each_of(made.notes, json_string))
             .member("layout", layout_json(measured.layout))
             .member("batch_size", measured.batch_size)
             .member("step_ns", measured.step ? std::to_string(measured.step->count()) : "null")
             .member("cores", measured.cores)
             .member("storage", storage_json(measured.storage))
             .array("reading", each_of(measured.reading, reading_json))
             .string("gather_order", measured.readers_order)
             .array("gather", readers_json(measured, measured.readers))
             .member("decoder", decoder_json(measured))
             .member("copies", copies_json(measured))
             .array("loops", each_of(measured.loops, loop_json))
             .string("not_run", measured.not_run)
             .array("damage", each_of(measured.damages, damage_json))
             .member("recommended", advice_json(made.recommended, made.program))
             .text() +
         '\n';
}

}  // namespace doctor
