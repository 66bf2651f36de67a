#include <feedline/error.hpp>
#include <feedline/hdf5/ragged.hpp>

#include "hdf5/format/heap_search.hpp"
#include "io/local/file.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/sequences.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

namespace fs = std::filesystem;

/// The bytes of a file with a dataset "x" of four sequences of i32, whose lengths are 3, 0, 5 and
/// 2, so that the three that are not empty are objects 1 to 3 of a collection; and where what lies.
class heap_file {
 public:
  explicit heap_file(const temporary_directory& folder) {
    hdf5_writer writer{folder.path() / "whole.h5"};
    write_sequences(writer, "x", H5T_STD_I32LE, H5T_NATIVE_INT32, various_values({3, 0, 5, 2}, 4));
    bytes_ = bytes_of_file(writer.close());
    collection = find("GCOL");
    std::string row{"\x03\0\0\0", 4};
    for (int shift = 0; shift < 64; shift += 8)
      row += static_cast<char>(collection >> shift & 0xFFU);
    rows = find(row);
    require_hdf5(collection < bytes_.size() && rows < bytes_.size(), "be found where it should be");
  }

  /// Writes a number of `width` bytes at an offset.
  void put(std::uint64_t at, std::uint64_t number, unsigned width) {
    for (unsigned i = 0; i < width; ++i, number >>= 8)
      bytes_[static_cast<std::size_t>(at) + i] = static_cast<std::byte>(number);
  }
  void put_length(std::size_t sample, std::uint32_t length) { put(rows + 16 * sample, length, 4); }
  void put_address(std::size_t sample, std::uint64_t address) {
    put(rows + 16 * sample + 4, address, 8);
  }
  void put_index(std::size_t sample, std::uint32_t index) {
    put(rows + 16 * sample + 12, index, 4);
  }
  void put_collection_bytes(std::uint64_t bytes) { put(collection + 8, bytes, 8); }
  /// @param at Offset of the object's header in the collection: 16 for object 1, 48 for object 2.
  void put_object(std::uint64_t at, std::uint16_t index, std::uint64_t bytes) {
    put(collection + at, index, 2);
    put(collection + at + 8, bytes, 8);
  }

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }

  std::uint64_t collection;
  std::uint64_t rows;

 private:
  [[nodiscard]] std::uint64_t find(std::string_view text) const {
    const auto found = std::search(bytes_.begin(), bytes_.end(), text.begin(), text.end(),
                                   [](std::byte a, char b) { return a == std::byte(b); });
    return static_cast<std::uint64_t>(found - bytes_.begin());
  }

  std::vector<std::byte> bytes_;
};

struct damage {
  std::string name;
  std::function<void(heap_file&)> apply;
  std::uint64_t sample;
  std::string message;  ///< # is the collection's byte, $ the file's size, % what is left of it
};

std::vector<damage> damages() {
  constexpr std::uint64_t far = std::uint64_t{1} << 40;
  const std::string beyond =
      ": an address in the global heap that is beyond the file's end, at byte $";
  return {
      {"an address beyond the file", [](heap_file& f) { f.put_address(0, far); }, 0,
       "byte 1099511627776" + beyond},
      {"an address that is undefined", [](heap_file& f) { f.put_address(2, ~std::uint64_t{0}); }, 2,
       "byte 18446744073709551615" + beyond},
      {"an address at the file's end", [](heap_file& f) { f.put_address(3, f.size()); }, 3,
       "byte $" + beyond},
      {"an address where there is no heap", [](heap_file& f) { f.put_address(2, 8); }, 2,
       "byte 9: not the signature GCOL"},
      {"another signature", [](heap_file& f) { f.put(f.collection, 'F', 1); }, 0,
       "byte {+1}: not the signature GCOL"},
      {"another version", [](heap_file& f) { f.put(f.collection + 4, 2, 1); }, 0,
       "byte {+5}: version 2 where 1 is known"},
      {"a collection larger than the file", [](heap_file& f) { f.put_collection_bytes(far); }, 0,
       "byte {+16}: a global heap collection that claims 1099511627776 bytes, where the file has % "
       "bytes left"},
      {"a collection of no bytes", [](heap_file& f) { f.put_collection_bytes(0); }, 0,
       "byte {+16}: a global heap collection that claims 0 bytes, where the file has % bytes left"},
      {"a collection of its header alone", [](heap_file& f) { f.put_collection_bytes(16); }, 0,
       "its address is object 1 of the global heap collection at byte #, which does not exist"},
      {"a collection that ends in an object", [](heap_file& f) { f.put_collection_bytes(40); }, 0,
       "byte {+32}: object 1 of 12 bytes, where its global heap collection has 8 bytes left"},
      {"an object that is not there", [](heap_file& f) { f.put_index(2, 77); }, 2,
       "its address is object 77 of the global heap collection at byte #, which does not exist"},
      {"the object of free space", [](heap_file& f) { f.put_index(2, 0); }, 2,
       "its address is object 0 of a global heap collection, whose objects are 1 to 65535"},
      {"an index that no object has", [](heap_file& f) { f.put_index(2, 65'536); }, 2,
       "its address is object 65536 of a global heap collection, whose objects are 1 to 65535"},
      {"one element too many", [](heap_file& f) { f.put_length(0, 4); }, 0,
       "it has 4 elements of 4 bytes, but object 1 of the global heap collection at byte # has 12 "
       "bytes"},
      {"as many elements as can be", [](heap_file& f) { f.put_length(2, ~std::uint32_t{0}); }, 2,
       "it has 4294967295 elements of 4 bytes, but object 2 of the global heap collection at byte "
       "# "
       "has 20 bytes"},
      {"an object that is too short", [](heap_file& f) { f.put_object(48, 2, 19); }, 2,
       "it has 5 elements of 4 bytes, but object 2 of the global heap collection at byte # has 19 "
       "bytes"},
      {"an object larger than all", [](heap_file& f) { f.put_object(16, 1, ~std::uint64_t{0}); }, 0,
       "byte {+32}: object 1 of 18446744073709551615 bytes, where its global heap collection has "
       "4064 bytes left"},
      {"free space of no bytes", [](heap_file& f) { f.put_object(16, 0, 0); }, 0,
       "byte {+32}: free space of 0 bytes, where its global heap collection has 4080 bytes left"},
      {"free space less than its header", [](heap_file& f) { f.put_object(16, 0, 8); }, 0,
       "byte {+32}: free space of 8 bytes, where its global heap collection has 4080 bytes left"},
      {"free space beyond the collection", [](heap_file& f) { f.put_object(16, 0, 4088); }, 0,
       "byte {+32}: free space of 4088 bytes, where its global heap collection has 4080 bytes "
       "left"},
      {"nothing but objects of no bytes",
       [](heap_file& f) {
         for (std::uint64_t at = 16; at < 4096; at += 16) f.put_object(at, 9, 0);
       },
       0, "its address is object 1 of the global heap collection at byte #, which does not exist"},
      {"collections over each other",
       [](heap_file& f) {
         const auto inner = f.collection + 2048;
         for (std::uint64_t i = 0; i < 16; ++i)
           f.put(inner + i, std::to_integer<unsigned>(f.bytes()[f.collection + i]), 1);
         f.put_address(3, inner);
       },
       3, "byte {+2048}: global heap collections overlap"},
  };
}

/// Puts numbers where a message has signs for them.
std::string filled(std::string message, const heap_file& file) {
  const auto replace = [&](const std::string& sign, std::uint64_t number) {
    for (auto at = message.find(sign); at != std::string::npos; at = message.find(sign))
      message.replace(at, sign.size(), std::to_string(number));
  };
  for (const std::uint64_t ahead : {1U, 5U, 16U, 32U, 2048U})
    replace("{+" + std::to_string(ahead) + "}", file.collection + ahead);
  replace("#", file.collection);
  replace("$", file.size());
  replace("%", file.size() - file.collection);
  return message;
}

}  // namespace

TEST_CASE("hdf5 ragged: a damaged heap is refused when it is opened, naming a sample that it loses",
          "[dataset][host]") {
  const temporary_directory folder;
  for (const auto& damage : damages()) {
    INFO(damage.name);
    heap_file file{folder};
    damage.apply(file);
    const auto path = folder.write("damaged.h5", file.bytes());
    CHECK(message_of<hdf5_error>([&] { (void)open_hdf5_ragged(path, {"x"}); }) ==
          path.string() + ": field 'x', sample " + std::to_string(damage.sample) +
              ": cannot be read: " + filled(damage.message, file) +
              "; the file is cut short or damaged: copy it again");
  }
}

TEST_CASE("hdf5 ragged: parts of a heap that no sample needs may be damaged", "[dataset][host]") {
  const temporary_directory folder;
  const auto values = various_values({3, 0, 5, 2}, 4);
  heap_file file{folder};
  const auto read = [&] {
    return values_of(*open_hdf5_ragged(folder.write("x.h5", file.bytes()), {"x"}));
  };
  CHECK(read() == values);
  file.put_object(128, 0, 0);  // the free space after the last object
  CHECK(read() == values);
  file.put_address(1, ~std::uint64_t{0});  // address of an empty sample
  file.put_index(1, 99);
  CHECK(read() == values);
  file.put_address(0, 0);  // nothing is there, whatever its length
  CHECK(read() == value_vector{{}, {}, values[2], values[3]});
}

TEST_CASE("hdf5 ragged: a file cut short anywhere is refused", "[dataset][host]") {
  const temporary_directory folder;
  const heap_file file{folder};
  for (std::size_t bytes = 0; bytes < file.size(); bytes += 61) {
    INFO("cut to " << bytes << " bytes of " << file.size());
    const auto cut = folder.write("cut.h5", std::span{file.bytes()}.first(bytes));
    CHECK_THROWS_AS(open_hdf5_ragged(cut, {"x"}), hdf5_error);
  }
}

TEST_CASE("hdf5 ragged: no changed byte of rows or heap causes a read out of bounds",
          "[dataset][host]") {
  const temporary_directory folder;
  const heap_file whole{folder};
  const auto try_file = [&](const heap_file& file) {
    try {
      detail::hdf5_metadata metadata{file.bytes()};
      detail::hdf5_heap_search search{metadata, 4};
      search.add(std::span{file.bytes()}.subspan(static_cast<std::size_t>(file.rows), 64));
      const auto places = search.find();
      for (std::size_t i = 0; i < places.offsets.size(); ++i)
        if (places.offsets[i] > file.size() ||
            std::uint64_t{4} * places.lengths[i] > file.size() - places.offsets[i])
          return false;
    } catch (const detail::hdf5_heap_error&) {
    }
    return true;
  };
  const auto try_range = [&](std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t at = first; at < first + count; ++at)
      for (const std::uint64_t value : {0x00U, 0x01U, 0x7FU, 0x80U, 0xFFU}) {
        heap_file file = whole;
        file.put(at, value, 1);
        if (!try_file(file)) return at;
      }
    return std::uint64_t{0};
  };
  CHECK(try_range(whole.rows, 64) == 0);
  CHECK(try_range(whole.collection, 160) == 0);
}

TEST_CASE("hdf5 ragged: a mapped file and calls give the same addresses, in order or not",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5", {.userblock = 1024}};
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t i = 0; i < 3'000; ++i) lengths.push_back(i % 100 == 7 ? 5'000 : i % 40);
  write_sequences(writer, "x", H5T_STD_U8LE, H5T_NATIVE_UINT8, various_values(lengths, 1));
  const auto path = writer.close();
  const auto bytes = bytes_of_file(path);
  std::vector<std::byte> rows(3'000 * 16);
  {
    const detail::hdf5_file_id opened{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)};
    const detail::hdf5_dataset_id dataset{H5Dopen2(opened.get(), "x", H5P_DEFAULT)};
    const auto first = static_cast<std::ptrdiff_t>(H5Dget_offset(dataset.get()));
    std::copy_n(bytes.begin() + first, rows.size(), rows.begin());
  }
  std::vector<std::byte> backwards;
  for (std::size_t row = 3'000; row-- > 0;)
    backwards.insert(backwards.end(), rows.begin() + static_cast<std::ptrdiff_t>(16 * row),
                     rows.begin() + static_cast<std::ptrdiff_t>(16 * (row + 1)));
  const auto find = [](detail::hdf5_metadata metadata, std::span<const std::byte> of) {
    detail::hdf5_heap_search search{metadata, 1};
    for (std::size_t at = 0; at < of.size(); at += 1'600) search.add(of.subspan(at, 1'600));
    return search.find();
  };
  const detail::local_file mapped{path, detail::file_access::mapped};
  const detail::local_file by_calls{path, detail::file_access::by_calls};
  const auto places = find(detail::hdf5_metadata{mapped}, rows);
  CHECK(std::vector<std::uint64_t>(places.lengths.begin(), places.lengths.end()) == lengths);
  CHECK(find(detail::hdf5_metadata{by_calls}, rows).offsets == places.offsets);
  CHECK(find(detail::hdf5_metadata{bytes}, rows).offsets == places.offsets);
  auto reversed = find(detail::hdf5_metadata{by_calls}, backwards).offsets;
  std::reverse(reversed.begin(), reversed.end());
  CHECK(reversed == places.offsets);
}
