/// Detection sets in COCO's format.

#include <feedline/error.hpp>
#include <feedline/image/coco.hpp>

#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "unit/image/annotated_images.hpp"

#include <string>
#include <string_view>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const std::string images_part =
    R"("images": [{"id": 9, "file_name": "b.png", "height": 100, "width": 160, "license": null},
                  {"file_name": "a.png", "height": 100.0, "width": 160, "id": 4}])";
const std::string categories_part =
    R"("categories": [{"id": 90, "name": "toothbrush", "keypoints": ["a", "b"]},
                      {"id": 1, "supercategory": "person", "name": "person"}])";

std::string annotation(const std::string& more, const std::string& id = "7") {
  return R"({"id": )" + id + R"(, "image_id": 4, "category_id": 90, )" + more + "}";
}

std::string file_of(const std::string& annotations, const std::string& images = images_part,
                    const std::string& categories = categories_part) {
  return "{" + images + R"(, "info": {"annotations": 3, "list": [{"id": [1]}]}, )" +
         R"("annotations": [)" + annotations + "], " + categories + "}";
}

class coco_set {
 public:
  coco_set() {
    for (const char* const name : {"a.png", "b.png"})
      folder_.write(name, png_bytes(with_rectangle(100, 160, {16, 20, 48, 60})));
  }

  annotated_images open(const std::string& text, const annotation_options& options = {
                                                     .image = {.height = 50, .width = 80}}) const {
    const std::string_view view = text;
    folder_.write("all.json", std::as_bytes(std::span{view}));
    return open_coco(folder_.path().string(), path("all.json"), options);
  }

  /// The message, without the path of the JSON.
  std::string refusal(const std::string& text) const {
    const std::string words = message_of<dataset_error>([&] { (void)open(text); });
    const std::string begin = path("all.json") + ": ";
    return words.starts_with(begin) ? words.substr(begin.size()) : words;
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  temporary_directory folder_;
};

}  // namespace

TEST_CASE("coco: images, boxes, crowds and classes are those of the file", "[dataset][host]") {
  const coco_set set;
  const std::string segmentation =
      R"("segmentation": [[1, 2, 3], {"counts": [1], "size": [2, 3]}])";
  const annotated_images opened = set.open(file_of(
      annotation(R"("bbox": [16, 20, 32, 40], "iscrowd": 0, "area": 1.5, )" + segmentation) + "," +
      annotation(R"("bbox": [0, 0.5, 10, 9.5], "iscrowd": 1)", "8") + "," +
      R"({"bbox": [2, 2, 4, 4], "id": 9, "image_id": 9, "category_id": 1})"));
  CHECK(opened.classes == std::vector<std::string>{"person", "toothbrush"});
  CHECK(opened.class_ids == std::vector<std::int64_t>{1, 90});
  CHECK(opened.paths == std::vector{set.path("a.png"), set.path("b.png")});
  const dataset& data = *opened.dataset;
  REQUIRE(data.size() == 2);
  CHECK(field_of<std::int64_t>(data, 0, "image_id")[0] == 4);
  CHECK((boxes_of(data, 0) == std::vector<box>{{8, 10, 24, 30}, {0, 0.25F, 5, 5}}));
  CHECK(field_of<std::int32_t>(data, 0, "labels") == std::vector<std::int32_t>{1, 1});
  CHECK(field_of<std::uint8_t>(data, 0, "crowd") == std::vector<std::uint8_t>{0, 1});
  CHECK((boxes_of(data, 1) == std::vector<box>{{1, 1, 3, 3}}));
  CHECK(field_of<std::int32_t>(data, 1, "labels") == std::vector<std::int32_t>{0, -1});
  CHECK(boxes_of(*set.open(file_of(annotation(R"("bbox": [1, 1, 2, 2], "iscrowd": true)")),
                           {.skip_flagged = true})
                      .dataset,
                 0)
            .empty());
  CHECK(set.open(file_of("")).dataset->size() == 2);
}

TEST_CASE("coco: an annotation without key points has points that are not labelled",
          "[dataset][host]") {
  const coco_set set;
  const annotated_images opened = set.open(file_of(
      annotation(R"("bbox": [0, 0, 9, 9])") + "," +
      annotation(R"("bbox": [0, 0, 9, 9], "keypoints": [2, 4, 2, 6, 8, 1], "num_keypoints": 2)",
                 "8")));
  CHECK(field_of<float>(*opened.dataset, 0, "keypoints") ==
        std::vector<float>{0, 0, 0, 0, 0, 0, 1, 2, 2, 3, 4, 1});
  CHECK(set.refusal(
            file_of(annotation(R"("bbox": [0, 0, 9, 9], "keypoints": [2, 4, 2])") + "," +
                    annotation(R"("bbox": [0, 0, 9, 9], "keypoints": [2, 4, 2, 6, 8, 1])", "8"))) ==
        "annotation 7 of image 4: it has 1 key points, but another one has 2");
}

TEST_CASE("coco: what is wrong with a file is refused with the id", "[dataset][host]") {
  const coco_set set;
  const std::string box = R"("bbox": [1, 1, 2, 2])";
  const auto object = [](const std::string& list, const std::string& what) {
    return "an object of \"" + list + "\" with id " + what;
  };
  struct row {
    std::string text;
    std::string wanted;
  };
  const std::string no_list = "of objects: COCO's instances and key points have all three lists";
  const std::vector<row> rows{
      {"", "it is no JSON: "},
      {R"({"images": [)", "it is no JSON: "},
      {"[]", "it has no list \"images\" " + no_list},
      {"{" + images_part + "}", "it has no list \"annotations\" " + no_list},
      {R"({"images": {}, "annotations": [], "categories": []})", "it has no list \"images\""},
      {R"({"images": [3], "annotations": [], "categories": []})", "it has no list \"images\""},
      {file_of(annotation("\"bbox\": [1, 1, NaN, 1]")), "it is no JSON: "},
      {file_of(annotation("\"a\": 1")), object("annotations", "7 has no \"bbox\"")},
      {file_of(annotation("\"bbox\": [1, 1, 2]")),
       object("annotations", "7: \"bbox\" is [1,1,2], but should be four numbers")},
      {file_of(annotation("\"bbox\": [1, 1, 2, \"3\"]")),
       object("annotations", "7: \"bbox\" is [1,1,2,\"3\"], but should be four numbers")},
      {file_of(annotation("\"bbox\": {}")), object("annotations", "7: \"bbox\" is an object")},
      {file_of(annotation("\"bbox\": [[1, 1], 2, 3, 4]")),
       object("annotations", "7: \"bbox\" is a list of lists or objects, but should be four")},
      {file_of(annotation("\"bbox\": " + std::string(1 << 20, '[') + std::string(1 << 20, ']'))),
       object("annotations", "7: \"bbox\" is a list of lists or objects")},
      {file_of(annotation(box, "\"7\"")),
       "an object of \"annotations\": \"id\" is \"7\", but should be a whole number"},
      {file_of(annotation(box, "18446744073709551615")),
       object("annotations", "18446744073709551615: \"id\" is 18446744073709551615, but should")},
      {file_of(annotation("\"bbox\": [1, 1, 1e400, 1]")), "it is no JSON: "},
      {file_of(annotation(box, "7.5")), object("annotations", "7.5: \"id\" is 7.5")},
      {file_of(annotation(box + R"(, "keypoints": [1, 2])")),
       object("annotations", "7: \"keypoints\" is [1,2], but should be three numbers for each")},
      {file_of(annotation(box) + "," + annotation(box)),
       "annotation 7 of image 4: another annotation has this id, too"},
      {file_of(R"({"id": 7, "image_id": 5, "category_id": 90, "bbox": [1, 1, 2, 2]})"),
       "annotation 7 of image 5: there is no image with id 5"},
      {file_of(R"({"id": 7, "image_id": 4, "category_id": 2, "bbox": [1, 1, 2, 2]})"),
       "annotation 7 of image 4: there is no category with id 2"},
      {file_of(annotation("\"bbox\": [1, 1, -2, 2]")),
       "annotation 7 of image 4: its box has the size -2"},
      {file_of("", R"("images": [{"id": 1, "file_name": "a.png", "width": 160}])"),
       object("images", "1 has no \"height\"")},
      {file_of("", R"("images": [{"id": 1, "file_name": "a.png", "height": 0, "width": 160}])"),
       object("images", "1: \"height\" is 0, but should be 1 to 65535 pixels")},
      {file_of("", R"("images": [{"id": 1, "height": 100, "width": 160}])"),
       object("images", "1 has no \"file_name\"")},
      {file_of("", R"("images": [{"id": 1, "file_name": "a.png", "height": 9, "width": 9},
                                 {"id": 1, "file_name": "b.png", "height": 9, "width": 9}])"),
       "two objects have the image id 1"},
      {file_of("", images_part,
               R"("categories": [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}])"),
       "two objects have the category id 1"},
      {file_of("", R"("images": [{"id": 1, "file_name": "c.png", "height": 9, "width": 9}])"),
       set.path("c.png") + ": there is no such file, for image 1"},
      {file_of(annotation("\"bbox\": [161, 1, 2, 2]")),
       set.path("a.png") + ": image 4 has box 0, 161 1 163 3, which is outside of its 160 x 100"},
  };
  for (const row& each : rows) {
    CAPTURE(each.text.substr(0, 1000));
    const std::string words = set.refusal(each.text);
    CHECK(words.substr(0, each.wanted.size()) == each.wanted);
  }
  CHECK(contains(message_of<dataset_error>([&] { (void)open_coco("x", set.path("none.json")); }),
                 set.path("none.json")));
}

TEST_CASE("coco: an image of another size than the file says is refused", "[dataset][host]") {
  const coco_set set;
  const annotated_images opened = set.open(
      file_of("", R"("images": [{"id": 1, "file_name": "a.png", "height": 9, "width": 8}])"));
  CHECK(message_of<dataset_error>([&] { (void)read_sample(*opened.dataset, {0}); }) ==
        set.path("a.png") + ": field 'image', sample 0: it is 160 x 100 pixels, but " +
            set.path("all.json") + " says 8 x 9");
}
