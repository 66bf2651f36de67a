#include <feedline/dataset/decoder.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <cstring>
#include <limits>
#include <string>
#include <string_view>

using namespace feedline;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

std::vector<std::byte> decode(const decoder_ptr& decoder, std::string_view first,
                              std::string_view stored) {
  field spec = decoder->describe(bytes_of(first));
  spec.name = "x";
  std::vector<std::byte> out(sample_bytes(spec), std::byte{0xcd});
  decoder->decode(bytes_of(stored), spec, out, {});
  return out;
}

std::string refusal(const decoder_ptr& decoder, std::string_view first, std::string_view stored) {
  return test::message_of<dataset_error>([&] { (void)decode(decoder, first, stored); });
}

template <class Integer>
Integer decimal(std::string_view text) {
  const auto bytes = decode(decode_decimal(element_type_of<Integer>()), "", text);
  Integer value{};
  REQUIRE(bytes.size() == sizeof value);
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// A `.npy` file. @param type "<u2". @param shape "(2, 3)".
std::string npy(const std::string& type, const std::string& shape, std::string_view elements,
                const std::string& fortran = "False") {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  header.resize(118 - 1, ' ');
  header += '\n';
  std::string file{"\x93NUMPY\x01\x00", 8};
  file += static_cast<char>(header.size());
  file += '\0';
  return file + header + std::string{elements};
}

}  // namespace

TEST_CASE("decoder: raw bytes are taken as they are, and must be as many", "[dataset][host]") {
  const auto decoder = decode_raw(element_type::u16, {2});
  CHECK(decoder->describe({}) == field{{}, element_type::u16, {2}});
  const auto out = decode(decoder, "", "abcd");
  CHECK(std::memcmp(out.data(), "abcd", 4) == 0);
  CHECK(refusal(decoder, "", "abc") == "has 3 bytes, but x: uint16[2] takes 4");
  CHECK_THROWS_AS(decode_raw(element_type::u8, {0}), usage_error);
}

TEST_CASE("decoder: decimal digits become integers of every type", "[dataset][host]") {
  CHECK(decimal<std::uint8_t>("255") == 255);
  CHECK(decimal<std::int8_t>("-128") == -128);
  CHECK(decimal<std::uint16_t>(" 7\r\n") == 7);
  CHECK(decimal<std::int16_t>("-1") == -1);
  CHECK(decimal<std::uint32_t>("4294967295") == 4294967295U);
  CHECK(decimal<std::int32_t>("\t0012 ") == 12);
  CHECK(decimal<std::uint64_t>("18446744073709551615") ==
        std::numeric_limits<std::uint64_t>::max());
  CHECK(decimal<std::int64_t>("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("decoder: text that is no integer, or does not fit the type, is refused",
          "[dataset][host]") {
  const auto decoder = decode_decimal(element_type::u8);
  CHECK(refusal(decoder, "", "256") == "the number '256' does not fit in uint8");
  for (const std::string text : {"", "x", "1.5", "1 2", "-1", "+1", "0x1", "1e2"}) {
    INFO(text);
    CHECK(refusal(decoder, "", text) == "'" + text + "' is not a decimal integer of type uint8");
  }
  CHECK(test::message_of<usage_error>([] { (void)decode_decimal(element_type::f32); }) ==
        "labels are integers, not float32");
}

TEST_CASE("decoder: arrays of NumPy's keep their shape, in the machine's byte order",
          "[dataset][host]") {
  const auto file = npy("<u2", "(2, 1)", {"\1\0\2\0", 4});
  CHECK(decode_npy()->describe(bytes_of(file)) == field{{}, element_type::u16, {2, 1}});
  CHECK(std::memcmp(decode(decode_npy(), file, file).data(), "\1\0\2\0", 4) == 0);
  const auto swapped = npy(">u2", "(2, 1)", {"\0\1\0\2", 4});
  CHECK(decode(decode_npy(), file, swapped) == decode(decode_npy(), file, file));
}

TEST_CASE("decoder: arrays of another shape than the first are refused, and so is Fortran order",
          "[dataset][host]") {
  const auto file = npy("<u2", "(2, 1)", "abcd");
  CHECK(refusal(decode_npy(), file, npy("<u2", "(1, 2)", "abcd")) ==
        "holds uint16[1, 2], but the first sample is x: uint16[2, 1]; arrays of a field have one "
        "type and shape");
  CHECK(refusal(decode_npy(), file, npy("<u4", "(1,)", "abcd")).find("holds uint32[1]") == 0);
  CHECK(refusal(decode_npy(), npy("<u2", "(2, 1)", "abcd", "True"), file) ==
        "an array in Fortran order; save it with numpy.ascontiguousarray");
  CHECK(refusal(decode_npy(), file, "no array").find("NumPy") != std::string::npos);
  CHECK(refusal(decode_npy(), file, file.substr(0, file.size() - 1)).find("byte 131") == 0);
}
