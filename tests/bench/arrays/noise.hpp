#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace feedline::bench {

/// Calls `work(i)` for each i below `count`, on all cores.
void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& work);

/// A field in three dimensions that looks like weather or tissue to a compressor: noise of several
/// wavelengths, smooth between the points of their lattices, from -1 to 1.
/// @param origin, extent Outermost dimension first.
void draw_noise(std::uint64_t seed, const std::array<std::uint64_t, 3>& origin,
                const std::array<std::uint64_t, 3>& extent, std::span<float> out);

/// Values as meteorological services pack them (GRIB): 16 bits above a reference value, a power of
/// two apart. @param values From `draw_noise`; become about 250 ± 64.
void pack_as_weather(std::span<float> values);

/// Gray values of 12 bits, as scanners give them: tissue, and noise of some 5 bits.
void pack_as_scan(std::uint64_t seed, std::span<const float> values, std::span<std::uint16_t> out);

}  // namespace feedline::bench
