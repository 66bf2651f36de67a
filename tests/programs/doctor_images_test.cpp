#include "programs/doctor_runs.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/hdf5/sequences.hpp"
#include "support/images/image_bytes.hpp"

#include <filesystem>

using namespace feedline;
using namespace feedline::test;

TEST_CASE("doctor: folders of images are decoded to the size that is asked for",
          "[programs][host]") {
  const temporary_directory folder;
  std::filesystem::create_directory(folder.path() / "cat");
  std::filesystem::create_directory(folder.path() / "dog");
  for (const char* const name : {"cat/a.png", "cat/b.png", "dog/c.png"})
    (void)folder.write(name, png_bytes(paint(20, 30)));
  const auto json = run_doctor({folder.path().string(), "--resize", "8x16", "--json", "-"}).json();
  CHECK(json["format"] == "image_folder");
  CHECK(json["layout"]["samples"] == 3);
  CHECK(json["layout"]["fields"][0]["shape"] == nlohmann::json::array({8, 16, 3}));
  CHECK(json["batch_size"] == 3);
  CHECK(says(json["recommended"]["code"], ".image = {.height = 8, .width = 16}"));
}

TEST_CASE("doctor: images that a GPU leaves to readers are told, with their kind",
          "[programs][host]") {
  const temporary_directory folder;
  std::filesystem::create_directory(folder.path() / "cat");
  for (int i = 0; i < 12; ++i) {
    const auto image = paint(20, 30, 3, static_cast<std::uint32_t>(i));
    (void)folder.write("cat/" + std::to_string(100 + i) + ".jpg",
                       i == 5   ? png_bytes(image, {.is_interlaced = true})
                       : i == 7 ? png_bytes(image)
                                : jpeg_bytes(image, {.is_progressive = i % 4 == 0}));
  }
  const auto seen = run_doctor({folder.path().string(), "--json", "-"}).json();
  const auto& images = seen["images"];
  REQUIRE(images.size() == 1);
  CHECK(images[0]["field"] == "image");
  CHECK(images[0]["looked_at"] == 12);
  CHECK(images[0]["on_gpu"] == 8);
  const nlohmann::json kinds{{{"kind", "a progressive JPEG"}, {"images", 3}},
                             {{"kind", "an interlaced PNG"}, {"images", 1}}};
  CHECK(images[0]["by_readers"] == kinds);
  CHECK(says(seen["recommended"]["hints"].back(),
             "33 % of the images are left to readers by decode_on::device (a progressive JPEG: 3, "
             "an interlaced PNG: 1)"));
  const auto text = run_doctor({folder.path().string()});
  CHECK(says(text.out, "who decodes images with decode_on::device"));
  CHECK(says(text.out, "a GPU decodes 8 of 12 that were looked at"));
}

TEST_CASE(
    "doctor: files that open leaves out of folders and tar shards are listed, and so are classes",
    "[programs][host]") {
  const temporary_directory folder;
  std::filesystem::create_directories(folder.path() / "root" / "cat");
  std::filesystem::create_directory(folder.path() / "root" / "dog");
  for (const char* const name : {"root/cat/a.png", "root/dog/b.png", "root/dog/c.heic"})
    (void)folder.write(name, png_bytes(paint(20, 30)));
  const auto images = run_doctor({(folder.path() / "root").string()});
  CHECK(says(images.out, "2 of int32[] of 2 classes (cat, dog; "));
  CHECK(says(images.out, "dog/c.heic"));
  CHECK(says(images.out, "left out: files such as this one are not named as images"));

  tar_bytes archive;
  for (const std::string key : {"0", "1", "2"})
    archive.add(key + ".cls", "1").add(key + ".txt", "x");
  const std::string shard = folder.write("a.tar", archive.ended()).string();
  const auto json = run_doctor({shard, "--json", "-"}).json();
  CHECK(json["offered"][0]["name"] == "label");
  CHECK(json["offered"][1]["name"] == ".txt");
  CHECK(says(json["offered"][1]["left_out"], "members such as '0.txt': open reads images"));
  CHECK(json["layout"]["samples"] == 3);
}

TEST_CASE("doctor: images in an HDF5 file are decoded where a size is given", "[programs][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "images.h5"};
  write_sequences(writer, "jpeg", H5T_STD_U8LE, H5T_NATIVE_UINT8,
                  value_vector(20, jpeg_bytes(paint(20, 30))));
  const std::string file = writer.close().string();
  const auto json = run_doctor({file, "--resize", "16x8", "--json", "-"}).json();
  CHECK(json["layout"]["samples"] == 20);
  CHECK(json["layout"]["fields"][0]["shape"] == nlohmann::json::array({16, 8, 3}));
  CHECK(says(json["recommended"]["code"], "feedline::decode(feedline::open_hdf5_ragged("));
  const auto refused = run_doctor({file});
  CHECK(refused.code == 2);
  CHECK(says(refused.err, "give --pad LENGTH, or --resize HxW if they are JPEG or PNG images"));
}
