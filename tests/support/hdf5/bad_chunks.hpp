#pragma once

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/hdf5/filter_cases.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace feedline::test {

/// A chunk that must not decode, and the message for it.
struct bad_input {
  std::string what;
  std::vector<detail::hdf5_filter> pipeline;
  bytes stored;
  std::string message;
  std::uint32_t mask = 0;
};

inline constexpr std::size_t chunk_bytes = 784;

inline bytes good() {
  return contents()[2].make(chunk_bytes);
}

inline bytes text(const std::string& characters) {
  bytes made(characters.size());
  std::memcpy(made.data(), characters.data(), made.size());
  return made;
}

inline bytes numbers(std::initializer_list<int> values) {
  bytes made;
  for (const int value : values) made.push_back(static_cast<std::byte>(value));
  return made;
}

inline bytes joined(bytes first, const bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

inline bytes cut(bytes whole, std::size_t size) {
  whole.resize(size);
  return whole;
}

inline bytes with_byte(bytes whole, std::size_t at, int value) {
  whole.at(at) = static_cast<std::byte>(value);
  return whole;
}

/// A number of 64 bits and one of 32, most significant byte first.
inline bytes header(std::uint64_t total, std::uint32_t block) {
  bytes made;
  for (int i = 8; i-- > 0;) made.push_back(static_cast<std::byte>(total >> (8 * i) & 0xff));
  for (int i = 4; i-- > 0;) made.push_back(static_cast<std::byte>(block >> (8 * i) & 0xff));
  return made;
}

inline void check_all(const std::vector<bad_input>& inputs) {
  for (const bad_input& input : inputs) {
    const detail::hdf5_filters filters{input.pipeline};
    INFO(input.what);
    REQUIRE(filters.refusal().empty());
    CHECK(message_of<detail::hdf5_filter_error>([&] {
            (void)decoded(filters, input.stored, chunk_bytes, input.mask);
          }) == input.message);
  }
}

inline const detail::hdf5_filter deflate{1, "", {6}};
inline const detail::hdf5_filter shuffle{2, "", {4}};
inline const detail::hdf5_filter fletcher32{3, "", {}};
inline const detail::hdf5_filter szip{4, "", {32 + 128 + 8, 16, 8, 784}};
inline const detail::hdf5_filter lzo{305, "", {5, 11, 4}};
inline const detail::hdf5_filter bzip2{307, "", {5, 11, 4}};
inline const detail::hdf5_filter lzf{32000, "", {4, 261, 784}};
inline const detail::hdf5_filter blosc{32001, "", {2, 2, 1, 784}};
inline const detail::hdf5_filter blosc2{32026, "", {1, 0, 2, 784, 5, 1, 0}};
inline const detail::hdf5_filter lz4{32004, "", {0}};
inline const detail::hdf5_filter bitshuffle{32008, "", {0, 4, 2, 0, 0}};
inline const detail::hdf5_filter bitshuffle_lz4{32008, "", {0, 4, 2, 0, 2}};
inline const detail::hdf5_filter bitshuffle_zstd{32008, "", {0, 4, 2, 0, 3}};
inline const detail::hdf5_filter zstd{32015, "", {3}};

}  // namespace feedline::test
