/// feedline_bench_checksums: the rate of CRC-32C, which TFRecord, Zarr and stores of objects use.
///
/// Method: for each size the checksum of that many bytes, which are in the cache where they fit, is
/// computed again and again until 64 MiB are done. Rates are by the thread's CPU time, so that
/// other programs matter less; each is the median of 15. To compare two versions, run both in turn.

#include "bench/processor.hpp"
#include "detail/checksums/crc32c.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <span>
#include <vector>

namespace {

double cpu_seconds() {
  timespec used{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

using checksum = std::uint32_t (*)(std::span<const std::byte>, std::uint32_t) noexcept;

/// Median of the rates, in GB/s.
double rate(checksum of, std::span<const std::byte> bytes, std::uint32_t& last) {
  const std::size_t times = std::max<std::size_t>(1, (std::size_t{64} << 20U) / bytes.size());
  std::vector<double> rates;
  for (int run = 0; run < 15; ++run) {
    const double begun = cpu_seconds();
    for (std::size_t i = 0; i < times; ++i) last = of(bytes, last);
    rates.push_back(static_cast<double>(times * bytes.size()) / (cpu_seconds() - begun) / 1e9);
  }
  std::ranges::sort(rates);
  return rates[rates.size() / 2];
}

}  // namespace

int main() {
  std::vector<std::byte> bytes(std::size_t{4} << 20U);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * i >> 7U);
  std::printf(
      "machine: %s\n| bytes | by instruction, GB/s | by tables, GB/s |\n| --- | --- | --- |\n",
      feedline::bench::processor().c_str());
  std::uint32_t last = 0;
  for (const std::size_t size : {256U, 1024U, 4096U, 114'244U, 2'828'486U}) {
    const auto part = std::span<const std::byte>{bytes}.first(size);
    const double fast = rate(feedline::detail::crc32c, part, last);
    std::printf("| %zu | %.2f | %.2f |\n", size, fast,
                rate(feedline::detail::crc32c_by_tables, part, last));
  }
  std::printf("last: %08x\n", last);  // so that the compiler computes them
}
