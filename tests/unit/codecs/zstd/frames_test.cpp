/// Frames of Zstandard byte by byte: which are taken, and which are refused.

#include "support/files/zstd_frames.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace feedline;
using namespace feedline::test::zstd;

namespace {

bytes operator+(bytes left, const bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

const bytes magic{0x28, 0xB5, 0x2F, 0xFD};
/// A frame without size, window of 1 KiB.
const bytes no_size = magic + bytes{0x00, 0x00};
/// Frame with a window of 128 KiB.
const bytes wide = magic + bytes{0x00, 0x38};

bytes block(unsigned kind, std::size_t size, const bytes& content, bool is_last = true) {
  const std::size_t header = size << 3U | kind << 1U | (is_last ? 1U : 0U);
  return bytes{static_cast<unsigned char>(header), static_cast<unsigned char>(header >> 8U),
               static_cast<unsigned char>(header >> 16U)} +
         content;
}
bytes plain(const bytes& content, bool is_last = true) {
  return block(0, content.size(), content, is_last);
}
bytes compressed(const bytes& content, bool is_last = true) {
  return block(2, content.size(), content, is_last);
}

/// Whether both take it, as they must.
bool decodes(const bytes& frames, std::size_t room) {
  const auto expected = by_libzstd(frames, room);
  CHECK(by_feedline(frames, room) == expected);
  return expected.has_value();
}
/// Whether we refuse frames that libzstd takes, at least in some version.
bool is_refused(const bytes& frames, std::size_t room) {
  return !by_feedline(frames, room);
}

/// Bits of a stream that is read from its end, given in the order of reading.
bytes stream_of(const std::vector<unsigned>& bits) {
  bytes stream(bits.size() / 8 + 1);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::size_t at = bits.size() - 1 - i;
    stream[at / 8] |= static_cast<unsigned char>(bits[i] << at % 8);
  }
  stream.back() |= static_cast<unsigned char>(1U << bits.size() % 8);
  return stream;
}

/// A block of literals in one Huffman stream, and no sequences.
bytes literals_block(const bytes& weights, const bytes& stream, std::size_t count,
                     bool is_last = true) {
  const bytes tree = bytes{static_cast<unsigned char>(127 + weights.size())} + [&] {
    bytes packed((weights.size() + 1) / 2);
    for (std::size_t i = 0; i < weights.size(); ++i)
      packed[i / 2] |= static_cast<unsigned char>(weights[i] << (i % 2 == 0 ? 4U : 0U));
    return packed;
  }();
  const std::size_t header = 2U | count << 4U | (tree.size() + stream.size()) << 14U;
  return compressed(
      bytes{static_cast<unsigned char>(header), static_cast<unsigned char>(header >> 8U),
            static_cast<unsigned char>(header >> 16U)} +
          tree + stream + bytes{0},
      is_last);
}

}  // namespace

TEST_CASE("zstd: a frame's header is read, and errors in it are refused", "[device][host]") {
  const bytes two = plain({7, 8});
  CHECK(decodes(no_size + two, 2));
  CHECK(decodes({}, 0));
  CHECK(!decodes({}, 1));
  CHECK(!decodes(bytes{0x27, 0xB5, 0x2F, 0xFD, 0, 0} + two, 2));
  CHECK(!decodes(magic + bytes{0x08, 0} + two, 2));  // a bit that is reserved
  CHECK(decodes(magic + bytes{0x10, 0} + two, 2));   // one that is unused
  CHECK(decodes(magic + bytes{0x20, 2} + two, 2));   // sizes of 1, 2, 4 and 8 bytes
  CHECK(!decodes(magic + bytes{0x20, 3} + two, 2));
  CHECK(!decodes(magic + bytes{0x40, 0, 2, 0} + two, 2));  // counted from 256
  CHECK(decodes(magic + bytes{0x40, 0, 1, 0} + block(1, 257, {5}), 257));
  CHECK(decodes(magic + bytes{0x80, 0, 2, 0, 0, 0} + two, 2));
  CHECK(decodes(magic + bytes{0xE0, 2, 0, 0, 0, 0, 0, 0, 0} + two, 2));
  CHECK(!decodes(magic + bytes{0xE0, 2, 0, 0, 0, 0, 0, 0, 1} + two, 2));
  CHECK(decodes(magic + bytes{0x00, 21U << 3U} + two, 2));  // a window of 2 GiB
  CHECK(!decodes(magic + bytes{0x00, 22U << 3U} + two, 2));
  CHECK(!decodes(magic + bytes{0x01, 0, 9} + two, 2));  // dictionaries
  CHECK(!decodes(magic + bytes{0x02, 0, 0, 9} + two, 2));
  CHECK(!decodes(magic + bytes{0x03, 0, 0, 0, 0, 9} + two, 2));
  CHECK(decodes(magic + bytes{0x03, 0, 0, 0, 0, 0} + two, 2));  // number 0 means no dictionary
  for (std::size_t size = 0; size < no_size.size() + two.size(); ++size) {
    bytes cut = no_size + two;
    cut.resize(size);
    CHECK(!decodes(cut, 2));
  }
}

TEST_CASE("zstd: checksums are compared", "[device][host]") {
  const bytes content{1, 2, 3};
  frame_maker make{1};
  const bytes frame = make.packed(content, true);
  REQUIRE(decodes(frame, 3));
  for (std::size_t i = 1; i <= 4; ++i) {
    bytes wrong = frame;
    wrong[wrong.size() - i] ^= 1;
    CHECK(!decodes(wrong, 3));
    wrong.resize(frame.size() - i);
    CHECK(!decodes(wrong, 3));
  }
}

TEST_CASE("zstd: frames follow each other, and others are skipped", "[device][host]") {
  const bytes one = no_size + plain({7});
  const bytes skipped = frame_maker::skippable(5);
  CHECK(decodes(one + one, 2));
  CHECK(decodes(skipped + one + skipped + skipped + one, 2));
  CHECK(decodes(skipped, 0));
  CHECK(decodes(bytes{0x5F, 0x2A, 0x4D, 0x18, 0, 0, 0, 0} + one, 1));
  CHECK(!decodes(bytes{0x60, 0x2A, 0x4D, 0x18, 0, 0, 0, 0} + one, 1));
  CHECK(!decodes(bytes{0x50, 0x2A, 0x4D, 0x18, 0xFF, 0xFF, 0xFF, 0xFF} + one, 1));
  CHECK(!decodes(bytes{0x50, 0x2A, 0x4D, 0x18, 0xF8, 0xFF, 0xFF, 0xFF} + one, 1));
  CHECK(!decodes(one + bytes{0}, 1));
  CHECK(!decodes(one + bytes(20, 0), 1));
  // Each frame begins with an empty history: no bytes precede it.
  const bytes from_before = no_size + compressed({0x00, 0x01, 0x54, 0x00, 0x02, 0x00, 0x01 << 2U});
  CHECK(!decodes(one + from_before, 4));
}

TEST_CASE("zstd: blocks are plain, of one byte, or compressed", "[device][host]") {
  CHECK(decodes(no_size + plain({}), 0));
  CHECK(decodes(no_size + plain({1, 2}, false) + plain({}, false) + block(1, 3, {9}), 5));
  CHECK(!decodes(no_size + plain({1, 2}, false), 2));  // not the last
  CHECK(!decodes(no_size + block(0, 3, {1, 2}), 3));   // cut
  CHECK(!decodes(no_size + block(1, 3, {}), 3));
  CHECK(!decodes(no_size + block(3, 1, {1}), 1));             // none of the kinds
  CHECK(decodes(no_size + block(1, 200'000, {9}), 200'000));  // beyond a block's largest size
  CHECK(!decodes(no_size + block(1, 200'000, {9}), 199'999));
  CHECK(!decodes(no_size + plain({1, 2, 3}), 2));
  CHECK(!decodes(no_size + compressed({}), 0));
  CHECK(!decodes(no_size + compressed({0}), 0));
  CHECK(decodes(no_size + compressed({0, 0}), 0));
}

TEST_CASE("zstd: literals are plain or of one byte, and have the declared number",
          "[device][host]") {
  CHECK(decodes(no_size + compressed({3U << 3U, 1, 2, 3, 0}), 3));
  CHECK(decodes(no_size + compressed({2U << 2U | 3U << 3U, 1, 2, 3, 0}), 3));
  CHECK(decodes(no_size + compressed({1U << 2U | 3U << 4U, 0, 1, 2, 3, 0}), 3));
  CHECK(decodes(no_size + compressed({3U << 2U | 3U << 4U, 0, 0, 1, 2, 3, 0}), 3));
  CHECK(!decodes(no_size + compressed({4U << 3U, 1, 2, 3}), 4));        // no room for the sequences
  CHECK(!decodes(no_size + compressed({3U << 3U, 1, 2, 3, 0, 0}), 3));  // bytes after them
  CHECK(decodes(no_size + compressed({1U | 3U << 3U, 9, 0}), 3));
  CHECK(decodes(no_size + compressed({1U | 1U << 2U | 3U << 4U, 0, 9, 0}), 3));
  CHECK(decodes(no_size + compressed({1U | 3U << 2U | 3U << 4U, 0, 0, 9, 0}), 3));
  CHECK(!decodes(no_size + compressed({1U | 3U << 2U | 3U << 4U, 0, 0}), 3));
  CHECK(!decodes(no_size + compressed({1U | 3U << 3U, 9, 0}), 2));
  // More than a block may have.
  CHECK(decodes(wide + compressed({1U | 3U << 2U, 0x00, 0x20, 9, 0}), 131'072));
  CHECK(!decodes(wide + compressed({1U | 3U << 2U | 1U << 4U, 0x00, 0x20, 9, 0}), 131'073));
  CHECK(is_refused(no_size + compressed({1U | 3U << 2U, 0x00, 0x01, 9, 0}), 4096));
}

TEST_CASE("zstd: Huffman codes of up to twelve bits are decoded", "[device][host]") {
  // Weights 1, 1, 2, 3 and so on, and the last so that they are a code.
  const std::size_t longest = GENERATE(range(std::size_t{1}, std::size_t{13}));
  bytes weights{1};
  for (std::size_t weight = 1; weight < longest; ++weight)
    weights.push_back(static_cast<unsigned char>(weight));
  const std::size_t symbols = weights.size() + 1;
  std::vector<unsigned> bits;
  bytes expected;
  for (std::size_t i = 0; i < 40; ++i) {
    const std::size_t symbol = i * 7 % symbols;
    expected.push_back(static_cast<unsigned char>(symbol));
    // A symbol's code: as many zeros as there are more frequent ones, and a 1, except for the
    // first.
    const std::size_t zeros = symbols - 1 - (symbol == 0 ? 1 : symbol);
    bits.insert(bits.end(), zeros, 0U);
    bits.push_back(symbol == 0 ? 0U : 1U);
  }
  const bytes frame = no_size + literals_block(weights, stream_of(bits), expected.size());
  CAPTURE(longest);
  REQUIRE(by_libzstd(frame, expected.size()) == expected);
  CHECK(by_feedline(frame, expected.size()) == expected);
  CHECK(by_feedline<4>(frame, expected.size(), {.last_first = true}) == expected);
  // One too many, and one too few.
  CHECK(!decodes(no_size + literals_block(weights, stream_of(bits), 41), 41));
  CHECK(!decodes(no_size + literals_block(weights, stream_of(bits), 39), 39));
}

TEST_CASE("zstd: weights that are no code are refused", "[device][host]") {
  const bytes stream{0x80};
  const auto taken = [&](const bytes& weights) {
    return decodes(no_size + literals_block(weights, stream, 7), 7);
  };
  CHECK(taken({1}));
  CHECK(!taken({0}));
  CHECK(!taken({2}));        // no symbol has the longest code
  CHECK(!taken({1, 1, 1}));  // it is an odd number that have
  CHECK(taken({1, 0, 0}));
  CHECK(!taken({13, 1}));  // longer than any
  CHECK(!taken({1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  // The last would have what is no power of two; the bits are those of a symbol.
  CHECK(!decodes(no_size + literals_block({1, 1, 3, 3}, {0x10}, 1), 1));
  CHECK(decodes(no_size + literals_block({1, 1, 2, 3}, {0x10}, 1), 1));
}

TEST_CASE("zstd: four streams have six literals at least", "[device][host]") {
  // Two symbols of a bit each; two literals a stream, and what is left in the last.
  const auto four = [](std::size_t count, const bytes& last) {
    const bytes content = bytes{0x80, 0x10, 1, 0, 1, 0, 1, 0, 4, 4, 4} + last;
    const std::size_t header = 2U | 1U << 2U | count << 4U | content.size() << 14U;
    return no_size + compressed(bytes{static_cast<unsigned char>(header),
                                      static_cast<unsigned char>(header >> 8U),
                                      static_cast<unsigned char>(header >> 16U)} +
                                content + bytes{0});
  };
  CHECK(decodes(four(8, {4}), 8));
  CHECK(decodes(four(7, {2}), 7));
  CHECK(decodes(four(6, {1}), 6));
  CHECK(!decodes(four(5, {1}), 5));
}

TEST_CASE("zstd: a block uses the code and tables of one before it, in its frame alone",
          "[device][host]") {
  // Two symbols, a bit each.
  const bytes coded = literals_block({1}, {0x8A}, 7, false);
  const bytes coded_last = literals_block({1}, {0x8A}, 7);
  const bytes code_again = compressed({3U | 7U << 4U, 0x40, 0, 0x95, 0});
  CHECK(decodes(no_size + coded + code_again, 14));
  CHECK(!decodes(no_size + code_again, 7));
  CHECK(!decodes(no_size + coded_last + no_size + code_again, 14));
  // Tables of one symbol: a literal, and three bytes as the last offset says, 1 at first.
  const bytes ones{1U << 3U, 5, 1, 0x54, 1, 0, 0, 0x01};
  const bytes tables_again = compressed({1U << 3U, 5, 1, 0xFC, 0x01});
  CHECK(decodes(no_size + compressed(ones, false) + tables_again, 8));
  CHECK(!decodes(no_size + tables_again, 4));
  CHECK(!decodes(no_size + compressed(ones) + no_size + tables_again, 8));
}

TEST_CASE("zstd: sequences have the declared number, and repeat existing bytes", "[device][host]") {
  const auto sequences = [](unsigned char count, unsigned char literals, unsigned char offset,
                            unsigned char match, const bytes& bits) {
    return no_size + compressed(bytes{2U << 3U, 5, 6, count, 0x54, literals, offset, match} + bits);
  };
  CHECK(decodes(sequences(1, 1, 0, 0, {0x01}), 5));
  CHECK(decodes(sequences(2, 1, 0, 0, {0x01}), 8));
  CHECK(!decodes(sequences(3, 1, 0, 0, {0x01}), 11));  // no literal is left
  CHECK(!decodes(sequences(1, 1, 0, 0, {0x02}), 5));   // a bit is left
  CHECK(!decodes(sequences(1, 1, 0, 0, {0x00}), 5));   // nothing says where bits end
  CHECK(!decodes(sequences(1, 1, 0, 0, {}), 5));
  CHECK(!decodes(sequences(1, 36, 0, 0, {0x01}), 5));  // codes that there are not
  CHECK(!decodes(sequences(1, 1, 32, 0, {0x01}), 5));
  CHECK(!decodes(sequences(1, 1, 0, 53, {0x01}), 5));
  // Offsets of 1 and 2 (codes 4 and 5: 2 bits after 1) when only one byte exists.
  CHECK(decodes(sequences(1, 1, 2, 0, {0x04}), 5));
  CHECK(!decodes(sequences(1, 1, 2, 0, {0x05}), 5));
  CHECK(decodes(sequences(1, 2, 2, 0, {0x05}), 5));
  // Fewer than declared, and bits that are reserved: libzstd took both once.
  CHECK(is_refused(no_size + compressed({2U << 3U, 5, 6, 0x80, 0x00, 0x54, 1, 0, 0, 0x01}), 2));
  CHECK(is_refused(no_size + compressed({2U << 3U, 5, 6, 1, 0x55, 1, 0, 0, 0x01}), 5));
  // No literals: the last offset but one, 4, or the last less 1, which is 0.
  CHECK(decodes(no_size + plain({1, 2, 3, 4}, false) + compressed({0, 1, 0x54, 0, 0, 0, 0x01}), 7));
  CHECK(!decodes(no_size + plain({1, 2, 3}, false) + compressed({0, 1, 0x54, 0, 0, 0, 0x01}), 6));
  CHECK(is_refused(no_size + plain({1, 2}, false) + compressed({0, 1, 0x54, 0, 1, 0, 0x03}), 5));
}

TEST_CASE("zstd: a block makes no more than a block may, however large the room is",
          "[device][host]") {
  // A literal, and a match of 65,539 + 65,535 bytes (code 52).
  const bytes long_match = compressed({1U << 3U, 5, 1, 0x54, 1, 0, 52, 0xFD, 0xFF, 0x01});
  CHECK(is_refused(wide + long_match, 131'073));
  const bytes fits = compressed({1U << 3U, 5, 1, 0x54, 1, 0, 52, 0xFC, 0xFF, 0x01});
  CHECK(decodes(wide + fits, 131'072));
  CHECK(is_refused(no_size + fits, 131'072));  // a window of 1 KiB
  // Nor is it stored in more.
  const auto stored_in = [](std::size_t size) {
    const std::size_t literals = size - 4;
    bytes content{static_cast<unsigned char>(3U << 2U | literals << 4U),
                  static_cast<unsigned char>(literals >> 4U), 0};
    content.resize(size);
    return compressed(content);
  };
  CHECK(decodes(no_size + stored_in(1024), 1020));
  CHECK(is_refused(no_size + stored_in(1025), 1021));
}
