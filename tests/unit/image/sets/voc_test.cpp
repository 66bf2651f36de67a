/// Detection sets in Pascal VOC's format.

#include <feedline/error.hpp>
#include <feedline/image/voc.hpp>

#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "unit/image/annotated_images.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const std::string size_part = "<size><width>160</width><height>100</height><depth>3</depth></size>";

std::string object(const std::string& name, const std::string& bounds,
                   const std::string& more = "") {
  return "<object><name>" + name + "</name><pose>Left</pose>" + more + "<bndbox>" + bounds +
         "</bndbox><part><name>head</name><bndbox><xmin>x</xmin></bndbox></part></object>";
}

const std::string bounds = "<xmin>17</xmin><ymin> 21 </ymin><xmax>48</xmax><ymax>60</ymax>";

class voc_set {
 public:
  voc_set() {
    write("JPEGImages/1.jpg", jpeg_bytes(with_rectangle(100, 160, {16, 20, 48, 60})));
    write("JPEGImages/2.png", png_bytes(with_rectangle(100, 160, {16, 20, 48, 60})));
  }

  void write(const std::string& name, const byte_vector& bytes) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    folder_.write(name, bytes);
  }
  void write_text(const std::string& name, const std::string& text) const {
    const auto bytes = std::as_bytes(std::span{text});
    write(name, {bytes.begin(), bytes.end()});
  }

  annotated_images open(const std::string& list, const std::string& xml,
                        const std::vector<std::string>& classes = {}) const {
    write_text("ImageSets/Main/train.txt", list);
    write_text("Annotations/1.xml", xml);
    return open_voc(folder_.path().string(), "train", classes,
                    {.image = {.height = 50, .width = 80}});
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  temporary_directory folder_;
};

}  // namespace

TEST_CASE("voc: images, boxes, flags and classes are those of the files", "[dataset][host]") {
  const voc_set set;
  set.write_text("Annotations/2.xml",
                 "<?xml version='1.0'?><!-- by hand --><annotation><filename>2.png</filename>" +
                     size_part + object("cat", bounds, "<difficult>1</difficult>") +
                     "</annotation>");
  const annotated_images opened =
      set.open("2 \r\n1\n\n", "<annotation>" + size_part + object("person", bounds) +
                                  object("dog",
                                         "<xmin>1</xmin><ymin>1</ymin><xmax>160</xmax>"
                                         "<ymax>100</ymax>") +
                                  "</annotation>");
  REQUIRE(opened.classes.size() == 20);
  CHECK(opened.paths == std::vector{set.path("JPEGImages/2.png"), set.path("JPEGImages/1.jpg")});
  const dataset& data = *opened.dataset;
  CHECK((boxes_of(data, 0) == std::vector<box>{{8, 10, 24, 30}}));
  CHECK((boxes_of(data, 1) == std::vector<box>{{8, 10, 24, 30}, {0, 0, 80, 50}}));
  CHECK(field_of<std::uint8_t>(data, 0, "difficult") == std::vector<std::uint8_t>{1, 0});
  CHECK(opened.classes.at(static_cast<std::size_t>(field_of<std::int32_t>(data, 0, "labels")[0])) ==
        "cat");
  CHECK(field_of<std::int32_t>(data, 1, "labels") == std::vector<std::int32_t>{14, 11});
  const auto own =
      set.open("1", "<annotation>" + size_part + object("helmet", bounds) + "</annotation>",
               {"vest", "helmet"});
  CHECK(own.classes == std::vector<std::string>{"vest", "helmet"});
  CHECK(field_of<std::int32_t>(*own.dataset, 0, "labels") == std::vector<std::int32_t>{1});
}

TEST_CASE("voc: what is wrong with a file is refused with its path", "[dataset][host]") {
  const voc_set set;
  const auto refusal = [&](const std::string& xml, const std::string& list = "1") {
    return message_of<dataset_error>([&] { (void)set.open(list, xml); });
  };
  const auto of = [&](const std::string& content) {
    const std::string words = refusal("<annotation>" + content + "</annotation>");
    const std::string begin = set.path("Annotations/1.xml") + ": ";
    return words.starts_with(begin) ? words.substr(begin.size()) : words;
  };
  CHECK(contains(refusal(""), "1.xml: it is no XML: at byte 0, "));
  CHECK(contains(refusal("<annotation><size>"), "1.xml: it is no XML: at byte "));
  CHECK(contains(refusal("<a/>"), "it has no element <annotation>, so it is not of VOC's format"));
  CHECK(of("") == "its <size> has no <height>, but should have a number");
  CHECK(of("<size><width>160</width><height>0</height></size>") ==
        "its <size> has 0 as <height>, but a side is 1 to 65535 pixels long");
  CHECK(of(size_part + object("", bounds)).starts_with("object 0 is a '', which is not one of"));
  CHECK(of(size_part + object("cat", bounds) + object("helmet", bounds)) ==
        "object 1 is a 'helmet', which is not one of the classes aeroplane, bicycle, bird, boat, "
        "bottle, bus, car, cat, chair, cow and 10 more; name all of them in `classes`");
  CHECK(of(size_part + object("cat", "<xmin>1</xmin>")) ==
        "object 0 has no <ymin>, but should have a number");
  CHECK(of(size_part + object("cat", "<xmin>1x</xmin>")) ==
        "object 0 has '1x' as <xmin>, but should have a number");
  CHECK(
      of(size_part + object("cat", "<xmin>nan</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax>")) ==
      set.path("JPEGImages/1.jpg") + ": image 0 has box 0, nan 0 2 2, which is not finite");
  CHECK(of("<filename>9.jpg</filename>" + size_part) ==
        set.path("JPEGImages/9.jpg") + ": there is no such file, for image 0");
  CHECK(contains(refusal("", "3"), set.path("Annotations/3.xml")));
  CHECK(refusal("", "1\n2  1\n") ==
        set.path("ImageSets/Main/train.txt") +
            ": line 2: '2  1' has several words, but a name was expected; lists of one class, such "
            "as dog_train.txt, are not for detection");
  CHECK(refusal("", " \n") == set.path("ImageSets/Main/train.txt") + ": lists no image");
  CHECK(message_of<usage_error>([&] {
          (void)set.open("1", "", {"a", "b", "a"});
        }) == "open_voc: classes has 'a' twice");
}
