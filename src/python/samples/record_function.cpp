#include <feedline/error.hpp>

#include "detail/printable.hpp"
#include "python/bindings.hpp"
#include "python/datasets/record_decoder.hpp"
#include "python/errors.hpp"
#include "python/samples/value.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>

namespace feedline::python {
namespace {

bool is_text_or_bytes(nb::handle value) {
  return PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()) ||
         PyByteArray_Check(value.ptr());
}

std::string shape_text(const sample_value& of) {
  return to_string(field{"", of.type(), {of.shape().begin(), of.shape().end()}}).substr(2);
}

class function_decoder final : public record_decoder {
 public:
  function_decoder(const nb::object& function, std::set<std::string> ragged,
                   std::shared_ptr<held_objects> held)
      : held_{std::move(held)}, function_{function, *held_}, ragged_{std::move(ragged)} {}

  std::vector<described_field> describe(std::span<const std::byte> first) const override {
    std::vector<described_field> described;
    call(first, [&](const nb::dict& record) {
      for (const auto& [key, value] : record)
        described.push_back(describe_value(nb::cast<std::string>(nb::str(key)), value));
      if (described.empty()) throw dataset_error{{}, "the function gives an empty dict"};
    });
    for (const std::string& name : ragged_)
      if (std::ranges::none_of(described, [&](const auto& each) { return each.spec.name == name; }))
        throw usage_error{"RecordDecoder: ragged names '" + detail::printable(name) +
                          "', which the function does not give for the first record"};
    return described;
  }

  void decode(std::span<const std::byte> stored, record_output& out,
              const sample_context&) const override {
    call(stored, [&](const nb::dict& record) {
      std::size_t known = 0;
      for (std::size_t i = 0; i < out.fields().size(); ++i) {
        const described_field& as = out.fields()[i];
        if (!record.contains(as.spec.name.c_str())) continue;
        ++known;
        if (!out.wants(i)) continue;
        const nb::object value = record[as.spec.name.c_str()];
        if (!value.is_none()) put(as, value, out, i);
      }
      if (known != record.size()) refuse_others(record, out);
    });
  }

 private:
  [[noreturn]] static void refuse_others(const nb::dict& record, const record_output& out) {
    std::string others;
    for (const auto& [key, value] : record) {
      const auto name = nb::cast<std::string>(nb::str(key));
      if (std::ranges::none_of(out.fields(), [&](const auto& as) { return as.spec.name == name; }))
        others += (others.empty() ? "'" : ", '") + detail::printable(name) + '\'';
    }
    throw dataset_error{{},
                        "the function gives " + others +
                            ", which it does not give for the first record; let it give the same "
                            "keys for all"};
  }

  template <class Use>
  void call(std::span<const std::byte> stored, const Use& use) const {
    if (!nb::is_alive()) throw usage_error{"the interpreter has ended, so Python cannot be called"};
    interruption::rethrow_if_any();
    locked([&] {
      try {
        const nb::object made = function_.for_call()(nb::bytes(stored.data(), stored.size()));
        if (!nb::isinstance<nb::dict>(made))
          throw dataset_error{{},
                              "the function gives no dict of fields, but " +
                                  nb::cast<std::string>(made.type().attr("__name__"))};
        use(nb::borrow<nb::dict>(made));
      } catch (nb::python_error& raised) {
        rethrow(raised, std::nullopt, *held_);
      }
    });
  }

  [[nodiscard]] described_field describe_value(const std::string& name, nb::handle value) const {
    const sample_value first{value};
    described_field made{{name, first.type(), {first.shape().begin(), first.shape().end()}},
                         is_text_or_bytes(value) || ragged_.contains(name)};
    if (!made.is_ragged) return made;
    if (made.spec.shape.empty())
      throw usage_error{"RecordDecoder: ragged names '" + detail::printable(name) +
                        "', which is a single number; return a list or an array"};
    made.spec.shape.erase(made.spec.shape.begin());
    return made;
  }

  static void put(const described_field& as, nb::handle given, record_output& out,
                  std::size_t place) {
    const sample_value value{given};
    auto shape = value.shape();
    const bool is_run = as.is_ragged && !shape.empty();
    if (is_run) shape = shape.subspan(1);
    const bool is_empty = is_run && value.bytes().empty();  // a list without elements has no type
    if (!is_empty && (value.type() != as.spec.type || is_run != as.is_ragged ||
                      !std::ranges::equal(shape, as.spec.shape)))
      throw dataset_error{{.path = {}, .field = as.spec.name},
                          "is " + shape_text(value) + ", but the first record has " +
                              (as.is_ragged ? "a run of " : "") + to_string(as.spec) +
                              "; let the function give the same type and shape for all"};
    out.put(place, value.bytes());
  }

  std::shared_ptr<held_objects> held_;
  held_object function_;
  std::set<std::string> ragged_;
};

}  // namespace

void bind_record_function(nb::module_& module) {
  nb::class_<bound_record_decoder>(
      module, "RecordDecoder", nb::type_slots(collected<bound_record_decoder>),
      "Decodes records by a function of Python: `function(record: bytes)` returns a dict, whose "
      "values become fields by its keys. Numbers and arrays have the type and shape of those of "
      "the first record; text and bytes have any length, and so have arrays that `ragged` names "
      "in their first dimension. A key that is missing, or None, or that the first record does not "
      "have, is an error of that sample, to which ErrorPolicy applies; so is a DatasetError that "
      "the function raises. Readers call it "
      "on threads, which take turns at the interpreter's lock.")
      .def(
          "__init__",
          [](bound_record_decoder* self, const nb::callable& function,
             std::set<std::string> ragged) {
            nb::object held = held_objects::make();
            auto made = std::make_shared<const function_decoder>(function, std::move(ragged),
                                                                 held_objects::of(held));
            new (self) bound_record_decoder{std::move(made), std::move(held)};
          },
          "function"_a, nb::kw_only(), "ragged"_a = std::set<std::string>{});
}

}  // namespace feedline::python
