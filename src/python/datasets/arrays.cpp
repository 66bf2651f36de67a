#include "python/datasets/arrays.hpp"

#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>

#include "python/bindings.hpp"
#include "python/interpreter/held_object.hpp"
#include "python/named.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <nanobind/stl/string.h>

namespace feedline::python {
namespace {

/// A view of a Python buffer, while it is read: the object that it belongs to keeps the bytes.
class buffer_view {
 public:
  buffer_view(nb::handle of, int flags) {
    if (PyObject_GetBuffer(of.ptr(), &view_, flags) != 0) nb::raise_python_error();
  }
  buffer_view(const buffer_view&) = delete;
  buffer_view& operator=(const buffer_view&) = delete;
  ~buffer_view() { PyBuffer_Release(&view_); }
  [[nodiscard]] const Py_buffer& get() const noexcept { return view_; }

 private:
  Py_buffer view_{};
};

memory_field as_field(const std::string& name, nb::handle array, held_objects& among) {
  dense_array dense = as_dense(array);
  if (dense.shape.empty())
    throw usage_error{"array '" + name +
                      "' is a single number: its first dimension counts the samples"};
  // The array itself rather than a view: NumPy's arrays hide from the garbage collector what they
  // view, and an array of a subclass can be part of a cycle.
  const bool is_view = nb::object{dense.held.attr("base")}.is(array);
  const held_object owner{is_view ? nb::borrow(array) : std::move(dense.held), among};
  return {.spec = {name, dense.type, {dense.shape.begin() + 1, dense.shape.end()}},
          .bytes = dense.bytes,
          .owner = owner.owner()};
}

dataset_object make_of_arrays(const nb::dict& arrays) {
  const nb::object held = held_objects::make();
  std::vector<memory_field> columns;
  for (const auto [name, array] : arrays)
    columns.push_back(as_field(nb::cast<any_name>(name).bytes, array, *held_objects::of(held)));
  return {make_memory_dataset(std::move(columns)), {held}};
}

/// A PyTorch tensor of bfloat16, for which NumPy has no type.
bool is_bf16_of_torch(nb::handle value) {
  if (std::string_view{Py_TYPE(value.ptr())->tp_name} != "Tensor") return false;
  const nb::object type = nb::getattr(value, "dtype", nb::none());
  return nb::cast<std::string>(nb::str(type)) == "torch.bfloat16";
}

}  // namespace

nb::object bfloat16_of_numpy() {
  try {
    return nb::module_::import_("ml_dtypes").attr("bfloat16");
  } catch (const nb::python_error& missing) {
    if (!missing.matches(PyExc_ImportError)) throw;
    throw usage_error{
        "NumPy has no bfloat16: install ml_dtypes (pip install ml_dtypes), or take "
        ".torch()"};
  }
}

void refuse_masked(nb::handle value) {
  const nb::dict loaded = nb::module_::import_("sys").attr("modules");
  if (!loaded.contains("numpy.ma")) return;  // then there are no masked arrays
  const nb::object masked = nb::object{loaded["numpy.ma"]}.attr("MaskedArray");
  const auto refuse_if_masked = [&](nb::handle each) {
    if (!nb::isinstance(each, masked)) return;
    const nb::object mask = nb::borrow(each).attr("mask");
    if (!nb::cast<bool>(nb::bool_(nb::object{mask.attr("any")()}))) return;
    throw usage_error{
        "an array has masked elements, and a field has no mask: array.filled(value) "
        "says what they are, and numpy.ma.getmaskarray(array) can be a field of its own"};
  };
  refuse_if_masked(value);
  if (!nb::isinstance<nb::list>(value) && !nb::isinstance<nb::tuple>(value)) return;
  for (const nb::handle each : value) {
    if (nb::isinstance<nb::list>(each) || nb::isinstance<nb::tuple>(each)) {
      refuse_masked(each);
    } else {
      refuse_if_masked(each);
    }
  }
}

dense_array as_dense(nb::handle value) {
  refuse_masked(value);
  if (is_bf16_of_torch(value)) {
    const nb::object words = nb::module_::import_("torch").attr("int16");
    dense_array dense = as_dense(value.attr("detach")().attr("contiguous")().attr("view")(words));
    dense.type = element_type::bf16;
    return dense;
  }
  const nb::module_ numpy = nb::module_::import_("numpy");
  dense_array dense;
  // ascontiguousarray would make an array of one dimension of a single number.
  dense.held = numpy.attr("asarray")(value, nb::arg("order") = "C");
  const nb::object kind = dense.held.attr("dtype");
  if (!nb::cast<bool>(kind.attr("isnative")))
    throw usage_error{"an array's elements are of the other byte order: array.astype(" +
                      nb::cast<std::string>(nb::repr(kind.attr("newbyteorder")("="))) +
                      ") converts them"};
  dense.type = parse_dtype(kind);
  for (const nb::handle extent : dense.held.attr("shape"))
    dense.shape.push_back(nb::cast<std::uint64_t>(extent));
  // Viewed as bytes, because the buffer protocol has no names for some element types.
  const nb::object flat = dense.held.attr("reshape")(-1).attr("view")("uint8");
  const buffer_view view{flat, PyBUF_SIMPLE};
  dense.bytes = {static_cast<const std::byte*>(view.get().buf),
                 static_cast<std::size_t>(view.get().len)};
  return dense;
}

dense_array as_dense(nb::handle values, element_type type) {
  refuse_masked(values);
  nb::object array = nb::module_::import_("numpy").attr("asarray")(values);
  const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  const bool is_empty = nb::cast<std::size_t>(array.attr("size")) == 0;  // NumPy gives it floats
  if (is_whole(type) && kind != "i" && kind != "u" && !is_empty)
    throw nb::type_error("indices and labels are integers");
  // Negative integers become very large ones, which no dataset has.
  return as_dense(array.attr("astype")(name_of(type), nb::arg("copy") = false));
}

nb::object make_array(element_type type, const std::vector<std::uint64_t>& shape) {
  nb::list extents;
  for (const std::uint64_t extent : shape) extents.append(extent);
  nb::object spelled = type == element_type::bf16 ? bfloat16_of_numpy() : name_of(type);
  return nb::module_::import_("numpy").attr("empty")(nb::tuple(extents), std::move(spelled));
}

std::span<std::byte> bytes_of(nb::handle array) {
  const nb::object flat = array.attr("reshape")(-1).attr("view")("uint8");
  const buffer_view view{flat, PyBUF_WRITABLE};
  return {static_cast<std::byte*>(view.get().buf), static_cast<std::size_t>(view.get().len)};
}

void bind_arrays(nb::module_& module) {
  module.def(
      "make_memory_dataset", &make_of_arrays, "arrays"_a,
      nb::sig("def make_memory_dataset(arrays: dict[str, typing.Any]) -> Dataset"),
      "A dataset of arrays: name -> array, whose first dimension counts the samples.\n\n"
      "Arrays of NumPy, or anything that numpy.asarray takes, such as PyTorch's tensors on the "
      "CPU. They are not copied if they are dense, are kept alive, and must not change.");
}

}  // namespace feedline::python
