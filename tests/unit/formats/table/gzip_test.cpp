#include <feedline/error.hpp>
#include <feedline/formats/csv.hpp>
#include <feedline/formats/open.hpp>

#include "formats/table/gzip_text.hpp"
#include "io/gzip_points.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/labels_once.hpp"
#include "support/files/idx_bytes.hpp"
#include "support/files/memory_file.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/tfrecord_bytes.hpp"

#include <set>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::bytes_in;
using test::contains;
using test::gzip_bytes;
using test::joined;
using test::message_of;

namespace {

/// Text that gzip packs by about a half.
/// @param first Number of the first line. @param filling Bytes of each.
std::string table(int first, int count, std::size_t filling) {
  std::string text;
  std::uint32_t random = 1;
  for (int i = first; i < first + count; ++i) {
    std::string more;
    for (std::size_t k = 0; k < filling; ++k)
      more += static_cast<char>('a' + (random = random * 1664525 + 1013904223) / (1U << 28));
    text += std::to_string(i) + ',' + more + '\n';
  }
  return text;
}

/// Each part of a file from its point, from back to front.
byte_vector read_by_points(const byte_vector& packed, std::uint64_t span, std::size_t& points) {
  const auto file = test::memory_file(packed);
  const detail::gzip_points found = detail::find_gzip_points(*file, span);
  points = found.points.size();
  byte_vector all(static_cast<std::size_t>(found.raw_bytes));
  detail::gzip_part_reader reader;
  for (std::size_t i = points; i-- > 0;) {
    const detail::byte_range range = found.raw_range(i);
    reader.read(*file, found, i,
                std::span{all}.subspan(static_cast<std::size_t>(range.begin),
                                       static_cast<std::size_t>(range.end - range.begin)));
  }
  return all;
}

}  // namespace

TEST_CASE("gzip points: a file is the same when it is read from each of its points",
          "[dataset][host]") {
  const byte_vector text = bytes_in(table(0, 400, 3000));
  const std::span all{text};
  const byte_vector one = gzip_bytes(text);
  byte_vector many;
  for (std::size_t at = 0; at < text.size(); at += 20'000)
    many =
        joined({many, gzip_bytes(all.subspan(at, std::min<std::size_t>(20'000, text.size() - at))),
                gzip_bytes({})});
  const byte_vector two =
      joined({gzip_bytes(all.first(700'000)), gzip_bytes(all.subspan(700'000))});
  std::size_t points = 0;
  for (const byte_vector& packed : {one, many, two}) {
    CHECK(read_by_points(packed, 50'000, points) == text);
    CHECK(points > 10);
    CHECK(read_by_points(packed, 1 << 30, points) == text);
    CHECK(points == 1);
  }
  CHECK(read_by_points(gzip_bytes({}), 1, points).empty());
}

TEST_CASE("gzip points: damaged, cut and changed files are errors", "[dataset][host]") {
  const byte_vector text = bytes_in(table(0, 40, 3000));
  const byte_vector good = gzip_bytes(text);
  const auto refusal = [](const byte_vector& packed) {
    return message_of<dataset_error>(
        [&] { (void)detail::find_gzip_points(*test::memory_file(packed), 20'000); });
  };
  byte_vector cut = good;
  cut.pop_back();
  CHECK(contains(refusal(cut), "the gzip stream ends early; the file is cut short"));
  CHECK(contains(refusal(joined({good, bytes_in("x")})), "the file continues with something else"));
  std::size_t refused = 0;
  for (std::size_t at = 10; at < good.size(); at += 101) {
    byte_vector damaged = good;
    damaged[at] ^= std::byte{1};
    refused += static_cast<std::size_t>(contains(refusal(damaged), "the gzip stream "));
  }
  CHECK(refused == (good.size() - 10 + 100) / 101);

  const auto file = test::memory_file(good);
  const detail::gzip_points found = detail::find_gzip_points(*file, 20'000);
  byte_vector changed = good;
  changed[good.size() / 2] ^= std::byte{1};
  const auto other = test::memory_file(changed);
  byte_vector out;
  detail::gzip_part_reader reader;
  refused = 0;
  for (std::size_t i = 0; i < found.points.size(); ++i) {
    const detail::byte_range range = found.raw_range(i);
    out.resize(static_cast<std::size_t>(range.end - range.begin));
    refused += static_cast<std::size_t>(
        contains(message_of<dataset_error>([&] { reader.read(*other, found, i, out); }),
                 "is not the same as when the file was opened"));
  }
  CHECK(refused == 1);
}

TEST_CASE("tables of gzip: read in any order, sharded and resumed, in blocks that are kept or not",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const byte_vector text = bytes_in("id,text\n" + table(0, 400, 30'000));  // 12 MB: three blocks
  const std::string packed = folder.write("a.csv.gz", gzip_bytes(text));
  const std::string plain = folder.write("b.csv", bytes_in("id,text\n" + table(400, 80, 30'000)));
  CHECK(detect_format(packed) == "csv");
  CHECK(list_fields(packed).size() == 2);
  for (const std::size_t memory : {std::size_t{1}, std::size_t{0}}) {
    const auto data =
        open_csv({packed, plain}, {.table = {.fields = {"id"}, .max_host_cache_bytes = memory}});
    CHECK(data->chunks().samples == 120);  // 480 lines in four blocks
    CHECK(data->chunks().kept == (memory == 1 ? 2 : 3));
    test::check_dataset_contract(
        data, 480, {{"id", element_type::i64, {}}}, [](sample_index sample, std::size_t) {
          return test::memory_of<std::int64_t>({static_cast<std::int64_t>(sample.value)});
        });
    const auto seen =
        test::resumed_labels<std::int64_t>(data, "id", shuffle{.seed = 3, .within = chunks()});
    CHECK(seen.size() == 480);
    CHECK(std::set<std::int64_t>{seen.begin(), seen.end()}.size() == 480);
  }
  CHECK(message_of<dataset_error>([&] {
          (void)open_csv({folder.write("twice.gz", gzip_bytes(gzip_bytes(text)))});
        }).ends_with(": is compressed by gzip twice; decompress it once (gunzip)"));
  const auto wrong =
      open_csv({folder.write("wrong.csv.gz", gzip_bytes(bytes_in("a,b\n1,2\n3,4\n5,x\n")))},
               {.table = {.looked_at = 1}});
  CHECK(contains(message_of<dataset_error>([&] { (void)test::read_sample(*wrong, {2}); }),
                 "wrong.csv.gz: field 'b', sample 2, byte 12: line 4: "));
}

TEST_CASE("tables of gzip: members may be smaller than their headers", "[dataset][host]") {
  constexpr std::size_t lines = 4000;  // 28 bytes each: more than `open` looks at
  std::vector<byte_vector> members{gzip_bytes(bytes_in("id,x\n"))};
  for (std::size_t i = 0; i < lines; ++i)
    members.push_back(gzip_bytes(bytes_in(std::to_string(i) + ",1\n")));
  const test::temporary_directory folder;
  const std::string path = folder.write("a.csv.gz", joined(members));
  CHECK(detect_format(path) == "csv");
  CHECK(open(path)->size() == lines);
}
