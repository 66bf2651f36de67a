/// Requests that are made one after the other from opening an object to the first batch.

#include <feedline/arrays/windows.hpp>
#include <feedline/dataset/decoder.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/tar.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sampler.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "remote/request/in_flight_limit.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/zarr_folder.hpp"
#include "support/http/mounted.hpp"
#include "support/http/round_trips.hpp"
#include "support/http/server.hpp"
#ifdef FEEDLINE_TEST_HDF5
#include <feedline/hdf5/arrays.hpp>

#include "support/hdf5/writer.hpp"
#endif

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <spawn.h>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t many_rows = 448;  // too many to be read into memory at opening
constexpr std::uint64_t bytes_of_row = 150'000;
/// The form of a shard whose members are kept in a folder.
constexpr const char* kept_tar = "kept tar";

/// How a first batch is taken.
struct first_batch {
  std::string address;
  std::string form;    ///< empty: as `open` finds it
  std::string folder;  ///< for the index of a shard
  std::uint64_t size = 8;
};

constexpr const char* batch_variables[] = {  // NOLINT(modernize-avoid-c-arrays)
    "FEEDLINE_TEST_ADDRESS", "FEEDLINE_TEST_FORM", "FEEDLINE_TEST_FOLDER", "FEEDLINE_TEST_SIZE"};

std::string batch_variable(std::size_t number) {
  const char* const text = std::getenv(batch_variables[number]);
  return text == nullptr ? std::string{} : std::string{text};
}

/// Takes it in a process of its own, whose limit of requests is new.
bool is_taken(const first_batch& what) {
  const std::string values[] = {// NOLINT(modernize-avoid-c-arrays)
                                what.address, what.form, what.folder, std::to_string(what.size)};
  std::vector<std::string> texts;
  for (char** each = environ; *each != nullptr; ++each) texts.emplace_back(*each);
  for (std::size_t i = 0; i < std::size(values); ++i)
    texts.push_back(std::string{batch_variables[i]} + '=' + values[i]);
  std::vector<char*> environment;
  for (std::string& each : texts) environment.push_back(each.data());
  environment.push_back(nullptr);
  std::string program = "/proc/self/exe";
  std::string chosen = "[.first_batch]";
  std::vector<char*> arguments{program.data(), chosen.data(), nullptr};
  pid_t child = 0;
  if (::posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(),
                    environment.data()) != 0)
    return false;
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

dataset_ptr opened_as(const std::string& address, const std::string& form,
                      const std::string& folder) {
  const auto windows_of = [](array_ptr array) {
    return make_windows({{.axis = 0}}, {{.name = "x", .arrays = {std::move(array)}}});
  };
  if (form == kept_tar)
    return open_tar({address}, {{"x", {"x.npy"}, decode_npy()}}, {.index_folder = folder});
  if (form == "windows of npy") return windows_of(open_npy_array(address, "x"));
#ifdef FEEDLINE_TEST_HDF5
  if (form == "windows of hdf5") return windows_of(open_hdf5_array(address, "rows"));
#endif
  return open(address);
}

struct served {
  std::string path;  ///< path of the object that is opened
  std::map<std::string, std::vector<std::byte>> objects;
  std::string form = {};
};

/// The fewest round trips of some tries: a busy machine may add some, and takes none away.
int fewest_round_trips(const served& what, int wanted, std::uint64_t batch_size) {
  int fewest = 1000;
  for (const auto quiet : {20ms, 80ms, 300ms, 1000ms, 4000ms}) {
    round_trips rounds{quiet};
    std::mutex mutex;
    std::map<int, int> requests;
    http_server server;
    for (const auto& [path, bytes] : what.objects) server.put(path, bytes);
    const temporary_directory folder;
    const std::string address = server.address(what.path);
    if (what.form == kept_tar) {
      const mounted_remote mounted;
      (void)opened_as(address, what.form, folder.path().string());
    }
    server.set_script([&](const http_request&) {
      const int trip = rounds.hold();
      const std::lock_guard lock{mutex};
      ++requests[trip];
      return http_fault{};
    });
    REQUIRE(is_taken({address, what.form, folder.path().string(), batch_size}));
    const int count = rounds.count();
    server.set_script({});
    const std::lock_guard lock{mutex};
    for (const auto& [trip, number] : requests)
      UNSCOPED_INFO("trip " << trip << ": " << number << " requests");
    fewest = std::min(fewest, count);
    if (fewest <= wanted) break;
  }
  return fewest;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

served npy(std::uint64_t rows = many_rows) {
  const std::string shape = '(' + std::to_string(rows) + ", 150000)";
  return {"/a.npy",
          {{"/a.npy", npy_bytes(npy_dictionary("|u1", shape), numbered(rows * bytes_of_row))}}};
}

served as_windows(served of, const std::string& form) {
  of.form = "windows of " + form;
  return of;
}

served tar(std::uint64_t rows) {
  const auto row = npy_bytes(npy_dictionary("|u1", "(150000,)"), numbered(bytes_of_row));
  tar_bytes shard;
  for (std::uint64_t i = 0; i < rows; ++i) shard.add(std::to_string(1000 + i) + ".x.npy", row);
  return {"/a.tar", {{"/a.tar", shard.ended()}}};
}

/// A chunk is an object, or a part of a shard.
served zarr() {
  const std::string array =
      zarr_v3("[448, 150000]", "[4, 150000]", R"("uint8")", R"([{"name": "bytes"}])");
  served store{"/a.zarr",
               {{"/a.zarr/zarr.json",
                 bytes_of(R"({"zarr_format": 3, "node_type": "group", "consolidated_metadata": )"
                          R"({"kind": "inline", "must_understand": false, "metadata": {"x": )" +
                          array + "}}}")},
                {"/a.zarr/x/zarr.json", bytes_of(array)}}};
  for (std::uint64_t chunk = 0; chunk < many_rows / 4; ++chunk)
    store.objects.insert_or_assign("/a.zarr/x/c/" + std::to_string(chunk) + "/0",
                                   numbered(4 * bytes_of_row));
  return store;
}

#ifdef FEEDLINE_TEST_HDF5
served hdf5(const hdf5_layout& layout) {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "a.h5"};
  const auto bytes = numbered(many_rows * bytes_of_row);
  writer.write("rows", H5T_STD_U8LE, {many_rows, bytes_of_row}, H5T_NATIVE_UINT8, bytes.data(),
               layout);
  const std::string path = writer.close();
  std::ifstream file{path, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  return {"/a.h5", {{"/a.h5", bytes_of(text)}}};
}
#endif

}  // namespace

TEST_CASE("remote: takes a first batch for another process", "[.first_batch]") {
  if (batch_variable(0).empty()) return;  // no process asks for it
  const first_batch what{batch_variable(0), batch_variable(1), batch_variable(2),
                         std::stoull(batch_variable(3))};
  bool is_there = false;
  try {
    mount_remote_files(patient_remote());
    loader loader{opened_as(what.address, what.form, what.folder),
                  shuffle{},
                  make_host_device(),
                  {.batch_size = what.size, .readers = 4}};
    auto epoch = loader.epoch(0);
    is_there = epoch.next().has_value();
    std::_Exit(is_there ? 0 : 1);  // the loader's end would wait for requests on their way
  } catch (const std::exception& fault) {
    std::fputs(fault.what(), stderr);
  }
  std::_Exit(1);
}

TEST_CASE("remote: the first batch comes after few round trips", "[remote][host]") {
  const auto size = static_cast<std::uint64_t>(GENERATE(8, 256));
  CAPTURE(size);
  const auto check = [&](const served& what, int wanted) {
    CAPTURE(what.path, what.form);
    CHECK(fewest_round_trips(what, wanted, size) <= wanted);
  };
  SECTION("npy") {
    check(npy(), 2);
    check(as_windows(npy(), "npy"), 2);
  }
#ifdef FEEDLINE_TEST_JSON
  SECTION("Zarr") {
    check(zarr(), 3);
  }
#endif
#ifdef FEEDLINE_TEST_HDF5
  SECTION("HDF5") {
    check(hdf5({}), 2);
    check(hdf5(chunked("", {4, bytes_of_row})), 3);
  }
  SECTION("deflated HDF5") {
    const served deflated =
        hdf5(chunked("", {4, bytes_of_row}, [](hid_t creation) { H5Pset_deflate(creation, 1); }));
    check(deflated, 3);
    check(as_windows(deflated, "hdf5"), 3);
  }
#endif
  SECTION("tar whose members are kept") {
    served shard = tar(many_rows);
    shard.form = kept_tar;
    check(shard, 3);
  }
}

TEST_CASE("remote: a tar shard without an index is walked through in few round trips",
          "[remote][host]") {
  CHECK(fewest_round_trips(tar(64), 8, 8) <= 8);
}

TEST_CASE("remote: rows are asked for in the order of need", "[remote][host]") {
  constexpr std::uint64_t rows = 600;
  constexpr std::uint64_t batch = 256;
  const served what = npy(rows);
  const std::uint64_t head = what.objects.at(what.path).size() - rows * bytes_of_row;
  std::vector<sample_index> order(rows);
  sampler{shuffle{}}.indices(rows, 0, position{0}, order);

  // All that is in flight at first, answered once all of it was asked for.
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t bytes = 0;
  bool is_full = false;
  bool was_late = false;
  std::set<std::uint64_t> asked;
  http_server server;
  server.put(what.path, what.objects.at(what.path));
  server.set_latency(20ms);  // it is far
  server.set_script([&](const http_request& request) {
    const auto range = request.range();
    std::unique_lock lock{mutex};
    if (!range || range->first == 0 || is_full) return http_fault{};
    bytes += range->second + 1 - range->first;
    for (std::uint64_t at = range->first; at < range->second; at += bytes_of_row)
      asked.insert((at - head) / bytes_of_row);
    is_full = bytes >= detail::in_flight_limit::first_bytes;
    changed.notify_all();
    if (!changed.wait_for(lock, 30s, [&] { return is_full; })) was_late = is_full = true;
    return http_fault{};
  });
  REQUIRE(
      is_taken({.address = server.address(what.path), .form = {}, .folder = {}, .size = batch}));
  server.set_script({});
  const std::lock_guard lock{mutex};
  CAPTURE(bytes, asked.size());
  CHECK_FALSE(was_late);
  REQUIRE(asked.size() >= batch);
  REQUIRE(asked.size() < rows);
  std::set<std::uint64_t> first;
  for (const sample_index& each : std::span{order}.first(asked.size())) first.insert(each.value);
  CHECK(asked == first);
}
