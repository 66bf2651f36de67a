#include <feedline/error.hpp>
#include <feedline/formats/records.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;

namespace {

constexpr bool machine_is_little = std::endian::native == std::endian::little;

byte_vector part(const byte_vector& bytes, std::size_t first, std::size_t count) {
  const auto bytes_of_part = std::span{bytes}.subspan(first, count);
  return {bytes_of_part.begin(), bytes_of_part.end()};
}

template <class Error = dataset_error>
std::string refusal(const std::vector<std::string>& files, const std::vector<record_field>& fields,
                    const record_options& options = {}) {
  return test::message_of<Error>([&] { (void)open_records(files, fields, options); });
}

const std::vector<record_field> three_bytes{{"x", element_type::u8, {3}}};

}  // namespace

TEST_CASE("records: fields that follow one another keep the dataset contract", "[dataset][host]") {
  const test::temporary_directory folder;
  const byte_vector bytes = test::counting_bytes(40 * 7);
  const auto opened =
      open_records({folder.write("r.bin", bytes)},
                   {{"label", element_type::u8}, {"image", element_type::u8, {2, 3}}});
  test::check_dataset_contract(
      opened, 40, {{"label", element_type::u8, {}}, {"image", element_type::u8, {2, 3}}},
      [&](sample_index sample, std::size_t place) {
        return part(bytes, sample.value * 7 + (place == 0 ? 0 : 1), place == 0 ? 1 : 6);
      });
}

TEST_CASE("records: headers, gaps, overlaps and given offsets are respected", "[dataset][host]") {
  const test::temporary_directory folder;
  const byte_vector bytes = test::counting_bytes(11 + 30 * 13);
  const auto opened = open_records({folder.write("r.bin", bytes)},
                                   {{"last", element_type::u8, {2}, 11},
                                    {"first", element_type::u8, {4}, 0},
                                    {"behind_first", element_type::u8, {3}},
                                    {"over_all", element_type::u8, {13}, 0}},
                                   {.header_bytes = 11, .record_bytes = 13});
  struct place_of_field {
    std::size_t offset;
    std::size_t bytes;
  };
  const std::vector<place_of_field> places{{11, 2}, {0, 4}, {4, 3}, {0, 13}};
  test::check_dataset_contract(
      opened, 30, opened->fields(), [&](sample_index sample, std::size_t place) {
        return part(bytes, 11 + sample.value * 13 + places[place].offset, places[place].bytes);
      });
}

TEST_CASE("records: without record_bytes a record ends where its farthest field does",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto file = folder.write("r.bin", test::counting_bytes(10 * 8));
  CHECK(
      open_records({file}, {{"far", element_type::u8, {2}, 8}, {"near", element_type::u8, {3}, 0}})
          ->size() == 8);
}

TEST_CASE("records: elements of either byte order become the machine's", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto order = GENERATE(std::endian::little, std::endian::big);
  // Two bytes, four and eight in one record, and one byte that must not be touched.
  const byte_vector native = test::counting_bytes(20 * 15);
  byte_vector stored = native;
  if (order != std::endian::native)
    for (std::size_t at = 0; at < stored.size(); at += 15) {
      std::size_t begin = at;
      for (const std::size_t element : {2U, 4U, 8U}) {
        const byte_vector turned =
            test::with_elements_reversed(part(stored, begin, element), element);
        std::copy(turned.begin(), turned.end(),
                  stored.begin() + static_cast<std::ptrdiff_t>(begin));
        begin += element;
      }
    }
  const auto opened = open_records({folder.write("r.bin", stored)},
                                   {{"two", element_type::f16},
                                    {"four", element_type::i32},
                                    {"eight", element_type::f64},
                                    {"one", element_type::boolean}},
                                   {.byte_order = order});
  const std::vector<std::size_t> offsets{0, 2, 6, 14, 15};
  test::check_dataset_contract(opened, 20, opened->fields(),
                               [&](sample_index sample, std::size_t place) {
                                 return part(native, sample.value * 15 + offsets[place],
                                             offsets[place + 1] - offsets[place]);
                               });
  CHECK(record_options{}.byte_order == std::endian::little);
  CHECK((order == std::endian::native) == (machine_is_little == (order == std::endian::little)));
}

TEST_CASE("records: several files are one sequence, each with its header", "[dataset][host]") {
  const test::temporary_directory folder;
  const byte_vector a = test::counting_bytes(4 + 5 * 3);
  const byte_vector b = test::counting_bytes(4 + 1 * 3);
  const byte_vector c = test::counting_bytes(4 + 9 * 3);
  const auto opened =
      open_records({folder.write("a", a), folder.write("b", b), folder.write("c", c)}, three_bytes,
                   {.header_bytes = 4});
  test::check_dataset_contract(opened, 15, {{"x", element_type::u8, {3}}},
                               [&](sample_index sample, std::size_t) {
                                 if (sample.value < 5) return part(a, 4 + sample.value * 3, 3);
                                 if (sample.value < 6) return part(b, 4, 3);
                                 return part(c, 4 + (sample.value - 6) * 3, 3);
                               });
}

TEST_CASE("records: a file that is not header and whole records is refused", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = folder.write("r.bin", test::counting_bytes(10));
  CHECK(refusal({file}, three_bytes) ==
        file +
            ": byte 9: no whole number of records: after 3 of 3 bytes there are 1 bytes more; "
            "get the file again, or check the sizes of header and record");
  CHECK(refusal({file}, three_bytes, {.header_bytes = 2}) ==
        file +
            ": byte 8: no whole number of records: after 2 of 3 bytes there are 2 bytes more; "
            "get the file again, or check the sizes of header and record");
  CHECK(refusal({file}, three_bytes, {.header_bytes = 11}) ==
        file +
            ": byte 10: cut short: the header alone should have 11 bytes, but the file ends here; "
            "get the file again, or check header_bytes");
  CHECK(refusal({file}, three_bytes, {.header_bytes = 10}) ==
        file + ": byte 10: the file holds no record");
  CHECK(refusal({file}, three_bytes, {.record_bytes = 11}) ==
        file +
            ": byte 0: no whole number of records: after 0 of 11 bytes there are 10 bytes more; "
            "get the file again, or check the sizes of header and record");
  const std::string whole = folder.write("w.bin", test::counting_bytes(9));
  CHECK(refusal({whole, file}, three_bytes).find(file + ": byte 9: ") == 0);
  const std::string missing = folder.path() / "missing";
  CHECK(refusal({missing}, three_bytes).find(missing + ": ") == 0);
}

TEST_CASE("records: fields that cannot be are refused before a file is opened", "[dataset][host]") {
  const std::vector<std::string> no_file{"/does/not/exist"};
  CHECK(refusal<usage_error>({}, three_bytes) == "open_records: there is no file to open");
  CHECK(refusal<usage_error>(no_file, {}) == "open_records: a dataset needs at least one field");
  CHECK(refusal<usage_error>(no_file, {{"x", element_type::u8}, {"x", element_type::u8}}) ==
        "open_records: fields 0 and 1 are both named 'x'; a batch finds a field by its name");
  CHECK(refusal<usage_error>(no_file, {{"x", element_type::u8, {0}}}) ==
        "field x: uint8[0]: a dimension is 0, so a sample would hold nothing");
  CHECK(refusal<usage_error>(no_file, {{"x", static_cast<element_type>(13)}})
            .find("field 'x': element type is 13, which is not a value of its type") == 0);
  CHECK(refusal<usage_error>(no_file, three_bytes, {.byte_order = static_cast<std::endian>(7)}) ==
        "record_options::byte_order is 7, which is not a value of its type: say one of "
        "std::endian::little, std::endian::big");
  CHECK(refusal<usage_error>(no_file, three_bytes, {.record_bytes = 2}) ==
        "open_records: field x: uint8[3] ends at byte 3 of a record, but record_bytes is 2");
  CHECK(refusal<usage_error>(no_file,
                             {{"x", element_type::u32, {}, record_field::after_previous - 1}}) ==
        "open_records: field x: uint32[] ends beyond what 64 bits can count");
}

TEST_CASE("records: a file that is cut while it is in use is an error that names it",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto file = folder.write("r.bin", test::counting_bytes(300));
  const auto opened = open_records({file}, three_bytes);
  std::filesystem::resize_file(file, 200);
  const std::string message =
      test::message_of<dataset_error>([&] { (void)test::read_sample(*opened, sample_index{90}); });
  CHECK(message.find(file.string() + ": ") == 0);
}
