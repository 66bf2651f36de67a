#include <feedline/dataset/select.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/encoded_check.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/records.hpp"
#include "support/hdf5/writer.hpp"

#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;

// Tests which fields of a file come in blocks, and which come together.

namespace {

const hdf5_options nothing_resident{.max_resident_bytes = 0};
constexpr hsize_t samples = 500;

void deflate_1(hid_t creation) {
  require_hdf5(H5Pset_deflate(creation, 1) >= 0, "set a filter");
}

/// Fields of several kinds, of bytes unless another type is given:
///
///     image        100 a row, 16 rows a chunk      mask   20 a row, 16 rows a chunk
///     wide          6 a row, 300 rows a chunk      short   3 a row, 300 rows a chunk
///     label        contiguous                      raw    16 rows a chunk, no filter
///     swapped      most significant byte first     split  two chunks a row
///     single       1 row a chunk                   nbit   a filter of the library's alone
std::filesystem::path write_fields(const temporary_directory& folder) {
  hdf5_writer writer{folder.path() / "fields.h5"};
  const auto values = various_bytes(samples * 100);
  const auto add = [&](const std::string& name, hid_t type, hsize_t columns,
                       const hdf5_layout& layout) {
    writer.write(name, type, {samples, columns}, type, values.data(), layout);
  };
  add("image", H5T_STD_U8LE, 100, chunked("", {16, 100}, deflate_1));
  add("mask", H5T_STD_U8LE, 20, chunked("", {16, 20}, [](hid_t c) {
        require_hdf5(H5Pset_fletcher32(c) >= 0, "set a filter");
      }));
  add("wide", H5T_STD_U8LE, 6, chunked("", {300, 6}, deflate_1));
  add("short", H5T_STD_U8LE, 3, chunked("", {300, 3}, deflate_1));
  add("label", H5T_STD_I64LE, 1, {});
  add("raw", H5T_STD_U8LE, 10, chunked("", {16, 10}));
  add("swapped", H5T_STD_U32BE, 5, chunked("", {16, 5}, deflate_1));
  add("split", H5T_STD_U8LE, 10, chunked("", {16, 5}, deflate_1));
  add("single", H5T_STD_U8LE, 10, chunked("", {1, 10}, deflate_1));
  add("nbit", H5T_STD_U8LE, 10,
      chunked("", {16, 10}, [](hid_t creation) { H5Pset_nbit(creation); }));
  const auto record = record_type(record_style::packed);
  const auto records = various_bytes(samples * H5Tget_size(record.get()));
  writer.write("records", record.get(), {samples}, record.get(), records.data(),
               chunked("", {16}, deflate_1));
  return writer.close();
}

/// How many steps each field's blocks have, and of how many rows they are.
std::string blocks_of(const dataset& data) {
  const auto blocks = data.encoded();
  if (!blocks) return "none";
  std::string text = std::to_string(blocks->rows()) + " rows:";
  for (std::size_t i = 0; i < data.fields().size(); ++i)
    text += " " + std::to_string(blocks->steps(i).size());
  return text;
}

}  // namespace

TEST_CASE("hdf5 blocks: are those of the field whose blocks take most, and others come along",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_fields(folder);
  const auto check = [&](const std::vector<hdf5_field>& fields, const std::string& blocks) {
    const auto data = open_hdf5(file, fields, nothing_resident);
    CHECK(blocks_of(*data) == blocks);
    check_encoded(*data);
  };
  check({{"image"}, {"mask"}, {"label"}}, "16 rows: 1 1 0");
  check({{"label"}, {"mask"}}, "16 rows: 0 1");
  check({{"mask"}, {"wide"}, {"image"}}, "300 rows: 0 1 0");  // 1800 bytes against 1600
  check({{"short"}, {"image"}, {"mask"}}, "16 rows: 0 1 1");  // 900 against 1600
  check({{"image"}, {"raw"}, {"swapped"}, {"split"}, {"single"}, {"nbit"}}, "16 rows: 1 0 0 0 0 0");
  std::vector<hdf5_field> fields{{"image"}};
  for (const auto& member : record_members()) fields.push_back({"records/" + member.path()});
  std::string none;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    fields[i].name = std::to_string(i);
    none += " 0";
  }
  check(fields, "16 rows: 1" + none);
}

TEST_CASE("hdf5 blocks: fields that are not stored so have none", "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_fields(folder);
  for (const std::string name : {"label", "raw", "swapped", "split", "single", "nbit"}) {
    INFO(name);
    CHECK(open_hdf5(file, {{name}}, nothing_resident)->encoded() == nullptr);
  }
  for (const auto& member : record_members())
    CHECK(open_hdf5(file, {{"records/" + member.path()}}, nothing_resident)->encoded() == nullptr);
}

TEST_CASE("hdf5 blocks: fields that were read into memory have none", "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_fields(folder);
  CHECK(open_hdf5(file, {{"image"}, {"mask"}})->encoded() == nullptr);
  // There is room for the mask alone.
  const auto data = open_hdf5(file, {{"image"}, {"mask"}}, {.max_resident_bytes = samples * 20});
  CHECK(blocks_of(*data) == "16 rows: 1 0");
  check_encoded(*data);
}

TEST_CASE("hdf5 blocks: chosen and renamed fields have theirs", "[dataset][host]") {
  const temporary_directory folder;
  const auto all =
      open_hdf5(write_fields(folder), {{"label"}, {"wide"}, {"mask"}, {"image"}}, nothing_resident);
  CHECK(blocks_of(*all) == "300 rows: 0 1 0 0");
  const auto some = select(all, {"image", "label"});
  CHECK(blocks_of(*some) == "16 rows: 1 0");
  check_encoded(*some);
  const auto renamed = select(all, {{"image", "x"}, {"label", "y"}, {"mask", "z"}});
  CHECK(renamed->fields()[0].name == "x");
  CHECK(blocks_of(*renamed) == "16 rows: 1 0 1");
  check_encoded(*renamed);
  CHECK(select(all, {"label"})->encoded() == nullptr);
}

TEST_CASE("hdf5 blocks: threads read and decode at once, beside readers of rows",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto data =
      open_hdf5(write_fields(folder), {{"image"}, {"mask"}, {"label"}}, nothing_resident);
  const auto blocks = data->encoded();
  const auto fields = data->fields();
  std::vector<sample_index> every;
  for (std::uint64_t i = 0; i < samples; ++i) every.push_back({i});
  const auto rows = read_samples(*data, every);
  constexpr std::size_t threads = 6;
  const std::uint64_t count = (samples + blocks->rows() - 1) / blocks->rows();
  std::latch all_there{threads};
  std::atomic<std::uint64_t> faults{0};
  std::vector<std::thread> working;
  for (std::size_t thread = 0; thread < threads; ++thread)
    working.emplace_back([&, thread] {
      all_there.arrive_and_wait();
      for (std::uint64_t turn = 0; turn < 2 * count; ++turn) {
        const std::uint64_t block = (turn * (2 * thread + 1)) % count;
        for (std::size_t field = 0; field < fields.size(); ++field)
          if (!fault_of_block(*blocks, field, block, sample_bytes(fields[field]), rows[field])
                   .empty())
            ++faults;
        if (thread == 0 && read_sample(*data, {block * blocks->rows()}).size() != 3) ++faults;
      }
    });
  for (auto& each : working) each.join();
  CHECK(faults == 0);
}
