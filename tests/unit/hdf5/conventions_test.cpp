#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"
#include "support/hdf5/writer.hpp"

#include <filesystem>
#include <string>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr hdf5_options as_stored{.conventions = value_conventions::ignore};

void write_attribute(hid_t dataset, const char* name, double value) {
  const detail::hdf5_space_id one{H5Screate(H5S_SCALAR)};
  const detail::hdf5_handle<H5Aclose> attribute{
      H5Acreate2(dataset, name, H5T_IEEE_F64BE, one.get(), H5P_DEFAULT, H5P_DEFAULT)};
  require_hdf5(H5Awrite(attribute.get(), H5T_NATIVE_DOUBLE, &value) >= 0, "write an attribute");
}

void write_matlab_class(hid_t dataset) {
  const detail::hdf5_space_id one{H5Screate(H5S_SCALAR)};
  const detail::hdf5_type_id text{H5Tcopy(H5T_C_S1)};
  H5Tset_size(text.get(), 6);
  const detail::hdf5_handle<H5Aclose> attribute{
      H5Acreate2(dataset, "MATLAB_class", text.get(), one.get(), H5P_DEFAULT, H5P_DEFAULT)};
  require_hdf5(H5Awrite(attribute.get(), text.get(), "double") >= 0, "write an attribute");
}

std::string refusal_of(const std::filesystem::path& file, const std::string& dataset) {
  return message_of<hdf5_error>([&] { (void)open_hdf5(file, {{dataset}}); });
}

}  // namespace

TEST_CASE("hdf5: numbers that NetCDF packed are refused with the formula that unpacks them",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "t.nc"};
  const auto make = [&](const std::string& name) { return writer.make(name, H5T_STD_I16LE, {5}); };
  write_attribute(make("scaled").get(), "scale_factor", 0.1);
  write_attribute(make("moved").get(), "add_offset", -273.15);
  write_attribute(make("plain").get(), "scale_factor", 1);
  write_attribute(make("other").get(), "valid_min", 3);
  const auto file = writer.close();
  const auto scaled = refusal_of(file, "scaled");
  INFO(scaled);
  CHECK(contains(scaled, file.string() + ": field 'scaled': is packed, as NetCDF does it"));
  CHECK(
      contains(scaled, "stored numbers * 0.1 (attribute scale_factor) + 0 (attribute add_offset)"));
  CHECK(contains(scaled, "hdf5_options::conventions = value_conventions::ignore"));
  CHECK(
      contains(refusal_of(file, "moved"), "stored numbers * 1 (attribute scale_factor) + -273.15"));
  for (const std::string dataset : {"plain", "other"})
    CHECK(open_hdf5(file, {{dataset}})->size() == 5);
  CHECK(open_hdf5(file, {{"scaled"}, {"moved"}}, as_stored)->size() == 5);

  std::string refused;
  for (const auto& each : list_hdf5_fields(file))
    if (!each.refusal.empty()) refused += each.dataset;
  CHECK(refused == "/moved/scaled");
  for (const auto& each : list_hdf5_fields(file, as_stored)) CHECK(each.refusal.empty());
}

TEST_CASE("hdf5: dimensions that MATLAB turned round are refused where that matters",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "m.mat"};
  write_matlab_class(writer.make("matrix", H5T_IEEE_F64LE, {3, 4}).get());
  write_matlab_class(writer.make("images", H5T_IEEE_F64LE, {10, 3, 4, 5}).get());
  write_matlab_class(writer.make("row", H5T_IEEE_F64LE, {7, 1}).get());
  (void)writer.make("other", H5T_IEEE_F64LE, {3, 4});
  const auto file = writer.close();
  const auto matrix = refusal_of(file, "matrix");
  INFO(matrix);
  CHECK(contains(matrix, "field 'matrix': was written by MATLAB"));
  CHECK(contains(matrix, "[4, 3] there is [3, 4] here"));
  CHECK(contains(matrix, "hdf5_options::conventions = value_conventions::ignore"));
  CHECK(contains(refusal_of(file, "images"), "[5, 4, 3, 10] there is [10, 3, 4, 5] here"));
  CHECK(open_hdf5(file, {{"row"}})->size() == 7);
  CHECK(open_hdf5(file, {{"other"}})->size() == 3);
  CHECK(open_hdf5(file, {{"images"}}, as_stored)->size() == 10);
}

TEST_CASE("hdf5: real files of NetCDF and MATLAB are refused by name", "[dataset][host]") {
  const auto packed = find_test_data("found/second/netcdf-packed/t0.nc");
  const auto rows = find_test_data("found/second/matlab/rows.mat");
  if (!packed || !rows)
    FEEDLINE_SKIP("no such files: name the folder above found in FEEDLINE_TEST_DATA");
  const auto refusals_in = [](const std::string& file) {
    std::string all;
    for (const auto& each : list_hdf5_fields(file)) all += each.refusal;
    return all;
  };
  CHECK(contains(refusals_in(*packed), "is packed, as NetCDF does it"));
  CHECK(contains(refusals_in(*rows), "was written by MATLAB"));
}
