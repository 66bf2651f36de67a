/// Tests what a GPU does with the bytes of a word in one instruction, on the host.

#include "detail/packed_bytes.hpp"

#include "support/checks/catch.hpp"

using namespace feedline::detail;

TEST_CASE("packed bytes: bytes of two words are chosen by digits", "[dataset][host]") {
  CHECK(choose_bytes(0x33221100, 0x77665544, 0x3210) == 0x33221100);
  CHECK(choose_bytes(0x33221100, 0x77665544, 0x7654) == 0x77665544);
  CHECK(choose_bytes(0x33221100, 0x77665544, 0x5140) == 0x55114400);
  CHECK(choose_bytes(0x33221100, 0x77665544, 0x0007) == 0x00000077);
}

TEST_CASE("packed bytes: products are added without signs, modulo 2^32", "[dataset][host]") {
  CHECK(add_products(0xFF030201, 0xFF302010, 5) == 5 + 0x10 + 2 * 0x20 + 3 * 0x30 + 255 * 255);
  CHECK(add_products(1, 1, 0xFFFFFFFF) == 0);
  CHECK(add_low_products(0x7FFF0002, 0x0403FF05, 7) == 7 + 2 * 5 + 32767 * 255);
  CHECK(add_high_products(0x7FFF0002, 0xFF050403, 7) == 7 + 2 * 5 + 32767 * 255);
  CHECK(add_low_products(0xFFFF8000, 0x0403FF05, 7) == 7U - 32768U * 5 - 255);
  CHECK(add_signed_high_products(0x7FFF8000, 0xFF7F0403, 7) == 7U - 32768U * 127 - 32767);
  CHECK(add_signed_high_products(0xFFFE0003, 0x80FF0403, 7) == 7U - 3 + 2 * 128);
  CHECK(add_low_products(1, 1, 0xFFFFFFFF) == 0);
}

TEST_CASE("packed bytes: zeros are marked, whatever lies beside them", "[dataset][host]") {
  CHECK(zero_bytes(0x01800000) == 0x00008080);
  CHECK(zero_bytes(0x00FF0001) == 0x80008000);
  CHECK(zero_bytes(0x7F80FF01) == 0);
  CHECK(zero_bytes(0) == 0x80808080);
}

TEST_CASE("packed bytes: byte 0 of a word is the first in memory", "[dataset][host]") {
  alignas(8) std::uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(load_word(bytes) == 0x04030201);
  const two_words both = load_two_words(bytes);
  CHECK(both.word[0] == 0x04030201);
  CHECK(both.word[1] == 0x08070605);
  store_word(bytes + 4, 0x01020304);
  CHECK(bytes[4] == 4);
  CHECK(bytes[7] == 1);
  store_two_words(bytes, {{0x0A0B0C0D, 0x01020304}});
  CHECK(bytes[0] == 0x0D);
  CHECK(bytes[4] == 4);
}
