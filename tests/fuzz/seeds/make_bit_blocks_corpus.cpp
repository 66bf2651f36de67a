/// Writes the seed corpus of bit_blocks_fuzz: feedline_make_bit_blocks_corpus FOLDER

#include "support/files/content_maker.hpp"
#include "support/hdf5/encoders.hpp"

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace feedline::test;

namespace {

void write(const std::filesystem::path& file, std::size_t room, unsigned setting,
           const std::vector<std::byte>& frame) {
  std::ofstream out{file, std::ios::binary};
  for (const std::size_t head : {room, room >> 8U, std::size_t{setting}})
    out.put(static_cast<char>(head));
  out.write(reinterpret_cast<const char*>(frame.data()),
            static_cast<std::streamsize>(frame.size()));
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: feedline_make_bit_blocks_corpus FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder{words[1]};
  content_maker make{1};
  for (const unsigned element : {1U, 2U, 4U, 12U})
    for (const std::size_t block : {0U, 8U, 128U})
      for (const unsigned zstd : {0U, 1U}) {
        const auto plain = make.plain(make.below(content_maker::kinds), element * 203);
        const auto* const raw = reinterpret_cast<const std::byte*>(plain.data());
        const auto frame = bitshuffled({raw, plain.size()}, element, block,
                                       zstd == 0 ? bit_compression::lz4 : bit_compression::zstd);
        write(folder / ((zstd == 0 ? "lz4_" : "zstd_") + std::to_string(element) + "_" +
                        std::to_string(block)),
              plain.size(), (element - 1) << 1U | zstd, frame);
      }
  return 0;
}
