#include "python/samples/maker.hpp"

#include <feedline/error.hpp>

#include "python/bindings.hpp"
#include "python/interpreter/lock.hpp"

#include <optional>
#include <utility>

#include <nanobind/stl/optional.h>

namespace feedline::python {
namespace {

/// The sample that this thread's call is for.
struct current_sample {
  const sample_context* context = nullptr;
  bool is_seeded = false;
};
thread_local current_sample current;

/// A function that reads another dataset of Python's has another sample meanwhile.
class as_current {
 public:
  explicit as_current(current_sample now) noexcept : before_{std::exchange(current, now)} {}
  as_current(const as_current&) = delete;
  as_current& operator=(const as_current&) = delete;
  ~as_current() { current = before_; }

 private:
  current_sample before_;
};

sample_context info() {
  if (current.context == nullptr)
    throw usage_error{
        "no sample is being made: sample_info() is for functions that a sequence_dataset calls; a "
        "stream draws from random, numpy.random or PyTorch's generator, which are seeded for it"};
  if (!current.is_seeded)
    throw usage_error{
        "the dataset does not vary by epoch, so its samples have no seed: make it by "
        "sequence_dataset(…, seeded=True)"};
  return *current.context;
}

}  // namespace

sample_maker::sample_maker(nb::object get, nb::object get_all, sample_values values,
                           nb::object seed, held_objects& among)
    : get_{std::move(get), among},
      get_all_{std::move(get_all), among},
      values_{std::move(values)},
      seed_{std::move(seed), among} {}

/// Nothing if samples are made one by one, also after a failure: that shows which of them is at
/// fault.
nb::object sample_maker::made_together(std::span<const sample_index> samples) const {
  if (!makes_together() || samples.empty()) return {};
  nb::list indices;
  for (const sample_index each : samples) indices.append(each.value);
  try {
    nb::object made = get_all_.for_call()(indices);
    if (nb::len(made) == samples.size()) return made;
  } catch (const nb::python_error& failure) {
    if (!failure.matches(PyExc_Exception)) throw;
    return {};
  }
  throw dataset_error{{.path = {}, .field = {}, .sample = samples.front().value},
                      "__getitems__ returned another number of samples than it was asked for"};
}

nb::object sample_maker::make_one(std::uint64_t sample, const sample_context& context) const {
  if (is_seeded()) (void)seed_.for_call()(context.random().u64());
  const nb::object get = get_.for_call();
  return call(get, is_seeded(), sample, context);
}

nb::object sample_maker::call(nb::handle get, bool is_seeded, std::uint64_t sample,
                              const sample_context& context) {
  const as_current now{{&context, is_seeded}};
  PyObject* const index = PyLong_FromUnsignedLongLong(sample);
  if (index == nullptr) nb::raise_python_error();
  PyObject* made = nullptr;
#ifdef __GLIBCXX__
  try {
    made = PyObject_CallOneArg(get.ptr(), index);
  } catch (const abi::__forced_unwind&) {  // before the destructors of Python objects
    wait_for_exit();
  }
#else
  made = PyObject_CallOneArg(get.ptr(), index);
#endif
  Py_DECREF(index);
  if (made == nullptr) nb::raise_python_error();
  return nb::steal(made);
}

void bind_sample_info(nb::module_& module) {
  nb::class_<sample_context>(module, "SampleInfo", "The sample that a function is called for.")
      .def_prop_ro(
          "seed", [](const sample_context& self) { return self.random().u64(); },
          "64 bits that depend on the loader's seed, the epoch and the sample alone: the seed for "
          "a generator of the function's own.")
      .def_prop_ro(
          "epoch", [](const sample_context& self) { return self.epoch; },
          "None: the sample is not read by a loader.")
      .def_prop_ro(
          "sample", [](const sample_context& self) { return self.sample.value; },
          "Index in the loader's dataset, which is not the function's own if datasets are "
          "composed.")
      .def_ro("loader_seed", &sample_context::seed, "The loader's `seed`.");
  // Streams are iterated for samples that are asked for later, too, so they have none. Until the
  // function that was called for a sample returns.
  module.def("_forget_sample", [] { current = {}; });
  module.def("sample_info", &info,
             "Seed, epoch and index of the sample that the calling function makes, in a worker or "
             "on a thread. For datasets made with `seeded=True`; else raises UsageError.\n\n"
             "    def __getitem__(self, index):\n"
             "        random = numpy.random.default_rng(feedline.sample_info().seed)");
}

}  // namespace feedline::python
