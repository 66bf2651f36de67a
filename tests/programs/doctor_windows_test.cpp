#include "programs/doctor/decoding/chunk_use.hpp"
#include "programs/doctor/windows.hpp"
#include "programs/doctor_runs.hpp"
#include "support/files/zarr_folder.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const std::string shuffle_json = R"({"name": "numcodecs.shuffle", "configuration": )"
                                 R"({"elementsize": 2}})";
const std::string bz2_json = R"({"name": "numcodecs.bz2", "configuration": {"level": 1}})";

/// Arrays [time 6, y 4, x 4]: "t" packed in whole rows, "q" in chunks that split rows, and others.
std::string write_weather(const zarr_folder& store) {
  const auto named = [](const std::string& names, const std::string& attributes = "{}") {
    return R"(, "dimension_names": )" + names + R"(, "attributes": )" + attributes;
  };
  const std::string axes = R"(["time", "y", "x"])";
  store.put("zarr.json", zarr_group);
  store.put("t/zarr.json", zarr_v3("[6, 4, 4]", "[2, 4, 4]", R"("int16")",
                                   '[' + zarr_bytes + ", " + shuffle_json + ']', "0",
                                   named(axes, R"({"scale_factor": 0.5, "add_offset": 280})")));
  store.put("q/zarr.json", zarr_v3("[6, 4, 4]", "[2, 2, 2]", R"("float32")", '[' + zarr_bytes + ']',
                                   "0.0", named(axes)));
  store.put("z/zarr.json", zarr_v3("[6, 4, 4]", "[3, 4, 4]", R"("int16")",
                                   '[' + zarr_bytes + ", " + bz2_json + ']', "0", named(axes)));
  store.put("orog/zarr.json", zarr_v3("[4, 4]", "[4, 4]", R"("float32")", '[' + zarr_bytes + ']',
                                      "0.0", named(R"(["y", "x"])")));
  return store.path();
}

/// Text whose lines are joined again.
std::string unfolded(const std::string& text) {
  std::string joined;
  for (const char each : text)
    if (each != '\n' && (each != ' ' || !joined.ends_with(' '))) joined += each;
  return joined;
}

const nlohmann::json& named(const nlohmann::json& list, const std::string& name) {
  for (const auto& each : list)
    if (each["name"] == name) return each;
  FAIL("there is no " << name);
  return list;
}

array_spec spec_of(std::vector<std::uint64_t> shape, std::vector<std::uint64_t> chunk,
                   std::uint64_t kept = 0) {
  return {.name = "a",
          .type = element_type::u16,
          .shape = std::move(shape),
          .chunk = chunk,
          .chunks_kept = kept};
}

}  // namespace

TEST_CASE("doctor: arrays of Zarr have chunks, codecs, dimensions, and what decodes them",
          "[programs][host]") {
  const zarr_folder store;
  const auto run = run_doctor({write_weather(store), "--fields", "q", "--json", "-"});
  REQUIRE(run.code == 0);
  const auto offered = run.json()["offered"];
  const auto& t = named(offered, "t");
  CHECK(t["access"] == "chunks of [2, 4, 4], shuffle");
  CHECK(t["decoding"] == "readers or devices");
  CHECK(t["dimensions"] == nlohmann::json::array({"time", "y", "x"}));
  CHECK(t["packing"] == "(scale_factor 0.5, add_offset 280)");
  CHECK(named(offered, "q")["decoding"] == "");
  CHECK(named(offered, "q")["packing"] == "");
  CHECK(named(offered, "z")["decoding"] == "readers alone: no device undoes the codec bz2");
  const auto text = unfolded(run_doctor({store.path(), "--fields", "q"}).out);
  CHECK(says(text, "rows are the stored numbers, windows (--window) the values"));
}

TEST_CASE("doctor: windows have their chunks, the arrays that have the axes, and code",
          "[programs][host]") {
  const zarr_folder store;
  const auto run = run_doctor({write_weather(store), "--window", "time=2", "--window", "y=2:2",
                               "--batch-size", "2", "--json", "-"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto json = run.json();
  CHECK(json["layout"]["samples"] == 10);  // 5 times, 2 rows
  CHECK(json["layout"]["fields"].size() == 3);
  CHECK(json["layout"]["fields"][1]["name"] == "t");
  CHECK(json["layout"]["fields"][1]["type"] == "float64");  // unpacked
  CHECK(json["layout"]["fields"][1]["shape"] == nlohmann::json::array({2, 2, 4}));
  CHECK(says(json["layout"]["way"], "devices decode no chunks of windows"));
  std::string notes;
  for (const auto& each : json["notes"]) notes += each.get<std::string>() + '\n';
  CHECK(says(notes, "left out: orog, without axis 'time' and axis 'y'"));
  CHECK(says(notes, "unpacked by feedline::unpack: t (scale_factor 0.5, add_offset 280)"));
  const auto& q = named(json["arrays"], "q");
  CHECK(q["chunks"] == 12);
  CHECK(q["chunk_bytes"] == 32);
  CHECK(q["chunks_a_window"].get<double>() == Approx(1.4 * 1 * 2));
  CHECK(q["used_share"].get<double>() == Approx(2 * 2 * 4 / (2.8 * 8)));
  CHECK(q["windows_a_chunk"].get<double>() == Approx(10 * 2.8 / 12));
  const std::string code = json["recommended"]["code"];
  CHECK(says(code, "feedline::open_zarr_arrays(\"" + store.path() + "\", {\"q\", \"t\", \"z\"})"));
  CHECK(says(code,
             "feedline::make_windows({{.axis = \"time\", .size = 2}, "
             "{.axis = \"y\", .size = 2, .stride = 2}},"));
  CHECK(says(code, "{\"t\", {feedline::unpack(arrays[1])}}"));
  CHECK(says(code, "#include <feedline/formats/zarr.hpp>"));
}

TEST_CASE("doctor: packed variables of NetCDF4 are refused as rows, and read as windows",
          "[programs][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "a.nc"};
  const auto values = various_bytes(6 * 8 * 2);
  writer.write("t", H5T_STD_I16LE, {6, 8}, H5T_NATIVE_INT16, values.data(),
               chunked("", {2, 8}, [](hid_t creation) { H5Pset_deflate(creation, 1); }));
  {
    const hid_t dataset = H5Dopen2(writer.id(), "t", H5P_DEFAULT);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t factor =
        H5Acreate2(dataset, "scale_factor", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT);
    const float half = 0.5F;
    require_hdf5(H5Awrite(factor, H5T_NATIVE_FLOAT, &half) >= 0, "writes an attribute");
    H5Aclose(factor);
    H5Sclose(space);
    H5Dclose(dataset);
  }
  const std::string file = writer.close();
  const auto rows = run_doctor({file});
  CHECK(rows.code == 1);
  CHECK(says(rows.out, "cannot be read"));
  const auto run = run_doctor({file, "--window", "0=3", "--json", "-"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto json = run.json();
  CHECK(json["layout"]["fields"][0]["type"] == "float32");
  CHECK(json["layout"]["samples"] == 4);
  CHECK(json["arrays"][0]["chunk"] == nlohmann::json::array({2, 8}));
  const std::string code = json["recommended"]["code"];
  CHECK(says(code, "{{.axis = 0, .size = 3}}"));
  CHECK(says(code, "#include <feedline/hdf5/arrays.hpp>"));
}

TEST_CASE("doctor: windows of NumPy's arrays are at random positions, if asked for",
          "[programs][host]") {
  const temporary_directory folder;
  const auto file = write_rows(folder);
  const auto json = run_doctor({file.string(), "--window", "0=4:4", "--window", "1=8@random",
                                "--draws", "3", "--json", "-"})
                        .json();
  CHECK(json["layout"]["samples"] == 750);
  CHECK(json["layout"]["varies_by_epoch"] == true);
  CHECK(json["arrays"].empty());
  CHECK(says(json["recommended"]["code"], ".position = feedline::window_position::random"));
}

TEST_CASE("doctor: windows that cannot be are refused", "[programs][host]") {
  const zarr_folder store;
  const std::string path = write_weather(store);
  const auto refused = [&](const std::vector<std::string>& more, int code) {
    std::vector<std::string> all{path};
    all.insert(all.end(), more.begin(), more.end());
    const auto run = run_doctor(all);
    CHECK(run.code == code);
    return run.err;
  };
  CHECK(says(refused({"--window", "level=2"}, 2), "no array has axis 'level'; there are: "));
  CHECK(says(refused({"--window", "time=0"}, 2), "is not a window"));
  CHECK(says(refused({"--window", "time=2:1:1:1"}, 2), "is not a window"));
  CHECK(says(refused({"--window", "time=9"}, 2), "span 9 elements"));
  CHECK(says(refused({"--draws", "2"}, 2), "--window"));
}

TEST_CASE("doctor: a window is read from its text", "[programs][host]") {
  const auto all = doctor::read_window("time=4:2:6");
  REQUIRE(all);
  CHECK(all->axis == array_axis{"time"});
  CHECK((all->size == 4 && all->stride == 2 && all->step == 6));
  CHECK(all->position == window_position::grid);
  CHECK(doctor::read_window("-1")->axis == array_axis{-1});
  CHECK(doctor::read_window("x=64@random")->position == window_position::random);
  for (const char* const none : {"", "=", "=4", "x=", "x=a", "x=0", "x=1:", "x=1:2:3:4", "x=-1"})
    CHECK_FALSE(doctor::read_window(none));
}

TEST_CASE("doctor: chunks that a window needs are counted at all its positions",
          "[programs][host]") {
  const auto use = [](const array_spec& spec, const std::vector<window>& windows,
                      std::uint64_t samples) {
    return doctor::use_of_chunks(spec, windows, samples);
  };
  // Windows as large as chunks, on their grid.
  auto same = use(spec_of({64, 8}, {16, 8}), {{.axis = 0, .size = 16, .stride = 16}}, 4);
  CHECK(same.needed == Approx(1));
  CHECK(same.used == Approx(1));
  CHECK(same.in_epoch == Approx(1));
  CHECK_FALSE(same.is_decoded_again());
  // At random positions: 4 of 49 are aligned.
  auto anywhere = use(spec_of({64, 8}, {16, 8}, 2),
                      {{.axis = 0, .size = 16, .position = window_position::random}}, 100);
  CHECK(anywhere.needed == Approx((4 + 45 * 2) / 49.0));
  CHECK(anywhere.in_epoch == Approx(100 * 94 / 49.0 / 4));
  CHECK(anywhere.is_decoded_again());
  // Elements that are further apart than chunks are large.
  CHECK(use(spec_of({64}, {4}), {{.axis = 0, .size = 3, .step = 6}}, 1).needed == Approx(3));
  // An axis without a window, whose last chunk is not full.
  const auto rest = use(spec_of({8, 10}, {4, 4}), {{.axis = 0}}, 8);
  CHECK(rest.needed == Approx(3));
  CHECK(rest.used == Approx(10 / (3.0 * 16)));
}
