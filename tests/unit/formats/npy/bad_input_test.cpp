#include <feedline/dataset/decoder.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>

#include "formats/npy/array.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/resource_limit.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

using namespace feedline;
using test::byte_vector;
using test::bytes_of;
using test::joined;
using test::npy_bytes;
using test::npy_dictionary;

namespace {

/// The error that a file's bytes give, or nothing if they are an array that can be read. Found in
/// memory and by way of a file alike.
std::optional<dataset_error> error_of(const byte_vector& file) {
  const test::temporary_directory folder;
  std::optional<dataset_error> of_file;
  try {
    (void)open_npy(folder.write("a.npy", file), "x");
  } catch (const dataset_error& error) {
    of_file = error;
  }
  try {
    detail::memory_source source{file};
    (void)detail::read_npy_array(source, file.size(), {"a.npy", "x"});
  } catch (const dataset_error& error) {
    REQUIRE(of_file);
    CHECK(of_file->message() == error.message());
    CHECK(of_file->offset() == error.offset());
    return error;
  }
  CHECK_FALSE(of_file);
  return std::nullopt;
}

std::string message_of(const byte_vector& file) {
  const auto error = error_of(file);
  return error ? error->what() : "[nothing was thrown]";
}

/// Message that refuses a header with this dictionary, which begins at byte 10.
std::string message_of_header(const std::string& dictionary) {
  return message_of(npy_bytes(dictionary, test::counting_bytes(6)));
}

/// Bytes of address space that the process has.
std::uint64_t address_space() {
  std::uint64_t pages = 0;
  std::ifstream{"/proc/self/statm"} >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

const std::string at = "a.npy: field 'x', byte ";
const std::string damaged = ": the header is no dictionary as NumPy writes it: ";
const std::string again = "; the file is damaged, get it again";

}  // namespace

TEST_CASE("npy: a file that is no NumPy file is refused", "[dataset][host]") {
  const std::string not_numpy =
      at +
      "0: not a NumPy file: it does not begin with \\x93NUMPY; check that this is the right "
      "file";
  CHECK(message_of({}) == not_numpy);
  CHECK(message_of(bytes_of({'P', 'K', 3, 4, 0, 0, 0, 0})) == not_numpy);
  CHECK(message_of(bytes_of({0x93, 'N', 'U', 'M', 'P'})) == not_numpy);
}

TEST_CASE("npy: versions that are not known are refused", "[dataset][host]") {
  const auto version = [](unsigned major, unsigned minor) {
    return message_of(bytes_of({0x93, 'N', 'U', 'M', 'P', 'Y', major, minor, 0, 0}));
  };
  const std::string advice =
      " of the format is not known (1.0, 2.0 and 3.0 are); save the array again with numpy.save";
  CHECK(version(0, 0) == at + "6: version 0.0" + advice);
  CHECK(version(1, 1) == at + "6: version 1.1" + advice);
  CHECK(version(4, 0) == at + "6: version 4.0" + advice);
}

TEST_CASE("npy: a header's claim of its own length is not believed", "[dataset][host]") {
  CHECK(message_of(bytes_of({0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 255, 255, 255, 255})) ==
        at + "8: the header claims to be 4294967295 bytes long; no array of numbers needs more "
             "than 1048576, so the file is damaged, get it again");
  CHECK(message_of(bytes_of({0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 255, 255, '{'})) ==
        at + "11: cut short within the header; get the file again");
  CHECK(message_of(bytes_of({0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 0, 0})) ==
        at + "10" + damaged + "there is no '{' at its beginning" + again);
}

TEST_CASE("npy: a file cut short anywhere is refused, telling where it ends", "[dataset][host]") {
  const byte_vector whole = npy_bytes(npy_dictionary("<i2", "(3, 2)"), test::counting_bytes(12));
  REQUIRE_FALSE(error_of(whole));
  for (std::size_t size = 6; size < whole.size(); ++size) {
    CAPTURE(size);
    const auto error = error_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    REQUIRE(error);
    CHECK(error->offset() == size);
    CHECK(error->message().find("cut short") == 0);
  }
  CHECK(message_of({whole.begin(), whole.end() - 1}) ==
        at + "139: cut short: the header announces int16[3, 2], so it should be 140 bytes, but it "
             "ends here; get the file again");
}

TEST_CASE("npy: bytes after the array are not read, and a warning says so", "[dataset][host]") {
  const byte_vector array = npy_bytes(npy_dictionary("|u1", "(3, 2)"), test::counting_bytes(6));
  const test::temporary_directory folder;
  const test::log_capture captured;
  const auto dataset = open_npy(folder.write("two.npy", joined(array, array)), "x");
  CHECK(dataset->size() == 3);
  CHECK(test::read_sample(*dataset, {2})[0] == byte_vector{std::byte{4}, std::byte{5}});
  CHECK(captured.text().find("byte 134: 134 bytes follow the array, uint8[3, 2], and are not read, "
                             "as numpy.load does not read them; if they are more arrays, save each "
                             "to a file of its own") != std::string::npos);
  CHECK(test::message_of<dataset_error>([&] {
          const field spec = decode_npy()->describe(array);
          byte_vector out(6);
          decode_npy()->decode(joined(array, array), spec, out, {});
        }).find("over-long") != std::string::npos);
}

TEST_CASE("npy: a header that is no dictionary of the three keys is refused at the wrong byte",
          "[dataset][host]") {
  struct bad_header {
    std::string dictionary;
    std::string place;
    std::string what;
  };
  const auto bad = GENERATE(values<bad_header>({
      {"", "64", "there is no '{' at its beginning"},
      {"('descr', '|u1')", "10", "there is no '{' at its beginning"},
      {"{", "64", "a key or type is not a string in quotes"},
      {"{}", "64", "it has no 'descr'"},
      {"{'descr' '|u1'}", "19", "there is no ':' after a key"},
      {"{'descr': '|u1' 'shape': (3, 2)}", "26", "there is no ',' after a value"},
      {"{'descr': '|u1', 'fortran_order': False, }", "64", "it has no 'shape'"},
      {"{'descr': '|u1', 'shape': (6,)}", "64", "it has no 'fortran_order'"},
      {"{'fortran_order': True, 'shape': (6,)}", "64", "it has no 'descr'"},
      {"{'descr': '|u1', 'descr': '|u1'}", "27", "it has a key twice"},
      {"{'type': '|u1'}", "11",
       "it has the key 'type', which is not descr, fortran_order or shape"},
      {"{,}", "11", "a key or type is not a string in quotes"},
      {"{'descr': '|u1',,}", "26", "a key or type is not a string in quotes"},
      {"{descr: '|u1'}", "11", "a key or type is not a string in quotes"},
      {"{'descr\": '|u1'}", "21", "there is no ':' after a key"},
      {"{'descr': '|u1}", "63", "a string does not end, or has characters that no key or type has"},
      {"{'descr': '\\x7cu1'}", "21",
       "a string does not end, or has characters that no key or type has"},
      {"{'descr': None}", "20", "a key or type is not a string in quotes"},
      {"{'fortran_order': 0}", "28", "fortran_order is neither True nor False"},
      {"{'fortran_order': true}", "28", "fortran_order is neither True nor False"},
      {"{'fortran_order': Truer}", "32", "there is no ',' after a value"},
      {"{'shape': 6}", "20", "shape is not a tuple"},
      {"{'shape': [6]}", "20", "shape is not a tuple"},
      {"{'shape': (6)}", "23", "shape is not a tuple"},
      {"{'shape': (,)}", "21", "a length in shape is not a whole number of at least 0"},
      {"{'shape': (3,,2)}", "23", "a length in shape is not a whole number of at least 0"},
      {"{'shape': (-3,)}", "21", "a length in shape is not a whole number of at least 0"},
      {"{'shape': (3.5,)}", "22", "the lengths in shape are not separated by commas"},
      {"{'shape': (3 2)}", "23", "the lengths in shape are not separated by commas"},
      {"{'shape': (03,)}", "21", "a length in shape begins with 0"},
      {"{'shape': (3LL,)}", "23", "the lengths in shape are not separated by commas"},
      {"{'shape': (18446744073709551616,)}", "40", "a length in shape does not fit in 64 bits"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (6,)} x", "66",
       "something follows its closing brace"},
  }));
  CAPTURE(bad.dictionary);
  CHECK(message_of_header(bad.dictionary) == at + bad.place + damaged + bad.what + again);
}

TEST_CASE("npy: more dimensions than NumPy allows are refused", "[dataset][host]") {
  const auto shape = [](int rank) {
    std::string text = "(6,";
    for (int i = 1; i < rank; ++i) text += "1,";
    return npy_dictionary("|u1", text + ")");
  };
  CHECK(message_of_header(shape(64)) == "[nothing was thrown]");
  CHECK(message_of_header(shape(65)).find("shape has more than 64 dimensions") !=
        std::string::npos);
}

TEST_CASE("npy: arrays that hold no samples are refused at their shape", "[dataset][host]") {
  const auto shape = [](const std::string& text) {
    return message_of_header(npy_dictionary("<f4", text));
  };
  CHECK(shape("()") == at + "60: the array is a single number; a dataset needs a dimension that "
                            "counts its samples");
  CHECK(shape("(0, 2)") == at + "60: the array, float32[0, 2], holds zero samples");
  CHECK(shape("(2, 0, 3)") ==
        at +
            "60: a dimension of the array, float32[2, 0, 3], is 0, so a sample would hold nothing");
}

TEST_CASE("npy: sizes that overflow are refused, even if a 0 follows", "[dataset][host]") {
  const auto shape = [](const std::string& text) {
    return message_of_header(npy_dictionary("<f4", text));
  };
  const std::string too_large =
      ", more bytes than 64 bits can count; the file is damaged, get it again";
  CHECK(shape("(4294967296, 4294967296)") ==
        at + "60: the header announces float32[4294967296, 4294967296]" + too_large);
  CHECK(shape("(4611686018427387903,)") ==  // with the header's own bytes
        at + "60: the header announces float32[4611686018427387903]" + too_large);
  CHECK(shape("(4294967296, 4294967296, 0)") ==
        at + "60: a dimension of the array, float32[4294967296, 4294967296, 0], is 0, so a sample "
             "would hold nothing");
  // It fits, but the file does not have it; nothing is allocated on the claim.
  CHECK(shape("(1000000000000, 1000)") ==
        at + "134: cut short: the header announces float32[1000000000000, 1000], so it should be "
             "4000000000000128 bytes, but it ends here; get the file again");
}

TEST_CASE("npy: types that have no element_type are refused with a remedy", "[dataset][host]") {
  const auto type = [](const std::string& descr) {
    return message_of_header(npy_dictionary(descr, "(6,)"));
  };
  const std::string are = at + "20: the elements ('";
  CHECK(type("<c32") == are +
                            "<c32') are complex numbers of a size that has no element_type; save "
                            "array.astype('complex128')");
  CHECK(message_of_header(npy_dictionary("<c8", "(6, 2)", true)) ==
        at + "59: complex numbers in Fortran order are not supported; save "
             "numpy.ascontiguousarray(array)");
  CHECK(type("<f16") == are +
                            "<f16') are floating-point numbers of a size that has no "
                            "element_type; save array.astype('float64')");
  CHECK(type("|O") == are +
                          "|O') are Python objects, which feedline never unpickles; save an "
                          "array of numbers");
  CHECK(type("|S3") == are +
                           "|S3') are strings, which have no element_type; save numbers that "
                           "stand for them");
  CHECK(type("<U3") == are +
                           "<U3') are strings, which have no element_type; save numbers that "
                           "stand for them");
  CHECK(type("|V3") == are +
                           "|V3') are raw bytes of no stated type; save array.view() of an "
                           "integer type, or array.astype('float32')");
  CHECK(type("<M8x") == are +
                            "<M8x') are of a type that feedline does not know; save an array of "
                            "bool, integers or floats");
  const std::string unknown =
      "') are of a type that feedline does not know; save an array of bool, integers or floats";
  CHECK(type("<u3") == are + "<u3" + unknown);
  CHECK(type("") == are + unknown);
  CHECK(type("<") == are + "<" + unknown);
  const std::string records =
      at +
      "20: the elements are records of several values, which have no element_type; save each "
      "of their fields as an array of its own";
  CHECK(message_of_header("{'descr': [('a', '<f4'), ('b', '<i4')]}") == records);
  CHECK(message_of_header("{'descr': ('<f4', (2, 2))}") == records);
}

TEST_CASE("npy: a path that cannot be read gives an error that names it", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string missing = folder.path() / "missing.npy";
  CHECK(test::message_of<dataset_error>([&] { (void)open_npy(missing, "x"); }).find(missing) == 0);
}

TEST_CASE("npy: an array in Fortran order that memory cannot hold is refused with a remedy",
          "[dataset][host]") {
  if (test::sanitized) FEEDLINE_SKIP("a sanitizer's memory cannot be limited");
  const test::temporary_directory folder;
  constexpr std::uint64_t array_bytes = std::uint64_t{1} << 30;
  const auto file = folder.write(
      "a.npy", npy_bytes(npy_dictionary("|u1", "(536870912, 2)", true), byte_vector{}));
  std::filesystem::resize_file(file, 128 + array_bytes);  // a hole: it takes no room on the disk
  const test::resource_limit enough_for_a_map_alone{
      RLIMIT_AS, address_space() + array_bytes + array_bytes / 2};
  CHECK(test::message_of<dataset_error>([&] { (void)open_npy(file, "x"); }) ==
        file.string() +
            ": field 'x', byte 128: the elements (uint8[536870912, 2]) take 1073741824 bytes of "
            "memory, which are not available; an array in Fortran order is transposed into memory: "
            "save numpy.ascontiguousarray(array), which is read from the file");
}

TEST_CASE("npy: types of ml_dtypes are refused by name, whatever numpy.save made of the name",
          "[dataset][host]") {
  const auto [descr, words] = GENERATE(table<std::string, std::string>({
      {"float8_e4m3fn",
       "float8, which is not supported; save array.astype('float16') or 'float32'"},
      {"float8_e5m2", "float8, which is not supported; save array.astype('float16') or 'float32'"},
      {"<f1",
       "floating-point numbers of 1 byte: numpy.save writes float8 (e5m2) so, which is not "
       "supported; save array.astype('float16') or 'float32'"},
      {"|V1",
       "raw values of 1 byte, their type not stated: numpy.save writes float8 and int4 so, which "
       "are not supported; save array.astype('float32') or array.astype('int8')"},
      {"int4", "int4, which is not supported; save array.astype('int8')"},
      {"uint4", "uint4, which is not supported; save array.astype('uint8')"},
  }));
  const std::string message = message_of_header(npy_dictionary(descr, "(6,)"));
  CHECK(message == at + "20: the elements ('" + descr + "') are " + words);
}

TEST_CASE("npy: files that numpy.save made of ml_dtypes' arrays are refused by name",
          "[dataset][host]") {
  const auto [file, words] = GENERATE(table<std::string, std::string>({
      {"float8_e4m3fn.npy", "numpy.save writes float8 and int4 so"},
      {"float8_e4m3fn_named.npy", "are float8"},
      {"float8_e5m2.npy", "numpy.save writes float8 (e5m2) so"},
      {"float8_e5m2_named.npy", "are float8"},
      {"int4.npy", "numpy.save writes float8 and int4 so"},
      {"int4_named.npy", "are int4"},
  }));
  const auto path = test::find_test_data("found/second/ml-dtypes-npy/" + file);
  if (!path) FEEDLINE_SKIP("no found/second: name its folder's parent in FEEDLINE_TEST_DATA");
  const std::string message = test::message_of<dataset_error>([&] { (void)open_npy(*path, "x"); });
  CAPTURE(message);
  CHECK(message.find(words) != std::string::npos);
}
