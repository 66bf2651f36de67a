#include "support/hdf5/bad_chunks.hpp"

using namespace feedline::test;
using feedline::detail::hdf5_filters;

TEST_CASE("hdf5 filters, bad input: deflate, shuffle and sizes", "[dataset][host]") {
  const bytes raw = good();
  const bytes packed = deflated(raw);
  bytes wrong_sum = packed;
  wrong_sum.back() ^= std::byte{1};
  check_all({
      {"nothing",
       {deflate},
       {},
       "filter 1 (deflate): the stream of 0 bytes ends early, after 0 decoded ones"},
      {"not zlib's",
       {deflate},
       text("\x89HDF\r\n\x1a\n"),
       "filter 1 (deflate): the stream is damaged: incorrect header check"},
      {"another method",
       {deflate},
       numbers({0x79, 0x18, 3, 0, 0, 0, 0, 1}),
       "filter 1 (deflate): the stream is damaged: unknown compression method"},
      {"a dictionary",
       {deflate},
       numbers({0x78, 0xbb, 0, 0, 0, 1, 3, 0, 0, 0, 0, 1}),
       "filter 1 (deflate): the stream wants a dictionary, which HDF5 files do not have"},
      {"a block of no type",
       {deflate},
       numbers({0x78, 0x9c, 7, 0, 0, 0, 0, 0, 0, 0, 0}),
       "filter 1 (deflate): the stream is damaged: invalid block type"},
      {"cut before the checksum",
       {deflate},
       cut(packed, packed.size() - 4),
       "filter 1 (deflate): the stream of " + std::to_string(packed.size() - 4) +
           " bytes ends early, after 784 decoded ones"},
      {"a wrong checksum",
       {deflate},
       wrong_sum,
       "filter 1 (deflate): the stream is damaged: incorrect data check"},
      {"fewer bytes than the chunk's",
       {deflate},
       deflated(cut(raw, 700)),
       "filter 1 (deflate): yields 700 bytes where 784 bytes can be right"},
      {"more",
       {deflate},
       deflated(joined(raw, raw)),
       "filter 1 (deflate): yields more than the 784 bytes that can be right"},
      {"none",
       {deflate},
       deflated({}),
       "filter 1 (deflate): yields 0 bytes where 784 bytes can be right"},
      {"a bomb",
       {deflate},
       deflated(bytes(1U << 24)),
       "filter 1 (deflate): yields more than the 784 bytes that can be right"},
      {"a bomb between two",
       {deflate, deflate},
       deflated(bytes(1U << 24)),
       "filter 1 (deflate): yields more than the 7232 bytes that can be right"},
      {"shuffled: too few",
       {shuffle},
       cut(raw, 783),
       "filter 2 (shuffle): yields 783 bytes where 784 bytes can be right"},
      {"shuffled: too many",
       {shuffle},
       joined(raw, raw),
       "filter 2 (shuffle): yields 1568 bytes where 784 bytes can be right"},
      {"shuffled, between two: too many",
       {lzf, shuffle, deflate},
       deflated(bytes(7233)),
       "filter 1 (deflate): yields more than the 7232 bytes that can be right"},
      {"deflate undone, then nothing that shuffle takes",
       {shuffle, deflate},
       deflated(cut(raw, 4)),
       "filter 1 (deflate): yields 4 bytes where 784 bytes can be right"},
      {"masked: too few",
       {deflate},
       cut(raw, 783),
       "a chunk of 784 bytes is stored, with no filter, in 783 bytes",
       1},
      {"no filter: one byte",
       {},
       cut(raw, 1),
       "a chunk of 784 bytes is stored, with no filter, in 1 byte"},
      {"no filter: too many",
       {},
       joined(raw, raw),
       "a chunk of 784 bytes is stored, with no filter, in 1568 bytes"},
  });
}

TEST_CASE("hdf5 filters, bad input: a chunk of no bytes takes none", "[dataset][host]") {
  const hdf5_filters filters{{deflate}};
  CHECK(decoded(filters, deflated({}), 0).empty());
  CHECK(message_of<feedline::detail::hdf5_filter_error>([&] {
          (void)decoded(filters, numbers({0x1e, 0, 0}), 0);
        }) == "filter 1 (deflate): the stream is damaged: incorrect header check");
  CHECK(message_of<feedline::detail::hdf5_filter_error>([&] {
          (void)decoded(filters, deflated(good()), 0);
        }) == "filter 1 (deflate): yields more than the 0 bytes that can be right");
}

TEST_CASE("hdf5 filters, bad input: checksums", "[dataset][host]") {
  const bytes raw = good();
  const bytes summed = with_fletcher32(raw);
  const bytes zeros = with_fletcher32(bytes(chunk_bytes));
  check_all({
      {"no room for one",
       {fletcher32},
       cut(raw, 3),
       "filter 3 (fletcher32): 3 bytes are too few to hold a checksum"},
      {"nothing",
       {fletcher32},
       {},
       "filter 3 (fletcher32): 0 bytes are too few to hold a checksum"},
      {"a changed byte",
       {fletcher32},
       with_byte(zeros, 782, 1),
       "filter 3 (fletcher32): the checksum stored is 0x00000000, but that of the bytes is "
       "0x01000100"},
      {"a changed checksum",
       {fletcher32},
       with_byte(zeros, 785, 0xab),
       "filter 3 (fletcher32): the checksum stored is 0x0000ab00, but that of the bytes is "
       "0x00000000"},
      {"a byte too few, though summed",
       {fletcher32},
       with_fletcher32(cut(raw, 783)),
       "filter 3 (fletcher32): yields 783 bytes where 784 bytes can be right"},
      {"a changed byte below deflate",
       {fletcher32, shuffle, deflate},
       deflated(shuffled(with_byte(zeros, 782, 1), 4)),
       "filter 3 (fletcher32): the checksum stored is 0x00000000, but that of the bytes is "
       "0x01000100"},
      {"a changed byte above deflate",
       {deflate, fletcher32},
       joined(numbers({1, 0}), numbers({0, 0, 0, 0})),
       "filter 3 (fletcher32): the checksum stored is 0x00000000, but that of the bytes is "
       "0x01000100"},
      {"no checksum where one is",
       {fletcher32, deflate},
       deflated(raw),
       "filter 1 (deflate): yields 784 bytes where 788 bytes can be right"},
  });
  CHECK(decoded(hdf5_filters{{fletcher32}}, summed, chunk_bytes) == raw);
}

TEST_CASE("hdf5 filters, bad input: LZF", "[dataset][host]") {
  const bytes raw = good();
  const bytes packed = lzf_packed(raw);
  check_all({
      {"nothing", {lzf}, {}, "filter 32000 (lzf): yields 0 bytes where 784 bytes can be right"},
      {"plain bytes cut",
       {lzf},
       numbers({5, 1, 2, 3, 4, 5}),
       "filter 32000 (lzf): the stream ends within an instruction, after 0 decoded bytes"},
      {"a distance cut",
       {lzf},
       numbers({1, 7, 7, 0x20}),
       "filter 32000 (lzf): the stream ends within an instruction, after 2 decoded bytes"},
      {"a length cut",
       {lzf},
       numbers({1, 7, 7, 0xe0, 9}),
       "filter 32000 (lzf): the stream ends within an instruction, after 2 decoded bytes"},
      {"before the start",
       {lzf},
       numbers({1, 7, 7, 0x20, 2}),
       "filter 32000 (lzf): the stream refers to bytes before its start, after 2 decoded ones"},
      {"at once before the start",
       {lzf},
       numbers({0x20, 0}),
       "filter 32000 (lzf): the stream refers to bytes before its start, after 0 decoded ones"},
      {"too long by plain bytes",
       {lzf},
       joined(packed, numbers({0, 1})),
       "filter 32000 (lzf): yields more than the 784 bytes that can be right"},
      {"too long by a repetition",
       {lzf},
       joined(packed, numbers({0x20, 0})),
       "filter 32000 (lzf): yields more than the 784 bytes that can be right"},
      {"too short",
       {lzf},
       numbers({0, 1}),
       "filter 32000 (lzf): yields 1 byte where 784 bytes can be right"},
  });
}
