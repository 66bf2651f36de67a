#include "python/samples/values.hpp"

#include <feedline/error.hpp>

#include "python/samples/copy_to_batch.hpp"
#include "python/samples/value.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

std::string kind_of(nb::handle value) {
  return nb::cast<std::string>(
      nb::handle{reinterpret_cast<PyObject*>(Py_TYPE(value.ptr()))}.attr("__name__"));
}

dataset_error unlike_the_first(std::uint64_t sample, const std::string& what) {
  return {{.path = {}, .field = {}, .sample = sample},
          what + ": all samples must have the structure of sample 0"};
}

/// A dict's value, or null; another thread may change the dict where no lock keeps it out.
nb::object in_dict(nb::handle dict, nb::handle key) {
#if PY_VERSION_HEX >= 0x030d0000
  PyObject* found = nullptr;
  (void)PyDict_GetItemRef(dict.ptr(), key.ptr(), &found);
  return nb::steal(found);
#else
  return nb::borrow(PyDict_GetItemWithError(dict.ptr(), key.ptr()));
#endif
}

/// The same for an item of a list; @throws nb::python_error if it has become shorter.
nb::object in_list(nb::handle list, Py_ssize_t place) {
#if PY_VERSION_HEX >= 0x030d0000
  PyObject* const found = PyList_GetItemRef(list.ptr(), place);
#else
  PyObject* const found = PyList_GetItem(list.ptr(), place);
  Py_XINCREF(found);
#endif
  if (found == nullptr) nb::raise_python_error();
  return nb::steal(found);
}

/// A dict's value. @throws dataset_error if there is no such key.
nb::object part_of(nb::handle dict, nb::handle key, std::uint64_t sample) {
  if (PyDict_Check(dict.ptr())) {
    if (nb::object found = in_dict(dict, key); found.is_valid()) return found;
  } else if (PyMapping_Check(dict.ptr()) == 0 || PyTuple_Check(dict.ptr()) ||
             PyList_Check(dict.ptr())) {
    throw unlike_the_first(sample, "it has a " + kind_of(dict) + " instead of a dict");
  } else if (PyObject* const found = PyObject_GetItem(dict.ptr(), key.ptr()); found != nullptr) {
    return nb::steal(found);
  } else if (PyErr_ExceptionMatches(PyExc_KeyError) != 0) {
    PyErr_Clear();
  }
  if (PyErr_Occurred() != nullptr) nb::raise_python_error();
  throw unlike_the_first(sample, "it has no " + nb::cast<std::string>(nb::repr(key)));
}

}  // namespace

sample_values::sample_values(nb::handle structure, nb::handle leaves, held_objects& among)
    : structure_{nb::borrow(structure), among}, root_{node_of(structure, among)} {
  for (const nb::handle each : leaves) add_leaf(each);
  if (fields_.empty()) throw usage_error{"sample 0 has no values: a dataset needs a field"};
  // The other process needs no values.
  nb::list described;
  for (const leaf& each : leaf_list_)
    described.append(nb::make_tuple(
        fields_[each.field].name,
        nb::make_tuple(static_cast<int>(fields_[each.field].type), fields_[each.field].shape),
        each.padded_to ? nb::object{nb::int_(*each.padded_to)} : nb::object{nb::none()}));
  leaves_ = held_object{std::move(described), among};
}

nb::tuple sample_values::arguments() const {
  return nb::make_tuple(structure_.get(), leaves_.get());
}

sample_values::node sample_values::node_of(nb::handle structure, held_objects& among) {
  node made;
  if (nb::isinstance<nb::dict>(structure)) {
    made.is_dict = true;
    for (const auto [key, part] : nb::borrow<nb::dict>(structure)) {
      made.keys.emplace_back(nb::borrow(key), among);
      made.parts.push_back(node_of(part, among));
    }
  } else if (nb::isinstance<nb::tuple>(structure)) {
    for (const nb::handle part : structure) made.parts.push_back(node_of(part, among));
  } else {
    made.leaf = nb::cast<std::size_t>(structure);
  }
  return made;
}

void sample_values::add_leaf(nb::handle described) {
  field made{.name = nb::cast<std::string>(described[0])};
  const nb::object value = described[1];
  const nb::object padded = described[2];
  leaf added{.field = fields_.size(), .bytes = 0, .padded_to = std::nullopt};
  if (!padded.is_none()) added.padded_to = nb::cast<std::uint64_t>(padded);
  if (nb::isinstance<nb::tuple>(value)) {
    made.type = static_cast<element_type>(nb::cast<int>(value[0]));
    made.shape = nb::cast<std::vector<std::uint64_t>>(value[1]);
  } else {
    const sample_value first{value};
    made.type = first.type();
    made.shape.assign(first.shape().begin(), first.shape().end());
    if (added.padded_to) {
      if (made.shape.empty())
        throw usage_error{"pad names '" + made.name +
                          "', which is a single number: only what has a length is padded"};
      made.shape[0] = *added.padded_to;
    } else if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr())) {
      throw usage_error{"'" + made.name + "' is a " + kind_of(value) +
                        ", whose length differs from sample to sample: pad={'" + made.name +
                        "': 64} makes it an array of 64 bytes and its length"};
    }
  }
  added.bytes = sample_bytes(made);
  fields_.push_back(made);
  row_bytes_.push_back(added.bytes);
  if (added.padded_to) {
    fields_.push_back({made.name + "_length", element_type::i32, {}});
    row_bytes_.push_back(sizeof(std::int32_t));
  }
  leaf_list_.push_back(added);
}

void sample_values::write(nb::handle values, std::uint64_t sample,
                          std::span<std::byte* const> rows) const {
  write(root_, values, sample, rows);
}

void sample_values::write(const node& at, nb::handle value, std::uint64_t sample,
                          std::span<std::byte* const> rows) const {
  if (at.leaf) return write_leaf(leaf_list_[*at.leaf], value, sample, rows);
  if (at.is_dict) {
    for (std::size_t i = 0; i < at.parts.size(); ++i)
      write(at.parts[i], part_of(value, at.keys[i].get(), sample), sample, rows);
    return;
  }
  const bool is_tuple = PyTuple_Check(value.ptr());
  if (!is_tuple && !PyList_Check(value.ptr()))
    throw unlike_the_first(sample, "it has a " + kind_of(value) + " instead of a tuple");
  if (nb::len(value) != at.parts.size())
    throw unlike_the_first(sample, "it has " + std::to_string(nb::len(value)) + " values instead " +
                                       "of " + std::to_string(at.parts.size()));
  for (std::size_t i = 0; i < at.parts.size(); ++i) {
    const auto place = static_cast<Py_ssize_t>(i);
    const nb::object part =
        is_tuple ? nb::borrow(PyTuple_GET_ITEM(value.ptr(), place)) : in_list(value, place);
    write(at.parts[i], part, sample, rows);
  }
}

void sample_values::write_leaf(const leaf& to, nb::handle value, std::uint64_t sample,
                               std::span<std::byte* const> rows) const {
  const sample_value found{value};
  const field& wanted = fields_[to.field];
  std::byte* const row = rows[to.field];
  if (found.type() != wanted.type || found.shape().size() != wanted.shape.size() ||
      !std::equal(found.shape().begin() + (to.padded_to ? 1 : 0), found.shape().end(),
                  wanted.shape.begin() + (to.padded_to ? 1 : 0)))
    refuse(to, {wanted.name, found.type(), {found.shape().begin(), found.shape().end()}}, sample);
  if (!to.padded_to) {
    copy_to_batch(row, found.bytes().data(), to.bytes);
    return;
  }
  if (found.shape()[0] > *to.padded_to)
    refuse(to, {wanted.name, found.type(), {found.shape().begin(), found.shape().end()}}, sample);
  const auto length = static_cast<std::int32_t>(found.shape()[0]);
  copy_to_batch(row, found.bytes().data(), found.bytes().size());
  std::memset(row + found.bytes().size(), 0, to.bytes - found.bytes().size());
  std::memcpy(rows[to.field + 1], &length, sizeof length);
}

void sample_values::refuse(const leaf& to, const field& found, std::uint64_t sample) const {
  const std::string words = "it is " + to_string(found) + ", and ";
  const std::string wanted = to_string(fields_[to.field]);
  throw dataset_error{
      {.path = {}, .field = {}, .sample = sample},
      words + (to.padded_to
                   ? "there is room for " + wanted +
                         ": give pad, or lengths, the length of the longest sample, or shorten "
                         "this one"
                   : "sample 0 was " + wanted + ": all samples must have one type and shape; " +
                         "pad={'" + fields_[to.field].name + "': …} takes lengths that differ")};
}

}  // namespace feedline::python
