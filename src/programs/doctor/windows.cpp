#include "programs/doctor/windows.hpp"

#include <feedline/arrays/array_views.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/npz.hpp>
#include <feedline/formats/zarr.hpp>
#ifdef FEEDLINE_HAS_HDF5
#include <feedline/hdf5/arrays.hpp>
#endif

#include "programs/doctor/code.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

namespace doctor {
namespace {

using arrays = std::vector<feedline::array_ptr>;

std::optional<std::uint64_t> read_count(std::string_view text) {
  std::uint64_t count = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || count == 0)
    return std::nullopt;
  return count;
}

feedline::array_axis read_axis(const std::string& text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size()) return number;
  return text;
}

/// A field as the array that it is.
feedline::array_spec spec_of(const feedline::listed_field& found) {
  feedline::array_spec spec{.name = found.name,
                            .type = found.spec.type,
                            .shape = found.spec.shape,
                            .dimensions = found.dimensions};
  spec.shape.insert(spec.shape.begin(), found.samples);
  if (!spec.dimensions.empty()) spec.dimensions.resize(spec.shape.size());
  return spec;
}

/// Whether it can be an array: HDF5 refuses rows of packed numbers, and windows have them unpacked.
bool is_array(const feedline::listed_field& found) {
  return found.left_out.empty() && !found.is_ragged && found.samples != 0 &&
         (found.refusal.empty() || found.packing.changes_values());
}

/// Extents along the windows' axes; empty if it has not all of them.
std::vector<std::uint64_t> extents_along(const feedline::array_spec& spec,
                                         const std::vector<feedline::window>& windows) {
  std::vector<std::uint64_t> extents;
  for (const feedline::window& each : windows) {
    const auto axis = find_axis(spec, each.axis);
    if (!axis) return {};
    extents.push_back(spec.shape[*axis]);
  }
  return extents;
}

double weight_of(const feedline::array_spec& spec) {
  double bytes = static_cast<double>(size_bytes(spec.type));
  for (const std::uint64_t extent : spec.shape) bytes *= static_cast<double>(extent);
  return bytes;
}

std::string list_of(const std::vector<feedline::window>& windows) {
  std::string text;
  for (const feedline::window& each : windows)
    text += (text.empty() ? "" : " and ") + to_string(each.axis);
  return text;
}

const feedline::listed_field& find_main(const request& asked, const content& found) {
  const feedline::listed_field* main = nullptr;
  std::string all;
  for (const offered_field& each : found.fields) {
    if (!is_array(each.found)) continue;
    const feedline::array_spec spec = spec_of(each.found);
    all += (all.empty() ? "" : "; ") + to_string(spec);
    if (extents_along(spec, asked.windows).empty()) continue;
    if (main == nullptr || weight_of(spec) > weight_of(spec_of(*main))) main = &each.found;
  }
  if (main == nullptr)
    throw feedline::usage_error{found.path + ": no array has " + list_of(asked.windows) +
                                "; there are: " + (all.empty() ? "none" : all) +
                                ". Give --window an axis by its name, or by its number from 0"};
  return *main;
}

std::vector<std::string> names_of(const request& asked, const content& found,
                                  std::vector<std::string>& notes) {
  if (!asked.how.fields.empty()) return asked.how.fields;
  const auto extents = extents_along(spec_of(find_main(asked, found)), asked.windows);
  std::vector<std::string> names;
  for (const offered_field& each : found.fields) {
    if (!is_array(each.found)) continue;
    const auto own = extents_along(spec_of(each.found), asked.windows);
    if (own == extents) {
      names.push_back(each.found.name);
      continue;
    }
    notes.push_back("left out: " + each.found.name +
                    (own.empty() ? ", without " + list_of(asked.windows)
                                 : ", of other extents along " + list_of(asked.windows)) +
                    "; --fields names arrays");
  }
  return names;
}

std::string name_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& each : names) text += (text.empty() ? "" : ", ") + quoted(each);
  return '{' + text + '}';
}

/// Opens arrays as they are stored, and the same as code.
std::pair<std::function<arrays()>, std::string> opener_of([[maybe_unused]] const request& asked,
                                                          const content& found,
                                                          const std::vector<std::string>& names) {
  const std::string& file = found.files.front();
  const std::string path = quoted(file);
  if (found.format == "zarr")
    return {[=] { return feedline::open_zarr_arrays(file, names); },
            "feedline::open_zarr_arrays(" + path + ", " + name_list(names) + ')'};
#ifdef FEEDLINE_HAS_HDF5
  if (found.format == "hdf5") {
    const bool any = asked.how.external == feedline::external_files::allow;
    return {[=, external = asked.how.external] {
              return feedline::open_hdf5_arrays(file, names, {.external = external});
            },
            "feedline::open_hdf5_arrays(" + path + ", " + name_list(names) +
                (any ? ", {.external = feedline::external_files::allow}" : "") + ')'};
  }
#endif
  if (found.format == "npz") {
    std::string code;
    for (const std::string& each : names)
      code += (code.empty() ? "" : ", ") + ("feedline::open_npz_array(" + path + ", ") +
              quoted(each) + ')';
    return {[=] {
              arrays all;
              for (const std::string& each : names)
                all.push_back(feedline::open_npz_array(file, each));
              return all;
            },
            "std::vector<feedline::array_ptr>{" + code + '}'};
  }
  if (found.format == "npy")
    return {[=, name = names.front()] { return arrays{feedline::open_npy_array(file, name)}; },
            "std::vector<feedline::array_ptr>{feedline::open_npy_array(" + path + ", " +
                quoted(names.front()) + ")}"};
  throw feedline::usage_error{found.path + ": --window is for arrays in Zarr stores, HDF5 and " +
                              "NetCDF4 files, .npy and .npz files, and this is " + found.format +
                              "; leave it out"};
}

bool is_packed(const feedline::array_spec& spec) {
  return spec.packing.changes_values() ||
         spec.packing.missing.size() > (spec.packing.has_default_missing ? 1U : 0U);
}

}  // namespace

std::optional<feedline::window> read_window(const std::string& text) {
  std::string rest = text;
  feedline::window along{0};
  if (rest.ends_with("@random")) {
    along.position = feedline::window_position::random;
    rest.resize(rest.size() - std::string_view{"@random"}.size());
  }
  const std::size_t equals = rest.rfind('=');
  const std::string axis = rest.substr(0, equals);
  if (axis.empty()) return std::nullopt;
  along.axis = read_axis(axis);
  if (equals == std::string::npos) return along;
  rest.erase(0, equals + 1);
  for (std::uint64_t* each : {&along.size, &along.stride, &along.step}) {
    const std::size_t colon = rest.find(':');
    const auto count = read_count(std::string_view{rest}.substr(0, colon));
    if (!count) return std::nullopt;
    *each = *count;
    if (colon == std::string::npos) return along;
    rest.erase(0, colon + 1);
  }
  return std::nullopt;
}

std::string window_code(const feedline::window& along) {
  std::string text = "{.axis = ";
  text += along.axis.name.empty() ? std::to_string(along.axis.number) : quoted(along.axis.name);
  const auto add = [&](const char* member, std::uint64_t value) {
    if (value != 1) text += fmt::format(", .{} = {}", member, value);
  };
  add("size", along.size);
  add("stride", along.stride);
  add("step", along.step);
  if (along.position == feedline::window_position::random)
    text += ", .position = feedline::window_position::random";
  return text + '}';
}

window_arrays choose_arrays(const request& asked, const content& found,
                            std::vector<std::string>& notes) {
  if (found.files.size() != 1)
    throw feedline::usage_error{found.path +
                                ": --window examines one file or store, and these are " +
                                std::to_string(found.files.size()) + "; give one of them"};
  window_arrays chosen;
  if (found.format == "zarr" || found.format == "hdf5" || found.format == "npz" ||
      found.format == "npy")
    chosen.names = names_of(asked, found, notes);
  const auto [open, code] = opener_of(asked, found, chosen.names);
  std::string fields;
  const arrays as_stored = open();
  for (std::size_t i = 0; i < as_stored.size(); ++i) {
    const feedline::array_spec& spec = as_stored[i]->spec();
    chosen.is_packed.push_back(is_packed(spec));
    const std::string array = "arrays[" + std::to_string(i) + ']';
    fields += (fields.empty() ? "{" : ", {") + quoted(spec.name) + ", {" +
              (chosen.is_packed.back() ? "feedline::unpack(" + array + ')' : array) + "}}";
    if (chosen.is_packed.back())
      notes.push_back("unpacked by feedline::unpack: " + chosen.names[i] + ' ' +
                      packing_text(spec.packing));
  }
  chosen.open = [opening = open, packed = chosen.is_packed] {
    arrays opened = opening();
    for (std::size_t i = 0; i < opened.size(); ++i)
      if (packed[i]) opened[i] = feedline::unpack(opened[i]);
    return opened;
  };
  std::string windows;
  for (const feedline::window& each : asked.windows)
    windows += (windows.empty() ? "" : ", ") + window_code(each);
  chosen.code = fmt::format(
      "[] {{\n    const auto arrays = {};\n    return feedline::make_windows({{{}}},\n"
      "                                  {{{}}});\n  }}()",
      code, windows, fields);
  return chosen;
}

}  // namespace doctor
