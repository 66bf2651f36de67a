#include <feedline/error.hpp>
#include <feedline/formats/npz.hpp>

#include "formats/npy/array.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/zip_bytes.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::npy_bytes;
using test::npy_dictionary;
using test::zip_bytes;
using test::zip_entry;

namespace {

constexpr std::uint64_t samples = 30;

byte_vector images() {
  return test::counting_bytes(samples * 35);
}

byte_vector labels() {
  std::vector<std::int64_t> values(samples);
  for (std::uint64_t i = 0; i < samples; ++i) values[i] = 1000 - static_cast<std::int64_t>(i);
  return test::memory_of(values);
}

zip_entry image_entry(bool compressed) {
  return {"image.npy", npy_bytes(npy_dictionary("|u1", "(30, 5, 7)"), images()), compressed};
}

zip_entry label_entry(bool compressed) {
  return {"label.npy", npy_bytes(npy_dictionary("=i8", "(30,)"), labels()), compressed};
}

const field image{"image", element_type::u8, {5, 7}};
const field label{"label", element_type::i64, {}};

byte_vector expected_image(sample_index sample) {
  const byte_vector all = images();
  const auto row = std::span{all}.subspan(sample.value * 35, 35);
  return {row.begin(), row.end()};
}

byte_vector expected_label(sample_index sample) {
  const byte_vector all = labels();
  const auto row = std::span{all}.subspan(sample.value * 8, 8);
  return {row.begin(), row.end()};
}

std::string refusal(const std::filesystem::path& file, const std::vector<std::string>& members = {},
                    const npz_options& options = {}) {
  return test::message_of<dataset_error>([&] { (void)open_npz(file, members, options); });
}

}  // namespace

TEST_CASE("npz: all members of an archive are fields, compressed and not", "[dataset][host]") {
  const test::temporary_directory folder;
  const bool compressed_image = GENERATE(false, true);
  const bool compressed_label = GENERATE(false, true);
  const auto file = folder.write(
      "a.npz", zip_bytes({image_entry(compressed_image), label_entry(compressed_label)}));
  const auto opened = open_npz(file);
  test::check_dataset_contract(
      opened, samples, {image, label}, [](sample_index sample, std::size_t place) {
        return place == 0 ? expected_image(sample) : expected_label(sample);
      });
  // Arrays that are not compressed are read in place.
  CHECK(opened->rows().size() == (compressed_image && compressed_label ? 2U : 0U));
}

TEST_CASE("npz: members are chosen by name, with or without .npy, in the order asked for",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const zip_entry other{"other.npy", npy_bytes(npy_dictionary("|u1", "(3,)"), images()), false};
  const auto file = folder.write(
      "a.npz",
      zip_bytes({image_entry(false), other, {"readme.txt", {}, false}, label_entry(true)}));
  CHECK(open_npz(file, {"label.npy", "image"})->fields() == std::vector<field>{label, image});
  CHECK(open_npz(file, {"label"})->fields() == std::vector<field>{label});
  CHECK(refusal(file, {"labels"}) ==
        file.string() + ": has no member 'labels'; there are: image, other, readme.txt, label");
}

TEST_CASE("npz: members in Fortran order are transposed, in place and compressed alike",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const bool compressed = GENERATE(false, true);
  const byte_vector columns = test::bytes_of({0, 2, 4, 1, 3, 5});
  const auto file = folder.write(
      "a.npz", zip_bytes({{"x.npy", npy_bytes(npy_dictionary("|u1", "(3, 2)", true), columns),
                           compressed}}));
  const auto opened = open_npz(file);
  CHECK(test::read_samples(*opened, {{0}, {1}, {2}})[0] == test::bytes_of({0, 1, 2, 3, 4, 5}));
}

TEST_CASE("npz: members of the other byte order become the machine's", "[dataset][host]") {
  const test::temporary_directory folder;
  const bool compressed = GENERATE(false, true);
  const auto file = folder.write(
      "a.npz",
      zip_bytes({{"x.npy", npy_bytes(npy_dictionary(">u2", "(2,)"), test::bytes_of({1, 2, 3, 4})),
                  compressed}}));
  CHECK(test::read_samples(*open_npz(file), {{0}, {1}})[0] ==
        test::memory_of(std::vector<std::uint16_t>{0x0102, 0x0304}));
}

TEST_CASE("npz: an archive that is cut while it is in use is an error that names it",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto file = folder.write("a.npz", zip_bytes({image_entry(false)}));
  const auto opened = open_npz(file);
  std::filesystem::resize_file(file, 300);
  CHECK(test::message_of<dataset_error>([&] {
          (void)test::read_sample(*opened, sample_index{29});
        }).find(file.string() + ": ") == 0);
}

TEST_CASE("npz: members that hold different numbers of samples are refused with a list of members",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const zip_entry three{"three.npy",
                        npy_bytes(npy_dictionary("|u1", "(3, 2)"), test::counting_bytes(6)), true};
  const auto file = folder.write("a.npz", zip_bytes({image_entry(false), three}));
  CHECK(refusal(file) == file.string() +
                             ": 'three' and 'image' differ in their first dimension, which counts "
                             "the samples; name the members that belong together, of image: "
                             "uint8[30, 5, 7], three: uint8[3, 2]");
  CHECK(refusal(file, {"three"}) == "[nothing was thrown]");
}

TEST_CASE("npz: an archive is known by its first member's name", "[dataset][host]") {
  CHECK(detail::is_npz(zip_bytes({image_entry(false)})));
  const byte_vector compressed = zip_bytes({image_entry(true)});
  CHECK(detail::is_npz(std::span{compressed}.first(39)));
  CHECK_FALSE(detail::is_npz(std::span{compressed}.first(38)));
  CHECK_FALSE(detail::is_npz(zip_bytes({{"image.txt", {}, false}})));
  CHECK_FALSE(detail::is_npz(zip_bytes({{"npy", {}, false}})));
  CHECK_FALSE(detail::is_npz(npy_bytes(npy_dictionary("|u1", "(3,)"), images())));
  CHECK_FALSE(detail::is_npz({}));
}

TEST_CASE("npz: a listing shows every member, also those that open_npz refuses",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto file = folder.write(
      "a.npz",
      zip_bytes({image_entry(true),
                 {"few.npy", npy_bytes(npy_dictionary("<u2", "(4,)"), byte_vector(8)), false},
                 {"text.npy", npy_bytes(npy_dictionary("<U5", "(30,)"), byte_vector(600)), false},
                 {"notes.txt", byte_vector(3), false}}));
  const auto listed = detail::list_npz(file, "a");
  REQUIRE(listed.size() == 4);
  CHECK(listed[0].spec == image);
  CHECK(listed[0].samples == samples);
  CHECK(listed[1].spec == field{"few", element_type::u16, {}});
  CHECK(listed[1].samples == 4);
  CHECK(listed[2].name == "text");
  CHECK(listed[2].refusal.find("<U5") != std::string::npos);
  CHECK(listed[3].name == "notes.txt");
  CHECK_FALSE(listed[3].left_out.empty());
  CHECK(refusal(file, {"text"}).find("<U5") != std::string::npos);
  CHECK(open_npz(file, {"image"})->size() == samples);
}

TEST_CASE("npz: members of types that no field has are left out with their reason, unless named",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto text = npy_bytes(npy_dictionary("<U5", "(30,)"), byte_vector(600));
  const auto records =
      npy_bytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", byte_vector(4));
  const bool compressed = GENERATE(false, true);
  const std::string file = folder.write("a.npz", zip_bytes({{"text.npy", text, compressed},
                                                            image_entry(compressed),
                                                            {"records.npy", records, compressed}}));
  const test::log_capture log;
  CHECK(open_npz(file)->fields() == std::vector{image});
  CHECK(log.lines() == 2);
  CHECK(log.text().find(file + ": left out: " + file +
                        ": field 'text', byte 20: the elements "
                        "('<U5') are strings") != std::string::npos);
  CHECK(log.text().find("field 'records', byte 20: the elements are records") != std::string::npos);
  CHECK(refusal(file, {"image", "text"}).find("<U5") != std::string::npos);
  // Damage is no such reason.
  const std::string damaged = folder.write(
      "b.npz", zip_bytes({image_entry(compressed),
                          {"cut.npy", byte_vector(text.begin(), text.begin() + 40), compressed}}));
  CHECK(refusal(damaged).find("cut short") != std::string::npos);
}

TEST_CASE("npz: members that are no arrays are left out, with a warning if all are opened",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = folder.write(
      "a.npz", zip_bytes({image_entry(false), {"meta.json", labels()}, {"weights.pt", labels()}}));
  const test::log_capture log;
  CHECK(open_npz(file)->fields().size() == 1);
  CHECK(log.lines() == 1);
  CHECK(log.text().find(file + ": members that are no arrays (.npy) are left out: meta.json, "
                               "weights.pt") != std::string::npos);
  CHECK(open_npz(file, {"image"})->fields().size() == 1);
  CHECK(log.lines() == 1);
  const auto listed = detail::list_npz(file, "a");
  REQUIRE(listed.size() == 3);
  CHECK(listed[0].left_out.empty());
  CHECK(listed[1].name == "meta.json");
  CHECK(listed[1].left_out == "no array: its name does not end in .npy");
  CHECK(listed[1].refusal.empty());
}

TEST_CASE("npz: a member that cannot be read is named with those that can", "[dataset][host]") {
  const test::temporary_directory folder;
  const bool compressed = GENERATE(false, true);
  const std::string damaged = folder.write(
      "b.npz", zip_bytes({image_entry(compressed), {"cut.npy", byte_vector(50), compressed}}));
  const std::string why = refusal(damaged);
  CHECK(why.find("field 'cut'") != std::string::npos);
  CHECK(why.find("; to open the archive without this member, name fields, of image") !=
        std::string::npos);
  CHECK(open_npz(damaged, {"image"})->size() == samples);
  // Values that do not have their checksum are found when they are decompressed.
  auto wrong = image_entry(true);
  wrong.checksum = 1;
  const std::string sum = folder.write("c.npz", zip_bytes({wrong, label_entry(false)}));
  CHECK(refusal(sum).find("name fields, of label") != std::string::npos);
  CHECK(open_npz(sum, {"label"})->size() == samples);
}

TEST_CASE("npz: dates and durations are counts", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = folder.write(
      "a.npz", zip_bytes({{"time.npy", npy_bytes(npy_dictionary("<M8[ns]", "(30,)"), labels())},
                          {"step.npy", npy_bytes(npy_dictionary(">m8[25s]", "(30,)"),
                                                 test::with_elements_reversed(labels(), 8))},
                          {"text.npy", npy_bytes(npy_dictionary("<M8x", "(30,)"), labels())}}));
  const test::log_capture log;
  const auto opened = open_npz(file);
  CHECK(opened->fields() ==
        std::vector<field>{{"time", element_type::i64, {}}, {"step", element_type::i64, {}}});
  test::check_dataset_contract(
      opened, samples, opened->fields(),
      [](sample_index sample, std::size_t) { return expected_label(sample); });
  CHECK(log.text().find("field 'text'") != std::string::npos);
}

TEST_CASE("npz: open makes dense rows of the sparse matrix that scipy saves", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto text = [](const std::string& format) {
    const auto bytes = std::as_bytes(std::span{format});
    return npy_bytes(npy_dictionary("|S3", "()"), byte_vector(bytes.begin(), bytes.end()));
  };
  const auto matrix = [&](const std::string& format) {
    return zip_bytes(
        {{"indices.npy",
          npy_bytes(npy_dictionary("<i4", "(3,)"), test::memory_of<std::int32_t>({2, 0, 1}))},
         {"indptr.npy",
          npy_bytes(npy_dictionary("<i4", "(3,)"), test::memory_of<std::int32_t>({0, 1, 3}))},
         {"format.npy", text(format)},
         {"shape.npy",
          npy_bytes(npy_dictionary("<i8", "(2,)"), test::memory_of<std::int64_t>({2, 3}))},
         {"data.npy",
          npy_bytes(npy_dictionary("<f4", "(3,)"), test::memory_of<float>({5, 6, 7}))}});
  };
  const std::string file = folder.write("cells.npz", matrix("csr"));
  const auto rows = detail::open_whole_npz(file, {}, "cells");
  const field cells{"cells", element_type::f32, {3}};
  test::check_dataset_contract(rows, 2, {cells}, [](sample_index sample, std::size_t) {
    return sample.value == 0 ? test::memory_of<float>({0, 0, 5})
                             : test::memory_of<float>({6, 7, 0});
  });
  CHECK(detail::open_whole_npz(file, {"cells"}, "cells")->fields() == std::vector{cells});
  CHECK(detail::open_whole_npz(file, {"data"}, "cells")->size() == 3);
  const auto listed = detail::list_npz(file, "cells");
  REQUIRE(listed.size() == 6);
  CHECK(listed[0].spec == cells);
  CHECK(listed[0].samples == 2);
  CHECK(listed[1].name == "indices");
  CHECK(listed[1].left_out == "a part of the sparse matrix 'cells'");
  const std::string other = folder.write("other.npz", matrix("csc"));
  CHECK(test::message_of<dataset_error>([&] {
          (void)detail::open_whole_npz(other, {}, "other");
        }).find("'csc', but rows are read from 'csr'; save matrix.tocsr()") != std::string::npos);
}

TEST_CASE("npz: members with some of scipy's names are arrays, unless all are scipy's",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto numbers = [](const std::vector<float>& values) {
    return npy_bytes(npy_dictionary("<f4", "(" + std::to_string(values.size()) + ",)"),
                     byte_vector(std::as_bytes(std::span{values}).begin(),
                                 std::as_bytes(std::span{values}).end()));
  };
  const auto text = [](const std::string& type, const std::string& bytes) {
    const auto all = std::as_bytes(std::span{bytes});
    return npy_bytes(npy_dictionary(type, "()"), byte_vector(all.begin(), all.end()));
  };
  const std::string plain =
      folder.write("plain.npz", zip_bytes({{"format.npy", numbers({1, 2, 3})},
                                           {"shape.npy", numbers({4, 5, 6})},
                                           {"data.npy", numbers({7, 8, 9})}}));
  CHECK(detail::open_whole_npz(plain, {}, "plain")->fields().size() == 3);
  CHECK(detail::list_npz(plain, "plain").size() == 3);
  CHECK(test::message_of<dataset_error>([&] {
          (void)open_npz_csr(plain, "x");
        }).find("holds no sparse matrix") != std::string::npos);
  // The text alone makes no matrix.
  const std::string told = folder.write("told.npz", zip_bytes({{"format.npy", text("|S3", "csr")},
                                                               {"shape.npy", numbers({4, 5, 6})},
                                                               {"data.npy", numbers({7, 8, 9})}}));
  CHECK(detail::open_whole_npz(told, {}, "told")->fields().size() == 2);
  // A text of four bytes a letter, as older versions of scipy save.
  const std::string wide = folder.write(
      "wide.npz", zip_bytes({{"row.npy", numbers({1})},
                             {"col.npy", numbers({1})},
                             {"format.npy", text("<U3", std::string{"c\0\0\0o\0\0\0o\0\0\0", 12})},
                             {"shape.npy", numbers({4})},
                             {"data.npy", numbers({7})}}));
  CHECK(test::message_of<dataset_error>([&] {
          (void)open_npz_csr(wide, "x");
        }).find("of the format 'coo'") != std::string::npos);
}
