#include <feedline/arrays/array_views.hpp>
#include <feedline/arrays/windows.hpp>
#include <feedline/error.hpp>
#include <feedline/hdf5/arrays.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

// Files as h5py, netCDF4 and xarray write them: tests/python/datasets/test_dimension_scales.py.

using namespace feedline;
using namespace feedline::test;

namespace {

using attribute_id = detail::hdf5_handle<H5Aclose>;
using names = std::vector<std::string>;

constexpr const char* netcdf_mark = "This is a netCDF dimension but not a netCDF variable.    4";

void put_attribute(hid_t object, const std::string& name, hid_t type, hid_t space,
                   const void* values) {
  const attribute_id made{H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT)};
  require_hdf5(made && H5Awrite(made.get(), type, values) >= 0, "attribute " + name);
}

void put_text(hid_t object, const std::string& name, const std::string& text) {
  const detail::hdf5_type_id type{H5Tcopy(H5T_C_S1)};
  H5Tset_size(type.get(), text.size() + 1);
  const detail::hdf5_space_id space{H5Screate(H5S_SCALAR)};
  put_attribute(object, name, type.get(), space.get(), text.c_str());
}

void put_integers(hid_t object, const std::string& name, const std::vector<std::int32_t>& values) {
  const hsize_t count = values.size();
  const detail::hdf5_space_id space{H5Screate_simple(1, &count, nullptr)};
  put_attribute(object, name, H5T_NATIVE_INT32, space.get(), values.data());
}

void put_labels(hid_t object, std::vector<const char*> labels) {
  const hsize_t count = labels.size();
  const detail::hdf5_type_id type{H5Tcopy(H5T_C_S1)};
  H5Tset_size(type.get(), H5T_VARIABLE);
  const detail::hdf5_space_id space{H5Screate_simple(1, &count, nullptr)};
  put_attribute(object, "DIMENSION_LABELS", type.get(), space.get(), labels.data());
}

/// The references of each dimension.
void put_list(hid_t object, std::vector<std::vector<hobj_ref_t>> scales) {
  const detail::hdf5_type_id type{H5Tvlen_create(H5T_STD_REF_OBJ)};
  std::vector<hvl_t> lists;
  for (auto& each : scales) lists.push_back({each.size(), each.data()});
  const hsize_t count = lists.size();
  const detail::hdf5_space_id space{H5Screate_simple(1, &count, nullptr)};
  put_attribute(object, "DIMENSION_LIST", type.get(), space.get(), lists.data());
}

/// A file with dimension scales.
class scaled_file {
 public:
  explicit scaled_file(const std::filesystem::path& path) : writer_{path} {}

  hid_t add(const std::string& name, const extent_vector& extents, extent_vector max_extents = {}) {
    const hdf5_layout layout =
        max_extents.empty() ? hdf5_layout{name} : chunked(name, extent_vector(extents.size(), 2));
    hdf5_layout with = layout;
    with.max_extents = std::move(max_extents);
    open_.push_back(writer_.make(name, H5T_IEEE_F32LE, extents, with));
    return open_.back().get();
  }
  hid_t add_scale(const std::string& name, const extent_vector& extents,
                  const std::string& title = "", extent_vector max_extents = {}) {
    const hid_t made = add(name, extents, std::move(max_extents));
    put_text(made, "CLASS", "DIMENSION_SCALE");
    put_text(made, "NAME", title.empty() ? name : title);
    return made;
  }
  hobj_ref_t reference(const std::string& name) {
    hobj_ref_t made{};
    require_hdf5(H5Rcreate(&made, writer_.id(), name.c_str(), H5R_OBJECT, H5I_INVALID_HID) >= 0,
                 "reference");
    return made;
  }
  hdf5_writer& writer() { return writer_; }
  std::string close() {
    open_.clear();
    return writer_.close().string();
  }

 private:
  hdf5_writer writer_;
  std::vector<detail::hdf5_dataset_id> open_ = {};
};

names listed_dimensions(const std::string& file, const std::string& dataset) {
  for (const hdf5_listing& each : list_hdf5_fields(file))
    if (each.dataset == dataset) return each.dimensions;
  FAIL("not listed: " << dataset);
  return {};
}

names opened_dimensions(const std::string& file, const std::string& dataset) {
  return open_hdf5_array(file, dataset)->spec().dimensions;
}

}  // namespace

TEST_CASE("hdf5 dimensions: names are those of scales, else of labels", "[dataset][host]") {
  const temporary_directory folder;
  scaled_file made{folder.path() / "a.h5"};
  made.add_scale("time", {5}, "time since then");
  made.add_scale("lat", {3});
  made.add_scale("lon", {4}, netcdf_mark);
  made.writer().make_group("inner");
  made.add_scale("inner/level", {2});
  put_list(made.add("all", {5, 2, 3, 4}), {{made.reference("time")},
                                           {made.reference("inner/level")},
                                           {made.reference("lat")},
                                           {made.reference("lon")}});
  const hid_t some = made.add("some", {5, 3, 4});
  put_list(some, {{made.reference("time"), made.reference("inner/level")}, {}, {}});
  put_labels(some, {"not used", "y", nullptr});
  put_list(made.add("square", {3, 3, 5}),
           {{made.reference("lat")}, {made.reference("lat")}, {made.reference("time")}});
  const std::string file = made.close();

  const log_capture log;
  const std::vector<std::pair<std::string, names>> all{{"/all", {"time", "level", "lat", "lon"}},
                                                       {"/some", {"time", "y", ""}},
                                                       {"/square", {"", "", "time"}},
                                                       {"/inner/level", {"level"}},
                                                       {"/time", {"time"}}};
  for (const auto& [dataset, expected] : all) {
    INFO(dataset);
    CHECK(listed_dimensions(file, dataset) == expected);
    CHECK(opened_dimensions(file, dataset) == expected);
  }
  CHECK_FALSE(contains(log.text(), "dimensions"));
  const auto set = make_windows({{"lat", 2}}, {{"all", {open_hdf5_array(file, "all")}}});
  CHECK(set->size() == 2);
  CHECK(set->fields()[0].shape == std::vector<std::uint64_t>{5, 2, 2, 4});
}

TEST_CASE("hdf5 dimensions: those of NetCDF's coordinates have numbers, in groups around them",
          "[dataset][host]") {
  const temporary_directory folder;
  scaled_file made{folder.path() / "a.nc"};
  put_integers(made.add_scale("station", {3}), "_Netcdf4Dimid", {0});
  put_integers(made.add_scale("letter", {8}, netcdf_mark), "_Netcdf4Dimid", {1});
  made.writer().make_group("inner");
  put_integers(made.add_scale("inner/letter", {9}, netcdf_mark), "_Netcdf4Dimid", {7});
  const hid_t own = made.add_scale("inner/region", {2, 8});
  put_integers(own, "_Netcdf4Dimid", {2});
  put_integers(own, "_Netcdf4Coordinates", {2, 1});
  // Written with NC_NODIMSCALE_ATTACH.
  put_integers(made.add("inner/free", {2, 9, 3}), "_Netcdf4Coordinates", {2, 7, 0});
  put_integers(made.add("inner/wrong", {2, 9, 4}), "_Netcdf4Coordinates", {5, 7, 0});
  put_integers(made.add("inner/short", {2, 9}), "_Netcdf4Coordinates", {2});
  const std::string file = made.close();
  const log_capture log;
  CHECK(opened_dimensions(file, "inner/region") == names{"region", "letter"});
  CHECK(listed_dimensions(file, "/inner/free") == names{"region", "letter", "station"});
  CHECK(log.text().find("names of dimensions") == std::string::npos);
  CHECK(opened_dimensions(file, "inner/wrong") == names{"", "letter", ""});
  CHECK(contains(log.text(), "dimension 2: it has 4 elements, but its scale '/station' has 3"));
  CHECK(opened_dimensions(file, "inner/short").empty());
}

TEST_CASE("hdf5 dimensions: scales of unlimited dimensions may have other extents",
          "[dataset][host]") {
  const temporary_directory folder;
  scaled_file made{folder.path() / "a.nc"};
  made.add_scale("time", {0}, netcdf_mark, {H5S_UNLIMITED});
  made.add_scale("x", {3});
  put_list(made.add("t", {6, 3}, {H5S_UNLIMITED, 3}),
           {{made.reference("time")}, {made.reference("x")}});
  put_list(made.add("fixed", {6, 3}), {{made.reference("time")}, {made.reference("x")}});
  const std::string file = made.close();
  const log_capture log;
  CHECK(opened_dimensions(file, "t") == names{"time", "x"});
  CHECK(opened_dimensions(file, "fixed") == names{"time", "x"});
  CHECK_FALSE(contains(log.text(), "lacks names"));
}

TEST_CASE("hdf5 dimensions: attributes that lie give no name, and a warning", "[dataset][host]") {
  struct lie {
    std::string words;
    std::function<void(scaled_file& made, hid_t array)> tell;
    names expected;
  };
  const std::vector<lie> lies{
      {"dimension 0: DIMENSION_LIST leads to no object",
       [](auto& made, hid_t array) {
         put_list(array, {{0}, {made.reference("x")}});
       },
       {"", "x"}},
      {"dimension 0: DIMENSION_LIST leads to no object",
       [](auto& made, hid_t array) {
         put_list(array, {{hobj_ref_t{1} << 40}, {made.reference("x")}});
       },
       {"", "x"}},
      {"dimension 0: DIMENSION_LIST leads to no object",
       [](auto& made, hid_t array) {
         put_list(array, {{7}, {made.reference("x")}});
       },
       {"", "x"}},
      {"dimension 0: DIMENSION_LIST leads to '/group', which is no dataset",
       [](auto& made, hid_t array) {
         put_list(array, {{made.reference("group")}, {made.reference("x")}});
       },
       {"", "x"}},
      {"dimension 0: DIMENSION_LIST leads to '/plain', which is no dimension scale",
       [](auto& made, hid_t array) {
         put_list(array, {{made.reference("plain")}, {made.reference("x")}});
       },
       {"", "x"}},
      {"dimension 0: DIMENSION_LIST leads to '/one', which has no dimension",
       [](auto& made, hid_t array) {
         put_list(array, {{made.reference("one")}, {made.reference("x")}});
       },
       {"", "x"}},
      {"dimension 0: DIMENSION_LIST leads to '/array', which is no dimension scale",
       [](auto& made, hid_t array) {
         put_list(array, {{made.reference("array")}, {made.reference("x")}});
       },
       {"", "x"}},
      {"dimension 0: it has 4 elements, but its scale '/x' has 3",
       [](auto& made, hid_t array) {
         put_list(array, {{made.reference("x")}, {made.reference("x")}});
       },
       {"", "x"}},
      {"DIMENSION_LIST has 1 entries for 2 dimensions",
       [](auto& made, hid_t array) { put_list(array, {{made.reference("x")}}); },
       {}},
      {"DIMENSION_LIST has no lists of references to objects",
       [](auto&, hid_t array) {
         put_integers(array, "DIMENSION_LIST", {1, 2});
       },
       {}},
      {"dimension 0: DIMENSION_LIST leads to no object",
       [](auto& made, hid_t array) {
         put_labels(array, {"label", "y"});
         put_list(array, {{0}, {made.reference("x")}});
       },
       {"label", "x"}},
  };
  const temporary_directory folder;
  for (std::size_t i = 0; i < lies.size(); ++i) {
    INFO(i << ": " << lies[i].words);
    scaled_file made{folder.path() / (std::to_string(i) + ".h5")};
    made.add_scale("x", {3});
    made.add_scale("one", {});
    made.add("plain", {4});
    made.writer().make_group("group");
    lies[i].tell(made, made.add("array", {4, 3}));
    const std::string file = made.close();
    {
      const log_capture log;
      CHECK(opened_dimensions(file, "array") == lies[i].expected);
      CHECK(contains(log.text(), "array 'array' lacks names"));
      CHECK(contains(log.text(), lies[i].words));
    }
    const log_capture log;
    CHECK(listed_dimensions(file, "/array") == lies[i].expected);
    CHECK(contains(log.text(), "'/array', " + lies[i].words));
  }
}

TEST_CASE("hdf5 dimensions: a scale that was deleted, or refers to itself, is no trap",
          "[dataset][host]") {
  const temporary_directory folder;
  scaled_file made{folder.path() / "a.h5"};
  made.add_scale("gone", {4});
  const hobj_ref_t gone = made.reference("gone");
  put_list(made.add("array", {4}), {{gone}});
  const hid_t own = made.add_scale("ring", {4, 4});
  put_list(own, {{made.reference("ring")}, {made.reference("array")}});
  require_hdf5(H5Ldelete(made.writer().id(), "gone", H5P_DEFAULT) >= 0, "delete");
  const std::string file = made.close();
  const log_capture log;
  CHECK(opened_dimensions(file, "array").empty());
  CHECK(contains(log.text(), "array 'array' lacks names"));
  CHECK(opened_dimensions(file, "ring") == names{"ring", ""});
  CHECK(contains(log.text(), "dimension 1: DIMENSION_LIST leads to '/array'"));
}

TEST_CASE("hdf5 dimensions: what stands for a dimension of NetCDF is no array", "[dataset][host]") {
  const temporary_directory folder;
  scaled_file made{folder.path() / "a.nc"};
  made.add_scale("x", {4}, netcdf_mark);
  put_list(made.add("t", {4}), {{made.reference("x")}});
  const std::string file = made.close();
  const auto listed = list_hdf5_fields(file);
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].aside.empty());
  CHECK(listed[1].dataset == "/x");
  CHECK(listed[1].aside == "a NetCDF dimension without values");
  const std::string words = "stands for a dimension of NetCDF, and has no values";
  CHECK(contains(message_of<hdf5_error>([&] { (void)open_hdf5(file, {{"x"}}); }), words));
  CHECK(contains(message_of<hdf5_error>([&] { (void)open_hdf5_array(file, "x"); }), words));
  CHECK(open_hdf5(file, {{"x"}}, {.conventions = value_conventions::ignore})->size() == 4);
}

TEST_CASE("hdf5 dimensions: arrays whose scales differ are not one grid", "[dataset][host]") {
  const temporary_directory folder;
  const auto write = [&](const std::string& name, const std::vector<double>& times,
                         const std::string& units, const std::vector<double>& lats) {
    scaled_file made{folder.path() / name};
    const auto scale = [&](const std::string& of, const std::vector<double>& values) {
      const hid_t made_scale = made.add_scale(of, {values.size()});
      require_hdf5(H5Dwrite(made_scale, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                            values.data()) >= 0,
                   of);
      return made_scale;
    };
    put_text(scale("time", times), "units", units);
    scale("lat", lats);
    for (const std::string of : {"t", "u"})
      put_list(made.add(of, {times.size(), lats.size()}),
               {{made.reference("time")}, {made.reference("lat")}});
    return made.close();
  };
  const std::string hours = "hours since 1979-01-01";
  const std::string first = write("a.nc", {0, 6, 12}, hours, {10, 20});
  const std::string rounded = write("b.nc", {0, 6.000001, 12}, hours, {10, 20});
  const std::string later = write("c.nc", {18, 24, 30}, hours, {10, 20});
  const std::string year = write("d.nc", {0, 6, 12}, "hours since 1980-01-01", {10, 20});
  const std::string south = write("e.nc", {0, 6, 12}, hours, {-10, 20});
  const auto t = open_hdf5_array(first, "t");
  const auto u_of = [](const std::string& file) { return open_hdf5_array(file, "u"); };
  const auto windows_of = [&](const array_ptr& u) {
    return make_windows({{"time"}}, {{"t", {t}}, {"u", {u}}})->size();
  };
  const auto stacked = [&](const array_ptr& u) {
    return make_windows({{"time"}}, {{"both", {t, u}}})->size();
  };

  SECTION("windows") {
    CHECK(windows_of(u_of(first)) == 3);
    CHECK(windows_of(u_of(rounded)) == 3);
    CHECK(windows_of(u_of(south)) == 3);  // fields may have different grids
    const auto words = message_of<usage_error>([&] { windows_of(u_of(later)); });
    CHECK(contains(words, "have different coordinates along axis 'time': element 0 is at 0 " +
                              hours + " in " + first + ": /time, and at 18 " + hours + " in " +
                              later + ": /time"));
    CHECK(contains(message_of<usage_error>([&] { windows_of(u_of(year)); }),
                   "at 0 hours since 1980-01-01"));
    CHECK(windows_of(rename_array(u_of(later), "", {"time", "lat"})) == 3);
    CHECK(contains(
        message_of<usage_error>([&] { windows_of(unpack(rename_array(u_of(later), "v"))); }),
        "different coordinates"));
  }
  SECTION("stacked arrays have one grid") {
    CHECK(stacked(u_of(rounded)) == 3);
    CHECK(contains(message_of<usage_error>([&] { stacked(u_of(south)); }),
                   "different coordinates along axis 'lat': element 0 is at 10 in"));
    CHECK(make_windows({{"time"}},
                       {{.name = "both", .arrays = {t, u_of(south)}, .channels = {"lat"}}})
              ->fields()[0]
              .shape == std::vector<std::uint64_t>{4, 1});
  }
  SECTION("arrays made of others") {
    const auto joined = [&](const std::string& a, const std::string& b) {
      return concatenate_arrays({u_of(a), u_of(b)}, "time");
    };
    const auto both = [&](const array_ptr& a, const array_ptr& b) {
      return make_windows({{"time"}}, {{"a", {a}}, {"b", {b}}})->size();
    };
    CHECK(both(joined(first, later), joined(rounded, later)) == 6);
    CHECK(
        contains(message_of<usage_error>([&] { both(joined(first, later), joined(first, first)); }),
                 "element 3 is at 18"));
    CHECK(contains(message_of<usage_error>([&] { (void)joined(first, south); }),
                   "have different coordinates along axis 'lat'"));
    CHECK(both(choose_along(joined(first, later), "time", {3, 4, 5}), u_of(later)) == 3);
    CHECK(contains(message_of<usage_error>([&] {
                     both(choose_along(joined(first, later), "time", {3, 5, 4}), u_of(later));
                   }),
                   "element 1 is at 30"));
  }
  SECTION("what cannot be read is not compared, and a warning says so") {
    const auto u = u_of(later);
    std::filesystem::resize_file(later, 100);
    const log_capture log;
    CHECK(windows_of(u) == 3);
    CHECK(contains(log.text(), "cannot be read, so that arrays are not compared"));
  }
}
