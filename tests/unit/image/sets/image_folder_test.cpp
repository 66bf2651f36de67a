#include <feedline/dataset/select.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/tar.hpp>
#include <feedline/image/folder.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/statistics/statistics.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/standin_files.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/image_bytes.hpp"

#include <sys/stat.h>

#include <cstring>
#include <string>

using namespace feedline;
using test::byte_vector;

namespace {

const image_options small{.height = 12, .width = 10};

/// An image that tells its number: written as JPEG and PNG in turn.
byte_vector image_file(std::uint32_t number) {
  const auto image = test::paint(20 + number, 15 + number, 3, number);
  return number % 2 == 0 ? test::jpeg_bytes(image) : test::png_bytes(image);
}

std::vector<std::byte> decoded(std::span<const std::byte> file) {
  const auto decoder = make_image_decoder(small);
  const field spec = decoder->describe(file);
  std::vector<std::byte> out(sample_bytes(spec));
  decoder->decode(file, spec, out, {});
  return out;
}

class image_tree {
 public:
  const std::filesystem::path& root() const { return folder_.path(); }

  void add(const std::string& name, std::span<const std::byte> bytes) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    folder_.write(name, bytes);
  }

 private:
  test::temporary_directory folder_;
};

std::string refusal(const std::filesystem::path& root, const image_folder_options& options = {}) {
  return test::message_of<dataset_error>([&] { (void)open_image_folder(root, options); });
}

template <class Label>
Label to_label(const std::vector<std::byte>& bytes) {
  Label label{};
  REQUIRE(bytes.size() == sizeof label);
  std::memcpy(&label, bytes.data(), sizeof label);
  return label;
}

}  // namespace

TEST_CASE("image folder: a loader counts the images that it has decoded", "[statistics][host]") {
  const image_tree tree;
  for (std::uint32_t i = 0; i < 6; ++i)
    tree.add("class/" + std::to_string(i) + (i % 2 == 0 ? ".jpg" : ".png"), image_file(i));
  loader loader{open_image_folder(tree.root(), {.image = small}).dataset,
                sequential{},
                make_host_device(),
                {.batch_size = 4, .readers = 2}};
  for (const batch& each : loader.epoch(0)) (void)each;
  CHECK(loader.statistics().decoded == 6);
  CHECK(loader.statistics().cache_misses == 0);
}

TEST_CASE("image folder: samples stand in order of class, folder and name, as torchvision's do",
          "[dataset][host]") {
  const image_tree tree;
  // In order of bytes: 'Z' before 'a', "cat/more-x" before "cat/more/deep".
  const std::vector<std::pair<std::string, std::int32_t>> files{
      {"Zebra/1.jpg", 0},    {"cat/a.JPG", 1},         {"cat/z.png", 1},
      {"cat/more/b.png", 1}, {"cat/more-x/a.jpeg", 1}, {"cat/more/deep/0.jpg", 1},
      {"dog/10.jpg", 2},     {"dog/9.jpg", 2},
  };
  std::vector<byte_vector> images;
  for (std::uint32_t i = 0; i < files.size(); ++i) {
    images.push_back(decoded(image_file(i)));
    tree.add(files[i].first, image_file(i));
  }
  const auto folder = open_image_folder(tree.root(), {.image = small});
  CHECK(folder.classes == std::vector<std::string>{"Zebra", "cat", "dog"});
  CHECK(folder.skipped_files == 0);
  test::check_dataset_contract(
      folder.dataset, files.size(),
      {{"image", element_type::u8, {12, 10, 3}},
       {"label", element_type::i32, {}, {}, {}, class_names{folder.classes}}},
      [&](sample_index sample, std::size_t field_place) {
        if (field_place == 0) return images[sample.value];
        byte_vector label(4);
        std::memcpy(label.data(), &files[sample.value].second, 4);
        return label;
      });
}

TEST_CASE("image folder: hidden files are skipped, other files are counted and reported",
          "[dataset][host]") {
  const image_tree tree;
  tree.add("a/1.jpg", image_file(1));
  tree.add("a/.2.jpg", {});
  tree.add("a/notes.txt", {});
  tree.add("a/deep/Thumbs.db", {});
  tree.add(".cache/3.jpg", {});
  tree.add("0.jpg", image_file(0));
  const test::log_capture log;
  const auto folder = open_image_folder(tree.root(), {.image = small});
  CHECK(folder.dataset->size() == 1);
  CHECK(folder.classes == std::vector<std::string>{"a"});
  CHECK(folder.skipped_files == 3);
  CHECK(folder.examples == std::vector<std::string>{"0.jpg", "a/deep/Thumbs.db", "a/notes.txt"});
  CHECK(log.text().find(
            "3 files are left out, such as 0.jpg: they are not named as images (.jpg, "
            ".jpeg, .png, .webp, .tif, .tiff, .bmp, .ppm, .pgm), or lie in no class's folder") !=
        std::string::npos);
}

TEST_CASE("image folder: links are followed, and one that leads back is refused",
          "[dataset][host]") {
  const image_tree tree;
  const image_tree other;
  tree.add("a/1.jpg", image_file(1));
  other.add("2.jpg", image_file(2));
  std::filesystem::create_directory_symlink(other.root(), tree.root() / "b");
  std::filesystem::create_symlink(other.root() / "2.jpg", tree.root() / "a" / "3.jpg");
  const auto folder = open_image_folder(tree.root(), {.image = small});
  CHECK(folder.dataset->size() == 3);
  CHECK(test::read_sample(*folder.dataset, sample_index{1}) ==
        std::vector<byte_vector>{decoded(image_file(2)), byte_vector(4)});

  std::filesystem::create_directory_symlink(tree.root() / "a", tree.root() / "a" / "self");
  const std::string message = refusal(tree.root());
  CHECK((message.find("33 folders deep: does a link lead back to a folder above?") !=
             std::string::npos ||
         message.find("Too many levels of symbolic links") != std::string::npos));
}

TEST_CASE("image folder: labels are of the type asked for, which must count the classes",
          "[dataset][host]") {
  const image_tree tree;
  for (int i = 0; i < 130; ++i)
    tree.add("class " + std::to_string(1000 + i) + "/1.png", image_file(1));
  const auto last = [&](element_type type) {
    const auto folder = open_image_folder(tree.root(), {.image = small, .label_type = type});
    return test::read_sample(*folder.dataset, sample_index{129})[1];
  };
  CHECK(to_label<std::uint8_t>(last(element_type::u8)) == 129);
  CHECK(to_label<std::uint16_t>(last(element_type::u16)) == 129);
  CHECK(to_label<std::int64_t>(last(element_type::i64)) == 129);
  CHECK(refusal(tree.root(), {.image = small, .label_type = element_type::i8}) ==
        tree.root().string() +
            ": field 'label': holds 130 classes, but int8 counts only 128; choose a larger "
            "image_folder_options::label_type");
  CHECK(test::message_of<usage_error>([&] {
          (void)open_image_folder(tree.root(), {.image = small, .label_type = element_type::f32});
        }) == "labels are integers, not float32");
}

TEST_CASE("image folder: folders that hold no classes, or classes no images, are refused",
          "[dataset][host]") {
  const image_tree tree;
  tree.add("1.jpg", image_file(1));
  CHECK(
      refusal(tree.root()) ==
      tree.root().string() +
          ": holds no folder: there should be one for each class, with the images of the class in "
          "it; it holds 1 .jpg file, '1.jpg', of no class");
  tree.add("a/1.jpg", image_file(1));
  tree.add("b/1.gif", {});
  CHECK(refusal(tree.root()) ==
        (tree.root() / "b").string() +
            ": the class has no image (.jpg, .jpeg, .png, .webp, .tif, .tiff, .bmp, .ppm, .pgm) "
            "but 1 .gif file, '1.gif'; give it some, "
            "or remove its folder");
  CHECK(refusal(tree.root() / "none") ==
        (tree.root() / "none").string() +
            ": cannot be listed: No such file or directory; check the path and its permissions");
}

TEST_CASE(
    "image folder: a file that is gone, damaged or no image is an error that names it and the "
    "sample",
    "[dataset][host]") {
  const image_tree tree;
  for (const std::string name : {"a/0.jpg", "a/2.jpg", "a/3.jpg"}) tree.add(name, image_file(0));
  const auto whole = image_file(0);
  tree.add("a/1.jpg", std::span{whole}.first(500));
  tree.add("a/2.jpg", {});
  const auto folder = open_image_folder(tree.root(), {.image = small});
  std::filesystem::remove(tree.root() / "a/3.jpg");
  const auto message = [&](std::uint64_t sample) {
    return test::message_of<dataset_error>(
        [&] { (void)test::read_sample(*folder.dataset, sample_index{sample}); });
  };
  const auto at = [&](const std::string& name, int sample) {
    return (tree.root() / name).string() + ": field 'image', sample " + std::to_string(sample) +
           ": ";
  };
  CHECK(message(1) ==
        at("a/1.jpg", 1) + "the image cannot be decoded: libjpeg says: Premature end of JPEG file");
  CHECK(message(2) == at("a/2.jpg", 2) + "the image cannot be decoded: it is empty");
  CHECK(message(3) == at("a/3.jpg", 3) +
                          "cannot be opened: No such file or directory; check the path and its "
                          "permissions");
  CHECK(message(4) == "sample 4: there is no such sample: the dataset has 4");
  CHECK(test::read_sample(*folder.dataset, sample_index{0})[0] == decoded(image_file(0)));
  folder.dataset->prefetch(std::vector<sample_index>{{0}, {3}, {77}});  // hints never fail
}

TEST_CASE("image folder: pipes and files without end are refused when they are read",
          "[dataset][host]") {
  const image_tree tree;
  tree.add("a/2.jpg", {});
  std::filesystem::resize_file(tree.root() / "a/2.jpg", (std::uintmax_t{1} << 30) + 1);
  REQUIRE(::mkfifo((tree.root() / "a/1.jpg").c_str(), 0600) == 0);
  const auto folder = open_image_folder(tree.root(), {.image = small});
  const auto message = [&](std::uint64_t sample) {
    return test::message_of<dataset_error>(
        [&] { (void)test::read_sample(*folder.dataset, sample_index{sample}); });
  };
  CHECK(message(0) ==
        (tree.root() / "a/1.jpg").string() + ": field 'image', sample 0: is not a regular file");
  CHECK(message(1) == (tree.root() / "a/2.jpg").string() +
                          ": field 'image', sample 1: has 1073741825 bytes, and more than "
                          "1073741824 are not read");
}

TEST_CASE("tar dataset: images of both kinds are decoded as from a folder", "[dataset][host]") {
  const test::temporary_directory folder;
  test::tar_bytes archive;
  for (std::uint32_t i = 0; i < 6; ++i) {
    archive.add(std::to_string(i) + (i % 2 == 0 ? ".jpg" : ".png"), image_file(i));
    archive.add(std::to_string(i) + ".cls", std::to_string(i * 100));
  }
  const auto shard = folder.write("a.tar", archive.ended());
  const auto dataset = open_tar({shard}, {{"image", {"jpg", "png"}, make_image_decoder(small)},
                                          {"label", {"cls"}, decode_decimal()}});
  test::check_dataset_contract(
      dataset, 6, {{"image", element_type::u8, {12, 10, 3}}, {"label", element_type::i32, {}}},
      [&](sample_index sample, std::size_t field_place) {
        const auto number = static_cast<std::uint32_t>(sample.value);
        if (field_place == 0) return decoded(image_file(number));
        const auto label = static_cast<std::int32_t>(number * 100);
        byte_vector bytes(4);
        std::memcpy(bytes.data(), &label, 4);
        return bytes;
      });
}

TEST_CASE("open: a folder is one of images by class, and a shard of images has images and labels",
          "[dataset][host]") {
  const image_tree tree;
  tree.add("a/1.jpg", image_file(1));
  tree.add("b/2.jpg", image_file(2));
  const auto folder = open(tree.root(), {.fields = {"label"}, .label_type = element_type::u8});
  CHECK(test::read_sample(*folder, sample_index{1}) == std::vector<byte_vector>{{std::byte{1}}});

  const test::temporary_directory other;
  const auto shard =
      other.write("a.npy", test::tar_bytes{}.add("1.cls", "7").add("1.png", image_file(1)).ended());
  const auto images = open(shard, {.image = small});
  CHECK(images->fields() == std::vector<field>{{"label", element_type::i32, {}},
                                               {"image", element_type::u8, {12, 10, 3}}});
  CHECK(test::read_sample(*images, sample_index{0})[1] == decoded(image_file(1)));
}

TEST_CASE("image folder: if labels alone are selected no file is read", "[dataset][host]") {
  const image_tree tree;
  const std::vector<std::byte> no_image(10);
  tree.add("cat/0.jpg", no_image);
  tree.add("dog/1.jpg", no_image);
  const auto whole = open_image_folder(tree.root(), {.image = small}).dataset;
  CHECK_THROWS_AS(test::read_sample(*whole, {1}), dataset_error);
  CHECK(to_label<std::int32_t>(test::read_sample(*select(whole, {"label"}), {1})[0]) == 1);
  const auto turned = select(select(whole, {"label", "image"}), {"label"});
  CHECK(to_label<std::int32_t>(test::read_sample(*turned, {0})[0]) == 0);
  CHECK_THROWS_AS(test::read_sample(*select(whole, {"image"}), {1}), dataset_error);
}

TEST_CASE("image folder: in other storage its images and classes are the same", "[dataset][host]") {
  const test::mounted_standin storage;
  const image_tree tree;
  for (std::uint32_t i = 0; i < 8; ++i)
    tree.add((i < 3 ? "cat/" : "dog/deep/") + std::to_string(i) + (i % 2 == 0 ? ".jpg" : ".png"),
             image_file(i));
  tree.add("dog/notes.txt", image_file(0));
  const auto address = test::mounted_standin::address_of(tree.root());
  const image_folder_options options{.image = small};
  const image_folder here = open_image_folder(tree.root(), options);
  const image_folder there = open_image_folder(address, options);
  CHECK(there.classes == here.classes);
  CHECK(there.skipped_files == 1);
  CHECK(there.examples == here.examples);
  REQUIRE(there.dataset->size() == 8);
  for (std::uint64_t i = 0; i < 8; ++i)
    CHECK(test::read_sample(*there.dataset, {i}) == test::read_sample(*here.dataset, {i}));
  CHECK(storage->take_calls().size() == 8);  // one for each image
  CHECK(open(address, {.image = small})->size() == 8);

  storage->set_hook([](const detail::byte_file& file, const detail::byte_read&) {
    if (file.name().ends_with("/4.jpg"))
      throw dataset_error{{.path = file.name(), .field = {}}, "the storage does not answer"};
  });
  CHECK(test::message_of<dataset_error>([&] { (void)test::read_sample(*there.dataset, {4}); }) ==
        address + "/dog/deep/4.jpg: field 'image', sample 4: the storage does not answer");
  CHECK(test::read_sample(*there.dataset, {5}) == test::read_sample(*here.dataset, {5}));
}
