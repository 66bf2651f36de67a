/// Images that belong together, such as an image and its mask, as fields of one sample.

#include <feedline/dataset/select.hpp>
#include <feedline/error.hpp>
#include <feedline/image/joined.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/temporary_directory.hpp"
#include "unit/image/decoded_images.hpp"

#include <filesystem>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

class image_tree {
 public:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  void add(const std::string& name, const byte_vector& file) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    folder_.write(name, file);
  }

 private:
  temporary_directory folder_;
};

const image_options whole{.height = 6, .width = 5};

std::vector<joined_field> image_and_mask(const image_tree& tree, const image_options& image = whole,
                                         const image_options& mask = whole) {
  return {{"image", tree.path("images"), make_image_decoder(image)},
          {"mask", tree.path("masks"), make_mask_decoder(mask)}};
}

std::string refusal(const std::vector<joined_field>& fields,
                    const joined_images_options& options = {}) {
  return message_of<dataset_error>([&] { (void)open_joined_images(fields, options); });
}

std::string misuse(const std::vector<joined_field>& fields) {
  return message_of<usage_error>([&] { (void)open_joined_images(fields); });
}

}  // namespace

TEST_CASE("joined images: a pair of images has one window and one flip, on devices, too",
          "[loader][host]") {
  const image_tree tree;
  for (std::uint32_t i = 0; i < images; ++i) {
    const std::string name = "/" + std::to_string(i % 3) + "/" + std::to_string(100 + i);
    const byte_vector file = jpeg_bytes(paint(30 + i, 40 + i % 7, 3, i), {.quality = 95});
    tree.add("left" + name + ".jpg", file);
    tree.add("right" + name + "_R.jpeg", file);
  }
  const auto cut = make_image_decoder(
      {.height = 24, .width = 24, .resized_crop = crop_ranges{.scale = {0.2, 0.6}}});
  const joined_images opened = open_joined_images(
      {{"left", tree.path("left"), cut}, {"right", tree.path("right"), cut, "_R"}});
  REQUIRE(opened.dataset->size() == images);
  CHECK(opened.paths[1] == tree.path("left/0/103.jpg"));
  CHECK(opened.skipped_files == 0);
  CHECK(opened.dataset->fields()[1].tie == image_tie{.image = "left"});
  loader_options loading{.batch_size = 8, .readers = 2, .seed = 5};
  for (const char* name : {"left", "right"})
    loading.transforms.push_back({.field = name, .layout = image_layout::hwc, .flip = 0.5});
  check_same(opened.dataset, shuffle{.seed = 4}, loading);
  const run seen = deliver(opened.dataset, decode_on::device, shuffle{.seed = 4}, loading);
  REQUIRE(seen.error == std::nullopt);
  REQUIRE(seen.fields.size() == 2 * 2 * images / 8);
  for (std::size_t i = 0; i < seen.fields.size(); i += 2)
    CHECK((seen.fields[i] == seen.fields[i + 1]));
  loading.transforms[1].flip = 0;
  CHECK(contains(message_of<usage_error>([&] {
                   (void)deliver(opened.dataset, decode_on::cpu, shuffle{.seed = 4}, loading);
                 }),
                 "transforms: field 'right' belongs to 'left'"));
  // The second image alone, by the first one's name, belongs to no image; by its own it still does.
  const auto tie_of = [&](const std::vector<selected_field>& fields, std::size_t place) {
    return select(opened.dataset, fields)->fields().at(place).tie;
  };
  CHECK(tie_of({{"right", "left"}}, 0) == std::nullopt);
  CHECK(tie_of({"right"}, 0) == image_tie{.image = "left"});
  CHECK(tie_of({{"right", "left"}, {"left", "right"}}, 0) == image_tie{.image = "right"});
  CHECK(tie_of({"left", {"right", "other"}}, 1) == image_tie{.image = "left"});
  const dataset_ptr second = select(opened.dataset, {{"right", "left"}});
  loading.transforms = {{.field = "left", .layout = image_layout::hwc}};
  loading.transforms[0].rand_augment = rand_augment{};
  CHECK(deliver(second, decode_on::cpu, shuffle{.seed = 4}, loading).error == std::nullopt);
}

TEST_CASE("joined images: a mask is matched by name, wherever its folder lists it",
          "[dataset][host]") {
  const image_tree tree;
  const std::vector<std::string> names{"a/1", "a/2", "b/1", "c"};
  for (const std::uint8_t i : std::initializer_list<std::uint8_t>{2, 1, 0, 3}) {
    tree.add("images/" + names[i] + ".jpg", jpeg_bytes(paint(6, 5, 3, i)));
    tree.add("masks/" + names[i] + ".png", png_bytes({6, 5, 1, std::vector(30, i)}));
  }
  const joined_images opened = open_joined_images(image_and_mask(tree));
  REQUIRE(opened.paths.size() == 4);
  for (std::uint64_t i = 0; i < 4; ++i) {
    CHECK(opened.paths[i] == tree.path("images/" + names[i] + ".jpg"));
    CHECK((read_sample(*opened.dataset, {i})[1] ==
           byte_vector(30, std::byte{static_cast<std::uint8_t>(i)})));
  }
}

TEST_CASE("joined images: a mask of another size than its image is refused with both paths",
          "[dataset][host]") {
  const image_tree tree;
  tree.add("images/1.jpg", jpeg_bytes(paint(30, 40)));
  tree.add("masks/1.png", png_bytes(paint(30, 41, 1)));
  tree.add("images/2.png", png_bytes(paint(33, 44)));
  tree.add("masks/2.png", png_bytes(paint(33, 44, 1)));
  const dataset_ptr opened = open_joined_images(image_and_mask(tree)).dataset;
  CHECK(read_sample(*opened, {1}).size() == 2);
  const auto of = [&](const dataset& read) {
    return message_of<dataset_error>([&] { (void)read_sample(read, {0}); });
  };
  for (int again = 0; again < 2; ++again)
    CHECK(of(*opened) == tree.path("masks/1.png") +
                             ": field 'mask', sample 0: it is 41 x 30 pixels, but 'image' of the "
                             "same sample, " +
                             tree.path("images/1.jpg") + ", has 40 x 30");
  // A device decodes the image, so each is read by itself.
  loader_options loading{.batch_size = 1, .readers = 1};
  for (const decode_on who : {decode_on::cpu, decode_on::device}) {
    const run seen = deliver(opened, who, shuffle{.seed = 1}, loading, 1);
    REQUIRE(seen.error);
    CHECK(contains(*seen.error, "1 x 30 pixels, but '"));
  }
}

TEST_CASE("joined images: files without a partner are refused, or left out and counted",
          "[dataset][host]") {
  const image_tree tree;
  const byte_vector image = jpeg_bytes(paint(6, 5));
  tree.add("images/a/1.jpg", image);
  tree.add("images/a/2.jpg", image);
  tree.add("masks/a/1.png", png_bytes(paint(6, 5, 1)));
  CHECK(refusal(image_and_mask(tree)) ==
        tree.path("images/a/2.jpg") +
            ": field 'image': there is no file for field 'mask': " + tree.path("masks/a/2") +
            ".png or .jpg; add it, or set joined_images_options::skip_incomplete");
  {
    const log_capture log;
    const joined_images some = open_joined_images(image_and_mask(tree), {.skip_incomplete = true});
    CHECK(some.dataset->size() == 1);
    CHECK(some.skipped_files == 1);
    CHECK(some.examples == std::vector{tree.path("images/a/2.jpg")});
    CHECK(contains(log.text(),
                   "joined images: 1 files are left out, such as " + tree.path("images/a/2.jpg")));
  }
  tree.add("masks/a/1.jpg", image);
  CHECK(contains(refusal(image_and_mask(tree)), "has the same name as " + tree.path("masks/a/1")));
  const image_tree apart;
  apart.add("images/1.jpg", image);
  apart.add("masks/2.png", image);
  CHECK(contains(refusal(image_and_mask(apart), {.skip_incomplete = true}),
                 "no image has files for all fields"));
  CHECK(contains(refusal({{"image", apart.path("images"), make_image_decoder(whole)},
                          {"mask", apart.path("none"), make_mask_decoder(whole)}}),
                 apart.path("none")));
}

TEST_CASE("joined images: decoders that would show different parts are refused",
          "[dataset][host]") {
  const image_tree tree;
  const auto differ = [&](const image_options& image, const image_options& mask) -> std::string {
    return misuse(image_and_mask(tree, image, mask));
  };
  const std::string words =
      "joined images: fields 'image' and 'mask' have decoders that differ in shorter_side, "
      "resized_crop, follow_orientation, fit, sizes, size_divisible, larger or flip, or in size "
      "with shorter_side or fit, so they would show different parts";
  image_options crop = whole;
  crop.resized_crop = crop_ranges{};
  CHECK(differ(whole, crop) == words);
  image_options other = crop;
  other.resized_crop->ratio.low = 0.5;
  CHECK(differ(crop, other) == words);
  CHECK(differ(whole, {.height = 6, .width = 5, .shorter_side = 6}) == words);
  CHECK(differ({.height = 6, .width = 5, .shorter_side = 6},
               {.height = 3, .width = 5, .shorter_side = 6}) == words);
  CHECK(differ(whole, {.height = 6, .width = 5, .follow_orientation = true}) == words);
  CHECK(contains(misuse({{"image", "x", make_image_decoder()}}), "at least two are joined"));
  CHECK(contains(misuse({{"a", "x", make_image_decoder()}, {"b", "x", nullptr}}),
                 "field 'b' has no decoder"));
  CHECK(contains(misuse({{"a", "x", make_image_decoder()}, {"b", "x", decode_npy()}}),
                 "field 'b' has a decoder of another kind, which cannot cut as the others do"));
}
