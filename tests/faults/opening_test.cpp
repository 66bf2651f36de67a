/// Files are opened, composed and read while any allocation fails.

#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/idx.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/records.hpp>
#include <feedline/io/map_files.hpp>

#include "faults/system_calls.hpp"
#include "io/local/kept_descriptor.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/process.hpp"
#include "support/files/idx_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Reads all samples. Files are opened again for each. @return Every byte of them, as one number.
std::uint64_t sum_of(const dataset& data) {
  const auto fields = data.fields();
  std::vector<std::vector<std::byte>> values;
  std::vector<std::span<std::byte>> out;
  for (const field& each : fields) values.emplace_back(sample_bytes(each));
  for (auto& each : values) out.emplace_back(each);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < data.size(); ++i) {
    const sample_index sample{i};
    while (detail::close_kept_descriptors(16) != 0) continue;
    data.read({&sample, 1}, out);
    for (const auto& value : values)
      for (const std::byte each : value) sum = sum * 31 + std::to_integer<std::uint64_t>(each);
  }
  return sum;
}

/// A dataset that is opened while memory is short.
struct opening {
  std::string name;
  std::function<dataset_ptr()> open;
};

std::vector<opening> all_openings(const temporary_directory& folder) {
  const auto path = [&](const char* name, const std::vector<std::byte>& bytes) {
    return folder.write(name, bytes).string();
  };
  const auto idx = path("plain.idx", idx_file_bytes(8, {6, 5}, 30));
  const auto packed = path("packed.idx.gz", gzip_bytes(idx_file_bytes(8, {6, 5}, 30)));
  const auto npy = path("a.npy", npy_bytes(npy_dictionary("<f4", "(3, 2)"), counting_bytes(24)));
  const auto across =
      path("b.npy", npy_bytes(npy_dictionary("<f4", "(3, 2)", true), counting_bytes(24)));
  const auto records = path("rows.bin", counting_bytes(64));
  return {
      {"idx", [=] { return open_idx_file(idx, "value"); }},
      {"gzip", [=] { return open_idx_file(packed, "value"); }},
      {"npy", [=] { return open_npy(npy, "value"); }},
      {"npy, by columns", [=] { return open_npy(across, "value"); }},
      {"records",
       [=] {
         return open_records({records}, {{"row", element_type::u8, {16}}});
       }},
      {"composed",
       [=] {
         const auto all = open_records({records}, {{"row", element_type::u8, {16}}});
         const auto two = subset(all, {sample_index{3}, sample_index{0}});
         return concatenate({all, two});
       }},
      {"in memory",
       [=] {
         return load_into_memory(open_records({records}, {{"row", element_type::u8, {16}}}));
       }},
  };
}

}  // namespace

TEST_CASE("faults: any allocation may fail while files are opened and read", "[dataset][host]") {
  const temporary_directory folder;
  const bool may_map = GENERATE(true, false);
  for (const opening& each : all_openings(folder)) {
    map_files(false);
    const std::uint64_t expected = sum_of(*each.open());  // the thread keeps what reads need
    map_files(may_map);
    {
      CAPTURE(each.name, expected, 0);
      REQUIRE(expected > 0);
    }
    const std::int64_t before = living_blocks();
    const std::size_t descriptors = descriptor_count();
    for (const std::uint64_t times : {1U, 1'000'000U}) {
      std::uint64_t nth = 1;
      for (bool came = true; came && nth < 2000; ++nth) {
        std::uint64_t sum = 0;
        bool failed = false;
        allocations().arm(nth, times);
        try {
          sum = sum_of(*each.open());
        } catch (const std::bad_alloc&) {
          failed = true;
        } catch (const error&) {
          failed = true;
        }
        allocations().disarm();
        came = allocations().calls() >= nth;
        const std::int64_t left = living_blocks() - before;  // excludes what CAPTURE holds
        CAPTURE(each.name, nth, times);
        CHECK((failed || sum == expected));
        CHECK(left == 0);
        CHECK(descriptor_count() == descriptors);
      }
      CHECK(nth > 5);
      CHECK(nth < 2000);
    }
  }
  map_files(true);
}
