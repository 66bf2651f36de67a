#include <feedline/dataset/select.hpp>
#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/resource_limit.hpp"
#include "support/files/file_changes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/virtual_file.hpp"
#include "support/hdf5/writer.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

namespace fs = std::filesystem;

constexpr hdf5_options nothing_resident{.max_resident_bytes = 0};
constexpr std::uint64_t rows = virtual_file::rows_per_source;

/// Holds the lock that the HDF5 library takes on a file that it writes to.
class writers_lock {
 public:
  explicit writers_lock(const fs::path& path) : number_{::open(path.c_str(), O_RDWR)} {
    REQUIRE(::flock(number_, LOCK_EX | LOCK_NB) == 0);
  }
  writers_lock(const writers_lock&) = delete;
  writers_lock& operator=(const writers_lock&) = delete;
  ~writers_lock() { ::close(number_); }

 private:
  int number_;
};

/// Reads until that fails, for a path is looked at every tenth of a second; what is read meanwhile
/// is what was there. @return The message of the error.
std::string await_failure(const dataset& data, std::uint64_t first, std::uint64_t count) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (std::chrono::steady_clock::now() < end) try {
      if (read_numbers(data, first, count) != numbers(first, count)) return "[wrong values]";
    } catch (const hdf5_error& error) {
      return error.what();
    }
  return "[nothing was thrown]";
}

std::string refusal_of(const fs::path& file) {
  return message_of<hdf5_error>([&] { (void)open_hdf5(file, {{"x"}}, nothing_resident); });
}

/// A filter that the library has and feedline has not, as a plugin's is: it copies.
H5Z_filter_t foreign_filter() {
  constexpr H5Z_filter_t number = 32'762;
  static const H5Z_class2_t copying{H5Z_CLASS_T_VERS,
                                    number,
                                    1,
                                    1,
                                    "copying",
                                    nullptr,
                                    nullptr,
                                    [](unsigned, std::size_t, const unsigned*, std::size_t bytes,
                                       std::size_t*, void**) { return bytes; }};
  require_hdf5(H5Zregister(&copying) >= 0, "register a filter");
  return number;
}

/// "x", which is stored so that the library must read it, of this many numbers.
void write_for_library(hdf5_writer& writer, const std::string& how, std::uint64_t count) {
  const auto values = numbers(0, count);
  const auto nbit = [](hid_t creation) { H5Pset_nbit(creation); };
  hdf5_layout layout = chunked(how, {4}, nbit);
  if (how == "compact")
    layout = {how, [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); }};
  if (how == "contiguous") layout = {how};
  if (how == "foreign filter")
    layout = chunked(how, {4}, [](hid_t creation) {
      H5Pset_filter(creation, foreign_filter(), H5Z_FLAG_MANDATORY, 0, nullptr);
    });
  detail::hdf5_type_id type{H5Tcopy(H5T_STD_U32LE)};
  if (how == "n-bit" || how == "contiguous") H5Tset_precision(type.get(), 20);
  writer.write("x", type.get(), {count}, H5T_NATIVE_UINT32, values.data(), layout);
}

}  // namespace

TEST_CASE(
    "hdf5: every sample is read of more sources than files may be open, or refused by "
    "ulimit -n",
    "[dataset][host]") {
  const temporary_directory folder;
  const virtual_file made{folder.path(), virtual_file::numbered(150)};
  std::string refusal;
  {
    const resource_limit few_files{RLIMIT_NOFILE, 64};
    try {
      const auto opened = open_hdf5(made.path, {{"x"}}, nothing_resident);
      CHECK(read_numbers(*opened, 0, made.samples) == numbers(0, made.samples));
    } catch (const hdf5_error& error) {
      refusal = error.what();
    }
  }
  INFO(refusal);
  if (!refusal.empty()) {
    CHECK(contains(refusal, "ulimit -n"));
    CHECK(contains(refusal, (folder.path() / "s0").string()));
    CHECK_FALSE(contains(refusal, "is not there"));
  }
}

TEST_CASE("hdf5: a source that changes after opening ends in an error that names it",
          "[dataset][host]") {
  const temporary_directory folder;
  const virtual_file made{folder.path(), virtual_file::numbered(3)};
  const auto change = GENERATE(values(all_file_changes));
  const bool read_before = GENERATE(false, true);
  let_age(made.sources[1]);
  const auto bytes = fs::file_size(made.sources[1]);
  const auto opened = open_hdf5(made.path, {{"x"}}, nothing_resident);
  if (read_before) CHECK(read_numbers(*opened, 0, made.samples) == numbers(0, made.samples));
  change_file(made.sources[1], change);
  INFO(static_cast<int>(change) << (read_before ? ", read before" : ""));
  const auto message = await_failure(*opened, rows, rows);
  INFO(message);
  CHECK(contains(message, made.path.string() + ": field 'x', sample 4: its file " +
                              made.sources[1].string() + ' ' + words_for(change, bytes)));
  CHECK(read_numbers(*opened, 0, rows) == numbers(0, rows));
  CHECK(read_numbers(*opened, 2 * rows, rows) == numbers(2 * rows, rows));
}

TEST_CASE("hdf5: a source that another field has open is no excuse for made up values",
          "[dataset][host]") {
  const temporary_directory folder;
  const virtual_file made{folder.path(), virtual_file::numbered(2)};
  const auto opened = open_hdf5(made.path, {{"x"}, {"again"}}, nothing_resident);
  std::vector<std::uint32_t> x(rows);
  std::vector<std::uint32_t> again(rows);
  const std::vector out{std::as_writable_bytes(std::span{x}),
                        std::as_writable_bytes(std::span{again})};
  std::vector<sample_index> run(rows);
  for (std::uint64_t i = 0; i < rows; ++i) run[i].value = rows + i;
  const auto only_x = select(opened, {"x"});
  CHECK(read_numbers(*only_x, rows, rows) == numbers(rows, rows));
  fs::remove(made.sources[1]);
  const auto message = message_of<hdf5_error>([&] { opened->read(run, out); });
  INFO(message);
  CHECK(contains(message, made.sources[1].string() + " was deleted or moved"));
}

TEST_CASE("hdf5: if samples need several sources, the first lost source is named",
          "[dataset][host]") {
  const temporary_directory folder;
  const virtual_file made{folder.path(), virtual_file::numbered(4)};
  const auto opened = open_hdf5(made.path, {{"x"}}, nothing_resident);
  fs::resize_file(made.sources[2], 100);
  try {
    (void)read_numbers(*opened, 0, made.samples);
    FAIL("nothing was thrown");
  } catch (const hdf5_error& error) {
    CHECK(error.sample() == 2 * rows);
    CHECK(contains(error.what(), made.sources[2].string()));
  }
}

TEST_CASE(
    "hdf5: a locked source is called locked, at opening and later, with the variable that "
    "helps",
    "[dataset][host]") {
  const temporary_directory folder;
  const virtual_file made{folder.path(), virtual_file::numbered(2)};
  const auto opened = open_hdf5(made.path, {{"x"}}, nothing_resident);
  const writers_lock lock{made.sources[1]};
  const std::string locked = made.sources[1].string() + " is locked: this or another program has";
  for (const auto& message : {refusal_of(made.path), message_of<hdf5_error>([&] {
                                (void)read_numbers(*opened, rows, rows);
                              })}) {
    INFO(message);
    CHECK(contains(message, locked));
    CHECK(contains(message, "HDF5_USE_FILE_LOCKING=FALSE"));
    CHECK_FALSE(contains(message, "is not there"));
  }
}

TEST_CASE("hdf5: a source that is there and cannot be read is not called missing",
          "[dataset][host]") {
  const temporary_directory folder;
  const virtual_file made{folder.path(), virtual_file::numbered(2)};
  SECTION("cut") {
    fs::resize_file(made.sources[1], fs::file_size(made.sources[1]) - 1);
    CHECK(contains(refusal_of(made.path), "its source " + made.sources[1].string() +
                                              " cannot be opened; it may be cut short or damaged"));
  }
  SECTION("without the dataset") {
    hdf5_writer writer{made.sources[1]};
    (void)writer.make("y", H5T_STD_U32LE, {rows});
    (void)writer.close();
    CHECK(contains(refusal_of(made.path), "its source, dataset 'x' of s0001.h5, is not there"));
  }
  SECTION("a folder") {
    fs::remove(made.sources[1]);
    fs::create_directory(made.sources[1]);
    CHECK(contains(refusal_of(made.path), made.sources[1].string() + " is a directory"));
  }
  SECTION("virtual itself, without its own source") {
    const temporary_directory inner;
    const virtual_file nested{inner.path(), {"deep.h5"}};
    fs::rename(nested.path, made.sources[1]);
    CHECK(contains(refusal_of(made.path), "dataset 'x' of deep.h5, is not there"));
    fs::rename(nested.sources[0], folder.path() / "deep.h5");
    const auto opened = open_hdf5(made.path, {{"x"}}, nothing_resident);
    CHECK(read_numbers(*opened, rows, rows) == numbers(0, rows));
    fs::resize_file(folder.path() / "deep.h5", 100);
    CHECK(contains(await_failure(*opened, 0, made.samples), "deep.h5"));
  }
}

TEST_CASE("hdf5: virtual datasets that are their own sources are refused", "[dataset][host]") {
  const temporary_directory folder;
  const bool by_another = GENERATE(false, true);
  hdf5_writer writer{folder.path() / "ring.h5", {.latest_format = true}};
  const auto make = [&](const std::string& name, const std::string& source) {
    (void)writer.make(name, H5T_STD_U32LE, {rows},
                      {name, [&](hid_t creation) {
                         const hsize_t all = rows;
                         const detail::hdf5_space_id space{H5Screate_simple(1, &all, nullptr)};
                         H5Pset_virtual(creation, space.get(), ".", source.c_str(), space.get());
                       }});
  };
  make("x", by_another ? "y" : "x");
  if (by_another) make("y", "x");
  CHECK(
      contains(refusal_of(writer.close()), "field 'x': is virtual, and is one of its own sources"));
}

TEST_CASE(
    "hdf5: sources are found beside the file that a symbolic link leads to, and guarded there",
    "[dataset][host]") {
  const temporary_directory folder;
  const temporary_directory elsewhere;
  const virtual_file made{folder.path(), virtual_file::numbered(2)};
  fs::create_symlink(made.path, elsewhere.path() / "alias.h5");
  const auto opened = open_hdf5(elsewhere.path() / "alias.h5", {{"x"}}, nothing_resident);
  CHECK(read_numbers(*opened, 0, made.samples) == numbers(0, made.samples));
  const auto again = open_hdf5(elsewhere.path() / "alias.h5", {{"x"}}, nothing_resident);
  fs::resize_file(made.sources[1], 100);
  CHECK(contains(await_failure(*again, rows, rows), "s0001.h5 was cut"));
}

TEST_CASE("hdf5: numbered sources are read, and an error names one that changes",
          "[dataset][host]") {
  const temporary_directory folder;
  for (const std::uint64_t i : {0U, 1U, 2U})
    write_numbers(folder.path() / ("n" + std::to_string(i) + ".h5"), i * rows, rows);
  hdf5_writer writer{folder.path() / "v.h5", {.latest_format = true}};
  (void)writer.make("x", H5T_STD_U32LE, {rows},
                    {"numbered",
                     [](hid_t creation) {
                       const hsize_t block = rows;
                       const hsize_t start = 0;
                       const hsize_t without_end = H5S_UNLIMITED;
                       const detail::hdf5_space_id from{H5Screate_simple(1, &block, nullptr)};
                       const detail::hdf5_space_id to{H5Screate_simple(1, &block, &without_end)};
                       H5Sselect_hyperslab(to.get(), H5S_SELECT_SET, &start, &block, &without_end,
                                           &block);
                       H5Pset_virtual(creation, to.get(), "n%b.h5", "x", from.get());
                     },
                     {H5S_UNLIMITED}});
  const auto file = writer.close();
  const auto opened = open_hdf5(file, {{"x"}}, nothing_resident);
  CHECK(opened->size() == 3 * rows);
  CHECK(read_numbers(*opened, 0, 3 * rows) == numbers(0, 3 * rows));
  fs::resize_file(folder.path() / "n1.h5", 100);
  CHECK(contains(await_failure(*opened, rows, rows), (folder.path() / "n1.h5").string()));
  CHECK(read_numbers(*opened, 2 * rows, rows) == numbers(2 * rows, rows));
  // The library would end the dataset before it.
  const std::string refusal = refusal_of(file);
  INFO(refusal);
  CHECK(contains(refusal, "n1.h5 cannot be opened; it may be cut short or damaged"));
}

TEST_CASE("hdf5: a raw file that changes after opening ends in an error that names it",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto written = numbers(0, 20);
  const auto raw = folder.write("raw.bin", std::as_bytes(std::span{written}));
  hdf5_writer writer{folder.path() / "e.h5"};
  (void)writer.make(
      "x", H5T_STD_U32LE, {20},
      {"external", [](hid_t creation) { H5Pset_external(creation, "raw.bin", 0, H5F_UNLIMITED); }});
  const auto file = writer.close();
  const auto change = GENERATE(values(all_file_changes));
  let_age(raw);
  const auto bytes = fs::file_size(raw);
  const auto opened = open_hdf5(file, {{"x"}}, nothing_resident);
  CHECK(read_numbers(*opened, 0, 20) == written);
  change_file(raw, change);
  const auto message = message_of<hdf5_error>([&] { (void)read_numbers(*opened, 3, 2); });
  INFO(message);
  if (change == file_change::deleted)
    CHECK(contains(message, raw.string()));
  else
    CHECK(contains(message, file.string() + ": field 'x', sample 3: its file " + raw.string() +
                                ' ' + words_for(change, bytes)));
}

TEST_CASE("hdf5: a field that the library reads is guarded against change as all others",
          "[dataset][host]") {
  const temporary_directory folder;
  const std::string how = GENERATE("n-bit", "compact", "contiguous", "foreign filter");
  const bool behind_link = GENERATE(false, true);
  const auto change = GENERATE(values(all_file_changes));
  hdf5_writer writer{folder.path() / "x.h5"};
  write_for_library(writer, how, 40);
  const auto file = writer.close();
  hdf5_writer linking{folder.path() / "link.h5"};
  linking.make_external_link("x.h5", "/x", "x");
  const auto link = linking.close();
  let_age(file);
  const auto bytes = fs::file_size(file);
  // No block is kept, so that each read is the library's.
  const auto opened = open_hdf5(behind_link ? link : file, {{"x"}},
                                {.max_host_cache_bytes = 1, .max_resident_bytes = 0});
  CHECK(read_numbers(*opened, 0, 40) == numbers(0, 40));
  change_file(file, change);
  const auto message = await_failure(*opened, 8, 8);
  INFO(how << (behind_link ? " behind a link: " : ": ") << message);
  CHECK(contains(message, "field 'x', sample 8: "));
  CHECK(contains(message, words_for(change, bytes)));
  CHECK(contains(message, file.string()));
}

TEST_CASE("hdf5: fields of one file share its descriptor, whichever thread reads them",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "x.h5"};
  write_for_library(writer, "n-bit", 40);
  const auto values = numbers(0, 40);
  std::vector<hdf5_field> fields{{"x"}};
  for (const std::string name : {"a", "b", "c", "d"}) {
    writer.write(name, H5T_STD_U32LE, {40}, H5T_NATIVE_UINT32, values.data());
    fields.push_back({name});
  }
  const auto file = writer.close();
  const auto opened = open_hdf5(file, fields, nothing_resident);
  std::size_t descriptors = 0;
  std::error_code gone;
  for (const auto& each : fs::directory_iterator{"/proc/self/fd"})
    descriptors += fs::read_symlink(each.path(), gone) == file;
  CHECK(descriptors <= 1);
}

TEST_CASE("hdf5: a locked file is called locked, with the variable that helps", "[dataset][host]") {
  const temporary_directory folder;
  write_numbers(folder.path() / "x.h5", 0, 8);
  const auto file = folder.path() / "x.h5";
  {
    const writers_lock lock{file};
    const auto message = refusal_of(file);
    CHECK(contains(message, file.string() + ": is locked: this or another program has it open"));
    CHECK(contains(message, "set the environment variable HDF5_USE_FILE_LOCKING=FALSE before"));
  }
  CHECK(open_hdf5(file, {{"x"}})->size() == 8);
}
