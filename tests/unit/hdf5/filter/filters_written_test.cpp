#include "hdf5/filter/filters.hpp"
#include "support/checks/catch.hpp"
#include "support/hdf5/filter_cases.hpp"

#include <string>
#include <vector>

using namespace feedline::test;
using feedline::detail::hdf5_filter;
using feedline::detail::hdf5_filters;

// Written by h5py through the plugins of hdf5plugin 6 and 7 and by PyTables 3.7: twenty 16-bit
// numbers, 0, 3, 6, …, this many times.
TEST_CASE("hdf5 filters: chunks as the plugins wrote them decode to the written values",
          "[dataset][host]") {
  struct written {
    hdf5_filter filter;
    std::string hexadecimal;
    int times = 1;
  };
  const std::vector<written> all{{{32015, "", {3}},
                                  "28b52ffd202841010000000300060009000c000f001200150018001b001e0021"
                                  "00240027002a002d00300033003600"
                                  "3900"},
                                 {{32008, "", {0, 4, 2, 8, 2}},
                                  "00000000000000280000001000000012f001aa66b438c0000000000000000000"
                                  "000000000012f001aa66b4c707f800"
                                  "0000000000000000003000330036003900"},
                                 {{32008, "", {0, 4, 2, 8, 3, 3}},
                                  "0000000000000028000000100000001528b52ffd201065000030aa66b438c000"
                                  "01001b28020000001628b52ffd2010"
                                  "6d000038aa66b4c707f80001000530023000330036003900"},
                                 {{307, "", {5, 11, 2}},
                                  "425a683531415926535934aba472000000f8004924924924924920200021a40c"
                                  "80d34c85309a680d31224274ad8d2f8ceb7c5eb79e1c880f8bb9229c28481a55"
                                  "d23900"},
                                 {{305, "", {5, 11, 2}},
                                  "001600000300060009000c000f001200150018001b001e002100240027002a00"
                                  "2d00300033003600390020439c0000021e002100240027002a002d0030003300"
                                  "36003900110000",
                                  4},
                                 {{32026, "", {1, 0, 2, 40, 5, 1, 0}},
                                  "9ea862326672616d6500d200000061cf00000000000000f4a412005003d30000"
                                  "000000000028d30000000000000048d200000002d200000028d200000028d100"
                                  "00d10001c2d8060000000000010000000000000000000093cd0007de0000dc00"
                                  "0005011702280000002800000048000000000000000001000000000000000000"
                                  "0000000300060009000c000f001200150018001b001e002100240027002a002d"
                                  "0030003300360039000501070808000000080000002800000000000000000100"
                                  "0000000000000000000000000000000000940193cd0006de0000dc0000ce0000"
                                  "0023d80000000000000000000000000000000000"}};
  bytes raw;
  for (int i = 0; i < 20; ++i) {
    raw.push_back(static_cast<std::byte>(3 * i));
    raw.push_back(std::byte{0});
  }
  for (const written& each : all) {
    const hdf5_filters filters{{each.filter}};
    if (!filters.refusal().empty()) continue;  // without its library; tested below
    bytes stored;
    for (std::size_t i = 0; i < each.hexadecimal.size(); i += 2)
      stored.push_back(
          static_cast<std::byte>(std::stoi(each.hexadecimal.substr(i, 2), nullptr, 16)));
    INFO(filters.describe());
    bytes wanted;
    for (int i = 0; i < each.times; ++i) wanted.insert(wanted.end(), raw.begin(), raw.end());
    CHECK(decoded(filters, stored, wanted.size()) == wanted);
  }
}
