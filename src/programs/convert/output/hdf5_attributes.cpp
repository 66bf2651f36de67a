#include "programs/convert/output/hdf5_attributes.hpp"

#include "programs/convert/attributes/json_number.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace convert {
namespace {

using feedline::element_type;
using nlohmann::json;
using attribute_id = hdf5_handle<H5Aclose>;

hid_t native_type(element_type type) {
  switch (type) {
    case element_type::u8:
      return H5T_NATIVE_UINT8;
    case element_type::i8:
      return H5T_NATIVE_INT8;
    case element_type::u16:
      return H5T_NATIVE_UINT16;
    case element_type::i16:
      return H5T_NATIVE_INT16;
    case element_type::u32:
      return H5T_NATIVE_UINT32;
    case element_type::i32:
      return H5T_NATIVE_INT32;
    case element_type::u64:
      return H5T_NATIVE_UINT64;
    case element_type::f32:
      return H5T_NATIVE_FLOAT;
    case element_type::f64:
      return H5T_NATIVE_DOUBLE;
    default:
      return H5T_NATIVE_INT64;
  }
}

/// Whether a test holds for one of the numbers of an attribute.
bool any_of(const json& value, bool (*test)(const json&)) {
  return value.is_array() ? std::any_of(value.begin(), value.end(), test) : test(value);
}

/// The type of numbers whose type is not known; nothing: no type of HDF5 holds them all.
std::optional<element_type> type_for(const json& value) {
  if (any_of(value, [](const json& each) { return !each.is_number_integer(); }))
    return element_type::f64;
  if (!any_of(value, [](const json& each) {
        return each.is_number_unsigned() && each.get<std::uint64_t>() >> 63U != 0;
      }))
    return element_type::i64;
  if (any_of(value, [](const json& each) { return !each.is_number_unsigned(); }))
    return std::nullopt;
  return element_type::u64;
}

/// Attributes that are written to one object.
class attribute_writer {
 public:
  attribute_writer(const hdf5_session& hdf5, hid_t object) : hdf5_{hdf5}, object_{object} {}

  /// @param stored Type of numbers in the file.
  void numbers(const std::string& name, const json& value, hid_t stored) const {
    const json list = value.is_array() ? value : json::array({value});
    const auto id = make(name, value, stored);
    const auto type = type_for(list);
    if (type == element_type::u64)
      return write(id, H5T_NATIVE_UINT64, list.get<std::vector<std::uint64_t>>().data());
    if (type == element_type::i64)
      return write(id, H5T_NATIVE_INT64, list.get<std::vector<std::int64_t>>().data());
    std::vector<double> all;
    for (const json& each : list) all.push_back(number_of(each));
    write(id, H5T_NATIVE_DOUBLE, all.data());
  }

  void booleans(const std::string& name, const json& value) const {
    const hdf5_type_id type = boolean_type(hdf5_);
    std::vector<signed char> all;
    for (const json& each : value.is_array() ? value : json::array({value}))
      all.push_back(each.get<bool>() ? 1 : 0);
    write(make(name, value, type.get()), type.get(), all.data());
  }

  void texts(const std::string& name, const json& value) const {
    const auto type = required<hdf5_type_id>(hdf5_, H5Tcopy(H5T_C_S1), describe);
    require(hdf5_, H5Tset_size(type.get(), H5T_VARIABLE), describe);
    require(hdf5_, H5Tset_cset(type.get(), H5T_CSET_UTF8), describe);
    const std::vector<std::string> all = value.is_array() ? value.get<std::vector<std::string>>()
                                                          : std::vector{value.get<std::string>()};
    std::vector<const char*> pointers;
    for (const std::string& each : all) pointers.push_back(each.c_str());
    write(make(name, value, type.get()), type.get(), pointers.data());
  }

 private:
  static constexpr auto describe = "describe an attribute";

  [[nodiscard]] attribute_id make(const std::string& name, const json& value, hid_t type) const {
    const hsize_t count = value.size();
    const auto space = required<hdf5_space_id>(
        hdf5_, value.is_array() ? H5Screate_simple(1, &count, nullptr) : H5Screate(H5S_SCALAR),
        describe);
    return required<attribute_id>(
        hdf5_, H5Acreate2(object_, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
        "create an attribute");
  }

  void write(const attribute_id& id, hid_t memory, const void* values) const {
    require(hdf5_, H5Awrite(id.get(), memory, values), "write an attribute");
  }

  const hdf5_session& hdf5_;
  hid_t object_;
};

}  // namespace

void write_hdf5_attributes(const hdf5_session& hdf5, hid_t object, const attributes& of,
                           const feedline::field* field, hid_t type) {
  const attribute_writer to{hdf5, object};
  for (const attribute& each : of.all) {
    const json value = json::parse(each.value);
    const json& first = value.is_array() ? value.front() : value;
    if (first.is_boolean()) {
      to.booleans(each.name, value);
    } else if (first.is_string() && (each.is_text || !is_number_word(first))) {
      to.texts(each.name, value);
    } else if (const auto known = each.type ? each.type : type_for(value)) {
      to.numbers(each.name, value, native_type(*known));
    } else {
      tell_left_out("the output", field == nullptr ? "" : field->name, each.name,
                    "no type of HDF5 holds " + each.value);
    }
  }
  if (field == nullptr) return;
  if (!zarr_fill_json(of, *field).empty()) to.numbers("_FillValue", json::parse(of.missing), type);
  if (of.dimensions.size() == field->shape.size() + 1)
    to.texts("DIMENSION_LABELS", json(of.dimensions));
}

}  // namespace convert
