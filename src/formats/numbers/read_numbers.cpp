#include <feedline/arrays/array_views.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/npz.hpp>
#include <feedline/formats/numbers.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/zarr.hpp>
#ifdef FEEDLINE_HAS_HDF5
#include <feedline/hdf5/arrays.hpp>
#endif

#include "io/byte_file.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#ifdef FEEDLINE_HAS_JSON
#include <nlohmann/json.hpp>
#endif

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

constexpr std::uint64_t max_read_numbers = std::uint64_t{16} << 20;
constexpr std::uint64_t max_json_bytes = std::uint64_t{64} << 20;

[[noreturn]] void refuse_numbers(const std::string& file, const std::string& name,
                                 const std::string& why) {
  throw dataset_error{{.path = file, .field = name}, why};
}

std::vector<double> numbers_of(const std::string& file, const std::string& name,
                               const array_ptr& array) {
  const array_spec& spec = array->spec();
  std::uint64_t count = 1;
  for (const std::uint64_t extent : spec.shape)
    if (__builtin_mul_overflow(count, extent, &count) || count > max_read_numbers)
      refuse_numbers(file, name,
                     to_string(spec) + " has more than " + std::to_string(max_read_numbers) +
                         " numbers; such arrays are read by make_windows");
  if (spec.type == element_type::boolean) refuse_numbers(file, name, "holds booleans, not numbers");
  std::vector<double> numbers(static_cast<std::size_t>(count));
  // A mean may equal the fill value that each array of Zarr 2 has.
  const value_packing& packing = spec.packing;
  const bool is_plain = !packing.changes_values() &&
                        packing.missing.size() == (packing.has_default_missing ? 1U : 0U);
  const array_ptr values = is_plain ? standardize(array, {.type = element_type::f64})
                                    : unpack(array, {.type = element_type::f64});
  values->read_all(std::as_writable_bytes(std::span{numbers}));
  return numbers;
}

#ifdef FEEDLINE_HAS_JSON
using nlohmann::json;

void add_json_numbers(const std::string& file, const std::string& name, const json& value,
                      std::vector<double>& numbers) {
  if (value.is_number()) {
    numbers.push_back(value.get<double>());
  } else if (value.is_array()) {
    for (const json& each : value) add_json_numbers(file, name, each, numbers);
  } else {
    refuse_numbers(file, name,
                   std::string{"is or holds a JSON "} + value.type_name() +
                       (value.is_object() ? ", whose keys follow in the name, after \"/\""
                                          : ", and no number; write numbers"));
  }
}

std::string keys_of(const json& value) {
  if (!value.is_object() || value.empty()) return "there are none";
  constexpr std::size_t most = 20;
  std::string text = "there are: ";
  std::size_t told = 0;
  for (const auto& [key, unused] : value.items()) {
    if (told == most) return text + ", …";
    text += (told++ == 0 ? "" : ", ") + key;
  }
  return text;
}

std::vector<double> numbers_of_json(const std::string& file, const std::string& name,
                                    std::string_view text) {
  constexpr int max_depth = 64;
  const json whole = json::parse(
      text,
      [&](int depth, json::parse_event_t, json&) {
        if (depth > max_depth) refuse_numbers(file, name, "JSON is nested deeper than 64 levels");
        return true;
      },
      false);
  if (whole.is_discarded())
    refuse_numbers(
        file, name,
        "is no valid JSON, which also has no NaN or Infinity; write it again, such as by "
        "json.dump(…, allow_nan=False)");
  const json* at = &whole;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string key = name.substr(begin, end - begin);
    begin = end + 1;
    if (!at->is_object() || !at->contains(key))
      refuse_numbers(file, name, "there is no key '" + key + "'; " + keys_of(*at));
    at = &(*at)[key];
  }
  std::vector<double> numbers;
  add_json_numbers(file, name, *at, numbers);
  return numbers;
}
#endif

/// The text of a JSON file; empty: it does not begin as one.
std::string json_text(const std::string& file) {
  const detail::byte_file_ptr opened = detail::open_file(file);
  const std::uint64_t size = opened->size();
  std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(size, 64)), '\0');
  opened->read(0, std::as_writable_bytes(std::span{head}));
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (head[first] != '{' && head[first] != '[')) return {};
  if (size > max_json_bytes)
    refuse_numbers(file, {}, "has more than 64 MiB of JSON; write the numbers as .npy");
  std::string text(static_cast<std::size_t>(size), '\0');
  opened->read(0, std::as_writable_bytes(std::span{text}));
  opened->require_unchanged();
  return text;
}

std::vector<double> all_numbers(const std::string& file, const std::string& name) {
  const std::string format = detect_format(file);
  if (format == "npy") return numbers_of(file, name, open_npy_array(file, name));
  if (format == "npz") return numbers_of(file, name, open_npz_array(file, name));
  if (format == "zarr") return numbers_of(file, name, open_zarr_array(file, name));
#ifdef FEEDLINE_HAS_HDF5
  if (format == "hdf5") return numbers_of(file, name, open_hdf5_array(file, name));
#else
  if (format == "hdf5")
    refuse_numbers(
        file, name,
        "an HDF5 file, and this feedline was built without the HDF5 library; write .npy");
#endif
  const bool may_be_text =
      format.empty() || format == "json_lines" || format == "csv" || format == "file_list";
  if (const std::string text = may_be_text ? json_text(file) : std::string{}; !text.empty()) {
#ifdef FEEDLINE_HAS_JSON
    return numbers_of_json(file, name, text);
#else
    refuse_numbers(
        file, name,
        "JSON, and this feedline was built without nlohmann-json; write the numbers as .npy");
#endif
  }
  refuse_numbers(file, name,
                 "holds no numbers that can be read: not .npy, .npz, HDF5, NetCDF4, Zarr or JSON" +
                     (format.empty() ? std::string{} : ", but " + format));
}

}  // namespace

std::vector<double> read_numbers(const std::string& file, const std::string& name) {
  std::vector<double> numbers = all_numbers(file, name);
  if (numbers.empty()) refuse_numbers(file, name, "holds no number");
  return numbers;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
