#include <feedline/dataset/dataset.hpp>

#include "python/bindings.hpp"
#include "python/dataset_object.hpp"
#include "python/errors.hpp"
#include "python/interpreter/held_object.hpp"
#include "python/named.hpp"
#include "python/samples/maker.hpp"
#include "python/workers/pool.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

constexpr unsigned max_workers = 512;  // a loader has at most twice as many readers

/// Samples that Python makes one by one, on the readers' threads or in worker processes.
class sequence_dataset : public dataset {
 public:
  /// @param workers Null: samples are made on threads.
  sequence_dataset(std::uint64_t size, sample_maker maker, read_concurrency concurrency,
                   std::shared_ptr<worker_pool> pool, unsigned workers,
                   std::shared_ptr<held_objects> held)
      : held_{std::move(held)},
        size_{size},
        maker_{std::move(maker)},
        concurrency_{concurrency},
        pool_{std::move(pool)},
        workers_{workers} {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] std::vector<field> fields() const override { return maker_.values().fields(); }
  [[nodiscard]] bool varies_by_epoch() const override { return maker_.is_seeded(); }
  [[nodiscard]] read_concurrency concurrency() const override { return concurrency_; }
  [[nodiscard]] unsigned reads_in_processes() const override {
    return workers_ * static_cast<unsigned>(lanes_a_worker);
  }

 private:
  void do_read(const read_request& request) const override {
    if (!nb::is_alive()) throw usage_error{"the interpreter has ended, so Python cannot be called"};
    interruption::rethrow_if_any();
    if (pool_) return pool_->read(request, maker_.values().row_bytes());
    locked([&] {
      std::uint64_t sample = 0;
      try {
        maker_.make(request, [&](std::size_t place) { sample = request.samples[place].value; });
      } catch (nb::python_error& raised) {
        rethrow(raised, sample, *held_);
      }
    });
  }

  std::shared_ptr<held_objects> held_;
  std::uint64_t size_;
  sample_maker maker_;
  read_concurrency concurrency_;
  std::shared_ptr<worker_pool> pool_;
  unsigned workers_;
};

std::optional<std::chrono::milliseconds> patience_of(std::optional<double> timeout) {
  if (!timeout) return std::nullopt;
  if (!(*timeout >= 0.001 && *timeout < 1e6))
    throw usage_error{"timeout is " + std::to_string(*timeout) +
                      " s: say 0.001 to 1000000 seconds, or None for no limit"};
  return std::chrono::milliseconds{static_cast<std::int64_t>(*timeout * 1000)};
}

dataset_object make_sequence_dataset(const nb::object& samples,
                                     const std::optional<std::vector<std::string>>& names,
                                     std::optional<std::uint64_t> size,
                                     const std::optional<named<read_concurrency>>& concurrency,
                                     unsigned workers, const std::string& start_method,
                                     std::optional<double> timeout, std::optional<bool> seeded,
                                     const nb::object& pad) {
  const bool is_function =
      PyCallable_Check(samples.ptr()) != 0 && !nb::hasattr(samples, "__getitem__");
  const nb::object get = is_function ? samples : nb::object{samples.attr("__getitem__")};
  if (is_function && !size)
    throw usage_error{"a function does not say how many samples it has: say size=…"};
  if (workers > max_workers)
    throw usage_error{"workers is " + std::to_string(workers) + ": say 0 to " +
                      std::to_string(max_workers)};
  const std::uint64_t count = size ? *size : nb::len(samples);
  if (count == 0)
    throw usage_error{"there is no sample, but sample 0 is needed to tell the fields"};
  const bool is_seeded = seeded.value_or(workers != 0);
  const auto usual = workers != 0 ? read_concurrency::parallel : read_concurrency::serialized;
  const auto wanted = concurrency ? read_concurrency{*concurrency} : usual;
  if (workers == 0 && is_seeded && wanted == read_concurrency::parallel)
    throw usage_error{
        "seeded=True seeds generators that all threads of the process share, so a sample's numbers "
        "would depend on the others': use workers=…, or concurrency='serialized'"};
  const nb::module_ of_samples = nb::module_::import_("feedline._samples");
  const nb::object seed = is_seeded ? nb::object{of_samples.attr("seed")} : nb::object{nb::none()};
  const sample_index first{0};
  const nb::object described = of_samples.attr("describe")(
      sample_maker::call(get, is_seeded, 0, read_context{{&first, 1}}[0]), names, pad);
  const nb::object get_all = nb::getattr(samples, "__getitems__", nb::none());
  const nb::object held = held_objects::make();
  const std::shared_ptr<held_objects>& among = held_objects::of(held);
  sample_maker maker{get, get_all, {described[0], described[1], *among}, seed, *among};
  std::shared_ptr<worker_pool> pool;
  if (workers != 0) {
    const nb::tuple plan = maker.values().arguments();
    const nb::object start =
        nb::module_::import_("feedline._worker")
            .attr("Starter")(start_method, samples, is_function, plan[0], plan[1], seed);
    std::optional<stream_turns> turns;
    if (nb::hasattr(samples, "_turns")) turns = nb::cast<stream_turns>(samples.attr("_turns"));
    pool = worker_pool::make(start, workers, patience_of(timeout), maker.makes_together(),
                             std::move(turns), among);
  }
  return {std::make_shared<const sequence_dataset>(count, std::move(maker), wanted, std::move(pool),
                                                   workers, among),
          {held}};
}

}  // namespace

void bind_sequence_dataset(nb::module_& module) {
  nb::class_<stream_turns>(module, "_StreamTurns", "Used by feedline._stream.")
      .def(nb::init<std::vector<std::uint64_t>, std::uint64_t>(), "lengths"_a, "chunk"_a)
      .def("__len__", &stream_turns::size)
      .def(
          "at",
          [](const stream_turns& self, std::uint64_t index) {
            const auto found = self.at(index);
            return nb::make_tuple(found.stream, found.number);
          },
          "index"_a);
  module.def(
      "sequence_dataset", &make_sequence_dataset, "samples"_a, nb::kw_only(),
      "names"_a = nb::none(), "size"_a = nb::none(), "concurrency"_a = nb::none(), "workers"_a = 0,
      "start_method"_a = "spawn", "timeout"_a = nb::none(), "seeded"_a = nb::none(),
      "pad"_a = nb::none(),
      "Samples made by Python: by worker processes, or by the loader's threads.\n\n"
      "`samples` is a sequence (`__getitem__`, `__len__`), such as PyTorch's map-style dataset, or "
      "a function of the index, with `size`. If it has `__getitems__`, which takes a list of "
      "indices and returns a list of samples, that is called for several samples at once, unless "
      "they are seeded. A sample is a dict; or a tuple or list, whose fields are named by `names`, "
      "or '0', '1', …; or a single value with `names`. Dicts and tuples within it become fields "
      "with dotted names ('image.left', 'boxes.0'). Values are numbers, arrays and PyTorch's "
      "tensors on the CPU, and what numpy.asarray takes, such as Pillow's images. Structure, types "
      "and shapes of all samples are those of sample 0, which is made now, in this process.\n\n"
      "`pad={'caption': 64}`: text, bytes and arrays whose first dimension differs are padded with "
      "zeros to this length. Text is its UTF-8 bytes. A further field, 'caption_length' (int32), "
      "has the length before. A longer value raises DatasetError.\n\n"
      "`workers`: number of processes that make samples, each beside the others; they write values "
      "directly into the loader's memory. They are started now, end with the dataset, and are "
      "replaced if they end. A loader's automatic number of readers is then twice this number. 0: "
      "the loader's readers call Python on threads, which take turns at the interpreter's lock.\n"
      "`start_method`: 'spawn', 'forkserver' or 'fork', as in multiprocessing. With the first two, "
      "`samples` is pickled, and the main module is imported again, so a program's loop stands "
      "under `if __name__ == \"__main__\"`. A worker of 'fork' that is not ready "
      "within 10 s is killed and replaced: it needs a lock that another thread held. After three "
      "of them in a row, UsageError says so.\n"
      "`timeout`: seconds that a worker may take for one sample; then it is killed and replaced. "
      "`__getitems__` may take so long for each index. None: no limit.\n"
      "`seeded`: before each sample, `random`, `numpy.random` and PyTorch's generator for the CPU "
      "are seeded by the loader's seed, the epoch and the sample, so augmentation is the same for "
      "any number of workers, and when a loader resumes; `sample_info().seed` seeds others. Then "
      "samples may differ from epoch to epoch, and cannot be cached or loaded into memory. By "
      "default with workers. On threads it seeds the generators of the whole program.\n\n"
      "`concurrency='parallel'`: without workers, several readers call Python, which helps where "
      "it releases the interpreter's lock; by default one at a time does. 'serialized': with "
      "workers, one request at a time is made; by default several.\n\n"
      "What a sample raises becomes the `__cause__` of a StageError; a worker's traceback is its "
      "cause, as text. ErrorPolicy applies to a sample that raises DatasetError, or whose worker "
      "ended or took longer than `timeout`.");
}

}  // namespace feedline::python
