#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>

#include "formats/open/format_table.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/idx_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <set>
#include <string>

using namespace feedline;
using test::byte_vector;

namespace {

/// llm.c's header: 256 words, of which three count, then 16-bit tokens.
byte_vector token_bytes(std::uint32_t tokens) {
  byte_vector file(1024 + 2 * std::size_t{tokens});
  const std::vector<std::uint32_t> words{20240520, 1, tokens};
  std::memcpy(file.data(), words.data(), 12);
  return file;
}

byte_vector cifar_bytes(std::size_t label_bytes, std::size_t records) {
  byte_vector file;
  for (std::size_t i = 0; i < records; ++i) {
    for (std::size_t label = 0; label < label_bytes; ++label) file.push_back(std::byte(i % 10));
    file.resize(file.size() + 3072, std::byte{0xff});
  }
  return file;
}

byte_vector array_bytes(const std::string& shape = "(3, 2)") {
  return test::npy_bytes(test::npy_dictionary("<u2", shape), test::counting_bytes(12));
}

byte_vector tar_of_arrays() {
  return test::tar_bytes{}
      .add("README.md", "not of a sample")
      .add("1.txt", "left out")
      .add("1.cls", "4")
      .add("1.vec.npy", array_bytes())
      .add("2.cls", "5")
      .add("2.vec.npy", array_bytes())
      .ended();
}

std::string refusal(const std::filesystem::path& path, const open_options& options = {}) {
  return test::message_of<dataset_error>([&] { (void)open(path, options); });
}

std::string misuse(const std::filesystem::path& path, const open_options& options = {}) {
  return test::message_of<usage_error>([&] { (void)open(path, options); });
}

/// Names of all formats, or their descriptions.
std::string list_of(std::string_view detail::format_entry::*what) {
  std::string all;
  for (const detail::format_entry& entry : detail::format_table())
    all.append(all.empty() ? "" : ", ").append(entry.*what);
  return all;
}

const std::string known =
    ". Known are " + list_of(&detail::format_entry::known_as) +
    "; records of a fixed size and tokens without a header are opened by open_records and "
    "open_tokens";

}  // namespace

TEST_CASE("open: a file's format is recognized by its content, whatever its name",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto identified = [&](std::span<const std::byte> bytes) {
    return detect_format(folder.write("misleading.jpg.h5.npy", bytes));
  };
  const auto idx = test::idx_file_bytes(0x08, {3, 2}, 6);
  CHECK(identified(idx) == "idx");
  CHECK(identified(test::gzip_bytes(idx)) == "idx");
  CHECK(identified(array_bytes()) == "npy");
  CHECK(identified(tar_of_arrays()) == "tar");
  CHECK(identified(test::gzip_bytes(tar_of_arrays())) == "tar");
  CHECK(identified(token_bytes(9)) == "tokens");
  CHECK(identified(cifar_bytes(1, 2)) == "cifar10");
  CHECK(identified(cifar_bytes(2, 2)) == "cifar100");
  CHECK(identified({}) == "");
  CHECK(detect_format(folder.path()) == "image_folder");
  const std::string_view zip = "PK\3\4 and twenty-two bytes  \5\0\0\0a.npy more";
  CHECK(identified(std::as_bytes(std::span{zip.data(), 26})) == "");
}

TEST_CASE(
    "open: an IDX file as long as a batch of CIFAR's is IDX, and a batch that begins like IDX is "
    "not",
    "[dataset][host]") {
  const test::temporary_directory folder;
  const auto idx = test::idx_file_bytes(0x08, {3073 - 8}, 3073 - 8);
  REQUIRE(idx.size() == 3073);
  CHECK(detect_format(folder.write("a", idx)) == "idx");
  auto cifar = cifar_bytes(1, 2);
  cifar[1] = std::byte{0};
  cifar[2] = std::byte{8};
  cifar[3] = std::byte{3};
  CHECK(detect_format(folder.write("b", cifar)) == "cifar10");
}

TEST_CASE("open: each format becomes a dataset with the fields that its reader gives",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto fields = [&](std::span<const std::byte> bytes, const open_options& options = {}) {
    return open(folder.write("things.bin", bytes), options)->fields();
  };
  CHECK(fields(test::idx_file_bytes(0x08, {3, 2}, 6)) ==
        std::vector<field>{{"image", element_type::u8, {2}}});
  CHECK(fields(test::idx_file_bytes(0x08, {3}, 3)) ==
        std::vector<field>{{"label", element_type::u8, {}}});
  CHECK(fields(test::gzip_bytes(test::idx_file_bytes(0x08, {3}, 3)), {.fields = {"y"}}) ==
        std::vector<field>{{"y", element_type::u8, {}}});
  CHECK(fields(array_bytes()) == std::vector<field>{{"things", element_type::u16, {2}}});
  CHECK(fields(array_bytes(), {.fields = {"x"}}) ==
        std::vector<field>{{"x", element_type::u16, {2}}});
  CHECK(fields(token_bytes(9), {.tokens_per_sample = 4}) ==
        std::vector<field>{{"input", element_type::u16, {4}}, {"target", element_type::u16, {4}}});
  CHECK(fields(cifar_bytes(1, 2)) == std::vector<field>{{"label", element_type::u8, {}},
                                                        {"image", element_type::u8, {3, 32, 32}}});
  CHECK(fields(tar_of_arrays(), {.label_type = element_type::u8}) ==
        std::vector<field>{{"label", element_type::u8, {}}, {"vec", element_type::u16, {3, 2}}});
}

TEST_CASE("open: fields can be chosen, and keep the dataset's contract", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto batch = folder.write("batch", cifar_bytes(2, 20));
  const auto chosen = open(batch, {.fields = {"image", "fine_label"}});
  test::check_dataset_contract(
      chosen, 20, {{"image", element_type::u8, {3, 32, 32}}, {"fine_label", element_type::u8, {}}},
      [](sample_index sample, std::size_t place) {
        return place == 0 ? byte_vector(3072, std::byte{0xff})
                          : byte_vector(1, std::byte(sample.value % 10));
      });
  const auto shard = folder.write("shard", tar_of_arrays());
  CHECK(open(shard, {.fields = {"vec"}})->fields().size() == 1);
  CHECK(misuse(batch, {.fields = {"colour"}}) ==
        "open: there is no field 'colour'; there are 'coarse_label', 'fine_label', 'image'");
  CHECK(misuse(batch, {.fields = {"image", "image"}}) == "open: the field 'image' is named twice");
  CHECK(misuse(shard, {.fields = {"image"}}) == "open: there is no field 'image' in " +
                                                    shard.string() +
                                                    ", whose samples have 'label', 'vec'");
}

TEST_CASE("open: files of one format are one sequence", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto a = folder.write("a.npy", array_bytes());
  const auto b = folder.write("b.npy", array_bytes());
  const auto arrays = open(std::vector<std::string>{a, b});
  CHECK(arrays->size() == 6);
  CHECK(arrays->fields().front().name == "a");
  const auto shard = folder.write("c", tar_of_arrays());
  CHECK(open(std::vector<std::string>{shard, shard, shard})->size() == 6);
  const auto tokens = folder.write("d", token_bytes(9));
  CHECK(open(std::vector<std::string>{tokens, tokens}, {.tokens_per_sample = 17})->size() == 1);
  CHECK(test::message_of<dataset_error>([&] {
          (void)open(std::vector<std::string>{a, shard});
        }) == shard.string() + ": of the format tar, but " + a.string() +
                  " is of the format npy; files that are opened together are of one format");
  CHECK(test::message_of<usage_error>([] { (void)open(std::vector<std::string>{}); }) ==
        "open: there is no path");
}

TEST_CASE("open: a file of no known format is refused with those there are", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto message = [&](std::span<const std::byte> bytes) {
    const auto path = folder.write("a", bytes);
    const std::string begin = path.string() + ": of no format that is known by its content: ";
    const std::string text = refusal(path);
    return text.substr(0, begin.size()) == begin ? text.substr(begin.size()) : text;
  };
  const auto of_text = [](std::string_view text) { return std::as_bytes(std::span{text}); };
  CHECK(message({}) == "it is empty" + known);
  CHECK(message(of_text("hello, world")) == "it begins with 68 65 6c 6c 6f 2c 20 77" + known);
  CHECK(message(of_text("\xff\xd8\xff")) ==
        "it is a single image; open the folder that holds a folder of images for each class" +
            known);
  CHECK(message(of_text({"PK\3\4", 4})) ==
        "it is a zip archive, but not one of NumPy arrays; unpack it" + known);
  CHECK(message(test::gzip_bytes(of_text("hello"))) ==
        "it is compressed, and not IDX; decompress it" + known);
  CHECK(refusal(folder.path() / "none").find("cannot be opened") != std::string::npos);
}

TEST_CASE("open: options that a format does not support are refused with its reader's message",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto tokens = folder.write("tokens", token_bytes(9));
  CHECK(misuse(tokens) == "open: " + tokens.string() +
                              " holds tokens, and open_options::tokens_per_sample is not given");
  CHECK(misuse(tokens, {.fields = {"input"}, .tokens_per_sample = 2}) ==
        "open: fields of a token shard have names of their own; leave open_options::fields empty");
  const auto named = folder.write("named", array_bytes());
  CHECK(misuse(named, {.pad = {{"x", {.length = 2}}}}) ==
        "open: open_options::pad is for ragged fields of records, but " + named.string() +
            " is of the format npy; leave it out");
  CHECK(misuse(folder.write("array", array_bytes()), {.fields = {"x", "y"}}) ==
        "open: a file of the format npy becomes one field, but open_options::fields names 2");
  const auto compressed = folder.write("a.tar.gz", test::gzip_bytes(tar_of_arrays()));
  CHECK(refusal(compressed) ==
        compressed.string() +
            ": byte 0: compressed by gzip, so that samples cannot be read in any order; decompress "
            "it once with gunzip");
  const auto texts = folder.write("texts.tar", test::tar_bytes{}.add("1.txt", "x").ended());
  CHECK(refusal(texts) ==
        texts.string() +
            ": a tar archive with no sample of images (.jpg, .jpeg, .png), labels (.cls) or arrays "
            "(.npy): its members are '1.txt'; say with open_tar how to decode them");
  const auto image = folder.write("image", test::idx_file_bytes(0x08, {3, 2}, 5));
  CHECK(refusal(image).find("cut short") != std::string::npos);
}

TEST_CASE("open: every format has a name of its own, and says how it is opened",
          "[dataset][host]") {
  std::set<std::string_view> names;
  for (const detail::format_entry& entry : detail::format_table()) {
    CAPTURE(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK_FALSE(entry.known_as.empty());
    CHECK(entry.open != nullptr);
    CHECK((entry.is != nullptr || entry.may_be != nullptr || entry.is_folder));
    CHECK(detail::find_format(entry.name) == &entry);
  }
  CHECK(detail::find_format("") == nullptr);
}

TEST_CASE("open: a format that is named is not asked of the content", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto array = folder.write("array", array_bytes());
  CHECK(open(array, {.format = "npy"})->size() == 3);
  CHECK(list_fields(array, {.format = "npy"}).size() == 1);
  CHECK(refusal(array, {.format = "idx"}).find("not an IDX file") != std::string::npos);
  const std::string unknown =
      "open: open_options::format is 'numpy', which is not a format; known are " +
      list_of(&detail::format_entry::name) + "; or leave it out, so that the content tells";
  CHECK(unknown.find("known are hdf5, npy, npz, tar, tfrecord, ") != std::string::npos);
  CHECK(misuse(array, {.format = "numpy"}) == unknown);
  CHECK(test::message_of<usage_error>([&] { (void)list_fields(array, {.format = "numpy"}); }) ==
        unknown);
}

TEST_CASE("list_fields: it shows the fields of a file of any format, like open",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto listed = [&](std::span<const std::byte> bytes, const open_options& options = {}) {
    const auto file = folder.write("things.bin", bytes);
    std::vector<std::string> lines;
    for (const listed_field& each : list_fields(file, options)) {
      CHECK(each.name == each.spec.name);
      CHECK_FALSE(each.is_ragged);
      CHECK(each.refusal.empty());
      lines.push_back(std::to_string(each.samples) + " of " + to_string(each.spec));
    }
    return lines;
  };
  using lines = std::vector<std::string>;
  CHECK(listed(test::idx_file_bytes(0x08, {3, 2}, 6)) == lines{"3 of image: uint8[2]"});
  CHECK(listed(array_bytes()) == lines{"3 of things: uint16[2]"});
  CHECK(listed(token_bytes(9)) == lines{"8 of input: uint16[1]", "8 of target: uint16[1]"});
  CHECK(listed(token_bytes(9), {.tokens_per_sample = 4}) ==
        lines{"2 of input: uint16[4]", "2 of target: uint16[4]"});
  CHECK(listed(cifar_bytes(1, 2)) == lines{"2 of label: uint8[]", "2 of image: uint8[3, 32, 32]"});
  CHECK(listed(cifar_bytes(1, 2), {.fields = {"image"}}).size() == 2);
  CHECK(listed(test::tar_bytes{}.add("1.cls", "4").add("1.vec.npy", array_bytes()).ended()) ==
        lines{"1 of label: int32[]", "1 of vec: uint16[3, 2]"});
}

TEST_CASE("list_fields: the header of a NumPy array is enough", "[dataset][host]") {
  const test::temporary_directory folder;
  auto cut = array_bytes();
  cut.resize(cut.size() - 1);
  const auto file = folder.write("cut.npy", cut);
  CHECK(list_fields(file).front().samples == 3);
  CHECK(refusal(file).find("cut") != std::string::npos);
}

TEST_CASE("list_fields: a file that open does not know is refused in the same words",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto unknown = folder.write("a", {});
  for (const auto& path : {unknown, folder.path() / "none"})
    CHECK(test::message_of<dataset_error>([&] { (void)list_fields(path); }) == refusal(path));
}
