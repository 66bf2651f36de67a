#include <feedline/error.hpp>
#include <feedline/formats/tar.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/test_records.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <sys/stat.h>

#include <cstring>
#include <string>

using namespace feedline;

namespace {

using byte_vector = std::vector<std::byte>;

/// Sample i's four bytes spell i, and its label is i mod 7.
std::string spelt(std::uint32_t i) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &i, sizeof i);
  return bytes;
}

byte_vector shard_of(std::uint32_t first, std::uint32_t count) {
  test::tar_bytes archive;
  archive.add("README.txt", "of no sample");
  for (std::uint32_t i = first; i < first + count; ++i) {
    const std::string key = "data/" + std::to_string(i);
    archive.add(key + ".json", "{}");
    if (i % 2 == 0) archive.add(key + ".num", spelt(i));
    archive.add(key + ".cls", " " + std::to_string(i % 7) + "\n");
    if (i % 2 == 1) archive.add(key + ".num", spelt(i));
  }
  return archive.ended();
}

std::vector<tar_field> number_and_label() {
  return {{"number", {"num"}, decode_raw(element_type::u32)},
          {"label", {"cls"}, decode_decimal(element_type::u16)}};
}

std::vector<std::byte> number_or_label(sample_index sample, std::size_t field_place) {
  const auto number = static_cast<std::uint32_t>(sample.value);
  const auto label = static_cast<std::uint16_t>(number % 7);
  std::vector<std::byte> bytes(field_place == 0 ? 4 : 2);
  if (field_place == 0) {
    std::memcpy(bytes.data(), &number, 4);
  } else {
    std::memcpy(bytes.data(), &label, 2);
  }
  return bytes;
}

std::string refusal(const std::vector<std::string>& shards, const std::vector<tar_field>& fields,
                    const tar_options& options = {}) {
  return test::message_of<dataset_error>([&] { (void)open_tar(shards, fields, options); });
}

}  // namespace

TEST_CASE("tar dataset: samples of all shards, as the dataset's contract has it",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto a = folder.write("a.tar", shard_of(0, 70));
  const auto empty = folder.write("b.tar", test::tar_bytes{}.add("of.other", "x").ended());
  const auto c = folder.write("c.tar", shard_of(70, 30));
  const auto dataset = open_tar({a, empty, c}, number_and_label());
  test::check_dataset_contract(
      dataset, 100, {{"number", element_type::u32, {}}, {"label", element_type::u16, {}}},
      number_or_label);
}

TEST_CASE(
    "tar dataset: a field takes one of its extensions, whatever its case, and one member may serve "
    "two",
    "[dataset][host]") {
  const test::temporary_directory folder;
  const auto shard = folder.write("a.tar", test::tar_bytes{}
                                               .add("1.JPG", "ab")
                                               .add("1.seg.bin", "x")
                                               .add("2.jpeg", "cd")
                                               .add("2.seg.bin", "y")
                                               .ended());
  const auto dataset =
      open_tar({shard}, {{"image", {"jpg", "jpeg"}, decode_raw(element_type::u8, {2})},
                         {"mask", {"seg.bin"}, decode_raw(element_type::u8)},
                         {"again", {"seg.bin"}, decode_raw(element_type::boolean, {1})}});
  const auto second = test::read_sample(*dataset, sample_index{1});
  CHECK(second[0] == byte_vector{std::byte{'c'}, std::byte{'d'}});
  CHECK(second[1] == byte_vector{std::byte{'y'}});
  CHECK(second[2] == byte_vector{std::byte{'y'}});
}

TEST_CASE(
    "tar dataset: hidden files, links and names of another kind are passed over where no field "
    "wants them",
    "[dataset][host]") {
  const test::temporary_directory folder;
  const auto shard =
      folder.write("a.tar", test::tar_bytes{}
                                .add("._1.num", "apple double")
                                .add("__meta__/1.num", "meta")
                                .add_header("1.link", 0, {.type = '2', .link = "/etc/passwd"})
                                .add("1.num", spelt(0))
                                .add("1.cls", "0")
                                .ended());
  CHECK(open_tar({shard}, number_and_label())->size() == 1);
}

TEST_CASE("tar dataset: a sample that lacks a member is an error that names it, or is left out",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto shard = folder.write("a.tar", test::tar_bytes{}
                                               .add("x/0.num", spelt(0))
                                               .add("x/0.cls", "0")
                                               .add("x/1.json", "{}")
                                               .add("x/1.num", spelt(1))
                                               .add("x/2.num", spelt(1))
                                               .add("x/2.cls", "1")
                                               .ended());
  CHECK(refusal({shard}, number_and_label()) ==
        shard.string() +
            ": byte 2048: the sample 'x/1' has no member for field 'label' (.cls), only .json, "
            ".num; members of a sample follow one another, as tar --sort=name writes them; choose "
            "fields that every sample has, or leave such samples out with "
            "tar_options::skip_incomplete");
  const test::log_capture log;
  const auto dataset = open_tar({shard}, number_and_label(), {.skip_incomplete = true});
  CHECK(dataset->size() == 2);
  CHECK(test::read_sample(*dataset, sample_index{1})[0] == number_or_label(sample_index{1}, 0));
  CHECK(log.text().find("tar: 1 samples are left out because they lack a member; 2 remain") !=
        std::string::npos);
}

TEST_CASE("tar dataset: members that a field cannot take are refused by name", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto message = [&](const test::tar_bytes& archive) {
    const auto shard = folder.write("a.tar", archive.ended());
    const std::string text = refusal({shard}, number_and_label());
    const std::string path = shard.string() + ": ";
    return text.substr(0, path.size()) == path ? text.substr(path.size()) : text;
  };
  const std::string follow =
      ", and links and devices are not followed; make the archive with tar's --dereference and "
      "--hard-dereference";
  CHECK(message(test::tar_bytes{}
                    .add("1.cls", "1")
                    .add_header("1.num", 0, {.type = '1', .link = "0.num"})) ==
        "field 'number', byte 1024: member '1.num' is a hard link to '0.num'" + follow);
  CHECK(message(test::tar_bytes{}
                    .add("1.cls", "1")
                    .add_header("1.num", 0, {.type = '2', .link = "/x"})) ==
        "field 'number', byte 1024: member '1.num' is a symbolic link to '/x'" + follow);
  CHECK(message(test::tar_bytes{}.add("1.cls", "1").add("1.CLS", "2").add("1.num", spelt(1))) ==
        "field 'label', byte 1024: member '1.CLS' is the second one for this field of the sample "
        "'1'; name one extension only, or repair the archive");
  CHECK(message(test::tar_bytes{}.add("1.txt", "1").add("b/2.txt", "2")) ==
        "holds no sample with a member .num, .cls; its first members are '1.txt', 'b/2.txt'");
  CHECK(message(test::tar_bytes{}.add_header("folder/", 0, {.type = '5'})) ==
        "holds no sample with a member .num, .cls; it is empty");
}

TEST_CASE(
    "tar dataset: a member that does not decode is an error that names sample, shard and byte",
    "[dataset][host]") {
  const test::temporary_directory folder;
  const auto shard = folder.write("a.tar", test::tar_bytes{}
                                               .add("0.num", spelt(0))
                                               .add("0.cls", "0")
                                               .add("1.num", "abc")
                                               .add("1.cls", "1")
                                               .add("2.num", spelt(2))
                                               .add("2.cls", "two")
                                               .add("3.num", spelt(3))
                                               .add("3.cls", "70000")
                                               .ended());
  const auto dataset = open_tar({shard}, number_and_label());
  const auto message = [&](std::uint64_t sample) {
    return test::message_of<dataset_error>(
        [&] { (void)test::read_sample(*dataset, sample_index{sample}); });
  };
  CHECK(message(1) == shard.string() +
                          ": field 'number', sample 1, byte 2560: sample '1': has 3 bytes, but "
                          "number: uint32[] takes 4");
  CHECK(message(2) == shard.string() +
                          ": field 'label', sample 2, byte 5632: sample '2': 'two' is not a "
                          "decimal integer of type uint16");
  CHECK(message(3) == shard.string() +
                          ": field 'label', sample 3, byte 7680: sample '3': the number '70000' "
                          "does not fit in uint16");
  CHECK(message(4) == "sample 4: there is no such sample: the dataset has 4");
}

TEST_CASE("tar dataset: pipes, folders and files that are not there are refused",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const auto& path : {pipe, std::filesystem::path{"-"}})
    CHECK(refusal({path}, number_and_label()) ==
          path.string() +
              ": a pipe, which can be read only once and in its own order, while samples are read "
              "in any order; write it to a file first");
  CHECK(refusal({folder.path() / "none.tar"}, number_and_label()).find("cannot be opened") !=
        std::string::npos);
  CHECK(refusal({folder.path()}, number_and_label()).find("directory") != std::string::npos);
}

TEST_CASE("tar dataset: if several shards have faults, the first one's error is reported",
          "[dataset][host]") {
  const test::temporary_directory folder;
  std::vector<std::string> shards;
  for (std::uint32_t i = 0; i < 9; ++i) {
    const std::string name = std::to_string(i) + ".tar";
    shards.push_back(i % 3 == 1 ? folder.write(name, {}) : folder.write(name, shard_of(i, 1)));
  }
  CHECK(refusal(shards, number_and_label()) ==
        shards[1] + ": byte 0: not a tar archive: it is shorter than a header");
}

TEST_CASE("tar dataset: invalid options are refused", "[dataset][host]") {
  const auto message = [](const std::vector<std::string>& shards,
                          const std::vector<tar_field>& fields) {
    return test::message_of<usage_error>([&] { (void)open_tar(shards, fields); });
  };
  CHECK(message({}, number_and_label()) == "tar: there is no shard");
  CHECK(message({"a.tar"}, {}) == "tar: there is no field");
  CHECK(message({"a.tar"}, {{"x", {}, decode_decimal()}}) ==
        "tar: field 'x' has no extension: name one, such as \"jpg\"");
  CHECK(message({"a.tar"}, {{"x", {"bin"}, nullptr}}) ==
        "tar: field 'x' has no decoder: decode_raw(type, shape) takes bytes unchanged");
}

TEST_CASE("tar dataset: runs of samples are its chunks, and any order reads each sample once",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto shard = folder.write("a.tar", shard_of(0, 100));
  // 5 bytes and a few: 4 of the number, 3 of the label, which is " 1\n".
  const auto chunks = open_tar({shard}, number_and_label(), {.run_bytes = 70})->chunks();
  CHECK(chunks.samples == 10);
  CHECK(chunks.kept == 10);
  CHECK(chunks.bytes == 0);
  CHECK(open_tar({shard}, number_and_label(), {.run_bytes = 1})->chunks() == chunking{});
  CHECK(open_tar({shard}, number_and_label())->chunks().samples == 100);
}

TEST_CASE("tar dataset: a shard that is written to while it is read ends in an error",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto shard = folder.write("a.tar", shard_of(0, 10));
  const auto dataset = open_tar({shard}, number_and_label());
  (void)test::read_sample(*dataset, sample_index{3});
  std::filesystem::resize_file(shard, 1024);
  const std::string message =
      test::message_of<dataset_error>([&] { (void)test::read_sample(*dataset, sample_index{9}); });
  CHECK(message.find(shard.string()) == 0);
  CHECK(message.find("bytes") != std::string::npos);
}

TEST_CASE("tar dataset: a member can become several fields, beside members that become one",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto text = [](const byte_vector& bytes) {
    return std::string{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  };
  const auto shard = folder.write("a.tar", test::tar_bytes{}
                                               .add("1.rec", text(test::record_of(8, {1})))
                                               .add("1.cls", "3")
                                               .add("2.rec", text(test::record_of(9, {5, 6})))
                                               .add("2.cls", "4")
                                               .ended());
  const auto by = std::make_shared<const test::number_and_words>();
  const auto opened = [&](const decode_options& how) {
    return open_tar({shard},
                    {{"label", {"cls"}, decode_decimal()},
                     {.name = "meta", .extensions = {"rec"}, .record = by, .decoding = how}});
  };
  const auto data = opened({.fields = {"words", "number"}});
  CHECK(by->records == 2);  // the pass for the longest
  test::check_dataset_contract(
      data, 2,
      {{"label", element_type::i32, {}},
       {"words", element_type::u16, {2}},
       {"words_length", element_type::i32, {}},
       {"number", element_type::i32, {}}},
      [](sample_index sample, std::size_t place) {
        const int i = static_cast<int>(sample.value);
        if (place == 1)
          return i == 0 ? test::as_byte_vector(std::vector<std::uint16_t>{1, 0})
                        : test::as_byte_vector(std::vector<std::uint16_t>{5, 6});
        return test::as_byte_vector(std::vector{place == 0 ? 3 + i : place == 2 ? 1 + i : 8 + i});
      });
  by->records = 0;
  const auto some = data->select(std::vector<std::size_t>{3, 0, 2});
  CHECK(test::read_sample(*some, {1}) == std::vector{test::as_byte_vector(std::vector{9}),
                                                     test::as_byte_vector(std::vector{4}),
                                                     test::as_byte_vector(std::vector{2})});
  CHECK(by->records == 1);
  (void)test::read_sample(*data->select(std::vector<std::size_t>{0}), {1});
  CHECK(by->records == 1);
  const auto cut = opened({.fields = {"words"}, .pad = {{"words", {.length = 1}}}});
  CHECK(test::message_of<dataset_error>([&] { (void)test::read_sample(*cut, {1}); })
            .ends_with("sample '2': has 2 elements, more than the 1 of pad_options::length: raise "
                       "it, or ask for pad_longer::truncate"));
  CHECK(test::message_of<dataset_error>([&] {
          (void)test::read_sample(*cut, {1});
        }).starts_with(shard.string() + ": field 'words', sample 1, byte "));
}

TEST_CASE("tar dataset: a field has one decoder, of one field or of records", "[dataset][host]") {
  const auto misuse = [](const tar_field& field) {
    return test::message_of<usage_error>([&] { (void)open_tar({"a.tar"}, {field}); });
  };
  CHECK(
      misuse({"x", {"rec"}, decode_decimal(), std::make_shared<const test::number_and_words>()}) ==
      "tar: field 'x' has a decoder of one field and one of records; give one of them");
}
