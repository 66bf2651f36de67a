#pragma once

#include "hdf5/filter/filters.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::fuzz {

/// Input of the filters' fuzz target, front to back; numbers of 16 bits have their least
/// significant byte first, and bytes beyond the end are 0:
///     byte     filters (lowest two bits), whether checksums are compared (next)
///     byte     for each filter: which; its client data, 16 bits each or 32 of ZFP's, follows
///     byte     filter mask
///     16 bits  bytes of the chunk
///     rest     the chunk as stored
struct filters_input {
  std::vector<detail::hdf5_filter> pipeline;
  bool verify = false;
  std::uint8_t mask = 0;
  std::uint16_t chunk_bytes = 0;
  std::vector<std::byte> stored;
};

struct filter_choice {
  int id;
  std::size_t values;
  unsigned value_bytes = 2;
};

inline constexpr std::array filter_choices{
    filter_choice{1, 0},       filter_choice{2, 1},     filter_choice{3, 0},
    filter_choice{4, 4},       filter_choice{32000, 0}, filter_choice{32001, 0},
    filter_choice{32004, 0},   filter_choice{32008, 5}, filter_choice{32015, 0},
    filter_choice{305, 0},     filter_choice{307, 0},   filter_choice{32026, 0},
    filter_choice{32013, 5, 4}};

inline filters_input parse(std::span<const std::byte> bytes) {
  const auto next = [&]() -> std::uint8_t {
    if (bytes.empty()) return 0;
    const auto byte = std::to_integer<std::uint8_t>(bytes[0]);
    bytes = bytes.subspan(1);
    return byte;
  };
  const auto next_16 = [&] {
    const std::uint16_t low = next();
    return static_cast<std::uint16_t>(low | (next() << 8));
  };
  filters_input input;
  const std::uint8_t head = next();
  input.verify = (head & 4U) != 0;
  for (unsigned i = 0; i < (head & 3U); ++i) {
    const filter_choice& choice = filter_choices[next() % filter_choices.size()];
    detail::hdf5_filter filter{choice.id, "", {}};
    for (std::size_t k = 0; k < choice.values; ++k) {
      unsigned value = next_16();
      if (choice.value_bytes == 4) value |= static_cast<unsigned>(next_16()) << 16U;
      filter.values.push_back(value);
    }
    input.pipeline.push_back(filter);
  }
  input.mask = next();
  input.chunk_bytes = next_16();
  input.stored.assign(bytes.begin(), bytes.end());
  return input;
}

/// The input that is parsed as this. It has at most three filters, each one of the choices.
inline std::vector<std::byte> serialize(const filters_input& input) {
  std::vector<std::byte> bytes;
  const auto put = [&](std::size_t value) {
    bytes.push_back(static_cast<std::byte>(value & 0xffU));
  };
  put(input.pipeline.size() | (input.verify ? 4U : 0U));
  for (const auto& filter : input.pipeline)
    for (std::size_t which = 0; which < filter_choices.size(); ++which) {
      if (filter_choices[which].id != filter.id) continue;
      put(which);
      for (std::size_t k = 0; k < filter_choices[which].values; ++k) {
        const std::size_t value = k < filter.values.size() ? filter.values[k] : 0;
        for (unsigned byte = 0; byte < filter_choices[which].value_bytes; ++byte)
          put(value >> (8 * byte));
      }
    }
  put(input.mask);
  put(input.chunk_bytes);
  put(input.chunk_bytes >> 8);
  bytes.insert(bytes.end(), input.stored.begin(), input.stored.end());
  return bytes;
}

}  // namespace feedline::fuzz
