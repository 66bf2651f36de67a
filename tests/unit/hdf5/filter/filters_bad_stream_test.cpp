#include "support/hdf5/bad_chunks.hpp"

#include <algorithm>

using namespace feedline::test;
using feedline::detail::hdf5_filter_error;
using feedline::detail::hdf5_filters;

TEST_CASE("hdf5 filters, bad input: bzip2", "[dataset][host]") {
  if (!has_bzip2) FEEDLINE_SKIP("feedline was built without libbz2");
  const bytes raw = good();
  const bytes packed = bzip2_packed(raw);
  const auto cut_to = [&](std::size_t size, std::size_t given) {
    return bad_input{"cut to " + std::to_string(size),
                     {bzip2},
                     cut(packed, size),
                     "filter 307 (bzip2): the stream of " + std::to_string(size) +
                         " bytes ends early, after " + std::to_string(given) + " decoded ones"};
  };
  check_all({
      cut_to(0, 0),
      cut_to(3, 0),
      cut_to(packed.size() / 2, 0),
      cut_to(packed.size() - 1, 784),
      {"not bzip2's",
       {bzip2},
       text("not a stream at all"),
       "filter 307 (bzip2): the stream is damaged: libbz2 reports error -5"},
      {"another checksum",
       {bzip2},
       with_byte(packed, 10, std::to_integer<int>(packed[10] ^ std::byte{1})),
       "filter 307 (bzip2): the stream is damaged: libbz2 reports error -4"},
      {"more",
       {bzip2},
       bzip2_packed(joined(raw, raw)),
       "filter 307 (bzip2): yields more than the 784 bytes that can be right"},
      {"a bomb",
       {bzip2},
       bzip2_packed(bytes(1U << 24)),
       "filter 307 (bzip2): yields more than the 784 bytes that can be right"},
      {"fewer",
       {bzip2},
       bzip2_packed(cut(raw, 700)),
       "filter 307 (bzip2): yields 700 bytes where 784 bytes can be right"},
  });
}

TEST_CASE("hdf5 filters, bad input: LZO", "[dataset][host]") {
  if (!has_lzo) FEEDLINE_SKIP("feedline was built without liblzo2");
  const bytes raw = good();
  const bytes packed = lzo_packed(raw);
  check_all({
      {"nothing",
       {lzo},
       {},
       "filter 305 (lzo): the stream of 0 bytes ends early, after 0 decoded ones"},
      {"cut",
       {lzo},
       cut(packed, packed.size() - 1),
       "filter 305 (lzo): the stream of " + std::to_string(packed.size() - 1) +
           " bytes ends early, after 765 decoded ones"},
      {"a copy of what is not there",
       {lzo},
       numbers({18, 0x61, 0x5c, 0xff, 17, 0, 0}),
       "filter 305 (lzo): the stream is damaged: liblzo2 reports error -6"},
      {"more",
       {lzo},
       lzo_packed(joined(raw, raw)),
       "filter 305 (lzo): yields more than the 784 bytes that can be right"},
      {"a bomb",
       {lzo},
       lzo_packed(bytes(1U << 24)),
       "filter 305 (lzo): yields more than the 784 bytes that can be right"},
      {"fewer",
       {lzo},
       lzo_packed(cut(raw, 700)),
       "filter 305 (lzo): yields 700 bytes where 784 bytes can be right"},
  });
}

TEST_CASE(
    "hdf5 filters: the checksum and size that old versions of PyTables append to LZO are skipped",
    "[dataset][host]") {
  if (!has_lzo) FEEDLINE_SKIP("feedline was built without liblzo2");
  const bytes raw = good();
  const bytes stored = joined(lzo_packed(raw), numbers({0x12, 0x34, 0x56, 0x78, 0x10, 3, 0, 0}));
  CHECK(decoded(hdf5_filters{{lzo}}, stored, raw.size()) == raw);
}

TEST_CASE("hdf5 filters, bad input: Blosc 2", "[dataset][host]") {
  if (!has_blosc2) FEEDLINE_SKIP("feedline was built without libblosc2");
  const bytes raw = good();
  const bytes packed = blosc2_packed(raw, 2, "lz4", 1);
  const bytes array = blosc2_array(raw, 2, 28);
  // After a description's name comes its position, in five bytes; here the last of them suffices.
  // At that position, after five bytes for the size and two more, stands the number of dimensions.
  const bytes name = text("b2nd");
  const auto named = std::search(array.begin(), array.end(), name.begin(), name.end());
  REQUIRE(named != array.end());
  const std::size_t rank_at = std::to_integer<std::size_t>(*(named + 8)) + 5 + 2;
  REQUIRE(array[rank_at] == std::byte{2});
  const auto refusal = hdf5_filters{{{32026, "", {1, 0, 2, 784, 5, 1, 0, 99}}}}.refusal();
  CHECK(refusal.find("filter 32026 (blosc2) has chunks of 99 dimensions, of which this libblosc2 "
                     "knows ") == 0);
  const auto no_frame = [&](const std::string& what, const bytes& stored) {
    return bad_input{what,
                     {blosc2},
                     stored,
                     "filter 32026 (blosc2): the " + std::to_string(stored.size()) +
                         " bytes are not a frame of Blosc 2: cut or damaged"};
  };
  check_all({
      no_frame("nothing", {}),
      no_frame("half a header", cut(packed, 20)),
      no_frame("cut", cut(packed, packed.size() - 1)),
      no_frame("an array cut", cut(array, array.size() / 2)),
      no_frame("not Blosc's", text("not a frame at all, though it is as long as a header of one "
                                   "has to be, and some more bytes behind")),
      {"more",
       {blosc2},
       blosc2_packed(joined(raw, raw), 2, "lz4", 1),
       "filter 32026 (blosc2): claims to yield 1568 bytes where 784 bytes can be right"},
      {"a bomb",
       {blosc2},
       blosc2_packed(bytes(1U << 24), 2, "lz4", 1),
       "filter 32026 (blosc2): claims to yield 16777216 bytes where 784 bytes can be right"},
      {"a larger array",
       {blosc2},
       blosc2_array(joined(raw, raw), 2, 28),
       "filter 32026 (blosc2): claims a shape of more than 784 bytes"},
      {"an array of too many dimensions",
       {blosc2},
       with_byte(array, rank_at, 100),
       "filter 32026 (blosc2): claims an array of 100 dimensions"},
      {"an array of a type with a long name",
       {blosc2},
       with_byte(array, rank_at + 3 + 2 * 19 + 6, 200),
       "filter 32026 (blosc2): wants 200 bytes at byte 50, but of 53 bytes only 3 are left"},
      {"fewer",
       {blosc2},
       blosc2_packed(cut(raw, 700), 2, "lz4", 1),
       "filter 32026 (blosc2): yields 700 bytes where 784 bytes can be right"},
  });
}
