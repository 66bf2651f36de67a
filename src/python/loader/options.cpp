#include <feedline/loader/loader_options.hpp>

#include "python/bindings.hpp"
#include "python/loader/usual_options.hpp"
#include "python/named.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/chrono.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

using milliseconds = std::chrono::milliseconds;

void bind_shard(nb::module_& module) {
  const shard whole;
  nb::class_<shard>(module, "Shard", "The part of each global batch that a process takes.")
      .def(
          "__init__",
          [](shard* self, int rank, int world) { new (self) shard{.rank = rank, .world = world}; },
          nb::kw_only(), "rank"_a = whole.rank, "world"_a = whole.world)
      .def_static("from_environment", &shard::from_environment,
                  "Rank and world from torchrun, Open MPI or Slurm; rank 0 of 1 without them.")
      .def("batch_share", &shard::batch_share, "global_batch"_a,
           "The `batch_size` for global batches of this many samples.")
      .def_ro("rank", &shard::rank)
      .def_ro("world", &shard::world);
}

void bind_policies(nb::module_& module) {
  const error_policy policy;
  nb::class_<error_policy>(module, "ErrorPolicy", "How samples that cannot be read are handled.")
      .def(
          "__init__",
          [](error_policy* self, const named<error_action>& action, std::uint64_t substitute,
             int retries, milliseconds first_pause, milliseconds max_pause, double max_share,
             std::size_t listed) {
            new (self) error_policy{.action = action,
                                    .substitute = substitute,
                                    .retries = retries,
                                    .first_pause = first_pause,
                                    .max_pause = max_pause,
                                    .max_share = max_share,
                                    .listed = listed};
          },
          nb::kw_only(), "action"_a = named<error_action>{policy.action},
          "substitute"_a = policy.substitute, "retries"_a = policy.retries,
          "first_pause"_a = policy.first_pause, "max_pause"_a = policy.max_pause,
          "max_share"_a = policy.max_share, "listed"_a = policy.listed,
          "Pauses are timedeltas, or seconds.")
      .def_prop_ro("action",
                   [](const error_policy& self) { return named<error_action>{self.action}; })
      .def_ro("substitute", &error_policy::substitute)
      .def_ro("retries", &error_policy::retries)
      .def_ro("first_pause", &error_policy::first_pause)
      .def_ro("max_pause", &error_policy::max_pause)
      .def_ro("max_share", &error_policy::max_share)
      .def_ro("listed", &error_policy::listed);
}

void bind_limits(nb::module_& module) {
  const memory_limits none;
  nb::class_<memory_limits>(module, "MemoryLimits",
                            "Limits of the memory that a loader allocates, in bytes. 0: none; a "
                            "cache of 0 keeps no rows on the device.")
      .def(
          "__init__",
          [](memory_limits* self, std::size_t pinned, std::size_t device, std::size_t cache) {
            new (self) memory_limits{.pinned = pinned, .device = device, .cache = cache};
          },
          nb::kw_only(), "pinned"_a = none.pinned, "device"_a = none.device, "cache"_a = none.cache)
      .def_ro("pinned", &memory_limits::pinned)
      .def_ro("device", &memory_limits::device)
      .def_ro("cache", &memory_limits::cache);

  const tuning_budget budget;
  nb::class_<tuning_budget>(module, "TuningBudget",
                            "Readers and staging memory within which a loader tunes itself.")
      .def(
          "__init__",
          [](tuning_budget* self, int max_readers, std::size_t max_pinned_bytes) {
            new (self)
                tuning_budget{.max_readers = max_readers, .max_pinned_bytes = max_pinned_bytes};
          },
          nb::kw_only(), "max_readers"_a = budget.max_readers,
          "max_pinned_bytes"_a = budget.max_pinned_bytes)
      .def_ro("max_readers", &tuning_budget::max_readers)
      .def_ro("max_pinned_bytes", &tuning_budget::max_pinned_bytes);

  const expert_options usual = usual_expert_options();
  nb::class_<expert_options>(module, "ExpertOptions",
                             "Options of a loader that few programs need. 0: chosen. `on_held` is "
                             "'allocate' (batches that are kept just work: further ones get memory "
                             "of their own, at most `max_held_bytes`, by default a quarter of what "
                             "is free) or 'error' (fixed memory and addresses: the next batch is "
                             "refused while every slot has a live one).")
      .def(
          "__init__",
          [](expert_options* self, std::uint64_t batches_per_slot, std::size_t piece_bytes,
             std::size_t request_bytes, std::size_t staging_slots, std::size_t device_slots,
             const named<on_held>& held, std::size_t max_held_bytes, milliseconds leave_reads_after,
             std::size_t trace_events, const tuning_budget& tuning) {
            new (self) expert_options{.batches_per_slot = batches_per_slot,
                                      .piece_bytes = piece_bytes,
                                      .request_bytes = request_bytes,
                                      .staging_slots = staging_slots,
                                      .device_slots = device_slots,
                                      .on_held = held,
                                      .max_held_bytes = max_held_bytes,
                                      .leave_reads_after = leave_reads_after,
                                      .trace_events = trace_events,
                                      .tuning = tuning};
          },
          nb::kw_only(), "batches_per_slot"_a = usual.batches_per_slot,
          "piece_bytes"_a = usual.piece_bytes, "request_bytes"_a = usual.request_bytes,
          "staging_slots"_a = usual.staging_slots, "device_slots"_a = usual.device_slots,
          "on_held"_a = named<on_held>{usual.on_held}, "max_held_bytes"_a = usual.max_held_bytes,
          "leave_reads_after"_a = usual.leave_reads_after, "trace_events"_a = usual.trace_events,
          "tuning"_a = usual.tuning)
      .def_ro("batches_per_slot", &expert_options::batches_per_slot)
      .def_ro("piece_bytes", &expert_options::piece_bytes)
      .def_ro("request_bytes", &expert_options::request_bytes)
      .def_ro("staging_slots", &expert_options::staging_slots)
      .def_ro("device_slots", &expert_options::device_slots)
      .def_prop_ro("on_held",
                   [](const expert_options& self) { return named<on_held>{self.on_held}; })
      .def_ro("max_held_bytes", &expert_options::max_held_bytes)
      .def_ro("leave_reads_after", &expert_options::leave_reads_after)
      .def_ro("trace_events", &expert_options::trace_events)
      .def_ro("tuning", &expert_options::tuning);
}

}  // namespace

void bind_loader_options(nb::module_& module) {
  bind_shard(module);
  bind_image_operations(module);
  bind_transforms(module);
  bind_policies(module);
  bind_limits(module);
}

}  // namespace feedline::python
