#include "support/hdf5/bad_chunks.hpp"

using namespace feedline::test;
using feedline::detail::hdf5_filter_error;
using feedline::detail::hdf5_filters;

TEST_CASE("hdf5 filters, bad input: LZ4", "[dataset][host]") {
  if (!has_lz4) FEEDLINE_SKIP("feedline was built without liblz4");
  const bytes raw = good();
  const bytes packed = lz4_packed(raw, 784);
  const bytes fewer = lz4_packed(cut(raw, 700), 700);
  const std::string block_size = std::to_string(packed.size() - 16);
  check_all({
      {"nothing",
       {lz4},
       {},
       "filter 32004 (lz4): wants 8 bytes at byte 0, but of 0 bytes only 0 are left"},
      {"half a header",
       {lz4},
       cut(packed, 10),
       "filter 32004 (lz4): wants 4 bytes at byte 8, but of 10 bytes only 2 are left"},
      {"no block",
       {lz4},
       cut(packed, 12),
       "filter 32004 (lz4): wants 4 bytes at byte 12, but of 12 bytes only 0 are left"},
      {"a block cut",
       {lz4},
       cut(packed, packed.size() - 1),
       "filter 32004 (lz4): wants " + block_size + " bytes at byte 16, but of " +
           std::to_string(packed.size() - 1) + " bytes only " + std::to_string(packed.size() - 17) +
           " are left"},
      {"a larger claim",
       {lz4},
       header(785, 785),
       "filter 32004 (lz4): claims to yield 785 bytes where 784 bytes can be right"},
      {"a huge claim",
       {lz4},
       header(~0ULL, 1U << 31),
       "filter 32004 (lz4): claims to yield 18446744073709551615 bytes where 784 bytes can be "
       "right"},
      {"a smaller claim",
       {lz4},
       header(0, 784),
       "filter 32004 (lz4): yields 0 bytes where 784 bytes can be right"},
      {"blocks of nothing", {lz4}, header(784, 0), "filter 32004 (lz4): claims blocks of 0 bytes"},
      {"an empty block",
       {lz4},
       joined(header(784, 784), bytes(4)),
       "filter 32004 (lz4): a block of 0 bytes does not decode to 784"},
      {"a huge block",
       {lz4},
       joined(header(784, 784), numbers({0xff, 0xff, 0xff, 0xff, 0})),
       "filter 32004 (lz4): wants 4294967295 bytes at byte 16, but of 17 bytes only 1 are left"},
      {"a damaged block",
       {lz4},
       with_byte(packed, 16, 0xff),
       "filter 32004 (lz4): a block of " + block_size + " bytes does not decode to 784"},
      {"a block of fewer bytes",
       {lz4},
       joined(header(784, 784), bytes{fewer.begin() + 12, fewer.end()}),
       "filter 32004 (lz4): a block of " + std::to_string(fewer.size() - 16) +
           " bytes does not decode to 784"},
  });
}

TEST_CASE("hdf5 filters, bad input: bitshuffle", "[dataset][host]") {
  if (!has_lz4 || !has_zstd) FEEDLINE_SKIP("feedline was built without liblz4 or libzstd");
  const bytes raw = good();
  const bytes by_lz4 = bitshuffled(raw, 2, 0, bit_compression::lz4);
  const bytes by_zstd = bitshuffled(raw, 2, 0, bit_compression::zstd);
  const bytes short_zstd = bitshuffled(cut(raw, 768), 2, 0, bit_compression::zstd);
  check_all({
      {"plain: too few",
       {bitshuffle},
       cut(raw, 782),
       "filter 32008 (bitshuffle): yields 782 bytes where 784 bytes can be right"},
      {"plain: half an element",
       {bitshuffle, deflate},
       deflated(cut(raw, 783)),
       "filter 1 (deflate): yields 783 bytes where 784 bytes can be right"},
      {"nothing",
       {bitshuffle_lz4},
       {},
       "filter 32008 (bitshuffle): wants 8 bytes at byte 0, but of 0 bytes only 0 are left"},
      {"no block",
       {bitshuffle_lz4},
       cut(by_lz4, 12),
       "filter 32008 (bitshuffle): wants 4 bytes at byte 12, but of 12 bytes only 0 are left"},
      {"a larger claim",
       {bitshuffle_lz4},
       header(786, 8192),
       "filter 32008 (bitshuffle): claims to yield 786 bytes where 784 bytes can be right"},
      {"half an element claimed",
       {bitshuffle_lz4},
       header(783, 8192),
       "filter 32008 (bitshuffle): claims 783 bytes, which are not whole elements of 2"},
      {"nothing claimed",
       {bitshuffle_lz4},
       header(0, 8192),
       "filter 32008 (bitshuffle): yields 0 bytes where 784 bytes can be right"},
      {"odd blocks",
       {bitshuffle_lz4},
       header(784, 40),
       "filter 32008 (bitshuffle): claims blocks of 40 bytes, which are not whole eights of "
       "elements of 2"},
      {"blocks of one byte",
       {bitshuffle_lz4},
       header(784, 1),
       "filter 32008 (bitshuffle): claims blocks of 1 bytes, which are not whole eights of "
       "elements of 2"},
      {"smaller blocks than there are",
       {bitshuffle_lz4},
       with_byte(by_lz4, 10, 1),
       "filter 32008 (bitshuffle): a block of " + std::to_string(by_lz4.size() - 16) +
           " bytes does not decode to 256"},
      {"a damaged block",
       {bitshuffle_lz4},
       with_byte(by_lz4, 16, 0xff),
       "filter 32008 (bitshuffle): a block of " + std::to_string(by_lz4.size() - 16) +
           " bytes does not decode to 784"},
      {"a rest cut",
       {bitshuffle_lz4},
       cut(joined(header(784, 16), {}), 12),
       "filter 32008 (bitshuffle): wants 4 bytes at byte 12, but of 12 bytes only 0 are left"},
      {"a zstd block of another size",
       {bitshuffle_zstd},
       with_byte(short_zstd, 7, 0x10),
       "filter 32008 (bitshuffle): a block of " + std::to_string(short_zstd.size() - 16) +
           " bytes decodes to 768, not to 784"},
      {"a damaged zstd block",
       {bitshuffle_zstd},
       with_byte(by_zstd, 16, 0),
       "filter 32008 (bitshuffle): the frame does not decode: Unknown frame descriptor"},
  });
  const hdf5_filters plain{{bitshuffle}};
  bytes stored = cut(raw, 783);
  CHECK(message_of<hdf5_filter_error>([&] { (void)decoded(plain, stored, 783); }) ==
        "filter 32008 (bitshuffle): 783 bytes are not whole elements of 2");
}

TEST_CASE("hdf5 filters, bad input: Zstandard", "[dataset][host]") {
  if (!has_zstd) FEEDLINE_SKIP("feedline was built without libzstd");
  const bytes raw = good();
  const bytes packed = zstd_packed(raw);
  check_all({
      {"nothing", {zstd}, {}, "filter 32015 (zstd): yields 0 bytes where 784 bytes can be right"},
      {"not zstd's",
       {zstd},
       text("not a frame at all"),
       "filter 32015 (zstd): the frame does not decode: Unknown frame descriptor"},
      {"cut",
       {zstd},
       cut(packed, packed.size() - 1),
       "filter 32015 (zstd): the frame does not decode: Src size is incorrect"},
      {"more",
       {zstd},
       zstd_packed(joined(raw, raw)),
       "filter 32015 (zstd): yields more than the 784 bytes that can be right"},
      {"a bomb",
       {zstd},
       zstd_packed(bytes(1U << 24)),
       "filter 32015 (zstd): yields more than the 784 bytes that can be right"},
      {"fewer",
       {zstd},
       zstd_packed(cut(raw, 700)),
       "filter 32015 (zstd): yields 700 bytes where 784 bytes can be right"},
  });
}

TEST_CASE("hdf5 filters, bad input: Blosc", "[dataset][host]") {
  if (!has_blosc) FEEDLINE_SKIP("feedline was built without libblosc");
  const bytes raw = good();
  const bytes packed = blosc_packed(raw, 1, "lz4", 1);
  const std::string size = std::to_string(packed.size());
  const std::string damaged =
      "filter 32001 (blosc): the blocks do not decode: they are damaged, or the libblosc here has "
      "no "
      "decompressor for LZ4";
  check_all({
      {"nothing", {blosc}, {}, "filter 32001 (blosc): 0 bytes are too few to hold a header"},
      {"half a header",
       {blosc},
       cut(packed, 15),
       "filter 32001 (blosc): 15 bytes are too few to hold a header"},
      {"another version",
       {blosc},
       with_byte(packed, 0, 5),
       "filter 32001 (blosc): the header is not one of Blosc 1: format version 5"},
      {"cut",
       {blosc},
       cut(packed, packed.size() - 1),
       "filter 32001 (blosc): claims to be stored in " + size + " bytes, but there are " +
           std::to_string(packed.size() - 1)},
      {"a larger claim",
       {blosc},
       with_byte(packed, 5, 4),
       "filter 32001 (blosc): claims to yield 1040 bytes where 784 bytes can be right"},
      {"a huge claim",
       {blosc},
       with_byte(packed, 7, 0x7f),
       "filter 32001 (blosc): claims to yield 2130707216 bytes where 784 bytes can be right"},
      {"fewer",
       {blosc},
       blosc_packed(cut(raw, 700), 1, "lz4", 1),
       "filter 32001 (blosc): yields 700 bytes where 784 bytes can be right"},
      {"a damaged block", {blosc}, with_byte(packed, 16, 0xff), damaged},
      {"a huge block size", {blosc}, with_byte(packed, 11, 0x7f), damaged},
      {"a compressor that nobody knows",
       {blosc},
       with_byte(packed, 2, std::to_integer<unsigned char>(packed[2] | std::byte{0xe0})),
       "filter 32001 (blosc): the blocks do not decode: they are damaged, or the libblosc here has "
       "no decompressor for compressor 7"},
  });
}

TEST_CASE("hdf5 filters, bad input: szip", "[dataset][host]") {
  if (!has_szip) FEEDLINE_SKIP("feedline was built without libaec");
  const bytes raw = good();
  const bytes packed = szip_packed(raw, szip.values);
  check_all({
      {"nothing",
       {szip},
       {},
       "filter 4 (szip): wants 4 bytes at byte 0, but of 0 bytes only 0 are left"},
      {"a size alone",
       {szip},
       cut(packed, 4),
       "filter 4 (szip): the stream of 0 bytes ends early, after 0 of 784 decoded ones"},
      {"a larger claim",
       {szip},
       with_byte(packed, 1, 4),
       "filter 4 (szip): claims to yield 1040 bytes where 784 bytes can be right"},
      {"a huge claim",
       {szip},
       with_byte(packed, 3, 0xff),
       "filter 4 (szip): claims to yield 4278190864 bytes where 784 bytes can be right"},
      {"a smaller claim",
       {szip},
       with_byte(packed, 1, 2),
       "filter 4 (szip): yields 528 bytes where 784 bytes can be right"},
  });
}
