#include <feedline/dataset/dataset.hpp>

#include "python/arrays.hpp"
#include "python/bindings.hpp"
#include "python/errors.hpp"
#include "python/held_object.hpp"
#include "python/named.hpp"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

/// The values of one sample, in the order of the fields.
/// @param fields Empty: all that the sample has.
std::vector<nb::object> values_of(nb::handle sample, const std::vector<std::string>& names) {
  std::vector<nb::object> values;
  if (nb::isinstance<nb::dict>(sample)) {
    for (const std::string& name : names) values.push_back(nb::borrow(sample)[text(name)]);
  } else if (nb::isinstance<nb::tuple>(sample) || nb::isinstance<nb::list>(sample)) {
    if (nb::len(sample) != names.size())
      throw usage_error{"a sample has " + std::to_string(nb::len(sample)) + " values for " +
                        std::to_string(names.size()) + " names"};
    for (const nb::handle value : sample) values.push_back(nb::borrow(value));
  } else {
    if (names.size() != 1)
      throw usage_error{"a sample is one value for " + std::to_string(names.size()) +
                        " names: it must be a dict, a tuple or a list"};
    values.push_back(nb::borrow(sample));
  }
  return values;
}

/// Samples that Python gives one by one.
class sequence_dataset : public dataset {
 public:
  sequence_dataset(nb::object get, std::uint64_t size, std::vector<field> fields,
                   read_concurrency concurrency, std::shared_ptr<held_objects> held)
      : held_{std::move(held)},
        get_{std::move(get), *held_},
        size_{size},
        fields_{std::move(fields)},
        concurrency_{concurrency} {
    for (const field& each : fields_) names_.push_back(each.name);
  }

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] std::vector<field> fields() const override { return fields_; }
  [[nodiscard]] read_concurrency concurrency() const override { return concurrency_; }

 private:
  void do_read(const read_request& request) const override {
    if (!nb::is_alive()) throw usage_error{"the interpreter has ended, so Python cannot be called"};
    interruption::rethrow_if_any();
    locked([&] {
      for (std::size_t place = 0; place < request.samples.size(); ++place) {
        try {
          read_one(request.samples[place].value, place, request.out);
        } catch (nb::python_error& raised) {
          rethrow(raised, request.samples[place].value, *held_);
        }
      }
    });
  }

  void read_one(std::uint64_t sample, std::size_t place,
                std::span<const std::span<std::byte>> out) const {
    const nb::object value = get_.get()(sample);
    const std::vector<nb::object> values = values_of(value, names_);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const dense_array dense = as_dense(values[i]);
      const field found{names_[i], dense.type, dense.shape};
      if (found != fields_[i])
        throw dataset_error{{.path = {}, .field = {}, .sample = sample},
                            "it is " + to_string(found) + ", and sample 0 was " +
                                to_string(fields_[i]) +
                                ": all samples must have one type and shape"};
      std::memcpy(out[i].data() + place * dense.bytes.size(), dense.bytes.data(),
                  dense.bytes.size());
    }
  }

  std::shared_ptr<held_objects> held_;
  held_object get_;
  std::uint64_t size_;
  std::vector<field> fields_;
  std::vector<std::string> names_;
  read_concurrency concurrency_;
};

std::vector<field> fields_of(nb::handle sample, std::optional<std::vector<std::string>> names) {
  if (!names) {
    if (!nb::isinstance<nb::dict>(sample))
      throw usage_error{
          "sample 0 is not a dict, so its fields have no names: give names=[…], one for each "
          "value"};
    names.emplace();
    for (const auto [name, value] : nb::borrow<nb::dict>(sample))
      names->push_back(nb::cast<std::string>(name));
  }
  const std::vector<nb::object> values = values_of(sample, *names);
  std::vector<field> fields;
  for (std::size_t i = 0; i < values.size(); ++i) {
    dense_array dense = as_dense(values[i]);
    fields.push_back({(*names)[i], dense.type, std::move(dense.shape)});
  }
  if (fields.empty()) throw usage_error{"sample 0 has no values: a dataset needs a field"};
  return fields;
}

dataset_object make_sequence_dataset(const nb::object& samples,
                                     std::optional<std::vector<std::string>> names,
                                     std::optional<std::uint64_t> size,
                                     const named<read_concurrency>& concurrency) {
  const bool is_function =
      PyCallable_Check(samples.ptr()) != 0 && !nb::hasattr(samples, "__getitem__");
  nb::object get = is_function ? samples : nb::object{samples.attr("__getitem__")};
  if (is_function && !size)
    throw usage_error{"a function does not say how many samples it has: say size=…"};
  const std::uint64_t count = size ? *size : nb::len(samples);
  if (count == 0)
    throw usage_error{"there is no sample, but sample 0 is needed to tell the fields"};
  std::vector<field> fields = fields_of(get(0), std::move(names));
  const nb::object held = held_objects::make();
  return {std::make_shared<const sequence_dataset>(std::move(get), count, std::move(fields),
                                                   concurrency, held_objects::of(held)),
          {held}};
}

}  // namespace

void bind_sequence_dataset(nb::module_& module) {
  module.def(
      "sequence_dataset", &make_sequence_dataset, "samples"_a, nb::kw_only(),
      "names"_a = nb::none(), "size"_a = nb::none(),
      "concurrency"_a = named<read_concurrency>{read_concurrency::serialized},
      "Samples made by Python, if no format suits: the last resort, because readers take turns at "
      "the interpreter.\n\n"
      "`samples` is a sequence (`__getitem__`, `__len__`), such as PyTorch's map-style "
      "dataset, or a function of the index, with `size`. A sample is a dict, or a tuple, list or "
      "single value with `names`. Each value is what numpy.asarray takes; type and shape of all "
      "samples are those of sample 0, which is read now.\n\n"
      "`concurrency='parallel'`: several readers call it, which helps where it releases the "
      "interpreter's lock; by default one at a time does.\n\n"
      "What it raises becomes the `__cause__` of a StageError. If it raises DatasetError, "
      "ErrorPolicy applies to the sample.");
}

}  // namespace feedline::python
