
#include <feedline/dataset/select.hpp>
#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::size_t samples = 50;
constexpr std::size_t row_bytes = 12;
const extent_vector extents{samples, 3, 4};

/// Fields of so few bytes are read whole at open; with no room for that, each read is the
/// library's.
const std::size_t limits[] = {0, 1 << 20};

void check(const std::filesystem::path& file, const std::string& dataset,
           const std::vector<std::byte>& values) {
  for (const std::size_t limit : limits) {
    INFO(dataset << ", at most " << limit << " bytes kept");
    const auto opened = open_hdf5(file, {{dataset, "x"}}, {.max_resident_bytes = limit});
    check_dataset_contract(
        opened, samples, {{"x", element_type::u8, {3, 4}}}, [&](sample_index sample, std::size_t) {
          const auto row = values.begin() + static_cast<std::ptrdiff_t>(sample.value * row_bytes);
          return std::vector<std::byte>(row, row + row_bytes);
        });
  }
}

std::vector<hdf5_layout> layouts() {
  const auto gzip = [](hid_t creation) { H5Pset_deflate(creation, 6); };
  return {
      {"contiguous"},
      {"compact", [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); }},
      {"allocated early",
       [](hid_t creation) { H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY); }},
      chunked("chunks of a row", {1, 3, 4}),
      chunked("chunks that do not divide the samples", {7, 3, 4}),
      chunked("chunks that split rows", {7, 2, 3}),
      chunked("one chunk, larger than a row run", {50, 3, 4}),
      chunked("gzip", {7, 3, 4}, gzip),
      chunked("shuffle and gzip", {7, 3, 4},
              [](hid_t creation) {
                H5Pset_shuffle(creation);
                H5Pset_deflate(creation, 1);
              }),
      chunked("fletcher32", {7, 3, 4}, [](hid_t creation) { H5Pset_fletcher32(creation); }),
      chunked("gzip before fletcher32", {16, 3, 4},
              [](hid_t creation) {
                H5Pset_deflate(creation, 6);
                H5Pset_fletcher32(creation);
              }),
      chunked("n-bit", {7, 3, 4}, [](hid_t creation) { H5Pset_nbit(creation); }),
      chunked("partial chunks unfiltered", {7, 3, 4},
              [](hid_t creation) {
                H5Pset_deflate(creation, 6);
                H5Pset_chunk_opts(creation, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
              }),
  };
}

}  // namespace

TEST_CASE("hdf5: every layout and filter gives the rows that were written", "[dataset][host]") {
  const temporary_directory folder;
  const bool latest = GENERATE(false, true);
  const hsize_t userblock = GENERATE(0U, 512U);
  hdf5_writer writer{folder.path() / "layouts.h5",
                     {.userblock = userblock, .latest_format = latest}};
  const auto values = various_bytes(samples * row_bytes);
  for (const auto& layout : layouts())
    writer.write(layout.name, H5T_STD_U8LE, extents, H5T_NATIVE_UINT8, values.data(), layout);
  const auto file = writer.close();
  INFO((latest ? "latest" : "earliest") << " format, user block " << userblock);
  for (const auto& layout : layouts()) check(file, layout.name, values);
}

TEST_CASE("hdf5: rows never written hold the fill value, or zeros where there is none",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "fill.h5", {.userblock = 512}};
  const unsigned char seven = 7;
  const auto fill = [&](hid_t creation) { H5Pset_fill_value(creation, H5T_NATIVE_UINT8, &seven); };
  const auto never = [&](hid_t creation) { H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER); };
  const std::vector<std::pair<hdf5_layout, std::byte>> cases{
      {{"contiguous, filled", fill}, std::byte{7}},
      {{"contiguous, default"}, std::byte{0}},
      {{"contiguous, never", never}, std::byte{0}},
      {chunked("chunked, filled", {7, 3, 4}, fill), std::byte{7}},
      {chunked("chunked, never", {7, 3, 4}, never), std::byte{0}},
  };
  auto values = various_bytes(samples * row_bytes);
  for (const auto& [layout, filler] : cases) {
    const auto dataset = writer.make(layout.name, H5T_STD_U8LE, extents, layout);
    if (layout.name.starts_with("chunked"))  // the third chunk alone
      writer.write_rows(dataset.get(), 14, 7, H5T_NATIVE_UINT8, values.data() + 14 * row_bytes);
  }
  const auto file = writer.close();
  for (const auto& [layout, filler] : cases) {
    auto expected = std::vector<std::byte>(samples * row_bytes, filler);
    if (layout.name.starts_with("chunked"))
      std::copy_n(values.begin() + 14 * row_bytes, 7 * row_bytes,
                  expected.begin() + 14 * row_bytes);
    check(file, layout.name, expected);
  }
}

TEST_CASE("hdf5: a dataset that has grown or shrunk is read as long as it is now",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "resized.h5", {.latest_format = true}};
  const auto values = various_bytes(samples * row_bytes);
  for (const hsize_t before : {hsize_t{20}, hsize_t{90}}) {
    auto layout = chunked("", {7, 3, 4});
    layout.max_extents = {H5S_UNLIMITED, 3, 4};
    const auto dataset =
        writer.make("from" + std::to_string(before), H5T_STD_U8LE, {before, 3, 4}, layout);
    require_hdf5(H5Dset_extent(dataset.get(), extents.data()) >= 0, "resize");
    writer.write_rows(dataset.get(), 0, samples, H5T_NATIVE_UINT8, values.data());
  }
  const auto file = writer.close();
  check(file, "from20", values);
  check(file, "from90", values);
}

TEST_CASE("hdf5: values in raw files beside the HDF5 file are found there, wherever the program is",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto values = various_bytes(samples * row_bytes);
  const auto bytes = std::span{values};
  auto first = various_bytes(100);  // 100 bytes of something else, then the values
  first.insert(first.end(), values.begin(), values.begin() + 250);
  folder.write("first.raw", first);
  folder.write("second.raw", bytes.subspan(250));
  hdf5_writer writer{folder.path() / "external.h5"};
  (void)writer.make("x", H5T_STD_U8LE, extents, {"external", [](hid_t creation) {
                                                   H5Pset_external(creation, "first.raw", 100, 250);
                                                   H5Pset_external(creation, "second.raw", 0,
                                                                   H5F_UNLIMITED);
                                                 }});
  const auto file = writer.close();
  check(file, "x", values);

  folder.write("second.raw", bytes.subspan(250, 349));
  const auto cut = message_of<hdf5_error>([&] { (void)open_hdf5(file, {{"x"}}); });
  CHECK(cut.find("second.raw is cut short: 350 bytes expected, 349 there") != std::string::npos);
  std::filesystem::remove(folder.path() / "second.raw");
  const auto gone = message_of<hdf5_error>([&] { (void)open_hdf5(file, {{"x"}}); });
  CHECK(gone.find("second.raw, which cannot be opened: No such file") != std::string::npos);
}

TEST_CASE("hdf5: a virtual dataset is read from its sources, and refused if one is missing",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto values = various_bytes(samples * row_bytes);
  const extent_vector half{samples / 2, 3, 4};
  for (const std::size_t part : {0U, 1U}) {
    hdf5_writer writer{folder.path() / ("part" + std::to_string(part) + ".h5")};
    writer.write("x", H5T_STD_U8LE, half, H5T_NATIVE_UINT8,
                 values.data() + part * values.size() / 2);
  }
  hdf5_writer writer{folder.path() / "virtual.h5", {.latest_format = true}};
  (void)writer.make(
      "x", H5T_STD_U8LE, extents,
      {"virtual", [&](hid_t creation) {
         for (const hsize_t part : {0U, 1U}) {
           const extent_vector start{part * samples / 2, 0, 0};
           const detail::hdf5_space_id to{H5Screate_simple(3, extents.data(), nullptr)};
           const detail::hdf5_space_id from{H5Screate_simple(3, half.data(), nullptr)};
           H5Sselect_hyperslab(to.get(), H5S_SELECT_SET, start.data(), nullptr, half.data(),
                               nullptr);
           H5Pset_virtual(creation, to.get(), ("part" + std::to_string(part) + ".h5").c_str(), "x",
                          from.get());
         }
       }});
  const auto file = writer.close();
  check(file, "x", values);

  std::filesystem::remove(folder.path() / "part1.h5");
  const auto message = message_of<hdf5_error>([&] { (void)open_hdf5(file, {{"x"}}); });
  CHECK(message.find("is virtual, and its source, dataset 'x' of part1.h5, is not there") !=
        std::string::npos);
}

TEST_CASE("hdf5: datasets in groups and through links are opened by path and named as asked",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto values = various_bytes(samples * row_bytes);
  {
    hdf5_writer other{folder.path() / "other.h5"};
    other.make_group("deep");
    other.write("deep/x", H5T_STD_U8LE, extents, H5T_NATIVE_UINT8, values.data());
  }
  hdf5_writer writer{folder.path() / "links.h5"};
  writer.make_group("train");
  writer.write("train/x", H5T_STD_U8LE, extents, H5T_NATIVE_UINT8, values.data());
  writer.make_soft_link("/train/x", "soft");
  writer.make_external_link("other.h5", "/deep/x", "outside");
  const auto file = writer.close();
  for (const auto* path : {"train/x", "/train/x", "/train//x", "soft", "outside"})
    check(file, path, values);

  const auto fields = open_hdf5(file, {{"train/x"}, {"/soft"}, {"outside", "y"}})->fields();
  REQUIRE(fields.size() == 3);
  CHECK(fields[0].name == "x");
  CHECK(fields[1].name == "soft");
  CHECK(fields[2].name == "y");
}

TEST_CASE("hdf5: several datasets are a sample's fields, small ones kept and large ones not",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "fields.h5"};
  const auto images = various_bytes(samples * row_bytes);
  std::vector<float> labels(samples);
  for (std::size_t i = 0; i < samples; ++i) labels[i] = 0.5F * static_cast<float>(i);
  writer.write("image", H5T_STD_U8LE, extents, H5T_NATIVE_UINT8, images.data(),
               chunked("", {8, 3, 4}));
  writer.write("label", H5T_IEEE_F32BE, {samples}, H5T_NATIVE_FLOAT, labels.data());
  const auto file = writer.close();
  // Room for neither, for the labels, for both.
  for (const std::size_t limit : {std::size_t{0}, samples * 4, samples * (4 + row_bytes)}) {
    const auto opened = open_hdf5(file, {{"image"}, {"label"}}, {.max_resident_bytes = limit});
    CHECK(opened->concurrency() == read_concurrency::parallel);
    check_dataset_contract(
        opened, samples, {{"image", element_type::u8, {3, 4}}, {"label", element_type::f32, {}}},
        [&](sample_index sample, std::size_t place) {
          std::vector<std::byte> bytes(place == 0 ? row_bytes : sizeof(float));
          if (place == 0)
            std::memcpy(bytes.data(), images.data() + sample.value * row_bytes, row_bytes);
          else
            std::memcpy(bytes.data(), &labels[sample.value], sizeof(float));
          return bytes;
        });
  }
}

TEST_CASE("hdf5: the library's own error printing is restored after a failure", "[dataset][host]") {
  H5E_auto2_t before = nullptr;
  H5E_auto2_t after = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  CHECK_THROWS_AS(open_hdf5("/nowhere.h5", {{"x"}}), hdf5_error);
  H5Eget_auto2(H5E_DEFAULT, &after, &data);
  CHECK(after == before);
  CHECK(after != nullptr);
}

TEST_CASE(
    "hdf5: the library keeps open only what it must read itself, as long as the dataset lives",
    "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "open.h5"};
  const auto values = various_bytes(samples * row_bytes);
  writer.write("x", H5T_STD_U8LE, extents, H5T_NATIVE_UINT8, values.data());
  writer.write("y", H5T_STD_U8LE, extents, H5T_NATIVE_UINT8, values.data(),
               {"compact", [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); }});
  const auto file = writer.close();
  const auto open_ids = [] { return H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL); };
  const auto before = open_ids();
  {
    const auto direct = open_hdf5(file, {{"x"}}, {.max_resident_bytes = 0});
    CHECK(open_ids() == before);
    const auto by_library = open_hdf5(file, {{"y"}}, {.max_resident_bytes = 0});
    CHECK(open_ids() > before);
    CHECK(read_sample(*direct, sample_index{3}) == read_sample(*by_library, sample_index{3}));
  }
  CHECK(open_ids() == before);
  (void)open_hdf5(file, {{"x"}});
  (void)list_hdf5_fields(file);
  CHECK_THROWS_AS(open_hdf5(file, {{"x"}, {"z"}}), hdf5_error);
  CHECK_THROWS_AS(open_hdf5(file, {{"y"}, {"z"}}), hdf5_error);
  CHECK(open_ids() == before);
}

TEST_CASE("hdf5: selected fields hold the same as all of them, in any order", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "two.h5"};
  const auto values = various_bytes(samples * row_bytes);
  const auto checked =
      chunked("checked", {7, 3, 4}, [](hid_t creation) { H5Pset_fletcher32(creation); });
  for (const hdf5_layout& layout : {hdf5_layout{"whole"}, checked})
    writer.write(layout.name, H5T_STD_U8LE, extents, H5T_NATIVE_UINT8, values.data(), layout);
  const auto file = writer.close();
  const auto opened =
      open_hdf5(file, {{"checked", "x"}, {"whole", "y"}}, {.max_resident_bytes = 0});
  const auto chosen = select(opened, {"y"});
  CHECK(read_sample(*chosen, {3})[0] == read_sample(*opened, {3})[1]);
  check_dataset_contract(
      select(opened, {"y", "x"}), samples,
      {{"y", element_type::u8, {3, 4}}, {"x", element_type::u8, {3, 4}}},
      [&](sample_index sample, std::size_t) { return read_sample(*opened, sample)[1]; });
}
