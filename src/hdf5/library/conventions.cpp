#include "hdf5/library/conventions.hpp"

#include <feedline/error.hpp>

#include "detail/text.hpp"
#include "hdf5/library/driver.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <string_view>

namespace feedline::detail {
namespace {

using hdf5_attribute_id = hdf5_handle<H5Aclose>;

constexpr const char* remedy =
    "read it as it is stored by hdf5_options::conventions = value_conventions::ignore";

/// A dataset's attribute, if it is one number. (CF Conventions, section 8.1)
std::optional<double> number_of(hid_t dataset, const char* name) {
  if (H5Aexists(dataset, name) <= 0) return std::nullopt;
  const hdf5_attribute_id attribute{H5Aopen(dataset, name, H5P_DEFAULT)};
  const hdf5_type_id type{H5Aget_type(attribute.get())};
  const hdf5_space_id space{H5Aget_space(attribute.get())};
  const H5T_class_t kind = H5Tget_class(type.get());
  double value = 0;
  if ((kind != H5T_FLOAT && kind != H5T_INTEGER) ||
      H5Sget_simple_extent_npoints(space.get()) != 1 ||
      H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &value) < 0)
    return std::nullopt;
  return value;
}

std::string packing_of(hid_t dataset) {
  const auto factor = number_of(dataset, "scale_factor");
  const auto offset = number_of(dataset, "add_offset");
  if (factor.value_or(1) == 1 && offset.value_or(0) == 0) return {};
  return "is packed, as NetCDF does it: its values are the stored numbers * " +
         text_of(factor.value_or(1)) + " (attribute scale_factor) + " +
         text_of(offset.value_or(0)) +
         " (attribute add_offset). Rows are not unpacked: open the array by open_hdf5_array, "
         "unpack "
         "it, and make its samples by make_windows; or " +
         remedy + " and unpack them in your program";
}

/// Recognizes MATLAB by an attribute of its arrays, or by the text that it writes at the front of a
/// file.
bool is_of_matlab(const hdf5_session& hdf5, hid_t dataset) {
  if (H5Aexists(dataset, "MATLAB_class") > 0) return true;
  constexpr std::string_view mark = "MATLAB 7.3 MAT-file";
  const byte_file_ptr file = hdf5_driver::file_of(hdf5, dataset);
  std::array<std::byte, mark.size()> front{};
  if (!file || file->size() < front.size()) return false;
  file->read(0, front);
  return std::memcmp(front.data(), mark.data(), mark.size()) == 0;
}

std::string list_of(std::span<const hsize_t> extents, bool reversed) {
  std::string text;
  for (std::size_t i = 0; i < extents.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(extents[reversed ? extents.size() - 1 - i : i]);
  return '[' + text + ']';
}

}  // namespace

void require_known(const hdf5_options& options) {
  const auto require = [](auto value, auto last, const std::string& member) {
    if (value <= last) return;
    throw usage_error{"hdf5_options::" + member + " is " +
                      std::to_string(static_cast<unsigned>(value)) +
                      ", which is not one of its values; choose one by its name"};
  };
  require(options.external, external_files::allow, "external");
  require(options.conventions, value_conventions::ignore, "conventions");
}

std::string convention_of(const hdf5_session& hdf5, hid_t dataset,
                          std::span<const hsize_t> extents) {
  if (auto packing = packing_of(dataset); !packing.empty()) return packing;
  if (extents.size() < 2 || extents.back() == 1 || !is_of_matlab(hdf5, dataset)) return {};
  return "was written by MATLAB, whose dimensions lie in the file the other way round: " +
         list_of(extents, true) + " there is " + list_of(extents, false) +
         " here, so that MATLAB's last dimension would be the samples. If it is, " + remedy +
         "; if its first one is, open the array by open_hdf5_array and make samples by "
         "make_windows along axis -1, or save it permuted (A = permute(A, " +
         (extents.size() == 2 ? "[2 1]" : "[2:ndims(A) 1]") + ")), then do the same";
}

}  // namespace feedline::detail
