#include "support/hdf5/filter_cases.hpp"

#include <cstring>
#include <random>
#include <utility>

#ifdef FEEDLINE_HAS_BLOSC
#include <blosc.h>
#endif

namespace feedline::test {

namespace {

void add_shuffles(std::vector<filter_case>& to) {
  for (const unsigned element : {1U, 2U, 3U, 4U, 7U, 8U, 12U, 16U, 24U, 300U})
    to.push_back({"shuffle of " + std::to_string(element),
                  {2, "shuffle", {element}},
                  1,
                  [=](bytes_view raw) { return shuffled(raw, element); }});
}

void add_bitshuffles(std::vector<filter_case>& to) {
  std::vector<bit_compression> compressions{bit_compression::none};
  if (has_lz4) compressions.push_back(bit_compression::lz4);
  if (has_zstd) compressions.push_back(bit_compression::zstd);
  for (const auto compression : compressions)
    for (const unsigned element : {1U, 2U, 3U, 4U, 8U, 12U, 16U})
      for (const unsigned block : {0U, 8U, 136U, 1024U})
        to.push_back(
            {"bitshuffle of " + std::to_string(element) + ", blocks of " + std::to_string(block) +
                 ", compression " + std::to_string(static_cast<unsigned>(compression)),
             {32008,
              "bitshuffle; see https://github.com/kiyo-masui/bitshuffle",
              {0, 4, element, block, static_cast<unsigned>(compression)}},
             element,
             [=](bytes_view raw) { return bitshuffled(raw, element, block, compression); }});
}

void add_bloscs([[maybe_unused]] std::vector<filter_case>& to) {
#ifdef FEEDLINE_HAS_BLOSC
  for (const char* compressor : {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"}) {
    if (blosc_compname_to_compcode(compressor) < 0) continue;
    for (const int shuffle : {0, 1, 2})
      for (const std::size_t element : {1U, 2U, 4U, 8U})
        to.push_back(
            {std::string{"blosc "} + compressor + " of " + std::to_string(element) + ", shuffle " +
                 std::to_string(shuffle),
             {32001, "blosc", {2, 2, static_cast<unsigned>(element), 0, 5, 1, 0}},
             1,
             [=](bytes_view raw) { return blosc_packed(raw, element, compressor, shuffle); }});
  }
#endif
}

void add_bloscs_2(std::vector<filter_case>& to) {
  if (!has_blosc2) return;
  for (const char* compressor : {"blosclz", "lz4", "zlib", "zstd"})
    for (const int shuffle : {0, 1, 2})
      for (const unsigned element : {1U, 4U})
        to.push_back(
            {std::string{"blosc2 "} + compressor + " of " + std::to_string(element) + ", shuffle " +
                 std::to_string(shuffle),
             {32026, "blosc2", {1, 0, element, 0, 5, 1, 0}},
             element,
             [=](bytes_view raw) { return blosc2_packed(raw, element, compressor, shuffle); }});
  for (const unsigned columns : {1U, 7U})
    to.push_back({"blosc2, an array of " + std::to_string(columns) + " columns",
                  {32026, "blosc2", {1, 0, 4, 0, 5, 1, 0, 2, 0, columns}},
                  4 * columns,
                  [=](bytes_view raw) { return blosc2_array(raw, 4, columns); }});
}

void add_szips(std::vector<filter_case>& to) {
  if (!has_szip) return;
  constexpr unsigned nearest_neighbour = 32;
  constexpr unsigned entropy = 4;
  constexpr unsigned raw_and_little_endian = 128 + 8;
  struct variant {
    unsigned options;
    unsigned block;
    unsigned bits;
    unsigned line;
  };
  for (const variant v : {variant{nearest_neighbour, 16, 8, 784}, variant{entropy, 8, 8, 256},
                          variant{nearest_neighbour, 32, 16, 112},
                          variant{nearest_neighbour, 8, 32, 30}, variant{entropy, 10, 64, 98}}) {
    const std::vector<unsigned> values{v.options | raw_and_little_endian, v.block, v.bits, v.line};
    to.push_back(
        {"szip of " + std::to_string(v.bits) + " bits, option " + std::to_string(v.options),
         {4, "szip", values},
         v.bits / 8,
         [=](bytes_view raw) { return szip_packed(raw, values); }});
  }
}

}  // namespace

std::vector<filter_case> filter_cases() {
  std::vector<filter_case> cases;
  for (const int level : {0, 1, 6, 9})
    cases.push_back({"deflate at level " + std::to_string(level),
                     {1, "deflate", {static_cast<unsigned>(level)}},
                     1,
                     [=](bytes_view raw) { return deflated(raw, level); }});
  add_shuffles(cases);
  cases.push_back({"fletcher32", {3, "fletcher32", {}}, 1, with_fletcher32});
  add_szips(cases);
  if (has_lzo) cases.push_back({"lzo", {305, "lzo", {5, 11, 4}}, 1, lzo_packed});
  if (has_bzip2)
    for (const int size : {1, 9})
      cases.push_back({"bzip2 in blocks of " + std::to_string(size),
                       {307, "bzip2", {static_cast<unsigned>(size)}},
                       1,
                       [=](bytes_view raw) { return bzip2_packed(raw, size); }});
  cases.push_back({"lzf", {32000, "lzf", {4, 261, 0}}, 1, lzf_packed});
  add_bloscs(cases);
  add_bloscs_2(cases);
  if (has_lz4)
    for (const std::uint32_t block : {8U, 1000U, 1U << 30})
      cases.push_back({"lz4 in blocks of " + std::to_string(block),
                       {32004, "HDF5 lz4 filter; see http://www.hdfgroup.org/", {block}},
                       1,
                       [=](bytes_view raw) { return lz4_packed(raw, block); }});
  add_bitshuffles(cases);
  if (has_zstd)
    for (const int level : {1, 3, 19})
      cases.push_back({"zstd at level " + std::to_string(level),
                       {32015, "zstd", {static_cast<unsigned>(level)}},
                       1,
                       [=](bytes_view raw) { return zstd_packed(raw, level); }});
  return cases;
}

std::vector<content> contents() {
  return {{"zeros", [](std::size_t size) { return bytes(size); }},
          {"a ramp of 16-bit numbers",
           [](std::size_t size) {
             bytes made(size);
             for (std::size_t i = 0; i < size; ++i)
               made[i] = static_cast<std::byte>((i / 2) >> (8 * (i % 2)));
             return made;
           }},
          {"strokes on black",
           [](std::size_t size) {
             std::minstd_rand random{7};
             bytes made(size);
             for (std::size_t i = 0; i < size; ++i)
               if (i % 28 > 8 && i % 28 < 13 + i / 28 % 5)
                 made[i] = static_cast<std::byte>(128 + random() % 128);
             return made;
           }},
          {"noise", [](std::size_t size) {
             std::minstd_rand random{5};
             bytes made(size);
             for (auto& byte : made) byte = static_cast<std::byte>(random() >> 8 & 0xff);
             return made;
           }}};
}

bytes decoded(const detail::hdf5_filters& filters, bytes_view stored, std::size_t size,
              std::uint32_t mask, bool verify) {
  detail::hdf5_decoder decoder;
  bytes out(size, std::byte{0xee});
  filters.decode(stored, mask, verify, decoder, out);
  return out;
}

}  // namespace feedline::test
