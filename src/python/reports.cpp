#include <feedline/error_policy.hpp>
#include <feedline/loader/loader_plan.hpp>
#include <feedline/loader/loader_state.hpp>
#include <feedline/statistics/statistics.hpp>
#include <feedline/statistics/trace.hpp>

#include "python/bindings.hpp"
#include "python/interpreter/held_object.hpp"
#include "python/named.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <nanobind/stl/chrono.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

void bind_plan(nb::module_& module) {
  using plan = loader_plan;
  nb::class_<plan>(module, "Plan", "All choices of a loader.")
      .def_ro("fields", &plan::fields, "Fields of the batches.")
      .def_prop_ro("placement", [](const plan& self) { return named<placement>{self.placement}; })
      .def_prop_ro("decode_on", [](const plan& self) { return named<decode_on>{self.decode_on}; })
      .def_ro("decoded_fields", &plan::decoded_fields)
      .def_ro("decode_note", &plan::decode_note)
      .def_ro("decoded_at_once", &plan::decoded_at_once)
      .def_ro("device_could_decode", &plan::device_could_decode)
      .def_ro("made_on_device", &plan::made_on_device)
      .def_ro("made_note", &plan::made_note)
      .def_ro("assembled", &plan::assembled)
      .def_ro("shard", &plan::shard)
      .def_ro("samples_per_epoch", &plan::samples_per_epoch)
      .def_ro("repeats_per_epoch", &plan::repeats_per_epoch)
      .def_ro("batch_size", &plan::batch_size)
      .def_ro("batches_per_epoch", &plan::batches_per_epoch)
      .def_ro("batches_per_slot", &plan::batches_per_slot)
      .def_ro("piece_samples", &plan::piece_samples)
      .def_ro("slots_grow", &plan::slots_grow)
      .def_ro("slots_per_epoch", &plan::slots_per_epoch)
      .def_ro("request_samples", &plan::request_samples)
      .def_ro("far_request_bytes", &plan::far_request_bytes,
              "About how many bytes a reader asks for at a time because they are on other "
              "machines; 0: they are not, or the option request_bytes is set.")
      .def_ro("cached_samples", &plan::cached_samples)
      .def_ro("batch_bytes", &plan::batch_bytes)
      .def_ro("slot_bytes", &plan::slot_bytes)
      .def_ro("device_slot_bytes", &plan::device_slot_bytes)
      .def_ro("staging_slots", &plan::staging_slots)
      .def_ro("device_slots", &plan::device_slots)
      .def_ro("destination_bytes", &plan::destination_bytes)
      .def_ro("cache_bytes", &plan::cache_bytes)
      .def_ro("staging_bytes", &plan::staging_bytes)
      .def_ro("device_bytes", &plan::device_bytes)
      .def_ro("host_bytes", &plan::host_bytes)
      .def_ro("readers", &plan::readers)
      .def_ro("background", &plan::background)
      .def_ro("cores", &plan::cores,
              "Cores near the device on which the loader's threads run; empty: any core.")
      .def("__str__", [](const plan& self) { return to_string(self); });
}

void bind_download_plan(nb::module_& module) {
  using plan = download_plan;
  nb::class_<plan>(module, "DownloadPlan",
                   "Bytes of other machines that a loader's epochs download, by the order of its "
                   "samples and the state of the cache. All ranks count together.")
      .def_ro("is_known", &plan::is_known, "False, and all else 0: nothing can be computed.")
      .def_ro("epoch", &plan::epoch, "The epoch that the loader reads now.")
      .def_ro("needed_bytes", &plan::needed_bytes,
              "Bytes of that epoch's samples: its downloads without a cache.")
      .def_ro("epoch_bytes", &plan::epoch_bytes, "Its downloads with the cache as it is now.")
      .def_ro("later_bytes", &plan::later_bytes, "Downloads of the epoch after it.")
      .def_ro("cache_bytes", &plan::cache_bytes, "Room of the cache; 0: there is none.")
      .def_ro("larger_cache", &plan::larger_cache, "A larger cache; 0: whole_cache is no larger.")
      .def_ro("later_with_larger", &plan::later_with_larger,
              "Downloads of each later epoch with it.")
      .def_ro("whole_cache", &plan::whole_cache,
              "Room for all blocks that are needed again; 0: the cache has it.")
      .def_ro("later_with_whole", &plan::later_with_whole, "Downloads of each later epoch with it.")
      .def("__str__", [](const plan& self) { return to_string(self); });
}

void bind_state(nb::module_& module) {
  nb::class_<loader_state>(module, "State",
                           "Where a run stands: `Loader.state` makes it, `Loader.seek` takes it. "
                           "It can be pickled, and written as JSON.")
      .def_static("from_json", &loader_state::from_json, "text"_a)
      .def("to_json", [](const loader_state& self) { return to_json(self); })
      .def_ro("epoch", &loader_state::epoch, "Epoch to continue with.")
      .def_ro("batch", &loader_state::batch, "Next batch in that epoch.")
      .def("__eq__",
           [](const loader_state& self, const loader_state& other) { return self == other; })
      .def("__getstate__", [](const loader_state& self) { return to_json(self); })
      .def("__setstate__",
           [](loader_state& self, const std::string& text) {
             new (&self) loader_state{loader_state::from_json(text)};
           })
      .def("__repr__",
           [](const loader_state& self) { return "<feedline.State " + to_json(self) + ">"; });
}

void bind_failures(nb::module_& module) {
  nb::class_<sample_failure>(module, "SampleFailure", "A sample that could not be read.")
      .def_ro("epoch", &sample_failure::epoch)
      .def_prop_ro("position", [](const sample_failure& self) { return self.position.value; })
      .def_prop_ro("sample", [](const sample_failure& self) { return self.sample.value; })
      .def_prop_ro("path", [](const sample_failure& self) { return any_name{self.path}; })
      .def_prop_ro("message", [](const sample_failure& self) { return any_name{self.message}; })
      .def_prop_ro("action",
                   [](const sample_failure& self) { return named<error_action>{self.action}; })
      .def_prop_ro("replaced_by", [](const sample_failure& self) {
        return self.replaced_by ? std::optional{self.replaced_by->value} : std::nullopt;
      });
  nb::class_<failure_report>(module, "FailureReport", "Unreadable samples of a loader's batches.")
      .def_ro("count", &failure_report::count)
      .def_ro("recovered_reads", &failure_report::recovered_reads)
      .def_ro("first", &failure_report::first);
}

/// One of the functions that write a trace to a file.
auto writer(void (*write)(const trace&, const std::string&, std::string_view)) {
  return [write](const trace& self, const std::filesystem::path& path, const std::string& title) {
    unlocked([&] { write(self, path.string(), title); });
  };
}

void bind_trace(nb::module_& module) {
  nb::class_<trace>(module, "Trace",
                    "Activities of a loader's threads and streams, with their times.")
      .def(
          "only_epoch",
          [](const trace& self, std::uint64_t epoch) { return only_epoch(self, epoch); }, "epoch"_a,
          "The events of one epoch.")
      .def("__len__", [](const trace& self) { return self.events.size(); })
      .def("write_chrome_trace", writer(&write_chrome_trace), "path"_a, "title"_a = "feedline",
           "Writes a trace for Perfetto and chrome://tracing.")
      .def("write_page", writer(&write_trace_page), "path"_a, "title"_a = "feedline",
           "Writes an HTML page.");
}

}  // namespace

void bind_reports(nb::module_& module) {
  bind_plan(module);
  bind_download_plan(module);
  bind_state(module);
  bind_failures(module);
  bind_trace(module);
}

void bind_statistics(nb::module_& module) {
  nb::class_<loader_verdict>(module, "Verdict", "What limits a loop, and what to change.")
      .def_prop_ro(
          "limit", [](const loader_verdict& self) { return to_string(self.limit); },
          "'consumer-bound', 'reader-bound', 'storage-bound', …")
      .def_ro("evidence", &loader_verdict::evidence)
      .def_ro("next", &loader_verdict::next)
      .def_ro("gain", &loader_verdict::gain)
      .def("__repr__", [](const loader_verdict& self) {
        return "<feedline.Verdict " + to_string(self.limit) + ": " + self.evidence + ">";
      });

  using stage = stage_statistics;
  nb::class_<stage>(module, "StageStatistics", "Activity of a stage's threads.")
      .def_ro("threads", &stage::threads)
      .def_ro("batches", &stage::batches)
      .def_ro("samples", &stage::samples)
      .def_ro("bytes", &stage::bytes)
      .def_ro("slots", &stage::slots)
      .def_ro("slots_there", &stage::slots_there)
      .def_ro("max_latency", &stage::max_latency)
      .def_prop_ro("mean_latency", &stage::mean_latency)
      .def_ro("busy", &stage::busy)
      .def_ro("starved", &stage::starved)
      .def_ro("stalled", &stage::stalled)
      .def_ro("copy_wait", &stage::copy_wait);

  nb::class_<held_statistics>(module, "HeldStatistics",
                              "Slots beyond those of the plan, for batches that are kept.")
      .def_ro("slots", &held_statistics::slots, "Such slots that have memory now.")
      .def_ro("bytes", &held_statistics::bytes, "Their memory now.")
      .def_ro("max_bytes", &held_statistics::max_bytes, "The most that they have had at a time.")
      .def_ro("added", &held_statistics::added, "How often such a slot came into use.");

  using statistics = loader_statistics;
  nb::class_<statistics>(module, "Statistics",
                         "Statistics of a loader, and how it spent its time; times are timedeltas.")
      .def_ro("time", &statistics::time)
      .def_ro("reader", &statistics::reader)
      .def_ro("transfer", &statistics::transfer)
      .def_ro("consumer", &statistics::consumer)
      .def_ro("exposed", &statistics::exposed, "Time that the consumer waited for data.")
      .def_ro("exposed_on_stream", &statistics::exposed_on_stream)
      .def_ro("peak_copy_rate", &statistics::peak_copy_rate, "Bytes a second.")
      .def_ro("decoded", &statistics::decoded)
      .def_ro("cache_hits", &statistics::cache_hits)
      .def_ro("cache_misses", &statistics::cache_misses)
      .def_ro("network_wait", &statistics::network_wait)
      .def_ro("pixels", &statistics::pixels,
              "Pixels of images that are letterboxed or padded, with their padding.")
      .def_ro("padded_pixels", &statistics::padded_pixels, "Those of them that are padding.")
      .def_ro("cached_samples", &statistics::cached_samples)
      .def_ro("unreadable_samples", &statistics::unreadable_samples)
      .def_ro("recovered_reads", &statistics::recovered_reads)
      .def_ro("downloads", &statistics::downloads,
              "The same as Loader.plan_downloads(), where readers mostly wait for other machines.")
      .def_ro("held", &statistics::held, "Memory of batches that are kept.")
      .def("since", &statistics::since, "earlier"_a, "The difference from an earlier snapshot.")
      .def(
          "judge", [](const statistics& self) { return judge(self); },
          "What limits the loop, and what to change.")
      .def(
          "report", [](const statistics& self) { return report(self); },
          "A human-readable table of about ten lines.")
      .def(
          "to_json", [](const statistics& self) { return to_json(self); },
          "All statistics as JSON, times in nanoseconds; json.loads returns a dict.")
      .def("__str__", [](const statistics& self) { return report(self); });
}

}  // namespace feedline::python
