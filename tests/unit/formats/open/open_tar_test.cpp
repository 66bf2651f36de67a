#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/tar.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::tar_bytes;

namespace {

byte_vector array_bytes() {
  return test::npy_bytes(test::npy_dictionary("<u2", "(3,)"), test::counting_bytes(6));
}

std::string refusal(const std::vector<std::string>& shards, const open_options& options = {}) {
  return test::message_of<dataset_error>([&] { (void)open(shards, options); });
}

std::vector<std::string> names_of(const dataset& opened) {
  std::vector<std::string> names;
  for (const field& each : opened.fields()) names.push_back(each.name);
  return names;
}

const std::string reads =
    "open reads images (.jpg, .jpeg, .png), labels (.cls) and arrays (.npy), and open_tar others "
    "with your own decoder";

}  // namespace

TEST_CASE("open: members of no sample that stand within a tar shard's first one cost no field",
          "[dataset][host]") {
  const auto other = GENERATE(table<std::string, char>({
      {"._0.cls", '0'},         // hidden, of an extension that a field has
      {"._x", '0'},             // hidden, as macOS's tar writes
      {"./._0.cls", '0'},       // the same, by another name
      {".DS_Store", '0'},       // hidden
      {"d/", '5'},              // a folder
      {"README", '0'},          // without a dot
      {"__meta__/x.cls", '0'},  // belongs to no sample because of its folder
  }));
  const std::string name = std::get<0>(other);
  const char type = std::get<1>(other);
  CAPTURE(name);
  const test::temporary_directory folder;
  const int at = GENERATE(0, 1, 2);  // before, within and after the first sample
  tar_bytes archive;
  const auto add_other = [&](int place) {
    if (place == at)
      archive.add(name, std::as_bytes(std::span{"x", type == '5' ? 0U : 1U}), {.type = type});
  };
  add_other(0);
  archive.add("0.cls", "4");
  add_other(1);
  archive.add("0.npy", array_bytes());
  add_other(2);
  archive.add("1.cls", "5").add("1.npy", array_bytes());
  const auto opened = open(folder.write("a.tar", archive.ended()));
  CHECK(names_of(*opened) == std::vector<std::string>{"label", "npy"});
  CHECK(opened->size() == 2);
  CHECK(test::read_sample(*opened, sample_index{1})[0][0] == std::byte{5});
}

TEST_CASE("open: a tar shard in which labels follow all arrays is refused, and not read without",
          "[dataset][host]") {
  const test::temporary_directory folder;
  tar_bytes archive;
  for (const std::string key : {"0", "1"}) archive.add(key + ".npy", array_bytes());
  for (const std::string key : {"0", "1"}) archive.add(key + ".cls", "1");
  const std::string shard = folder.write("a.tar", archive.ended());
  CHECK(refusal({shard}) ==
        shard +
            ": byte 0: the sample '0' has no member for field 'label' (.cls), only .npy; members "
            "of a sample follow one another, as tar --sort=name writes them; choose fields that "
            "every sample has, or leave such samples out with tar_options::skip_incomplete");
  CHECK(test::message_of<dataset_error>([&] { (void)list_fields(shard); }) == refusal({shard}));
  CHECK(open(shard, {.fields = {"npy"}})->size() == 2);  // because it is asked for
}

TEST_CASE("open: a field that only a later sample or shard of tar has is an error, not left out",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string late = folder.write("late.tar", tar_bytes{}
                                                        .add("0.npy", array_bytes())
                                                        .add("1.npy", array_bytes())
                                                        .add("1.cls", "1")
                                                        .ended());
  CHECK(test::contains(refusal({late}), "the sample '0' has no member for field 'label' (.cls)"));
  const std::string plain = folder.write("a.tar", tar_bytes{}.add("0.npy", array_bytes()).ended());
  const std::string more =
      folder.write("b.tar", tar_bytes{}.add("x/1.npy", array_bytes()).add("x/1.cls", "1").ended());
  CHECK(refusal({plain, more}) ==
        more + ": field 'label': members .cls, such as 'x/1.cls', would be a field, but " + plain +
            " has none of them; open shards of one kind together, or name fields that all have in "
            "open_options::fields");
  CHECK(open(std::vector{plain, more}, {.fields = {"npy"}})->size() == 2);
}

TEST_CASE("open: members that would be one field are refused, naming both", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string shard = folder.write(
      "a.tar", tar_bytes{}.add("0.cls", "1").add("0.label.npy", array_bytes()).ended());
  CHECK(refusal({shard}) ==
        shard +
            ": field 'label': members .cls and members .label.npy would both be the field of this "
            "name; choose among them with open_tar");
}

TEST_CASE("open: the log and list_fields name members that it leaves out of tar shards",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string a = folder.write("a.tar", tar_bytes{}
                                                  .add("LICENSE", "free")
                                                  .add("0.json", "{}")
                                                  .add("0.cls", "1")
                                                  .add("0.txt", "one")
                                                  .add("1.JSON", "{}")
                                                  .add("1.cls", "2")
                                                  .ended());
  const std::string b =
      folder.write("b.tar", tar_bytes{}.add("2.cls", "1").add("2.webp", "RIFF").ended());
  const test::log_capture log;
  CHECK(names_of(*open(std::vector{a, b})) == std::vector<std::string>{"label"});
  CHECK(log.lines() == 1);
  CHECK(test::contains(log.text(),
                       "open: " + a +
                           ": members are left out: 1 without a dot in their names (such as "
                           "'LICENSE'), 2 .json (such as '0.json'), 1 .txt (such as '0.txt'), 1 "
                           ".webp (such as '2.webp'); " +
                           reads));
  std::vector<std::string> lines;
  for (const listed_field& each : list_fields(a))
    lines.push_back(std::to_string(each.samples) + ' ' + each.name + ": " + each.left_out);
  CHECK(lines ==
        std::vector<std::string>{
            "2 label: ", "1 without a dot in their names: members such as 'LICENSE': " + reads,
            "2 .json: members such as '0.json': " + reads,
            "1 .txt: members such as '0.txt': " + reads});
  CHECK(log.lines() == 1);  // a listing shows it, and need not log it
}

TEST_CASE("open: no warning names members that the caller chose to leave out", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string shard =
      folder.write("a.tar", tar_bytes{}.add("0.cls", "1").add("0.txt", "x").ended());
  const test::log_capture log;
  CHECK(open(shard, {.fields = {"label"}})->size() == 1);
  CHECK(open_tar({shard}, {{"label", {"cls"}, decode_decimal()}})->size() == 1);
  CHECK(log.lines() == 0);
}

TEST_CASE("open: a tar shard of many extensions tells some of them, and counts the rest",
          "[dataset][host]") {
  const test::temporary_directory folder;
  tar_bytes archive;
  archive.add("0.cls", "1");
  for (int i = 0; i < 100; ++i) archive.add("0.x" + std::to_string(i), "x");
  const auto listed = list_fields(folder.write("a.tar", archive.ended()));
  REQUIRE(listed.size() == 1 + 33);
  CHECK(listed[1].name == ".x0");
  CHECK(listed.back().name == "of other extensions");
  CHECK(listed.back().samples == 68);
}

TEST_CASE("open: a field of a later tar shard is found among any number of other members",
          "[dataset][host]") {
  const test::temporary_directory folder;
  tar_bytes many;
  for (int i = 0; i < 100; ++i) many.add("1.x" + std::to_string(i), "x");
  const std::string first = folder.write("a.tar", tar_bytes{}.add("0.npy", array_bytes()).ended());
  const std::string later = folder.write("b.tar", many.add("1.cls", "1").ended());
  CHECK(test::contains(refusal({first, later}), later + ": field 'label': members .cls"));
}

TEST_CASE(
    "open: arrays whose names have several dots are refused before they are fields without end",
    "[dataset][host]") {
  const test::temporary_directory folder;
  tar_bytes archive;
  for (int i = 0; i < 300; ++i) archive.add("v2." + std::to_string(i) + ".npy", array_bytes());
  const std::string shard = folder.write("a.tar", archive.ended());
  CHECK(refusal({shard}) ==
        shard +
            ": has members of more than 256 fields: 'v2.256.npy' is the member '.256.npy' of the "
            "sample 'v2', because a sample's name ends at the first dot; write the archive with "
            "names "
            "that have no other dot, or choose fields with open_tar");
}

TEST_CASE("open: a warning says that a tar shard of images has no labels", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto shard =
      folder.write("n01440764.tar", tar_bytes{}.add("n01440764_1.JPEG", "\xff\xd8").ended());
  const std::string words =
      "no member is a label (.cls): names of folders and of shards are not read as classes; unpack "
      "the archive into a folder for each class and open that, or write labels beside the images";
  const test::log_capture log;
  CHECK(names_of(*open(shard)) == std::vector<std::string>{"image"});
  CHECK(test::contains(log.text(), "open: " + shard.string() + ": " + words));
  const auto listed = list_fields(shard);
  REQUIRE(listed.size() == 2);
  CHECK(listed[1].name == "label");
  CHECK(listed[1].left_out == words);
  CHECK(names_of(*open(shard, {.fields = {"image"}})) == std::vector<std::string>{"image"});
  CHECK(log.lines() == 1);
}

TEST_CASE("tar: names with several dots are refused with the rule that the first dot counts",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string shard = folder.write(
      "a.tar",
      tar_bytes{}.add("Track v2.0 (clean).jpg", "x").add("Track v2.0 (clean).cls", "1").ended());
  const std::string rule =
      "'Track v2.0 (clean).jpg' is the member '.0 (clean).jpg' of the sample 'Track v2', because a "
      "sample's name ends at the first dot; write the archive with names that have no other dot";
  const std::string names = "'Track v2.0 (clean).jpg', 'Track v2.0 (clean).cls'";
  CHECK(refusal({shard}) ==
        shard +
            ": a tar archive with no sample of images (.jpg, .jpeg, .png), labels (.cls) or arrays "
            "(.npy): its members are " +
            names + "; " + rule + "; say with open_tar how to decode them");
  const auto open_images = [&](const std::string& path) {
    return open_tar({path}, {{"image", {"jpg"}, decode_raw(element_type::u8)}});
  };
  CHECK(test::message_of<dataset_error>([&] { (void)open_images(shard); }) ==
        shard + ": holds no sample with a member .jpg; its first members are " + names + "; " +
            rule);
  const std::string some = folder.write("b.tar", tar_bytes{}
                                                     .add("a.jpg", "x")
                                                     .add("b.seg.jpg", "y")
                                                     .add("b.jpg", "y")
                                                     .add("c.1.jpg", "x")
                                                     .ended());
  const test::log_capture log;
  CHECK(open_images(some)->size() == 2);
  CHECK(test::contains(
      log.text(),
      "tar: 1 samples are left out, because they have no member for any field: 'c.1.jpg' "
      "is the member '.1.jpg' of the sample 'c'"));
}
