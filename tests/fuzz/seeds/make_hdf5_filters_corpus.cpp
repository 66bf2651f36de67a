/// Writes the seed corpus of hdf5_filters_fuzz into a folder: make_hdf5_filters_corpus FOLDER
///
/// For each filter chunks as its writers make them, and some cut or changed; stacked and masked
/// ones. The files are checked in, made where every library was there; run this after a change here
/// or in hdf5_filters_input.hpp.

#include "fuzz/codecs/hdf5_filters_input.hpp"
#include "support/hdf5/encoders.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::size_t chunk_bytes = 336;

bytes strokes() {
  bytes raw(chunk_bytes);
  for (std::size_t i = 0; i < raw.size(); ++i)
    if (i % 28 > 8 && i % 28 < 14) raw[i] = static_cast<std::byte>(i * 7 % 256);
  return raw;
}

bytes noise() {
  bytes raw(chunk_bytes);
  std::uint32_t state = 1;
  for (auto& byte : raw) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24);
  }
  return raw;
}

struct seed_writer {
  std::filesystem::path folder;
  int count = 0;

  void write(const std::string& name, std::vector<detail::hdf5_filter> pipeline, bytes stored,
             std::uint8_t mask = 0, std::size_t size = chunk_bytes) {
    const bytes file = fuzz::serialize(
        {std::move(pipeline), true, mask, static_cast<std::uint16_t>(size), std::move(stored)});
    std::ofstream out{folder / name, std::ios::binary};
    out.write(reinterpret_cast<const char*>(file.data()),
              static_cast<std::streamsize>(file.size()));
    if (!out) throw std::runtime_error{"cannot write " + (folder / name).string()};
    ++count;
  }

  /// Whole, cut, and with a byte changed.
  void write_three(const std::string& name, const detail::hdf5_filter& filter,
                   const bytes& stored) {
    write(name, {filter}, stored);
    write(name + "_cut", {filter},
          {stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(stored.size() * 2 / 3)});
    bytes changed = stored;
    changed[changed.size() / 3] ^= std::byte{0x11};
    write(name + "_changed", {filter}, changed);
  }
};

const detail::hdf5_filter deflate_filter{1, "", {}};
const detail::hdf5_filter shuffle_filter{2, "", {4}};
const detail::hdf5_filter checksum_filter{3, "", {}};
const detail::hdf5_filter lzf_filter{32000, "", {}};

void write_all(seed_writer& seeds) {
  const bytes raw = strokes();
  seeds.write_three("deflate", deflate_filter, deflated(raw));
  seeds.write_three("deflate_stored", deflate_filter, deflated(noise(), 0));
  seeds.write_three("shuffle", shuffle_filter, shuffled(raw, 4));
  seeds.write("shuffle_of_3", {{2, "", {3}}}, shuffled(raw, 3));
  seeds.write_three("fletcher32", checksum_filter, with_fletcher32(raw));
  seeds.write_three("lzf", lzf_filter, lzf_packed(raw));
  seeds.write("lzf_noise", {lzf_filter}, lzf_packed(noise()));
  for (const char* compressor : {"blosclz", "lz4", "zlib", "zstd"})
    seeds.write_three(std::string{"blosc2_"} + compressor, {32026, "", {}},
                      blosc2_packed(raw, 4, compressor, 1));
  seeds.write_three("blosc2_array", {32026, "", {}}, blosc2_array(raw, 4, 7));
  // Twenty numbers of 32 bits, as the plugin stored them.
  const bytes zfp{
      std::byte{0x1f}, std::byte{0x00}, std::byte{0x00}, std::byte{0x00}, std::byte{0x94},
      std::byte{0xf4}, std::byte{0x01}, std::byte{0x00}, std::byte{0x00}, std::byte{0xb0},
      std::byte{0x4e}, std::byte{0xfa}, std::byte{0x00}, std::byte{0x00}, std::byte{0x00},
      std::byte{0x16}, std::byte{0x99}, std::byte{0xf4}, std::byte{0x01}, std::byte{0x00},
      std::byte{0x00}, std::byte{0x2c}, std::byte{0x38}, std::byte{0xe9}, std::byte{0x03},
      std::byte{0x00}, std::byte{0x00}, std::byte{0x58}, std::byte{0x61}, std::byte{0x12}};
  seeds.write("zfp", {{32013, "", {269504785, 91252346, 304, 2281701376}}}, zfp, 0, 80);
  seeds.write("zfp_cut", {{32013, "", {269504785, 91252346, 304, 2281701376}}},
              {zfp.begin(), zfp.begin() + 20}, 0, 80);
  seeds.write_three("lzo", {305, "", {}}, lzo_packed(raw));
  seeds.write_three("bzip2", {307, "", {}}, bzip2_packed(raw));
  seeds.write_three("lz4", {32004, "", {}}, lz4_packed(raw, 1024));
  seeds.write("lz4_blocks", {{32004, "", {}}}, lz4_packed(noise(), 100));
  seeds.write_three("zstd", {32015, "", {}}, zstd_packed(raw));
  for (const char* compressor : {"blosclz", "lz4", "zlib", "zstd"})
    seeds.write_three(std::string{"blosc_"} + compressor, {32001, "", {}},
                      blosc_packed(raw, 4, compressor, 1));
  seeds.write("blosc_bits", {{32001, "", {}}}, blosc_packed(raw, 2, "lz4", 2));
  seeds.write("blosc_noise", {{32001, "", {}}}, blosc_packed(noise(), 1, "lz4", 0));
  for (const auto compression :
       {bit_compression::none, bit_compression::lz4, bit_compression::zstd})
    for (const unsigned block : {0U, 16U}) {
      const auto method = static_cast<unsigned>(compression);
      seeds.write_three("bitshuffle_" + std::to_string(method) + "_" + std::to_string(block),
                        {32008, "", {0, 4, 2, block, method}},
                        bitshuffled(raw, 2, block, compression));
    }
  for (const std::vector<unsigned>& values :
       {std::vector<unsigned>{168, 16, 8, 336}, {168, 8, 16, 30}, {140, 8, 32, 28}})
    seeds.write_three("szip_" + std::to_string(values[2]), {4, "", values},
                      szip_packed(raw, values));

  seeds.write("nothing", {}, {});
  seeds.write("no_filter", {}, raw);
  seeds.write("masked", {shuffle_filter, deflate_filter}, deflated(raw), 1);
  seeds.write("shuffle_deflate_fletcher32", {shuffle_filter, deflate_filter, checksum_filter},
              with_fletcher32(deflated(shuffled(raw, 4))));
  seeds.write("fletcher32_shuffle_deflate", {checksum_filter, shuffle_filter, deflate_filter},
              deflated(shuffled(with_fletcher32(raw), 4)));
  seeds.write("lzf_shuffle_deflate", {lzf_filter, shuffle_filter, deflate_filter},
              deflated(shuffled(lzf_packed(raw), 4)));
  seeds.write("no_chunk", {deflate_filter}, {std::byte{0x1e}}, 0, 0);
  seeds.write("refused", {{2, "", {0}}}, raw);
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_hdf5_filters_corpus FOLDER\n");
    return 2;
  }
  try {
    std::filesystem::create_directories(argv[1]);
    seed_writer seeds{argv[1]};
    write_all(seeds);
    std::printf("%d seeds\n", seeds.count);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_hdf5_filters_corpus: %s\n", error.what());
    return 1;
  }
}
