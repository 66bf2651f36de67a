#include "hdf5/attributes/dimensions.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/library/handle.hpp"
#include "programs/convert/attributes/attributes.hpp"
#include "programs/convert/attributes/json_number.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <nlohmann/json.hpp>

namespace convert {
namespace {

using feedline::element_type;
using nlohmann::json;
using attribute_id = feedline::detail::hdf5_handle<H5Aclose>;
using feedline::detail::hdf5_space_id;
using feedline::detail::hdf5_type_id;

/// More values than these are data, and no attribute.
constexpr hssize_t max_values = hssize_t{1} << 20;

std::optional<element_type> number_type(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  if (H5Tget_class(type) == H5T_FLOAT)
    return bytes == 4 ? std::optional{element_type::f32} : std::optional{element_type::f64};
  for (const element_type each :
       {element_type::i8, element_type::u8, element_type::i16, element_type::u16, element_type::i32,
        element_type::u32, element_type::i64, element_type::u64})
    if (feedline::size_bytes(each) == bytes &&
        (static_cast<unsigned>(each) % 2 == 1) == (H5Tget_sign(type) == H5T_SGN_2))
      return each;
  return std::nullopt;
}

/// Whether it is NumPy's bool, as h5py stores it.
bool is_boolean(hid_t type) {
  if (H5Tget_class(type) != H5T_ENUM || H5Tget_nmembers(type) != 2) return false;
  signed char value = 0;
  return H5Tget_size(type) == 1 && H5Tget_member_value(type, 0, &value) >= 0 && value == 0;
}

/// One attribute that is read.
class attribute_reader {
 public:
  explicit attribute_reader(const attribute_id& from)
      : from_{from},
        type_{H5Aget_type(from.get())},
        space_{H5Aget_space(from.get())},
        count_{H5Sget_simple_extent_npoints(space_.get())} {}

  /// @param why Receives the reason if the value cannot be carried over.
  std::optional<attribute> value(std::string name, std::string& why) const {
    const bool is_null = H5Sget_simple_extent_type(space_.get()) == H5S_NULL;
    const H5T_class_t kind = H5Tget_class(type_.get());
    attribute found{.name = std::move(name), .value = {}, .is_text = kind == H5T_STRING};
    if (H5Sget_simple_extent_ndims(space_.get()) > 1) {
      why = "it has several dimensions";
    } else if (!is_null && count_ > max_values) {
      why = "it has " + std::to_string(count_) + " values";
    } else if (kind == H5T_STRING) {
      const std::vector<std::string> texts = is_null ? std::vector<std::string>{""} : all_texts();
      put(std::vector<json>(texts.begin(), texts.end()), found, why);
    } else if (is_null || count_ <= 0) {
      why = "it is empty";
    } else if (kind == H5T_INTEGER || kind == H5T_FLOAT || is_boolean(type_.get())) {
      put(all_numbers(kind), found, why);
      if (kind != H5T_ENUM) found.type = number_type(type_.get());
    } else {
      why = "it is neither a number nor a text";
    }
    if (!why.empty()) return std::nullopt;
    return found;
  }

 private:
  void put(const std::vector<json>& values, attribute& found, std::string& why) const {
    const bool is_list = H5Sget_simple_extent_type(space_.get()) == H5S_SIMPLE;
    if (values.empty() && why.empty()) why = "it cannot be read";
    if (!why.empty()) return;
    try {
      found.value = is_list ? json(values).dump() : values.front().dump();
    } catch (const json::exception&) {
      why = "it is no text in UTF-8";
    }
  }

  std::vector<std::string> all_texts() const {
    std::vector<std::string> texts;
    const auto count = static_cast<std::size_t>(std::max<hssize_t>(count_, 0));
    if (H5Tis_variable_str(type_.get()) > 0) {
      std::vector<char*> each(count, nullptr);
      if (H5Aread(from_.get(), type_.get(), each.data()) < 0) return {};
      for (const char* const text : each) texts.emplace_back(text == nullptr ? "" : text);
      H5Dvlen_reclaim(type_.get(), space_.get(), H5P_DEFAULT, each.data());
      return texts;
    }
    const std::size_t bytes = H5Tget_size(type_.get());
    if (bytes == 0 || bytes > std::size_t{64} << 20 || bytes * count > std::size_t{64} << 20)
      return {};
    std::vector<char> all(bytes * count);
    if (H5Aread(from_.get(), type_.get(), all.data()) < 0) return {};
    for (std::size_t i = 0; i < count; ++i) {
      const char* const text = all.data() + i * bytes;
      texts.emplace_back(text, ::strnlen(text, bytes));
      if (H5Tget_strpad(type_.get()) == H5T_STR_SPACEPAD)
        texts.back().erase(texts.back().find_last_not_of(' ') + 1);
    }
    return texts;
  }

  template <class Number>
  std::vector<json> read_as(hid_t memory, auto make) const {
    std::vector<Number> values(static_cast<std::size_t>(count_));
    if (H5Aread(from_.get(), memory, values.data()) < 0) return {};
    std::vector<json> made;
    for (const Number each : values) made.push_back(make(each));
    return made;
  }

  std::vector<json> all_numbers(H5T_class_t kind) const {
    const auto same = [](auto each) { return json(each); };
    if (kind == H5T_ENUM)
      return read_as<signed char>(type_.get(), [](signed char each) { return json(each != 0); });
    if (kind == H5T_FLOAT) return read_as<double>(H5T_NATIVE_DOUBLE, json_of_number);
    if (H5Tget_sign(type_.get()) == H5T_SGN_2) return read_as<std::int64_t>(H5T_NATIVE_INT64, same);
    return read_as<std::uint64_t>(H5T_NATIVE_UINT64, same);
  }

  const attribute_id& from_;
  hdf5_type_id type_;
  hdf5_space_id space_;
  hssize_t count_;
};

std::vector<std::string> names_of_attributes(hid_t object) {
  std::vector<std::string> names;
  H5Aiterate2(
      object, H5_INDEX_NAME, H5_ITER_INC, nullptr,
      [](hid_t, const char* name, const H5A_info_t*, void* into) -> herr_t {
        static_cast<std::vector<std::string>*>(into)->emplace_back(name);
        return 0;
      },
      &names);
  return names;
}

/// @param is_array Its `_FillValue` is the number that stands for missing values.
void read_all(const std::string& file, const std::string& object, hid_t from, bool is_array,
              attributes& found) {
  for (const std::string& name : names_of_attributes(from)) {
    if (is_of_storage(name)) continue;
    const attribute_id opened{H5Aopen(from, name.c_str(), H5P_DEFAULT)};
    std::string why = opened ? "" : "it cannot be opened";
    const auto value = opened ? attribute_reader{opened}.value(name, why) : std::nullopt;
    const bool is_fill = is_array && name == "_FillValue" && value && value->type;
    if (!value)
      tell_left_out(file, object, name, why);
    else if (is_fill && !json::parse(value->value).is_array())
      found.missing = value->value;
    else if (is_fill && json::parse(value->value).size() == 1)
      found.missing = json::parse(value->value).front().dump();
    else
      found.all.push_back(*value);
  }
}

}  // namespace

attributes read_hdf5_attributes(const std::string& file, const std::string& dataset,
                                const std::optional<std::string>& group,
                                feedline::external_files external) {
  attributes found;
  const feedline::detail::hdf5_session hdf5;
  const feedline::detail::hdf5_file opened{hdf5, file, external};
  std::string member;
  const feedline::detail::hdf5_dataset_id from = opened.open_dataset(hdf5, dataset, &member);
  if (group) {
    const feedline::detail::hdf5_file_id whole{H5Iget_file_id(from.get())};
    const feedline::detail::hdf5_object_id object{
        H5Oopen(whole.get(), group->c_str(), H5P_DEFAULT)};
    if (object) read_all(file, *group == "/" ? "" : group->substr(1), object.get(), false, found);
    return found;
  }
  if (!member.empty()) return found;  // attributes are those of the records
  read_all(file, dataset, from.get(), true, found);
  auto dimensions = feedline::detail::hdf5_dimension_finder{hdf5}.find(from.get());
  if (!dimensions.fault.empty()) tell_left_out(file, dataset, "DIMENSION_LIST", dimensions.fault);
  found.dimensions = std::move(dimensions.names);
  return found;
}

}  // namespace convert
