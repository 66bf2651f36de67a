#include "python/samples/value.hpp"

#include <feedline/error.hpp>

#include "python/datasets/arrays.hpp"

#include <bit>
#include <string>
#include <string_view>

#include <nanobind/stl/string.h>

namespace feedline::python {
namespace {

/// The type of a buffer's elements by its format; empty if it has several values, the other byte
/// order, or a kind that is not a number.
std::optional<element_type> type_of(const Py_buffer& view) {
  std::string_view format = view.format == nullptr ? "B" : view.format;
  constexpr char native = std::endian::native == std::endian::little ? '<' : '>';
  if (format.size() == 2 && (format[0] == '@' || format[0] == '=' || format[0] == native))
    format.remove_prefix(1);
  if (format.size() != 1) return std::nullopt;
  const auto sized = [&](element_type one, element_type two, element_type four,
                         element_type eight) -> std::optional<element_type> {
    switch (view.itemsize) {
      case 1:
        return one;
      case 2:
        return two;
      case 4:
        return four;
      case 8:
        return eight;
      default:
        return std::nullopt;
    }
  };
  using enum element_type;
  switch (format[0]) {
    case '?':
      return boolean;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
      return sized(i8, i16, i32, i64);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
      return sized(u8, u16, u32, u64);
    case 'e':
      return f16;
    case 'f':
      return f32;
    case 'd':
      return f64;
    default:
      return std::nullopt;
  }
}

/// Whether a buffer cannot be the whole value, as for NumPy's masked arrays.
bool has_mask(nb::handle value) {
  constexpr std::string_view plain = "numpy.ndarray";
  return Py_TYPE(value.ptr())->tp_name != plain && nb::hasattr(value, "mask");
}

/// Whether a buffer of bytes is not the value: NumPy's dates show theirs so.
bool hides_value(nb::handle value, const Py_buffer& view) {
  return view.ndim == 1 && view.itemsize == 1 && nb::hasattr(value, "ndim") &&
         nb::cast<int>(value.attr("ndim")) != 1;
}

/// Without the class's own `__instancecheck__`, which takes long for PyTorch's.
bool is_instance(nb::handle value, const nb::object& of) {
  return PyType_IsSubtype(Py_TYPE(value.ptr()), reinterpret_cast<PyTypeObject*>(of.ptr())) != 0;
}

/// PyTorch's module, if the program has imported it.
nb::handle torch() {
  return PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
}

}  // namespace

sample_value::sample_value(nb::handle value) {
  if (!is_number(value) && !is_text(value) && !has_buffer(value)) convert(value);
}

void sample_value::set(element_type type, const void* bytes, std::size_t count) noexcept {
  type_ = type;
  bytes_ = {static_cast<const std::byte*>(bytes), count};
}

bool sample_value::is_number(nb::handle value) {
  if (PyFloat_CheckExact(value.ptr())) {
    number_.real = PyFloat_AsDouble(value.ptr());
    set(element_type::f64, &number_.real, sizeof number_.real);
    return true;
  }
  if (PyBool_Check(value.ptr())) {
    number_.truth = value.ptr() == Py_True;
    set(element_type::boolean, &number_.truth, sizeof number_.truth);
    return true;
  }
  if (!PyLong_CheckExact(value.ptr())) return false;
  int overflows = 0;
  number_.whole = PyLong_AsLongLongAndOverflow(value.ptr(), &overflows);
  if (overflows != 0) return false;  // NumPy may have a type for it
  set(element_type::i64, &number_.whole, sizeof number_.whole);
  return true;
}

bool sample_value::is_text(nb::handle value) {
  if (!PyUnicode_Check(value.ptr())) return false;
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text == nullptr) nb::raise_python_error();
  rank_ = 1;
  shape_[0] = static_cast<std::uint64_t>(size);
  set(element_type::u8, text, static_cast<std::size_t>(size));
  return true;
}

bool sample_value::has_buffer(nb::handle value) {
  if (PyObject_CheckBuffer(value.ptr()) == 0 || has_mask(value)) return false;
  if (PyObject_GetBuffer(value.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();  // NumPy says it better
    view_.obj = nullptr;
    return false;
  }
  const auto type = type_of(view_);
  if (!type || static_cast<std::size_t>(view_.ndim) > max_rank ||
      PyBuffer_IsContiguous(&view_, 'C') == 0 || hides_value(value, view_)) {
    PyBuffer_Release(&view_);  // makes `obj` null
    return false;
  }
  rank_ = static_cast<std::size_t>(view_.ndim);
  for (std::size_t i = 0; i < rank_; ++i) shape_[i] = static_cast<std::uint64_t>(view_.shape[i]);
  set(*type, view_.buf, static_cast<std::size_t>(view_.len));
  return true;
}

/// Pillow's images show their bytes so. NumPy takes several times as long to make an array of them.
bool sample_value::shows_bytes(nb::handle value) {
  if (!nb::hasattr(value.type(), "__array_interface__")) return false;
  // If it raises an exception, NumPy will raise it again.
  const nb::object shown = nb::getattr(value, "__array_interface__", nb::none());
  if (!nb::isinstance<nb::dict>(shown)) return false;
  const auto member = [&](const char* name) {
    return nb::borrow(PyDict_GetItemString(shown.ptr(), name));
  };
  for (const char* name : {"strides", "mask", "offset"})
    if (const nb::object found = member(name); found.is_valid() && !found.is_none()) return false;
  const nb::object data = member("data");
  const nb::object type = member("typestr");
  const nb::object shape = member("shape");
  std::string spelled;
  if (!data.is_valid() || !type.is_valid() || !shape.is_valid() ||
      !PyBytes_CheckExact(data.ptr()) || !PyTuple_CheckExact(shape.ptr()) ||
      !nb::try_cast(type, spelled) || spelled != "|u1")
    return false;
  const auto extents = nb::borrow<nb::tuple>(shape);
  if (extents.size() > max_rank) return false;
  const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(data.ptr()));
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    std::uint64_t extent = 0;
    if (!nb::try_cast(nb::object{extents[i]}, extent)) return false;
    if (extent != 0 && elements > size / extent) return false;
    elements *= extent;
    shape_[i] = extent;
  }
  if (elements != size) return false;
  rank_ = extents.size();
  set(element_type::u8, PyBytes_AS_STRING(data.ptr()), size);
  held_ = data;
  return true;
}

void sample_value::convert(nb::handle value) {
  nb::object array = nb::borrow(value);
  bool is_bfloat16 = false;
  if (const nb::handle of = torch(); of.is_valid() && is_instance(value, of.attr("Tensor"))) {
    is_bfloat16 = array.attr("dtype").is(of.attr("bfloat16"));  // NumPy has no such type
    if (is_bfloat16) array = array.attr("view")(of.attr("int16"));
    array = array.attr("numpy")();
  }
  if (array.is(value) && shows_bytes(value)) return;
  if (array.is(value) || !has_buffer(array)) {
    dense_array dense = as_dense(array);
    held_ = std::move(dense.held);
    rank_ = dense.shape.size();
    for (std::size_t i = 0; i < rank_; ++i) shape_[i] = dense.shape[i];
    set(dense.type, dense.bytes.data(), dense.bytes.size());
  }
  if (is_bfloat16) type_ = element_type::bf16;
}

}  // namespace feedline::python
