#include <feedline/error.hpp>
#include <feedline/formats/cifar.hpp>

#include "formats/records/cifar_format.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;

namespace {

constexpr std::size_t image_bytes = 3072;

/// Records whose labels and pixels hang on the record's number, the first of which is `first`.
byte_vector batch_bytes(std::size_t label_bytes, std::size_t first, std::size_t records) {
  byte_vector bytes;
  for (std::size_t i = first; i < first + records; ++i) {
    if (label_bytes == 2) bytes.push_back(static_cast<std::byte>(i % 20));
    bytes.push_back(static_cast<std::byte>(i % (label_bytes == 2 ? 100 : 10)));
    for (std::size_t at = 0; at < image_bytes; ++at)
      bytes.push_back(static_cast<std::byte>((i * 7 + at) % 251));
  }
  return bytes;
}

byte_vector image(std::uint64_t sample) {
  const byte_vector one = batch_bytes(1, sample, 1);
  return {one.begin() + 1, one.end()};
}

const field image_field{"image", element_type::u8, {3, 32, 32}};

}  // namespace

TEST_CASE("cifar: CIFAR-10's batches are one sequence of labels and images", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto opened = open_cifar10({folder.write("data_batch_1.bin", batch_bytes(1, 0, 12)),
                                    folder.write("data_batch_2.bin", batch_bytes(1, 12, 5))});
  test::check_dataset_contract(
      opened, 17, {{"label", element_type::u8, {}}, image_field},
      [](sample_index sample, std::size_t place) {
        return place == 1 ? image(sample.value)
                          : byte_vector{static_cast<std::byte>(sample.value % 10)};
      });
}

TEST_CASE("cifar: CIFAR-100's records have two labels", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto opened = open_cifar100({folder.write("train.bin", batch_bytes(2, 0, 120))});
  test::check_dataset_contract(
      opened, 120,
      {{"coarse_label", element_type::u8, {}}, {"fine_label", element_type::u8, {}}, image_field},
      [](sample_index sample, std::size_t place) {
        if (place == 2) return image(sample.value);
        return byte_vector{static_cast<std::byte>(sample.value % (place == 0 ? 20 : 100))};
      });
}

TEST_CASE("cifar: a file of another size or set is refused", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto refusal10 = [](const std::string& file) {
    return test::message_of<dataset_error>([&] { (void)open_cifar10({file}); });
  };
  const auto refusal100 = [](const std::string& file) {
    return test::message_of<dataset_error>([&] { (void)open_cifar100({file}); });
  };
  const std::string advice =
      " bytes; check that it is of the set's binary version, unpacked, or get it again";
  const std::string cut = folder.write("cut.bin", test::counting_bytes(3073 + 100));
  CHECK(refusal10(cut) == cut +
                              ": byte 3073: the file's 3173 bytes are not a whole number of "
                              "CIFAR-10's records of 3073" +
                              advice);
  CHECK(refusal100(cut) == cut +
                               ": byte 3074: the file's 3173 bytes are not a whole number of "
                               "CIFAR-100's records of 3074" +
                               advice);
  const std::string empty = folder.write("empty.bin", {});
  CHECK(refusal10(empty) == empty +
                                ": byte 0: the file's 0 bytes are not a whole number of "
                                "CIFAR-10's records of 3073" +
                                advice);

  byte_vector bytes = batch_bytes(1, 0, 3);
  bytes[2 * 3073] = std::byte{10};
  const std::string ten = folder.write("ten.bin", bytes);
  CHECK(refusal10(ten) == ten +
                              ": field 'label', sample 2, byte 6146: 10 is not a label of CIFAR-10 "
                              "(0 to 9); check that the file is of this set, or get it again");
  bytes = batch_bytes(2, 0, 700);
  bytes[600 * 3074] = std::byte{20};
  const std::string coarse = folder.write("coarse.bin", bytes);
  CHECK(refusal100(coarse) ==
        coarse +
            ": field 'coarse_label', sample 600, byte 1844400: 20 is not a label of CIFAR-100 "
            "(0 to 19); check that the file is of this set, or get it again");
  bytes = batch_bytes(2, 0, 2);
  bytes[3075] = std::byte{100};
  const std::string fine = folder.write("fine.bin", bytes);
  CHECK(refusal100(fine) ==
        fine +
            ": field 'fine_label', sample 1, byte 3075: 100 is not a label of CIFAR-100 (0 to 99); "
            "check that the file is of this set, or get it again");
  CHECK(test::message_of<usage_error>([] { (void)open_cifar100({}); }) ==
        "open_cifar100: there is no file to open");
}

TEST_CASE("cifar: a file may be of the format if its size and its first labels say so",
          "[dataset][host]") {
  const byte_vector ten = batch_bytes(1, 0, 2);
  CHECK(detail::is_cifar(detail::cifar10, ten, ten.size()));
  CHECK(detail::is_cifar(detail::cifar10, std::span{ten}.first(1), ten.size()));
  CHECK_FALSE(detail::is_cifar(detail::cifar10, ten, ten.size() + 1));
  CHECK_FALSE(detail::is_cifar(detail::cifar10, {}, 0));
  CHECK_FALSE(detail::is_cifar(detail::cifar100, ten, ten.size()));
  const byte_vector hundred = batch_bytes(2, 95, 2);
  CHECK(detail::is_cifar(detail::cifar100, hundred, hundred.size()));
  byte_vector wrong = hundred;
  wrong[3075] = std::byte{100};
  CHECK_FALSE(detail::is_cifar(detail::cifar100, wrong, wrong.size()));
}
