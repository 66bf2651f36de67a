#include "io/byte_file.hpp"

#include <feedline/error.hpp>

#include "io/range_source.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/standin_files.hpp"
#include "support/files/temporary_directory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using call = test::standin_files::call;

namespace {

/// A file of `count` numbered bytes in another storage.
struct stored {
  explicit stored(std::size_t count) : bytes{test::numbered(count)} {
    address = test::mounted_standin::address_of(folder.write("x.bin", bytes));
    file = open_file(address);
  }

  /// Reads parts of the file at once, and checks what came.
  void read(const std::vector<std::pair<std::uint64_t, std::size_t>>& places) const {
    std::vector<std::vector<std::byte>> out;
    for (const auto& [offset, count] : places) out.emplace_back(count);
    std::vector<byte_read> parts;
    for (std::size_t i = 0; i < places.size(); ++i) parts.push_back({places[i].first, out[i]});
    file->read(parts);
    CHECK(std::ranges::is_sorted(parts, {}, &byte_read::offset));
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(places[i].first);
      CHECK(out[i] == std::vector<std::byte>(at, at + static_cast<std::ptrdiff_t>(out[i].size())));
    }
  }

  test::mounted_standin storage;
  test::temporary_directory folder;
  std::vector<std::byte> bytes;
  std::string address;
  byte_file_ptr file;
};

}  // namespace

TEST_CASE("byte file: parts near each other are read as one, others in the same call, in order",
          "[dataset][host]") {
  const stored in{100'000};
  // Gaps of up to 100 bytes are read through, up to 10,000 bytes in all.
  in.read({{50'000, 10}, {0, 50}, {150, 50}, {301, 9}, {40'000, 10}});
  CHECK(in.storage->take_calls() ==
        std::vector<call>{{{0, 200}, {301, 9}, {40'000, 10}, {50'000, 10}}});
  in.read({{0, 6000}, {6050, 3950}, {10'001, 5}});  // the third would make it too large
  CHECK(in.storage->take_calls() == std::vector<call>{{{0, 10'000}, {10'001, 5}}});
  in.read({{7, 5}, {7, 5}, {9, 1}, {8, 20}});  // over each other
  CHECK(in.storage->take_calls() == std::vector<call>{{{7, 21}}});
  in.read({{20, 0}, {99'999, 1}, {100'000, 0}});  // empty parts are not read
  CHECK(in.storage->take_calls() == std::vector<call>{{{99'999, 1}}});
  in.read({});
  CHECK(in.storage->take_calls().empty());
}

TEST_CASE("byte file: parts that follow each other in the file and in memory are read in place",
          "[dataset][host]") {
  const stored in{50'000};
  std::vector<std::byte> out(30'000);
  const std::span to{out};
  std::vector<byte_read> parts{{15'000, to.subspan(15'000)}, {0, to.first(15'000)}};
  in.file->read(parts);
  CHECK(std::equal(out.begin(), out.end(), in.bytes.begin()));
  CHECK(in.storage->take_calls() == std::vector<call>{{{0, 30'000}}});  // larger than is joined
}

TEST_CASE("byte file: any parts in any order give the file's bytes", "[dataset][host]") {
  const stored in{20'000};
  std::mt19937 random{7};  // NOLINT(cert-msc32-c,cert-msc51-cpp): each run draws the same
  for (int i = 0; i < 50; ++i) {
    std::vector<std::pair<std::uint64_t, std::size_t>> places(1 + random() % 60);
    for (auto& [offset, count] : places) {
      count = random() % 300;
      offset = random() % (20'000 - count);
    }
    in.read(places);
  }
}

TEST_CASE("byte file: a part beyond the end is refused before anything is read",
          "[dataset][host]") {
  const stored in{100};
  std::vector<std::byte> out(20);
  std::vector<byte_read> parts{{95, std::span{out}.first(6)}, {0, std::span{out}.subspan(6)}};
  CHECK(test::message_of<dataset_error>([&] { in.file->read(parts); }) ==
        in.address + ": byte 95: there are no 6 bytes here: the file has 100");
  CHECK(test::message_of<dataset_error>([&] { in.file->read(~std::uint64_t{0}, out); }) ==
        in.address + ": byte 18446744073709551615: there are no 20 bytes here: the file has 100");
  CHECK(in.storage->take_calls().empty());
}

TEST_CASE("byte file: a read of several parts may fail, and later ones are right",
          "[dataset][host]") {
  stored in{1000};
  in.storage->set_hook([](const byte_file&, const byte_read& part) {
    if (part.offset == 500) throw std::runtime_error{"the storage failed"};
  });
  std::vector<std::byte> out(3);
  std::vector<byte_read> parts{{500, std::span{out}.first(1)}, {502, std::span{out}.subspan(1)}};
  CHECK_THROWS_WITH(in.file->read(parts), "the storage failed");
  in.read({{0, 10}, {20, 10}, {40, 10}});
}

TEST_CASE("byte file: one file may read another within its read", "[dataset][host]") {
  const stored other{1000};
  stored in{1000};
  in.storage->set_hook([&](const byte_file& file, const byte_read&) {
    if (&file == in.file.get()) other.read({{10, 10}, {30, 10}, {600, 7}});
  });
  in.read({{0, 10}, {50, 10}, {400, 30}});
}

TEST_CASE("byte file: hints within a file are sorted, and near ones are one", "[dataset][host]") {
  constexpr std::uint64_t gap = 64 << 10;
  const stored in{4 * gap};
  std::vector<byte_range> ranges{
      {3 * gap + 60'000, 9 * gap},     // beyond the end
      {200, 300},                      // a gap after the next one
      {50, 100},                       //
      {300 + gap, 310 + gap},          // just near enough to be asked for with it
      {311 + 2 * gap, 400 + 2 * gap},  // too far
      {40, 60},                        // overlaps
      {7, 7},                          // nothing
      {5 * gap, 6 * gap},              // after the end
  };
  in.file->will_need(ranges);
  in.file->will_need(10, 5);
  in.file->will_need(~std::uint64_t{0}, 1);
  CHECK(in.storage->take_hints() ==
        std::vector<call>{{{40, 270 + gap}, {311 + 2 * gap, 89}, {3 * gap + 60'000, gap - 60'000}},
                          {{10, 5}}});
}

TEST_CASE("byte file: a stretch of it is a source of bytes", "[dataset][host]") {
  const stored in{100};
  range_source source{in.file, 10, 50};
  std::vector<std::byte> out(40);
  CHECK(source.size() == 50);
  CHECK(source.read(out) == 40);
  CHECK(std::equal(out.begin(), out.end(), in.bytes.begin() + 10));
  CHECK(source.read(out) == 10);
  CHECK(std::equal(out.begin(), out.begin() + 10, in.bytes.begin() + 50));
  CHECK(source.read(out) == 0);
}

namespace {

/// A file that is in memory, and mapped if a test says so.
class mapped_file final : public byte_file {
 public:
  explicit mapped_file(std::size_t count)
      : byte_file{"m", count, {}}, bytes{test::numbered(count)} {}

  std::span<const std::byte> mapped() const noexcept override {
    return is_mapped ? std::span<const std::byte>{bytes} : std::span<const std::byte>{};
  }
  void require_unchanged() const override {}
  std::string version() const override { return {}; }
  bool is_cold() const noexcept override { return false; }

  std::vector<std::byte> bytes;
  bool is_mapped = true;
  mutable std::size_t reads = 0;

 private:
  void do_read(std::span<const byte_read> parts) const override {
    for (const auto& [offset, out] : parts) {
      ++reads;
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    }
  }
};

}  // namespace

TEST_CASE("byte file: few bytes are copied from a mapping, others are read", "[dataset][host]") {
  mapped_file file{200'000};
  const auto copied = [&](std::uint64_t offset, std::size_t count) {
    std::vector<std::byte> out(count);
    file.copy(offset, out);
    const auto at = file.bytes.begin() + static_cast<std::ptrdiff_t>(offset);
    CHECK(out == std::vector<std::byte>(at, at + static_cast<std::ptrdiff_t>(count)));
    return file.reads;
  };
  CHECK(copied(0, 0) == 0);
  CHECK(copied(7, 65'536) == 0);
  CHECK(copied(199'999, 1) == 0);
  CHECK(copied(7, 65'537) == 1);
  file.is_mapped = false;
  CHECK(copied(7, 100) == 2);
  file.is_mapped = true;
  std::vector<std::byte> out(2);
  for (const std::uint64_t beyond : {std::uint64_t{199'999}, std::uint64_t{200'000}, UINT64_MAX})
    CHECK_THROWS_AS(file.copy(beyond, out), dataset_error);
}
