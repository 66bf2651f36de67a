/// Files and folders that feedline does not read: each is named, with a way out.

#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>

#include "formats/open/folder_kind.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/idx_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace feedline;
using namespace std::string_literals;

namespace {

struct foreign_file {
  std::string content;
  std::string_view name;    ///< words of the message
  std::string_view advice;  ///< a part of the advice
};

std::string at(std::size_t offset, const std::string& text) {
  return std::string(offset, '\0') + text + std::string(40, '\0');
}

std::string zip_of(const std::string& member) {
  return "PK\3\4"s + std::string(22, '\0') + static_cast<char>(member.size()) + "\0\0\0"s + member +
         std::string(40, 'x');
}

std::vector<foreign_file> foreign_files() {
  return {
      {"ARROW1\0\0 and more"s, "it is an Arrow or Feather file", "save its values as arrays"},
      {"Obj\1 avro.schema", "it is an Avro file", "save its values"},
      {"SQLite format 3\0"s, "it is an SQLite database", "save its values"},
      {"\x10\0\0\0\0\0\0\0{\"a\":{}}      "s, "it is a safetensors file", "numpy.save"},
      {"\x80\4\x95\x10\0\0\0\0\0\0\0]\x94."s, "it is a pickle", "feedline never unpickles"},
      {"\x80\3}q\0X\5\0\0\0"s, "it is a pickle", "feedline never unpickles"},
      {"\x80\2\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19."s, "it is a file of torch.save",
       "feedline never unpickles"},
      {zip_of("archive/data.pkl"), "it is a file of torch.save", "feedline never unpickles"},
      {zip_of("[Content_Types].xml"), "it is a workbook or document of Office", "as CSV"},
      {"\x0e\3\x13\1 HDF4", "it is an HDF4 file", "h4toh5"},
      {"CDF\1\0\0"s, "it is a classic netCDF file", "nccopy -k nc4"},
      {"MATLAB 5.0 MAT-file, Platform: GLNXA64", "it is a MATLAB file of version 5", "-v7.3"},
      {"SIMPLE  =                    T / FITS", "it is a FITS file", "astropy"},
      {"GRIB\0\0\0\2"s, "it is a GRIB file", "netCDF-4"},
      {at(128, "DICM"), "it is a DICOM file", "numpy.save"},
      {at(344, "n+1\0"s), "it is a NIfTI file", "nibabel"},
      {"\x0a\x23\xd7\xce\0\0\0\0"s, "it is a RecordIO file of MXNet", "as TFRecord"},
      {"GGUF\3\0\0\0"s, "it is weights of a model", "name the data set"},
      {"II*\0\x08\0\0\0"s, "it is a TIFF image", "a folder of images for each class"},
      {"GIF89a\1\0\1\0"s, "it is a GIF image", "convert it"},
      {"\0\0\0\x18"
       "ftypmp42"s,
       "it is a video", "save its frames"},
      {"\x1a\x45\xdf\xa3\1\0"s, "it is a Matroska or WebM video", "save its frames"},
      {"RIFF\x24\0\0\0WAVEfmt "s, "it is a WAV recording", "decode it to arrays"},
      {"RIFF\x24\0\0\0AVI LIST"s, "it is an AVI video", "save its frames"},
      {"fLaC\0\0\0\x22"s, "it is a FLAC recording", "decode it to arrays"},
      {"OggS\0\2\0\0"s, "it is an Ogg recording", "decode it to arrays"},
      {"7z\xbc\xaf\x27\x1c\0\4"s, "it is a 7z archive", "unpack it"},
      {"Rar!\x1a\7\1\0"s, "it is a RAR archive", "unpack it"},
      {"\x28\xb5\x2f\xfd\x04"s, "it is a Zstandard file", "unzstd"},
      {"\xfd"
       "7zXZ\0\0"s,
       "it is an xz file", "unxz"},
      {"BZh91AY&SY", "it is a bzip2 file", "bunzip2"},
      {"%PDF-1.7", "it is a PDF", "extract"},
      {"v1.2 2\njpg 512 4096 1.jpg cls 5120 1 1.cls\n", "it is an index of tar shards (DALI",
       "open the tar shards"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
       "it is a pointer of git-lfs, not the file itself", "git lfs pull"},
      {"\n<!DOCTYPE html><html><head><title>Sign in</title>", "it is a web page, not the file",
       "download it again"},
      {"{\"info\": {}, \"images\": [{\"id\": 1, \"file_name\": \"a.jpg\"}], \"annotations\": []}",
       "it is annotations of COCO", "open_coco"},
      {"<annotation>\n  <folder>VOC2012</folder>\n</annotation>", "it is an annotation of VOC",
       "open_voc"},
      {"[{\"text\": \"one\",\n  \"number\": 1}]", "it is JSON text", "numpy.save"},
      {"0 0.5 0.5 0.25 0.25\n2 0.1 0.4 0.125 1.0\n", "it is labels of YOLO", "COCO's JSON"},
      {"Some words of a text that goes on and on\nin two lines.\n", "it is text", "numpy.save"},
  };
}

struct foreign_folder {
  std::vector<std::string> files;  ///< "name", or "name=content"; with the folders that they are in
  std::string_view name;
  std::string_view advice;
};

std::vector<foreign_folder> foreign_folders() {
  return {
      {{"CURRENT", "MANIFEST-000004", "000005.ldb"},
       "a LevelDB or RocksDB database",
       "as TFRecord"},
      {{"_delta_log/0.json", "part-0.parquet"}, "a Delta table", "as TFRecord"},
      {{"metadata/v1.metadata.json", "data/0.parquet"}, "an Iceberg table", "as TFRecord"},
      {{"_versions/1.manifest", "data/0.lance"}, "a Lance table", "as TFRecord"},
      {{"dataset_info.json", "features.json", "mnist-train.tfrecord-00000-of-00001"},
       "a set of TensorFlow Datasets (TFDS)",
       "by a pattern"},
      {{"dataset_info.json", "state.json", "data-00000-of-00001.arrow"},
       "a set of Hugging Face's datasets (save_to_disk)",
       "load_from_disk"},
      {{"dataset_dict.json", "train/state.json"}, "several splits", "the folder of a split"},
      {{"refs/main", "snapshots/0a1b/train.parquet", "blobs/x"},
       "a cache of Hugging Face's Hub",
       "snapshots"},
      {{"train/index.json={\"version\": 2, \"shards\": []}", "train/shard.00000.mds"},
       "several splits, each a set of its own",
       "choose the folder of a split"},
      {{"annotations/instances_train2017.json", "train2017/1.jpg"}, "a set of COCO", "open_coco"},
      {{"data.yaml", "train/images/1.jpg", "train/labels/1.txt"}, "a set of YOLO", "COCO's JSON"},
      {{"images/1.jpg", "labels/1.txt"}, "a set of YOLO", "open_images"},
      {{"saved_model.pb", "variables/x"}, "a model of TensorFlow", "name the data set"},
      {{"config.json", "model.safetensors"}, "a model's weights", "name the data set"},
      {{"DICOMDIR", "IM0"}, "a medium of DICOM files", "numpy.save"},
  };
}

void make_folder(const std::filesystem::path& root, const std::vector<std::string>& files) {
  for (const std::string& each : files) {
    const std::size_t end = std::min(each.find('='), each.size());
    const auto path = root / each.substr(0, end);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << (end < each.size() ? each.substr(end + 1) : "x");
  }
}

}  // namespace

TEST_CASE("open: each of 41 foreign kinds of files is named, with a way out", "[dataset][host]") {
  const test::temporary_directory folder;
  CHECK(foreign_files().size() >= 40);
  for (const foreign_file& each : foreign_files()) {
    const auto path = folder.write("a", std::as_bytes(std::span{each.content}));
    const std::string told = test::message_of<dataset_error>([&] { (void)open(path); });
    CAPTURE(each.name);
    CHECK(test::contains(told, std::string{each.name}));
    CHECK(test::contains(told, each.advice));
    CHECK(detect_format(path).empty());
  }
}

TEST_CASE("open: a gzip file of a foreign kind is named by its content", "[dataset][host]") {
  const test::temporary_directory folder;
  for (const foreign_file& each : foreign_files()) {
    if (!each.name.starts_with("it is an Avro") && !each.name.starts_with("it is JSON text"))
      continue;
    const auto path = folder.write("a", test::gzip_bytes(std::as_bytes(std::span{each.content})));
    const std::string told = test::message_of<dataset_error>([&] { (void)open(path); });
    CHECK(test::contains(told, "it is a gzip file that holds " + std::string{each.name.substr(6)} +
                                   "; decompress it (gunzip), then "));
  }
}

TEST_CASE("open: each of 17 foreign kinds of folders is named, with a way out", "[dataset][host]") {
  for (const foreign_folder& each : foreign_folders()) {
    const test::temporary_directory folder;
    make_folder(folder.path(), each.files);
    const std::string told = test::message_of<dataset_error>([&] { (void)open(folder.path()); });
    CAPTURE(each.name);
    CHECK(test::contains(told, folder.path().string() + ": is " + std::string{each.name}));
    CHECK(test::contains(told, each.advice));
    CHECK(test::contains(test::message_of<dataset_error>([&] { (void)list_fields(folder.path()); }),
                         each.name));
  }
}

TEST_CASE("open: folders of classes are no foreign kind, whatever their names", "[dataset][host]") {
  const test::temporary_directory folder;
  make_folder(folder.path(), {"cat/1.jpg", "data/2.jpg", "labels/3.jpg", "index.json={}",
                              "config.json", "annotations/4.jpg", "metadata/5.jpg", "README.md"});
  CHECK_FALSE(detail::find_folder_kind(folder.path()));
}
