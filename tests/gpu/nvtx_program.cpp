// Names ranges as a loader's threads do; nvtx_log.cpp tells what arrives at a tool. Needs no GPU.

#include "cuda/profiler_ranges.hpp"

#include <cstdio>

int main() {
  const feedline::detail::profiler_ranges ranges;
  ranges.begin("read");
  ranges.begin("stalled");
  ranges.end();
  ranges.end();
  std::printf("done\n");
}
