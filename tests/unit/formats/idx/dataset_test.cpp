#include <feedline/error.hpp>
#include <feedline/formats/idx.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/idx_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::gzip_bytes;
using test::idx_file_bytes;
using test::joined;

namespace {

/// Bytes that `idx_file_bytes` writes for one sample, in the file's own byte order.
test::expected_bytes counting(std::size_t row_bytes) {
  return [row_bytes](sample_index sample, std::size_t) {
    byte_vector row(row_bytes);
    for (std::size_t i = 0; i < row_bytes; ++i)
      row[i] = static_cast<std::byte>((sample.value * row_bytes + i) % 251);
    return row;
  };
}

template <class T>
std::vector<T> values_of(const dataset& dataset) {
  std::vector<sample_index> all(dataset.size());
  for (std::uint64_t i = 0; i < all.size(); ++i) all[i] = sample_index{i};
  const byte_vector bytes = test::read_samples(dataset, all).at(0);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

TEST_CASE("idx: a file of images and one of labels keep the dataset contract, plain or compressed",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const byte_vector images = idx_file_bytes(0x08, {50, 5, 7}, 50 * 35);
  const byte_vector labels = idx_file_bytes(0x08, {50}, 50);
  const bool compressed = GENERATE(false, true);
  const auto dataset = open_idx(folder.write("images", compressed ? gzip_bytes(images) : images),
                                folder.write("labels", compressed ? gzip_bytes(labels) : labels));
  test::check_dataset_contract(
      dataset, 50, {{"image", element_type::u8, {5, 7}}, {"label", element_type::u8, {}}},
      [](sample_index sample, std::size_t place) {
        return counting(place == 0 ? 35 : 1)(sample, place);
      });
  CHECK(dataset->rows().size() == 2);  // they lie in memory, and the contract has looked at them
}

TEST_CASE("idx: one file is a dataset of one field, of any rank, named as asked for",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto scalars = open_idx_file(folder.write("1", idx_file_bytes(0x09, {4}, 4)), "x");
  test::check_dataset_contract(scalars, 4, {{"x", element_type::i8, {}}}, counting(1));
  const auto blocks =
      open_idx_file(folder.write("5", idx_file_bytes(0x08, {3, 1, 2, 3, 4}, 72)), "y");
  test::check_dataset_contract(blocks, 3, {{"y", element_type::u8, {1, 2, 3, 4}}}, counting(24));
}

TEST_CASE("idx: big-endian elements of every type become the machine's", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto open = [&](unsigned type_code, std::uint32_t count,
                        std::initializer_list<unsigned> payload) {
    const auto file = joined(test::idx_header_bytes(type_code, {count}), test::bytes_of(payload));
    return open_idx_file(folder.write("file", file), "x");
  };
  CHECK(values_of<std::uint8_t>(*open(0x08, 2, {0x00, 0xff})) == std::vector<std::uint8_t>{0, 255});
  CHECK(values_of<std::int8_t>(*open(0x09, 2, {0x7f, 0x80})) ==
        std::vector<std::int8_t>{127, -128});
  CHECK(values_of<std::int16_t>(*open(0x0b, 2, {0x01, 0x02, 0xff, 0xfe})) ==
        std::vector<std::int16_t>{258, -2});
  CHECK(values_of<std::int32_t>(*open(0x0c, 2, {1, 2, 3, 4, 0x80, 0, 0, 0})) ==
        std::vector<std::int32_t>{16909060, std::numeric_limits<std::int32_t>::min()});
  CHECK(values_of<float>(*open(0x0d, 2, {0x3f, 0xc0, 0, 0, 0xc2, 0xf6, 0, 0})) ==
        std::vector<float>{1.5F, -123.0F});
  CHECK(values_of<double>(*open(0x0e, 1, {0x40, 0x59, 0x20, 0, 0, 0, 0, 0})) ==
        std::vector<double>{100.5});
  CHECK(open(0x0b, 1, {0, 0})->fields() == std::vector<field>{{"x", element_type::i16, {}}});
  CHECK(open(0x0e, 1, {0, 0, 0, 0, 0, 0, 0, 0})->fields()[0].type == element_type::f64);
}

TEST_CASE("idx: a compressed file may be longer than any buffer, and of several members",
          "[dataset][host]") {
  const test::temporary_directory folder;
  // 6 MB: the memory for it grows three times, and ends on huge pages.
  const byte_vector plain = idx_file_bytes(0x08, {6001, 1000}, 6'001'000);
  const auto half = std::span{plain}.first(3'333'333);
  const auto rest = std::span{plain}.subspan(half.size());
  const byte_vector file =
      GENERATE_COPY(gzip_bytes(plain), joined(gzip_bytes(half), gzip_bytes(rest)),
                    joined(gzip_bytes(plain), gzip_bytes({})));
  const auto dataset = open_idx_file(folder.write("file", file), "x");
  REQUIRE(dataset->size() == 6001);
  for (const std::uint64_t sample : {0u, 1u, 1047u, 1048u, 3332u, 3333u, 6000u})
    CHECK(test::read_sample(*dataset, {sample})[0] == counting(1000)({sample}, 0));
}

TEST_CASE("idx: a pipe serves as well as a file", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer{[&pipe] {
    const byte_vector bytes = idx_file_bytes(0x08, {3000, 1000}, 3'000'000);
    std::ofstream{pipe, std::ios::binary}.write(reinterpret_cast<const char*>(bytes.data()),
                                                static_cast<std::streamsize>(bytes.size()));
  }};
  const auto dataset = open_idx_file(pipe, "x");
  writer.join();
  REQUIRE(dataset->size() == 3000);
  CHECK(test::read_sample(*dataset, {2999})[0] == counting(1000)({2999}, 0));
}

TEST_CASE("idx: numbers of images and labels that differ are refused, naming both files",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto images = folder.write("images", idx_file_bytes(0x08, {3, 2, 2}, 12));
  const auto labels = folder.write("labels", idx_file_bytes(0x08, {4}, 4));
  CHECK(test::message_of<dataset_error>([&] { (void)open_idx(images, labels); }) ==
        labels.string() + ": field 'label', byte 4: holds 4 labels, but " + images.string() +
            " holds 3 images; use the two files of one set");
}

TEST_CASE("idx: labels that are not one-dimensional are refused", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto images = folder.write("images", idx_file_bytes(0x08, {3, 2, 2}, 12));
  const auto labels = folder.write("labels", idx_file_bytes(0x08, {3}, 3));
  CHECK(test::message_of<dataset_error>([&] { (void)open_idx(labels, images); }) ==
        images.string() +
            ": field 'label', byte 3: labels are one-dimensional, but this file holds "
            "uint8[3, 2, 2]; check that images and labels are not swapped");
}
