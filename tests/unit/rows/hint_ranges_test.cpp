#include "rows/hint_ranges.hpp"

#include "support/checks/catch.hpp"

#include <cstdint>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

struct asked_file {
  using call = std::pair<std::uint64_t, std::uint64_t>;  ///< offset and bytes

  void will_need(std::uint64_t offset, std::uint64_t bytes) const {
    calls.push_back({offset, bytes});
  }

  mutable std::vector<call> calls = {};
};

}  // namespace

TEST_CASE("hints: bytes of samples are asked for in order of their offset, near ones together",
          "[dataset][host]") {
  constexpr std::uint64_t gap = 64 << 10;
  const std::vector<file_range> places{
      {1'000'000, 1'000'100},          // alone
      {200, 300},                      // a gap after the next one
      {50, 100},                       //
      {300 + gap, 310 + gap},          // the largest gap that is read with it
      {311 + 2 * gap, 400 + 2 * gap},  // too far
      {40, 60},                        // overlaps
      {7, 7},                          // nothing
  };
  std::vector<sample_index> samples;
  for (std::uint64_t i = 0; i <= places.size(); ++i) samples.push_back({i});
  const asked_file file;
  hint_ranges(file, samples, [&](sample_index sample) {
    return sample.value < places.size() ? places[sample.value] : file_range{};
  });
  CHECK(file.calls ==
        std::vector<asked_file::call>{{40, 270 + gap}, {311 + 2 * gap, 89}, {1'000'000, 100}});
}
