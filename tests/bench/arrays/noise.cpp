#include "bench/arrays/noise.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

namespace feedline::bench {
namespace {

struct octave {
  std::uint64_t wavelength;  ///< elements
  float amplitude;
};
constexpr std::array octaves{octave{48, 0.7F}, octave{12, 0.22F}, octave{4, 0.08F}};

constexpr std::uint64_t hashed(std::uint64_t value) noexcept {
  value ^= value >> 30U;
  value *= 0xbf58476d1ce4e5b9U;
  value ^= value >> 27U;
  value *= 0x94d049bb133111ebU;
  return value ^ value >> 31U;
}

/// From -1 to 1.
float lattice(std::uint64_t seed, std::uint64_t z, std::uint64_t y, std::uint64_t x) noexcept {
  const std::uint64_t bits = hashed(seed ^ hashed(z << 42U ^ y << 21U ^ x));
  return static_cast<float>(bits >> 40U) * 0x1p-23F - 1;
}

/// Adds an octave to one row along x.
void add_row(std::uint64_t seed, const octave& wave, std::uint64_t z, std::uint64_t y,
             std::uint64_t first, std::span<float> out) {
  const std::uint64_t length = wave.wavelength;
  const float part_z = static_cast<float>(z % length) / static_cast<float>(length);
  const float part_y = static_cast<float>(y % length) / static_cast<float>(length);
  const auto at = [&](std::uint64_t x) {
    const auto along_y = [&](std::uint64_t of_z) {
      return std::lerp(lattice(seed, of_z, y / length, x), lattice(seed, of_z, y / length + 1, x),
                       part_y);
    };
    return std::lerp(along_y(z / length), along_y(z / length + 1), part_z);
  };
  std::uint64_t knot = first / length;
  float left = at(knot);
  float right = at(knot + 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint64_t x = first + i;
    if (x / length != knot) {
      ++knot;
      left = right;
      right = at(knot + 1);
    }
    const float part = static_cast<float>(x % length) / static_cast<float>(length);
    out[i] += wave.amplitude * (left + (right - left) * part);
  }
}

}  // namespace

void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1U); ++i)
    threads.emplace_back([&] {
      for (std::size_t at = next++; at < count; at = next++) work(at);
    });
  for (std::thread& each : threads) each.join();
}

void draw_noise(std::uint64_t seed, const std::array<std::uint64_t, 3>& origin,
                const std::array<std::uint64_t, 3>& extent, std::span<float> out) {
  std::ranges::fill(out, 0.0F);
  for (std::uint64_t z = 0; z < extent[0]; ++z)
    for (std::uint64_t y = 0; y < extent[1]; ++y)
      for (const octave& wave : octaves)
        add_row(hashed(seed + wave.wavelength), wave, origin[0] + z, origin[1] + y, origin[2],
                out.subspan((z * extent[1] + y) * extent[2], extent[2]));
}

void pack_as_weather(std::span<float> values) {
  constexpr float reference = 186.03125F;
  for (float& value : values) value = reference + std::round((value + 1) * 0x1p15F) * 0x1p-9F;
}

void pack_as_scan(std::uint64_t seed, std::span<const float> values, std::span<std::uint16_t> out) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto noise = static_cast<float>(hashed(seed + i) >> 59U);
    out[i] = static_cast<std::uint16_t>((values[i] + 1) * 1500 + noise);
  }
}

}  // namespace feedline::bench
