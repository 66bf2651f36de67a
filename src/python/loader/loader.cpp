#include <feedline/device/host_device.hpp>
#include <feedline/feedline.hpp>

#include "python/bindings.hpp"
#include "python/loader/core.hpp"
#include "python/loader/epoch.hpp"
#include "python/loader/stream.hpp"
#include "python/loader/usual_options.hpp"
#include "python/named.hpp"
#include "python/samplers/sampler_object.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/chrono.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

using seconds = std::chrono::duration<double>;

/// `Loader`.
class loader_object {
 public:
  loader_object(const dataset_object& of, const std::optional<sampler_object>& order,
                const std::optional<device_ptr>& given, loader_options options)
      : held_{of.held},
        core_{make(of.of, order ? order->of : sampler{sequential{}},
                   given ? *given : make_host_device(), std::move(options))} {
    if (order) add(held_, order->held);
    close_at_exit(core_.share());
  }

  [[nodiscard]] const core_ref& core() const noexcept { return core_; }

  template <class Function>
  void for_collector(Function&& report) const {
    for (const nb::object& each : held_) report(each);
  }

  /// @param self This object's.
  [[nodiscard]] epoch_object* epoch(nb::handle self, std::int64_t number, nb::handle stream) {
    const stream_ref used = stream_of(stream, *core_->device());
    std::uint64_t batches = 0;
    epoch_range range = core_->in_turn("Loader.epoch", [&](loader& on) {
      batches = on.plan().batches_per_epoch;
      return on.epoch(number, used);
    });
    const auto own = static_cast<std::uint64_t>(number);
    if (sought_ && sought_->epoch == own) batches -= std::min(batches, sought_->batch);
    sought_.reset();
    return new epoch_object{nb::borrow(self), core_, std::move(range), own, batches, used};
  }

  void seek(const loader_state& state) {
    core_->in_turn("Loader.seek", [&](loader& on) { on.seek(state); });
    sought_ = {.epoch = state.epoch, .batch = state.batch};
  }

 private:
  static std::shared_ptr<loader_core> make(dataset_ptr of, sampler order, device_ptr device,
                                           loader_options options) {
    auto note = std::make_shared<held_note>();
    options.expert.held_warning = [note](const std::string& text) { note->write(text); };
    return unlocked([&] {
      const auto leave_reads_after = options.expert.leave_reads_after;
      return std::make_shared<loader_core>(
          loader{std::move(of), std::move(order), device, std::move(options)}, device, note,
          leave_reads_after);
    });
  }

  struct place {
    std::uint64_t epoch;
    std::uint64_t batch;
  };

  holds held_;  ///< the dataset's and the sampler's
  core_ref core_;
  std::optional<place> sought_;  ///< until the next epoch begins
};

/// Methods of `Loader` that call a function with C++'s.
template <class Function>
auto in_turn(const char* name, Function call) {
  return [=](const loader_object& self) { return self.core()->in_turn_or_within(name, call); };
}
template <class Function>
auto at_any_time(Function call) {
  return [call](const loader_object& self) { return self.core()->at_any_time(call); };
}

/// Waits, in the words of `Epoch.next`.
std::optional<batch_object> next_within(epoch_object& self, std::optional<double> timeout) {
  auto deadline = epoch_object::time_point::max();
  constexpr double longest = 1e9;  // seconds: more than a clock's ticks may count is no deadline
  if (timeout && std::isnan(*timeout))
    throw usage_error{"Epoch.next: timeout is nan: say seconds, or None to wait without limit"};
  if (timeout && *timeout < longest)
    deadline =
        std::chrono::steady_clock::now() +
        std::chrono::duration_cast<std::chrono::nanoseconds>(seconds{std::max(*timeout, 0.0)});
  return self.next(deadline);
}

batch_object take_next(epoch_object& self) {
  auto taken = self.next(epoch_object::time_point::max());
  if (!taken) throw nb::stop_iteration();
  return std::move(*taken);
}

void bind_epoch(nb::module_& module) {
  nb::class_<epoch_object>(module, "Epoch", nb::type_slots(collected<epoch_object>),
                           nb::sig("class Epoch(collections.abc.Iterator[Batch])"),
                           "One epoch's batches: an iterator that is used once. Batches not taken "
                           "are abandoned when it is destroyed.")
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __iter__(self) -> Epoch"))
      .def("__next__", &take_next, nb::lock_self())
      .def("next", &next_within, nb::lock_self(), "timeout"_a = nb::none(),
           "The next batch; None at the end. Raises DeadlineError after `timeout` seconds; no "
           "batch is lost then.")
      .def_prop_ro("number", &epoch_object::number, "Number of the epoch.")
      .def("__len__", &epoch_object::batches,
           "Batches that it has in all, those already taken included: fewer than `len(loader)` "
           "after `seek`. A policy that skips samples may end it earlier.")
      .def("__repr__", [](const epoch_object& self) {
        return "<feedline.Epoch " + std::to_string(self.number()) + ": " +
               std::to_string(self.batches()) + " batches>";
      });
}

}  // namespace

void bind_loader(nb::module_& module) {
  bind_epoch(module);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&close_all));

  loader_options o;
  o.expert = usual_expert_options();
  auto bound = nb::class_<loader_object>(
      module, "_Loader", nb::is_weak_referenceable(), nb::type_slots(collected<loader_object>),
      "The compiled part of feedline.Loader. Options are those of C++'s loader_options.");
  bound.def(
      "__init__",
      [](loader_object* self, const dataset_object& of, const std::optional<sampler_object>& order,
         const std::optional<device_ptr>& device, std::uint64_t batch_size,
         const named<partial_batch>& partial, const shard& part, std::uint64_t epochs, int readers,
         const named<placement>& place, const named<decode_on>& who_decodes,
         std::vector<field_transform> transforms, std::optional<mixing> mixed,
         const std::vector<std::pair<any_name, bool>>& kept, std::uint64_t seed,
         const error_policy& errors, const memory_limits& memory, const expert_options& expert) {
        loader_options options{.batch_size = batch_size,
                               .partial_batch = partial,
                               .shard = part,
                               .epochs = epochs,
                               .readers = readers,
                               .placement = place,
                               .decode_on = who_decodes,
                               .transforms = std::move(transforms),
                               .mixing = std::move(mixed),
                               .seed = seed,
                               .errors = errors,
                               .memory = memory,
                               .expert = expert};
        for (const auto& [name, on_device_too] : kept)
          options.keep_on_host.push_back({name.bytes, on_device_too});
        new (self) loader_object{of, order, device, std::move(options)};
      },
      "dataset"_a, "sampler"_a = nb::none(), "device"_a = nb::none(), nb::kw_only(),
      "batch_size"_a = o.batch_size, "partial_batch"_a = named<partial_batch>{o.partial_batch},
      "shard"_a = o.shard, "epochs"_a = o.epochs, "readers"_a = o.readers,
      "placement"_a = named<placement>{o.placement}, "decode_on"_a = named<decode_on>{o.decode_on},
      "transforms"_a = o.transforms, "mixing"_a = nb::none(),
      "keep_on_host"_a = std::vector<std::pair<any_name, bool>>{}, "seed"_a = o.seed,
      "errors"_a = o.errors, "memory"_a = o.memory, "expert"_a = o.expert,
      "No sampler: the dataset's order; no device: the host's.");
  using self_and_handle = nb::pointer_and_handle<loader_object>;
  bound.def(
      "epoch",
      [](self_and_handle self, std::int64_t number, nb::handle stream) {
        return self.p->epoch(self.h, number, stream);
      },
      nb::lock_self(), "number"_a, "stream"_a = nb::none(), nb::rv_policy::take_ownership,
      nb::sig("def epoch(self, number: int, stream: typing.Any = None) -> Epoch"),
      "The batches of an epoch, to be used on `stream`: an int, or a stream of PyTorch's or "
      "CuPy's. None: PyTorch's current stream, or CUDA's default stream.");
  bound.def("__len__", at_any_time([](loader& on) { return on.plan().batches_per_epoch; }),
            "Batches in an epoch.");
  bound.def("plan", at_any_time([](loader& on) { return on.plan(); }));
  bound.def("plan_downloads", at_any_time([](loader& on) { return on.plan_downloads(); }));
  bound.def("state", in_turn("Loader.state", [](loader& on) { return on.state(); }),
            "Where the run stands: after the last batch that was taken.");
  bound.def("seek", &loader_object::seek, nb::lock_self(), "state"_a,
            "Continues where a state was taken; the next epoch asked for must be `state.epoch`.");
  bound.def("order_digest",
            in_turn("Loader.order_digest", [](loader& on) { return on.order_digest(); }),
            "A digest of everything that must be equal on all ranks of a run.");
  bound.def("failures", in_turn("Loader.failures", [](loader& on) { return on.failures(); }),
            "Samples that could not be read.");
  bound.def("statistics", at_any_time([](loader& on) { return on.statistics(); }));
  bound.def("trace", at_any_time([](loader& on) { return on.trace(); }));
  bound.def("stop", at_any_time([](loader& on) { on.stop(); }),
            "Ends all reading ahead: every epoch ends at its next step.");
  bound.def(
      "close", [](const loader_object& self) { self.core()->close(); },
      "Ends the loader's threads. Batches stay valid. An epoch that has not ended raises "
      "UsageError "
      "at its next step. Waits for reads in progress; Ctrl-C ends the wait. A read that calls it "
      "is not waited for.");
  bound.def(
      "__enter__", [](nb::handle self) { return nb::borrow(self); },
      nb::sig("def __enter__(self) -> _Loader"));
  bound.def(
      "__exit__", [](const loader_object& self, const nb::args&) { self.core()->close(); },
      nb::sig("def __exit__(self, *args: typing.Any) -> None"));
  module.attr("automatic_readers") = automatic_readers;
  module.attr("no_readers") = no_readers;
  module.def("set_cpu_budget", &set_cpu_budget, "readers"_a,
             "Limits how many reader threads of this process work at a time, over all its loaders; "
             "0: no limit.");
  module.def("cpu_budget", &cpu_budget);
}

}  // namespace feedline::python
