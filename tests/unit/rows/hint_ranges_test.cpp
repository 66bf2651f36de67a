#include "rows/hint_ranges.hpp"

#include "support/checks/catch.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/standin_files.hpp"
#include "support/files/temporary_directory.hpp"

#include <vector>

using namespace feedline;
using namespace feedline::detail;

TEST_CASE("hints: bytes of all samples that there are are asked for at once", "[dataset][host]") {
  const test::mounted_standin storage;
  const test::temporary_directory folder;
  const auto file =
      open_file(test::mounted_standin::address_of(folder.write("x", test::numbered(200'000))));
  const std::vector<byte_range> places{{150'000, 150'100}, {200, 300}, {7, 7}, {50, 100}};
  std::vector<sample_index> samples;
  for (std::uint64_t i = 0; i <= places.size(); ++i) samples.push_back({i});
  hint_ranges(*file, samples, [&](sample_index sample) {
    return sample.value < places.size() ? places[sample.value] : byte_range{};
  });
  CHECK(storage->take_hints() ==
        std::vector<test::standin_files::call>{{{50, 250}, {150'000, 100}}});
}
