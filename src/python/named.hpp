#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/error.hpp>

#include "python/enum_names.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace feedline::python {

namespace nb = nanobind;

/// An enumeration's type in stubs: typing.Literal['keep', 'drop'].
template <class Enum>
constexpr auto literal_of() {
  constexpr std::string_view begin = "typing.Literal[";
  constexpr std::size_t length = [&] {
    std::size_t sum = begin.size() + 1;
    for (const auto& each : names<Enum>::all) sum += each.name.size() + 4;
    return sum - 2;
  }();
  nb::detail::descr<length> text;
  std::size_t at = 0;
  const auto put = [&](std::string_view part) {
    for (const char letter : part) text.text[at++] = letter;
  };
  put(begin);
  for (const auto& each : names<Enum>::all) {
    if (text.text[at - 1] != '[') put(", ");
    put("'");
    put(each.name);
    put("'");
  }
  put("]");
  return text;
}

/// A value of an enumeration as Python spells it: a string.
template <class Enum>
struct named {
  std::string text;

  named() = default;
  named(Enum value) {  // NOLINT(google-explicit-constructor): a default is one of C++'s values
    for (const auto& [name, named_value] : names<Enum>::all)
      if (named_value == value) text = name;
  }

  /// @throws usage_error if there is no such value, naming those there are.
  operator Enum() const {  // NOLINT(google-explicit-constructor): functions take the enumeration
    std::string known;
    for (const auto& [name, value] : names<Enum>::all) {
      if (name == text) return value;
      known += (known.empty() ? "'" : ", '") + std::string{name} + "'";
    }
    throw usage_error{"no " + std::string{names<Enum>::what} + " is called '" + text +
                      "'; there are " + known};
  }
};

/// The type given by Python: feedline's or NumPy's name, or any argument of numpy.dtype.
/// @throws usage_error if there is no such type, or numpy.dtype refuses it.
[[nodiscard]] element_type parse_dtype(nb::handle spelled);
/// A text in UTF-8, of any length and with any character; other bytes, as in paths, are escaped as
/// Python does (surrogateescape).
[[nodiscard]] nb::str text(std::string_view words);
/// The name that Python has for a type.
[[nodiscard]] nb::str name_of(element_type type);

/// A name or a path from a file, or from Python: any bytes, which Python has as `text`.
struct any_name {
  std::string bytes;

  any_name() = default;
  any_name(std::string name)  // NOLINT(google-explicit-constructor): names are C++'s strings
      : bytes{std::move(name)} {}
  operator std::string() const { return bytes; }  // NOLINT(google-explicit-constructor): the same
};
[[nodiscard]] inline std::vector<any_name> any_names(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

/// An argument that is an element type.
struct dtype_argument {
  nb::object spelled;

  dtype_argument() = default;
  dtype_argument(element_type type)  // NOLINT(google-explicit-constructor): defaults are C++'s
      : spelled{name_of(type)} {}
  operator element_type() const {  // NOLINT(google-explicit-constructor): functions take the type
    return parse_dtype(spelled);
  }
};

}  // namespace feedline::python

namespace nanobind::detail {

template <class Enum>
struct type_caster<feedline::python::named<Enum>> {
  NB_TYPE_CASTER(feedline::python::named<Enum>, feedline::python::literal_of<Enum>())
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<std::string> text;
    if (!text.from_python(source, flags, cleanup)) return false;
    value.text = std::move(text.value);
    return true;
  }
  static handle from_cpp(const feedline::python::named<Enum>& value, rv_policy policy,
                         cleanup_list* cleanup) noexcept {
    return make_caster<std::string>::from_cpp(value.text, policy, cleanup);
  }
};

template <>
struct type_caster<feedline::python::any_name> {
  NB_TYPE_CASTER(feedline::python::any_name, const_name("str"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!PyUnicode_Check(source.ptr())) return false;
    const object bytes = steal(PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape"));
    if (!bytes.is_valid()) {
      PyErr_Clear();
      return false;
    }
    value.bytes.assign(PyBytes_AsString(bytes.ptr()),
                       static_cast<std::size_t>(PyBytes_Size(bytes.ptr())));
    return true;
  }
  static handle from_cpp(const feedline::python::any_name& value, rv_policy,
                         cleanup_list*) noexcept {
    return PyUnicode_DecodeUTF8(value.bytes.data(), static_cast<Py_ssize_t>(value.bytes.size()),
                                "surrogateescape");
  }
};

template <>
struct type_caster<feedline::python::dtype_argument> {
  NB_TYPE_CASTER(feedline::python::dtype_argument, io_name("typing.Any", "str"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    value.spelled = borrow(source);
    return true;
  }
  static handle from_cpp(const feedline::python::dtype_argument& value, rv_policy,
                         cleanup_list*) noexcept {
    return value.spelled.inc_ref();
  }
};

}  // namespace nanobind::detail
