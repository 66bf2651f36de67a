#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/ragged/dataset.hpp>

#include "python/interpreter/held_object.hpp"

#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

namespace feedline::python {

/// `Dataset` or `RaggedDataset`. A function that composes datasets takes and returns these;
/// one that only reads datasets, or opens files, can say `dataset_ptr`.
template <class Pointer>
struct bound_dataset {
  Pointer of;
  holds held = {};  ///< everything that the C++ dataset reaches

  template <class Function>
  void for_collector(Function&& report) const {
    for (const nb::object& each : held) report(each);
  }
};
using dataset_object = bound_dataset<dataset_ptr>;
using ragged_object = bound_dataset<ragged_dataset_ptr>;

/// A dataset that is made of others.
template <class Pointer>
[[nodiscard]] dataset_object composed(dataset_ptr made, const bound_dataset<Pointer>& of) {
  return {std::move(made), of.held};
}
[[nodiscard]] inline dataset_object composed(dataset_ptr made,
                                             const std::vector<dataset_object>& of) {
  dataset_object result{std::move(made)};
  for (const dataset_object& each : of) add(result.held, each.held);
  return result;
}
[[nodiscard]] inline std::vector<dataset_ptr> pointers(const std::vector<dataset_object>& of) {
  std::vector<dataset_ptr> each;
  for (const dataset_object& one : of) each.push_back(one.of);
  return each;
}

}  // namespace feedline::python

namespace nanobind::detail {

/// Converts an object, as a pointer to its C++ dataset; a pointer becomes an object that holds
/// nothing.
template <class Pointer>
struct dataset_caster {
  using object_type = feedline::python::bound_dataset<Pointer>;
  NB_TYPE_CASTER(Pointer, make_caster<object_type>::Name)
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<object_type> found;
    if (!found.from_python(source, flags, cleanup) || !found.template can_cast<object_type&>())
      return false;
    value = static_cast<object_type&>(found).of;
    return true;
  }
  static handle from_cpp(Pointer made, rv_policy /*policy*/, cleanup_list* cleanup) noexcept {
    return make_caster<object_type>::from_cpp(object_type{std::move(made)}, rv_policy::move,
                                              cleanup);
  }
};
template <>
struct type_caster<feedline::dataset_ptr> : dataset_caster<feedline::dataset_ptr> {};
template <>
struct type_caster<feedline::ragged_dataset_ptr> : dataset_caster<feedline::ragged_dataset_ptr> {};

}  // namespace nanobind::detail
