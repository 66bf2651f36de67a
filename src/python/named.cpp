#include "python/named.hpp"

namespace feedline::python {

nb::str text(std::string_view words) {
  PyObject* const made =
      PyUnicode_DecodeUTF8(words.data(), static_cast<Py_ssize_t>(words.size()), "surrogateescape");
  if (made == nullptr) nb::raise_python_error();
  return nb::steal<nb::str>(made);
}

nb::str name_of(element_type type) {
  return text(to_string(type));
}

element_type parse_dtype(nb::handle spelled) {
  std::string name;
  if (nb::isinstance<nb::str>(spelled)) {
    name = nb::cast<std::string>(spelled);
  } else if (std::string_view{Py_TYPE(spelled.ptr())->tp_name} == "torch.dtype") {
    name = nb::cast<std::string>(nb::str(spelled)).substr(std::string_view{"torch."}.size());
  } else {
    try {
      name =
          nb::cast<std::string>(nb::module_::import_("numpy").attr("dtype")(spelled).attr("name"));
    } catch (const nb::python_error& refusal) {
      throw usage_error{"this does not name an element type: " + std::string{refusal.what()}};
    }
  }
  for (int type = 0; type <= static_cast<int>(element_type::boolean); ++type)
    if (to_string(static_cast<element_type>(type)) == name) return static_cast<element_type>(type);
  throw usage_error{"there is no element type '" + name +
                    "'; there are bool, int8 to int64, uint8 to uint64, float16, bfloat16, "
                    "float32 and float64"};
}

}  // namespace feedline::python
