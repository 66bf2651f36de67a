#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/image/folder.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"
#include "support/images/image_bytes.hpp"

#include <cstring>
#include <string>
#include <vector>

using namespace feedline;
using strings = std::vector<std::string>;

namespace {

const image_options small{.height = 6, .width = 5};

class image_tree {
 public:
  std::string path(const std::string& name = {}) const { return (folder_.path() / name).string(); }

  void add(const std::string& name) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    folder_.write(name, test::jpeg_bytes(test::paint(8, 8)));
  }

 private:
  test::temporary_directory folder_;
};

strings labels_of(const dataset& opened) {
  strings labels;
  for (std::uint64_t i = 0; i < opened.size(); ++i) {
    std::int32_t label{};
    const auto bytes = test::read_sample(opened, sample_index{i}).back();
    REQUIRE(bytes.size() == sizeof label);
    std::memcpy(&label, bytes.data(), sizeof label);
    labels.push_back(std::to_string(label));
  }
  return labels;
}

std::string refusal(const std::string& root) {
  return test::message_of<dataset_error>([&] { (void)open(root); });
}

/// The same, if nothing but a folder of images is looked for.
std::string message_of_folder(const std::string& root) {
  return test::message_of<dataset_error>([&] { (void)open(root, {.format = "image_folder"}); });
}

}  // namespace

TEST_CASE("image folders: several roots have one list of classes, and a class one label in all",
          "[dataset][host]") {
  const image_tree tree;
  for (const char* name :
       {"A/dog/1.jpg", "A/cat/1.jpg", "B/emu/1.jpg", "B/dog/1.jpg", "B/dog/2.jpg"})
    tree.add(name);
  const strings roots{tree.path("A"), tree.path("B")};
  const test::log_capture log;
  const auto both = open_image_folder(roots, {.image = small});
  CHECK(both.classes == strings{"cat", "dog", "emu"});
  CHECK(labels_of(*both.dataset) == strings{"0", "1", "1", "1", "2"});
  CHECK(test::contains(log.text(), "image folders " + roots[0] + ", " + roots[1] +
                                       ": not every one has all classes; labels count the classes "
                                       "of all of them, from 0: cat, dog, emu"));
  CHECK(labels_of(*open(roots, {.image = small})) == labels_of(*both.dataset));
  CHECK(labels_of(*open(tree.path("[AB]"), {.image = small})) == labels_of(*both.dataset));
  CHECK(labels_of(*open(roots, {.fields = {"label"}})) == labels_of(*both.dataset));
  // In the other order samples are swapped, and labels stay.
  CHECK(labels_of(*open_image_folder(strings{roots[1], roots[0]}, {.image = small}).dataset) ==
        strings{"1", "1", "2", "0", "1"});
}

TEST_CASE("image folders: the classes of all roots must be counted by the labels' type",
          "[dataset][host]") {
  const image_tree tree;
  for (int i = 0; i < 200; ++i)
    tree.add((i % 2 == 0 ? "A/" : "B/") + std::to_string(1000 + i) + "/1.jpg");
  const strings roots{tree.path("A"), tree.path("B")};
  const test::log_capture log;
  CHECK(test::message_of<dataset_error>([&] {
          (void)open_image_folder(roots, {.image = small, .label_type = element_type::i8});
        }) == roots[0] +
                  ": field 'label': holds 200 classes, but int8 counts only 128; choose a larger "
                  "image_folder_options::label_type");
  CHECK(open_image_folder(roots, {.image = small, .label_type = element_type::u8}).classes.size() ==
        200);
  CHECK(test::message_of<usage_error>([] { (void)open_image_folder(strings{}); }) ==
        "image folder: there is no root");
}

TEST_CASE("image folders: files left out of several roots are named by their paths",
          "[dataset][host]") {
  const image_tree tree;
  for (const char* name : {"A/cat/1.jpg", "A/cat/1.heic", "B/cat/1.jpg", "B/cat/2.gif"})
    tree.add(name);
  const test::log_capture log;
  const auto both = open_image_folder(strings{tree.path("A"), tree.path("B")}, {.image = small});
  CHECK(both.skipped_files == 2);
  CHECK(both.examples == strings{tree.path("A/cat/1.heic"), tree.path("B/cat/2.gif")});
  CHECK(log.lines() == 1);  // both have all classes, so no warning is needed
}

TEST_CASE("list_fields: shows the classes of a folder of images, and what is left out",
          "[dataset][host]") {
  const image_tree tree;
  for (const char* name : {"cat/1.jpg", "dog/1.jpg", "dog/1.heic", "loose.jpg"}) tree.add(name);
  const test::log_capture log;
  const auto listed = list_fields(tree.path(), {.image = small});
  REQUIRE(listed.size() == 3);
  CHECK(to_string(listed[0].spec) == "image: uint8[6, 5, 3]");
  CHECK(listed[0].classes.empty());
  CHECK(listed[1].name == "label");
  CHECK(listed[1].classes == strings{"cat", "dog"});
  CHECK(listed[2].name == "loose.jpg");
  CHECK(listed[2].samples == 2);
  CHECK(listed[2].left_out ==
        "files such as this one are not named as images (.jpg, .jpeg, .png, .webp, .tif, .tiff, "
        ".bmp, .ppm, .pgm), or lie in no class's "
        "folder");
}

TEST_CASE("image folders: the error for a folder of other files names their kind",
          "[dataset][host]") {
  const image_tree tree;
  for (const char* name : {"arrays/a.npy", "arrays/b.npy", "arrays/readme.txt", "zarr2/.zarray",
                           "zarr3/zarr.json", "group/.zgroup", "group/x/.zarray", "texts/a/1.txt"})
    tree.add(name);
  CHECK(refusal(tree.path("arrays")) ==
        tree.path("arrays") +
            ": a folder of 2 .npy files, such as 'a.npy', and not one of images by class; open "
            "files by their paths, several of one kind by a pattern such as '" +
            tree.path("arrays/*.npy") + "'");
  for (const auto& [name, mark] : {std::pair{"zarr2", ".zarray"}, std::pair{"zarr3", "zarr.json"},
                                   std::pair{"group", ".zgroup"}}) {
    const std::string root = tree.path(name);
    CHECK(message_of_folder(root) ==
          root + ": a Zarr store (it holds " + mark +
              "), and no folder of images; open it by open or open_zarr");
  }
  CHECK(refusal(tree.path("texts")) ==
        tree.path("texts/a") +
            ": the class has no image (.jpg, .jpeg, .png, .webp, .tif, .tiff, .bmp, .ppm, .pgm) "
            "but 1 .txt file, '1.txt'; give it some, "
            "or remove its folder");
  CHECK(test::contains(
      test::message_of<dataset_error>([] { (void)open_image_folder("gs://bucket/train"); }),
      "an object of Google Cloud Storage"));
}

TEST_CASE("image folders: images with masks or annotations beside them are no classes",
          "[dataset][host]") {
  const auto [images, targets] = GENERATE(table<std::string, std::string>({
      {"images", "masks"},
      {"images", "labels"},
      {"images", "annotations"},
      {"JPEGImages", "SegmentationClass"},
      {"leftImg8bit", "gtFine"},
      {"train", "train_masks"},
      {"train", "trainannot"},
  }));
  const image_tree tree;
  tree.add(images + "/1.jpg");
  tree.add(targets + "/1.jpg");
  CHECK(refusal(tree.path()) ==
        tree.path() + ": holds '" + images + "' and '" + targets +
            "': images and their annotations (a set for segmentation or detection), and no "
            "classes. open_joined_images opens images with masks, open_coco and open_voc open "
            "annotations, and open_images opens '" +
            images + "' alone");
}

TEST_CASE("image folders: classes that are called mask or image alone stay classes",
          "[dataset][host]") {
  const image_tree tree;
  for (const char* name : {"mask/1.jpg", "no_mask/1.jpg", "trains/1.jpg"}) tree.add(name);
  CHECK(open_image_folder(tree.path(), {.image = small}).classes ==
        strings{"mask", "no_mask", "trains"});
}

TEST_CASE("image folders: two roots with classes of their own, as they lie on a disk",
          "[dataset][host]") {
  const auto a = test::find_test_data("found/second/two-roots/A");
  const auto b = test::find_test_data("found/second/two-roots/B");
  const auto pairs = test::find_test_data("found/second/palette-mask/pairs");
  if (!a || !b || !pairs)
    FEEDLINE_SKIP("no found/second: name its folder's parent in FEEDLINE_TEST_DATA");
  const test::log_capture log;
  const auto both = open_image_folder(strings{*a, *b}, {.image = small});
  CHECK(both.classes == strings{"cat", "dog", "emu"});
  CHECK(labels_of(*both.dataset) == strings{"0", "1", "1", "2"});
  CHECK(test::contains(refusal(*pairs), "holds 'images' and 'masks'"));
}
