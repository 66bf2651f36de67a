/// Images listed in a text file, and images in folders without classes.

#include <feedline/error.hpp>
#include <feedline/image/list.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/image_bytes.hpp"

#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using strings = std::vector<std::string>;

namespace {

const image_options small{.height = 6, .width = 5};

class image_tree {
 public:
  explicit image_tree(const strings& files) {
    for (std::uint32_t i = 0; i < files.size(); ++i) {
      std::filesystem::create_directories((folder_.path() / files[i]).parent_path());
      folder_.write(files[i], png_bytes(paint(6, 5, 3, i)));
    }
  }
  std::string path(const std::string& name = {}) const { return (folder_.path() / name).string(); }

  std::string list(const std::string& text, const std::string& name = "list.txt") const {
    const auto bytes = std::as_bytes(std::span{text});
    folder_.write(name, {bytes.begin(), bytes.end()});
    return path(name);
  }

 private:
  temporary_directory folder_;
};

/// Labels, and the seeds of the images.
std::vector<std::pair<std::int32_t, std::uint32_t>> content(const dataset& opened) {
  std::vector<std::pair<std::int32_t, std::uint32_t>> samples;
  for (std::uint64_t i = 0; i < opened.size(); ++i) {
    const auto fields = read_sample(opened, {i});
    std::int32_t label = -1;
    if (fields.size() == 2) std::memcpy(&label, fields[1].data(), sizeof label);
    for (std::uint32_t seed = 0; seed < 10; ++seed)
      if (std::memcmp(fields[0].data(), paint(6, 5, 3, seed).values.data(), 90) == 0)
        samples.emplace_back(label, seed);
  }
  return samples;
}

std::string refusal(const strings& lists, const image_list_options& options = {}) {
  return message_of<dataset_error>([&] { (void)open_image_list(lists, options); });
}

}  // namespace

TEST_CASE("image lists: a line is a path, which may have spaces, and a label", "[dataset][host]") {
  const image_tree tree{{"a.png", "b/my photo.png", "b/c.png"}};
  const std::string list = tree.list(
      "\xEF\xBB\xBF  a.png\tdog \r\n\n \t\nb/my photo.png \t cat\nb/c.png dog\na.png cat");
  const image_list opened = open_image_list({list}, {.image = small});
  CHECK(opened.classes == strings{"cat", "dog"});
  CHECK(opened.paths == strings{tree.path("a.png"), tree.path("b/my photo.png"),
                                tree.path("b/c.png"), tree.path("a.png")});
  using wanted = std::vector<std::pair<std::int32_t, std::uint32_t>>;
  CHECK((content(*opened.dataset) == wanted{{1, 0}, {0, 1}, {1, 2}, {0, 0}}));
  const image_list chosen =
      open_image_list({list}, {.classes = {"emu", "dog", "cat"}, .image = small});
  CHECK((content(*chosen.dataset) == wanted{{1, 0}, {2, 1}, {1, 2}, {2, 0}}));
  // Numbers are taken as they are; the root may be another folder, or paths absolute.
  const image_list numbers =
      open_image_list({tree.list("my photo.png 7\n" + tree.path("a.png") + " 0\n", "numbers.txt")},
                      {.root = tree.path("b"), .image = small});
  CHECK(numbers.classes.empty());
  CHECK((content(*numbers.dataset) == wanted{{7, 1}, {0, 0}}));
}

TEST_CASE("image lists: several lists have one list of classes", "[dataset][host]") {
  const image_tree tree{{"x/1.png", "y/2.png"}};
  const strings lists{tree.list("1.png emu", "x/list"),
                      tree.list("2.png ant\n2.png emu", "y/list")};
  const image_list opened = open_image_list(lists, {.image = small});
  CHECK(opened.classes == strings{"ant", "emu"});
  using wanted = std::vector<std::pair<std::int32_t, std::uint32_t>>;
  CHECK((content(*opened.dataset) == wanted{{1, 0}, {0, 1}, {1, 1}}));
}

TEST_CASE("image lists: what is not understood is refused with its line", "[dataset][host]") {
  const image_tree tree{{"a.png"}};
  const auto of = [&](const std::string& text, const image_list_options& options = {}) {
    const std::string list = tree.list(text);
    std::string words = refusal({list}, options);
    return words.starts_with(list + ": ") ? words.substr(list.size() + 2) : words;
  };
  CHECK(of("a.png 1\na.png\n") ==
        "line 2: 'a.png' is one word, but there should be a path, white space and a label; "
        "open_images opens images without labels");
  CHECK(of("a.png 1\n\na.png cat") ==
        "line 3: label 'cat' is no whole number, but the first label is");
  CHECK(of("a.png 1\na.png -1") == "line 2: label '-1' is no whole number, but the first label is");
  CHECK(of("a.png cat\na.png do\x01g", {.classes = {"cat"}}) ==
        "line 2: label 'do\\x01g' is not one of image_list_options::classes");
  CHECK(of("a.png 255\na.png 256", {.label_type = element_type::u8}) ==
        "line 2: label '256' is number 256, but uint8 counts only to 255; choose a larger "
        "image_list_options::label_type");
  CHECK(of("a.png 1\nb.png 2") == "line 2: there is no file " + tree.path("b.png") +
                                      "; relative paths begin at the list's folder");
  CHECK(of("a.png 1\nnone/a.png 2", {.root = tree.path()}) ==
        "line 2: there is no file " + tree.path("none/a.png") + "; relative paths begin at " +
            tree.path());
  CHECK(of(std::string{"a.png 1\na\0.png 2", 16}) ==
        "line 2: it has a byte 0, so this is no text file");
  CHECK(of("\n \n") == "lists no image");
  CHECK(contains(refusal({tree.path("none.txt")}), tree.path("none.txt")));
  CHECK(message_of<usage_error>([] { (void)open_image_list({}); }) ==
        "image list: there is no list");
  CHECK(message_of<usage_error>([&] {
          (void)open_image_list({tree.list("a.png x")}, {.classes = {"x", "y", "x"}});
        }) == "image_list_options::classes has 'x' twice");
}

TEST_CASE("images: folders without classes become one sequence with its paths", "[dataset][host]") {
  const image_tree tree{{"x/b.png", "x/a.png", "x/in/c.PNG", "y/d.png"}};
  (void)tree.list("words", "x/notes.txt");
  const log_capture log;
  const image_list opened = open_images({tree.path("y"), tree.path("x")}, small);
  CHECK(opened.paths == strings{tree.path("y/d.png"), tree.path("x/a.png"), tree.path("x/b.png"),
                                tree.path("x/in/c.PNG")});
  using wanted = std::vector<std::pair<std::int32_t, std::uint32_t>>;
  CHECK((content(*opened.dataset) == wanted{{-1, 3}, {-1, 1}, {-1, 0}, {-1, 2}}));
  CHECK(opened.dataset->encoded() != nullptr);
  CHECK(opened.skipped_files == 1);
  CHECK(opened.examples == strings{tree.path("x/notes.txt")});
  CHECK(contains(log.text(), "1 files are left out, such as " + tree.path("x/notes.txt")));
  const image_tree none{{}};
  (void)none.list("words");
  CHECK(message_of<dataset_error>([&] { (void)open_images({none.path()}); }) ==
        none.path() +
            ": holds no image (.jpg, .jpeg, .png, .webp, .tif, .tiff, .bmp, .ppm, .pgm) but 1 .txt "
            "file, 'list.txt'");
  CHECK(message_of<usage_error>([] { (void)open_images({}); }) == "images: there is no root");
}
