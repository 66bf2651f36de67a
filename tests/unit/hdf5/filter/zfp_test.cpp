#include "support/checks/catch.hpp"
#include "support/hdf5/bad_chunks.hpp"

#ifdef FEEDLINE_HAS_ZFP

#include <algorithm>
#include <array>
#include <memory>

#include <zfp.h>

using namespace feedline::test;
using feedline::detail::hdf5_filter;
using feedline::detail::hdf5_filter_error;
using feedline::detail::hdf5_filters;

namespace {

/// A chunk as the filter of LLNL's writes it, and what libzfp itself makes of it.
struct zfp_chunk {
  hdf5_filter filter{32013, "", {}};
  bytes raw;
  bytes stored;
  bytes back;
};

/// @param rate Bits an element; 0: reversible.
zfp_chunk made(zfp_type type, std::array<std::size_t, 4> extents, double rate) {
  const std::unique_ptr<zfp_field, void (*)(zfp_field*)> field{zfp_field_alloc(), zfp_field_free};
  zfp_field_set_type(field.get(), type);
  zfp_field_set_size_4d(field.get(), extents[0], extents[1], extents[2], extents[3]);
  zfp_chunk chunk;
  chunk.raw.resize(zfp_field_size_bytes(field.get()));
  const std::size_t count = zfp_field_size(field.get(), nullptr);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(i * i % 1000) / 4 - 100;
    const auto put = [&](auto number) {
      std::memcpy(chunk.raw.data() + i * sizeof number, &number, sizeof number);
    };
    if (type == zfp_type_int32) put(static_cast<std::int32_t>(value));
    if (type == zfp_type_int64) put(static_cast<std::int64_t>(value));
    if (type == zfp_type_float) put(static_cast<float>(value));
    if (type == zfp_type_double) put(value);
  }

  const std::unique_ptr<zfp_stream, void (*)(zfp_stream*)> stream{zfp_stream_open(nullptr),
                                                                  zfp_stream_close};
  if (rate > 0)
    zfp_stream_set_rate(stream.get(), rate, type, zfp_field_dimensionality(field.get()), 0);
  else
    zfp_stream_set_reversible(stream.get());
  const auto with_bits = [&](void* memory, std::size_t size, auto&& work) {
    const std::unique_ptr<bitstream, void (*)(bitstream*)> bits{stream_open(memory, size),
                                                                stream_close};
    zfp_stream_set_bit_stream(stream.get(), bits.get());
    return work();
  };
  std::array<unsigned, 8> words{};
  with_bits(words.data(), sizeof words, [&] {
    (void)zfp_write_header(stream.get(), field.get(), ZFP_HEADER_FULL);
    return zfp_stream_flush(stream.get());
  });
  chunk.filter.values = {0x10105110};
  chunk.filter.values.insert(chunk.filter.values.end(), words.begin(), words.begin() + 5);

  bytes work = chunk.raw;
  zfp_field_set_pointer(field.get(), work.data());
  chunk.stored.resize(zfp_stream_maximum_size(stream.get(), field.get()));
  chunk.stored.resize(with_bits(chunk.stored.data(), chunk.stored.size(),
                                [&] { return zfp_compress(stream.get(), field.get()); }));
  bytes padded = chunk.stored;
  padded.resize(padded.size() + 64);
  chunk.back.resize(chunk.raw.size());
  zfp_field_set_pointer(field.get(), chunk.back.data());
  (void)with_bits(padded.data(), padded.size(),
                  [&] { return zfp_decompress(stream.get(), field.get()); });
  return chunk;
}

constexpr std::array all_types{zfp_type_int32, zfp_type_int64, zfp_type_float, zfp_type_double};

}  // namespace

TEST_CASE("hdf5 filters: ZFP is undone for each type, shape and mode", "[dataset][host]") {
  for (const zfp_type type : all_types)
    for (const std::array<std::size_t, 4> extents :
         {std::array<std::size_t, 4>{30, 0, 0, 0}, {7, 9, 0, 0}, {28, 28, 5, 0}, {3, 4, 5, 6}})
      for (const double rate : {0.0, 1.0, 13.0}) {
        const zfp_chunk chunk = made(type, extents, rate);
        INFO("type " << type << ", " << extents[0] << " × " << extents[1] << " × " << extents[2]
                     << " × " << extents[3] << ", rate " << rate);
        if (rate == 0) REQUIRE(chunk.back == chunk.raw);
        const hdf5_filters filters{{chunk.filter}};
        REQUIRE(filters.refusal().empty());
        CHECK(decoded(filters, chunk.stored, chunk.raw.size()) == chunk.back);

        bytes odd(chunk.raw.size() + 1);
        feedline::detail::hdf5_decoder decoder;
        filters.decode(chunk.stored, 0, true, decoder, std::span{odd}.subspan(1));
        CHECK(std::equal(chunk.back.begin(), chunk.back.end(), odd.begin() + 1));

        for (std::size_t size = 0; size < chunk.stored.size(); size += 1 + size / 2)
          CHECK(message_of<hdf5_filter_error>(
                    [&] { (void)decoded(filters, cut(chunk.stored, size), chunk.raw.size()); })
                    .find("filter 32013 (zfp): the stream of " + std::to_string(size) +
                          " bytes ends early: it has ") == 0);
      }
}

// Written by h5py through the plugin of hdf5plugin 7: twenty 32-bit numbers, 0, 3, 6, …
TEST_CASE("hdf5 filters: a chunk as the plugin for ZFP wrote it decodes to the written values",
          "[dataset][host]") {
  const hdf5_filter filter{32013, "", {269504785, 91252346, 304, 2281701376}};
  const bytes stored = numbers({0x1f, 0x00, 0x00, 0x00, 0x94, 0xf4, 0x01, 0x00, 0x00, 0xb0,
                                0x4e, 0xfa, 0x00, 0x00, 0x00, 0x16, 0x99, 0xf4, 0x01, 0x00,
                                0x00, 0x2c, 0x38, 0xe9, 0x03, 0x00, 0x00, 0x58, 0x61, 0x12});
  const auto numbers_from = [](bytes chunk, bool is_reversed) {
    std::vector<std::uint32_t> values(chunk.size() / 4);
    std::memcpy(values.data(), chunk.data(), chunk.size());
    if (is_reversed)
      for (auto& value : values) value = __builtin_bswap32(value);
    return values;
  };
  std::vector<std::uint32_t> wanted;
  for (unsigned i = 0; i < 20; ++i) wanted.push_back(3 * i);
  CHECK(numbers_from(decoded(hdf5_filters{{filter}}, stored, 80), false) == wanted);

  // A machine of the other byte order writes the words of the header so, and has such elements.
  hdf5_filter other = filter;
  for (auto& value : other.values) value = __builtin_bswap32(value);
  CHECK(numbers_from(decoded(hdf5_filters{{other}}, stored, 80), true) == wanted);
}

TEST_CASE("hdf5 filters, bad input: ZFP", "[dataset][host]") {
  const zfp_chunk chunk = made(zfp_type_float, {14, 14, 0, 0}, 0);
  const zfp_chunk larger = made(zfp_type_float, {14, 15, 0, 0}, 0);
  const zfp_chunk smaller = made(zfp_type_float, {14, 13, 0, 0}, 0);
  check_all({
      {"of a larger chunk",
       {larger.filter},
       larger.stored,
       "filter 32013 (zfp): claims to yield 840 bytes where 784 bytes can be right"},
      {"of a smaller chunk",
       {smaller.filter},
       smaller.stored,
       "filter 32013 (zfp): yields 728 bytes where 784 bytes can be right"},
      {"nothing",
       {chunk.filter},
       {},
       "filter 32013 (zfp): the stream of 0 bytes ends early: it has 16 blocks"},
  });
  // Whatever the bytes are, libzfp stays within them and the zeros after them.
  for (const zfp_type type : all_types)
    for (const double rate : {0.0, 3.0}) {
      const zfp_chunk good_one = made(type, {5, 6, 7, 2}, rate);
      for (const bytes& noise : {contents()[3].make(good_one.stored.size()),
                                 bytes(good_one.raw.size(), std::byte{0xff})})
        try {
          (void)decoded(hdf5_filters{{good_one.filter}}, noise, good_one.raw.size());
        } catch (const hdf5_filter_error& error) {
          CHECK(std::string{error.what()}.find("ends early") != std::string::npos);
        }
    }
  for (const std::vector<unsigned>& values :
       {std::vector<unsigned>{}, {1}, {1, 2, 3, 4}, std::vector<unsigned>(40, 7)})
    CHECK(hdf5_filters{{{32013, "", values}}}.refusal() == "filter 32013 (zfp) has a header that " +
                                                               std::string{zfp_version_string} +
                                                               " does not read");
}

#else

TEST_CASE("hdf5 filters: ZFP", "[dataset][host]") {
  FEEDLINE_SKIP("feedline was built without libzfp");
}

#endif
