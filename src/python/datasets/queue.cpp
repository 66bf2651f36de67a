#include <feedline/error.hpp>
#include <feedline/queue/queue_dataset.hpp>

#include "python/bindings.hpp"
#include "python/datasets/arrays.hpp"
#include "python/interpreter/held_object.hpp"
#include "python/named.hpp"

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

using queue_ptr = std::shared_ptr<queue_dataset>;
using time_point = std::chrono::steady_clock::time_point;

/// A sample's values as bytes, and what keeps them.
struct queued_values {
  std::vector<dense_array> arrays;
  std::vector<std::span<const std::byte>> bytes;
};

queued_values sample_values_of(const queue_dataset& to, const nb::dict& sample) {
  queued_values values;
  const std::vector<field> fields = to.fields();
  for (const field& each : fields) {
    const nb::object name = text(each.name);
    if (!sample.contains(name))
      throw usage_error{"put: the sample has no value of field '" + each.name + "'"};
    dense_array array = as_dense(nb::object{sample[name]}, each.type);
    if (array.shape != each.shape)
      throw usage_error{"put: field '" + each.name + "' has the shape " +
                        to_string(field{each.name, array.type, array.shape}) + ", but should be " +
                        to_string(each)};
    values.arrays.push_back(std::move(array));
  }
  if (sample.size() != fields.size())
    throw usage_error{"put: the sample has " + std::to_string(sample.size()) +
                      " values, but the queue has " + std::to_string(fields.size()) + " fields"};
  for (const dense_array& each : values.arrays) values.bytes.push_back(each.bytes);
  return values;
}

/// @param seconds Empty: no end.
time_point end_after(const std::optional<double>& seconds) {
  constexpr double most = 1e9;
  if (!seconds || *seconds >= most) return time_point::max();
  if (!(*seconds >= 0))
    throw usage_error{"put: timeout is " + std::to_string(*seconds) +
                      ": say a number of seconds, 0 or more, or None"};
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                std::chrono::duration<double>{*seconds});
}

/// Waits in pieces, so that signals' handlers run.
bool put_sample(queue_dataset& to, const nb::dict& sample, const std::optional<double>& timeout) {
  const queued_values values = sample_values_of(to, sample);
  const time_point deadline = end_after(timeout);
  constexpr std::chrono::milliseconds piece{50};
  for (;;) {
    const time_point now = std::chrono::steady_clock::now();
    const bool is_last = deadline <= now + piece;
    put_result result{};
    {
      const nb::gil_scoped_release unlocked;
      result = to.put(values.bytes, {.deadline = is_last ? deadline : now + piece});
    }
    if (result == put_result::accepted) return true;
    if (result == put_result::closed)
      throw usage_error{"put: the queue is closed; it takes no more samples"};
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
    if (is_last) return false;
  }
}

/// A producer that Python may end before it is collected.
struct python_producer {
  queue_ptr queue;
  queue_producer of;
};

queue_ptr make_queue(const std::vector<field>& fields, std::size_t capacity, double max_delay) {
  if (!(max_delay >= 0 && max_delay <= 86400))
    throw usage_error{"make_queue_dataset: max_delay is " + std::to_string(max_delay) +
                      ": say a number of seconds, 0 to 86400"};
  return make_queue_dataset(
      fields, {.capacity = capacity,
               .max_delay = std::chrono::microseconds{std::llround(max_delay * 1e6)}});
}

}  // namespace

void bind_queue(nb::module_& module) {
  nb::class_<python_producer>(module, "QueueProducer",
                              "A thread's right to put samples into a queue: the queue is closed "
                              "when the last one ends, also by an exception in a with statement.")
      .def(
          "put",
          [](python_producer& self, const nb::dict& sample, const std::optional<double>& timeout) {
            const queue_ptr queue = self.queue;  // another thread may end the producer meanwhile
            if (!queue) throw usage_error{"put: this producer has ended"};
            return put_sample(*queue, sample, timeout);
          },
          nb::lock_self(), "sample"_a, "timeout"_a = nb::none(), "Same as SampleQueue.put.")
      .def(
          "end",
          [](python_producer& self) {
            self.queue.reset();
            self.of.end();
          },
          nb::lock_self(), "Ends it; a second call does nothing.")
      .def("__enter__", [](nb::object self) { return self; })
      .def(
          "__exit__",
          [](python_producer& self, const nb::args&) {
            self.queue.reset();
            self.of.end();
          },
          nb::lock_self(), nb::sig("def __exit__(self, *args: typing.Any) -> None"));
  nb::class_<queue_ptr>(module, "SampleQueue",
                        "Samples that threads put while a loader reads `dataset`: a batch has "
                        "the samples that are there. See make_queue_dataset.")
      .def_prop_ro(
          "dataset", [](const queue_ptr& self) { return dataset_ptr{self}; },
          "To be given to a Loader, itself: no dataset that is made of it can be read.")
      .def_prop_ro("fields", [](const queue_ptr& self) { return self->fields(); })
      .def_prop_ro(
          "waiting", [](const queue_ptr& self) { return self->waiting(); },
          "Number of samples that wait to be read.")
      .def_prop_ro(
          "in_flight", [](const queue_ptr& self) { return self->in_flight(); },
          "Number of samples that were read, and whose batch was not handed out yet.")
      .def(
          "put",
          [](const queue_ptr& self, const nb::dict& sample, const std::optional<double>& timeout) {
            return put_sample(*self, sample, timeout);
          },
          "sample"_a, "timeout"_a = nb::none(),
          "Puts a sample, a dict of a value for each field, which is copied. Waits while the queue "
          "is full, at most `timeout` seconds (None: without end), without the interpreter's lock. "
          "Returns whether it was taken. Raises UsageError if the queue is closed, or if a value "
          "does not suit its field.")
      .def(
          "close", [](const queue_ptr& self) { self->close(); },
          "Takes no more samples. Those that are there are delivered; then the epoch ends.")
      .def(
          "producer",
          [](const queue_ptr& self) {
            return python_producer{self, queue_producer{self}};
          },
          "Adds a producer: the queue is closed when the last one ends.");
  const queue_options usual;
  module.def(
      "make_queue_dataset", &make_queue, "fields"_a, nb::kw_only(), "capacity"_a = usual.capacity,
      "max_delay"_a = std::chrono::duration<double>{usual.max_delay}.count(),
      "A queue of samples with these fields. Give its `dataset` to a Loader: it delivers batches "
      "of what is there, at most batch_size samples, each once and in order; `batch.size` says how "
      "many. A batch that is not full is delivered max_delay seconds after its oldest sample was "
      "put. The queue holds `capacity` samples, and `put` waits when it is full. An epoch ends "
      "when the queue is closed and empty. Samples whose batch was not handed out, because a loop "
      "was "
      "left or a loader ended, are delivered by the next epoch or loader.");
}

}  // namespace feedline::python
