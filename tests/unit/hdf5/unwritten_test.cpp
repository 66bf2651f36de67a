#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "rows/gather.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// The most memory that the process has had so far.
std::uint64_t peak_bytes() {
  rusage use{};
  require_hdf5(::getrusage(RUSAGE_SELF, &use) == 0, "ask for memory in use");
  return static_cast<std::uint64_t>(use.ru_maxrss) * 1024;
}

const hdf5_options nothing_resident{.max_resident_bytes = 0};

}  // namespace

TEST_CASE("repeat element: any amount of memory is filled with elements of any size",
          "[dataset][host]") {
  for (const std::size_t element : {1U, 3U, 8U, 4095U, 5000U})
    for (const std::size_t count : {0U, 1U, 2U, 3U, 100U, 5001U}) {
      const auto pattern = various_bytes(element);
      std::vector<std::byte> out(element * count);
      detail::repeat_element(pattern, out);
      bool is_right = true;
      for (std::size_t i = 0; i < out.size(); ++i)
        is_right = is_right && out[i] == pattern[i % element];
      INFO(count << " elements of " << element);
      CHECK(is_right);
    }
}

TEST_CASE("hdf5: rows of gigabytes that were never written are opened for nothing",
          "[dataset][host]") {
  const temporary_directory folder;
  constexpr hsize_t giga = hsize_t{1} << 30;
  hdf5_writer writer{folder.path() / "claims.h5"};
  const hsize_t part = giga;
  const detail::hdf5_type_id array{H5Tarray_create2(H5T_STD_U8LE, 1, &part)};
  (void)writer.make("contiguous", H5T_STD_U8LE, {4, 2 * giga});
  (void)writer.make("chunks", H5T_STD_U8LE, {4, giga}, chunked("", {1, giga}));
  (void)writer.make("arrays", array.get(), {4});
  const auto file = writer.close();
  const auto before = peak_bytes();
  CHECK(list_hdf5_fields(file).size() == 3);
  for (const std::string name : {"contiguous", "chunks", "arrays"})
    CHECK(open_hdf5(file, {{name}}, nothing_resident)->size() == 4);
  CHECK(peak_bytes() - before < std::uint64_t{200} << 20);
}

TEST_CASE("hdf5: a row that no memory holds is refused with path, field and size",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "claims.h5"};
  (void)writer.make("x", H5T_STD_U8LE, {4, hsize_t{1} << 50});
  const auto file = writer.close();
  const auto message = message_of<hdf5_error>([&] { (void)open_hdf5(file, {{"x"}}); });
  INFO(message);
  CHECK(message.find(file.string() +
                     ": field 'x': a sample (x: uint8[1125899906842624]) takes 1125899906842624 "
                     "bytes, more than the ") == 0);
  CHECK(list_hdf5_fields(file).size() == 1);
}

TEST_CASE("hdf5: rows never written are the fill value, short and long, in any layout and order",
          "[dataset][host]") {
  const std::uint32_t fill = 0x01020304;
  const hsize_t numbers = GENERATE(hsize_t{3}, hsize_t{512}, hsize_t{513}, hsize_t{5000});
  const bool is_set = GENERATE(true, false);
  const auto with_fill = [&](hdf5_layout layout) {
    return hdf5_layout{layout.name, [layout, is_set, fill](hid_t creation) {
                         layout.apply(creation);
                         if (is_set) H5Pset_fill_value(creation, H5T_NATIVE_UINT32, &fill);
                       }};
  };
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  const std::vector<std::uint32_t> row(2 * numbers, 0x0A0B0C0D);
  for (const auto& layout :
       {hdf5_layout{"contiguous"}, chunked("chunks", {2, numbers}),
        chunked("split", {2, (numbers + 1) / 2}),
        chunked("deflate", {2, numbers}, [](hid_t creation) { H5Pset_deflate(creation, 1); })}) {
    const auto made = writer.make(layout.name, H5T_STD_U32BE, {6, numbers}, with_fill(layout));
    if (layout.name != "contiguous")
      writer.write_rows(made.get(), 2, 2, H5T_NATIVE_UINT32, row.data());
  }
  const auto file = writer.close();
  for (const std::string name : {"contiguous", "chunks", "split", "deflate"}) {
    INFO(name << " of " << numbers << (is_set ? ", with a fill value" : ""));
    const auto opened = open_hdf5(file, {{name}}, nothing_resident);
    for (const std::uint64_t sample : {5U, 2U, 0U, 3U}) {
      const bool is_written = name != "contiguous" && (sample == 2 || sample == 3);
      const std::uint32_t expected = is_written ? row.front() : is_set ? fill : 0;
      const auto bytes = read_sample(*opened, sample_index{sample}).front();
      REQUIRE(bytes.size() == numbers * sizeof expected);
      bool is_right = true;
      for (std::size_t i = 0; i < bytes.size(); ++i)
        is_right = is_right && bytes[i] == std::as_bytes(std::span{&expected, 1})[i % 4];
      CHECK(is_right);
    }
  }
}
