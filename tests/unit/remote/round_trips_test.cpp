/// Requests that are made one after the other from opening an object to the first batch.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "io/byte_file.hpp"
#include "io/file_system.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/zarr_folder.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"
#ifdef FEEDLINE_TEST_HDF5
#include "support/hdf5/writer.hpp"
#endif

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <future>
#include <iterator>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t samples = 64;
constexpr std::uint64_t many_samples = 448;  // too many to be read into memory at opening
constexpr std::uint64_t row_bytes = 150'000;

/// A server's script that answers no request before some time without another one: all requests
/// until then are one round trip.
class round_trips {
 public:
  explicit round_trips(std::chrono::milliseconds quiet)
      : quiet_{quiet}, answering_{[this] { answer_all(); }} {}
  round_trips(const round_trips&) = delete;
  round_trips& operator=(const round_trips&) = delete;
  ~round_trips() {
    {
      const std::lock_guard lock{mutex_};
      is_ending_ = true;
      changed_.notify_all();
    }
    answering_.join();
  }

  void hold() {
    std::unique_lock lock{mutex_};
    const int mine = answered_;
    ++waiting_;
    last_ = std::chrono::steady_clock::now();
    changed_.notify_all();
    changed_.wait(lock, [&] { return answered_ != mine || is_ending_; });
  }
  [[nodiscard]] int count() {
    const std::lock_guard lock{mutex_};
    return answered_;
  }

 private:
  void answer_all() {
    std::unique_lock lock{mutex_};
    while (!is_ending_) {
      if (waiting_ == 0) {
        changed_.wait(lock);
      } else if (std::chrono::steady_clock::now() < last_ + quiet_) {
        changed_.wait_until(lock, last_ + quiet_);
      } else {
        waiting_ = 0;
        ++answered_;
        changed_.notify_all();
      }
    }
  }

  const std::chrono::milliseconds quiet_;
  std::mutex mutex_;  ///< for all below
  std::condition_variable changed_;
  int waiting_ = 0;
  int answered_ = 0;
  bool is_ending_ = false;
  std::chrono::steady_clock::time_point last_ = {};
  std::thread answering_;
};

struct served {
  std::string path;  ///< path of the object that is opened
  std::vector<std::pair<std::string, std::vector<std::byte>>> objects;
};

/// Opens an object and takes a batch, in a process whose limit of requests is new.
bool takes_batch(const std::string& address, std::uint64_t batch_size) {
  const auto take = [&](const auto& then) {
    loader loader{
        open(address), shuffle{}, make_host_device(), {.batch_size = batch_size, .readers = 4}};
    auto epoch = loader.epoch(0);
    then(epoch.next().has_value());
  };
  bool is_there = false;
  if (sanitized) {  // a child of fork has no threads there
    take([&](bool found) { is_there = found; });
    return is_there;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    try {  // the loader's end would wait for requests that are on their way
      take([](bool found) { ::_exit(found ? 0 : 1); });
    } catch (const std::exception& fault) {
      std::fputs(fault.what(), stderr);
    }
    ::_exit(1);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

/// The fewest round trips of some tries: a busy machine may add some, and takes none away.
int fewest_round_trips(const served& what, int wanted, std::uint64_t batch_size = 8) {
  int fewest = 1000;
  for (const auto quiet : {20ms, 80ms, 300ms, 1000ms, 4000ms}) {
    const mounted_remote mounted;  // forgets what was opened lately
    round_trips rounds{quiet};
    http_server server;
    for (const auto& [path, bytes] : what.objects) server.put(path, bytes);
    server.set_script([&](const http_request&) {
      rounds.hold();
      return http_fault{};
    });
    REQUIRE(takes_batch(server.address(what.path), batch_size));
    fewest = std::min(fewest, rounds.count());
    for (const http_request& each : server.take_requests())
      UNSCOPED_INFO(each.path << ' ' << each.header("range"));
    server.set_script({});
    if (fewest <= wanted) break;
  }
  return fewest;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> npy_row() {
  return npy_bytes(npy_dictionary("|u1", "(150000,)"), numbered(row_bytes));
}

served npy() {
  return {"/a.npy",
          {{"/a.npy",
            npy_bytes(npy_dictionary("|u1", "(64, 150000)"), numbered(samples * row_bytes))}}};
}

served tar() {
  tar_bytes shard;
  for (std::uint64_t i = 0; i < samples; ++i)
    shard.add(std::to_string(100 + i) + ".x.npy", npy_row());
  return {"/a.tar", {{"/a.tar", shard.ended()}}};
}

served zarr() {
  const std::string array =
      zarr_v3("[448, 150000]", "[4, 150000]", R"("uint8")", R"([{"name": "bytes"}])");
  served store{"/a.zarr",
               {{"/a.zarr/zarr.json",
                 bytes_of(R"({"zarr_format": 3, "node_type": "group", "consolidated_metadata": )"
                          R"({"kind": "inline", "must_understand": false, "metadata": {"x": )" +
                          array + "}}}")},
                {"/a.zarr/x/zarr.json", bytes_of(array)}}};
  for (std::uint64_t chunk = 0; chunk < many_samples / 4; ++chunk)
    store.objects.emplace_back("/a.zarr/x/c/" + std::to_string(chunk) + "/0",
                               numbered(4 * row_bytes));
  return store;
}

#ifdef FEEDLINE_TEST_HDF5
served hdf5(const hdf5_layout& layout) {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "a.h5"};
  const auto bytes = numbered(many_samples * row_bytes);
  writer.write("rows", H5T_STD_U8LE, {many_samples, row_bytes}, H5T_NATIVE_UINT8, bytes.data(),
               layout);
  const std::string path = writer.close();
  std::ifstream file{path, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  return {"/a.h5", {{"/a.h5", bytes_of(text)}}};
}
#endif

}  // namespace

TEST_CASE("remote: the first batch comes after few round trips", "[remote][host]") {
  // Without a process of its own, a try has the limit of requests that the ones before have left.
  constexpr int more = sanitized ? 1 : 0;
  CHECK(fewest_round_trips(npy(), 2 + more) <= 2 + more);
#ifdef FEEDLINE_TEST_JSON
  CHECK(fewest_round_trips(zarr(), 3 + more) <=
        3 + more);  // a reader reads chunks one after the other
#endif
#ifdef FEEDLINE_TEST_HDF5
  CHECK(fewest_round_trips(hdf5({}), 2 + more) <= 2 + more);
  CHECK(fewest_round_trips(hdf5(chunked("", {4, row_bytes})), 3 + more) <= 3 + more);
#endif
  CHECK(fewest_round_trips(tar(), 8 + more) <= 8 + more);  // `open` walks through it once
}

TEST_CASE("remote: a first batch of many rows comes after two round trips", "[remote][host]") {
  if (sanitized) return;  // the limit of requests is the one that tests before have left
  CHECK(fewest_round_trips({"/a.npy",
                            {{"/a.npy", npy_bytes(npy_dictionary("|u1", "(600, 150000)"),
                                                  numbered(600 * row_bytes))}}},
                           2, 256) <= 2);
}

TEST_CASE("remote: connections are kept while few requests are made", "[remote][host]") {
  const mounted_remote mounted;
  constexpr std::size_t count = 60;
  round_trips rounds{50ms};
  std::atomic<bool> holds = true;
  http_server server;
  server.put("/x", numbered(count * 200'000));
  const auto file = detail::open_file(server.address("/x"));
  server.set_script([&](const http_request&) {
    if (holds) rounds.hold();  // so that each has a connection of its own
    return http_fault{};
  });
  std::vector<std::vector<std::byte>> rows(count, std::vector<std::byte>(10));
  std::vector<detail::byte_read> parts;
  for (std::size_t i = 0; i < count; ++i) parts.push_back({i * 200'000 + 100'000, rows[i]});
  file->read(parts);
  const auto before = server.connections();
  if (before < count) {
    WARN("the tests before have left a limit of requests; run this one alone");
    return;
  }
  holds = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)  // backwards: it is no walk
    file->read(part->offset, part->out);
  holds = true;
  file->read(parts);
  CAPTURE(before);
  CHECK(server.connections() <= before + count / 4);  // threads do not share theirs
}

TEST_CASE("remote: members of several shards are read together", "[remote][host]") {
  const mounted_remote mounted;
  std::atomic<int> asked = 0;  // these outlive the server
  std::promise<void> all;
  const auto came = all.get_future().share();
  http_server server;
  std::vector<std::vector<std::byte>> rows;
  for (int shard = 0; shard < 4; ++shard) {
    tar_bytes archive;
    for (int i = 0; i < 10; ++i) {
      rows.push_back(numbered(row_bytes));
      rows.back()[0] = static_cast<std::byte>(rows.size());
      archive.add(std::to_string(i) + ".x.npy",
                  npy_bytes(npy_dictionary("|u1", "(150000,)"), rows.back()));
    }
    server.put("/" + std::to_string(shard) + ".tar", archive.ended());
  }
  const dataset_ptr data = open(server.address("/{0..3}.tar"));
  // The walks through the shards keep their ends for a while. Each request is answered once all
  // were asked: the two members of the first shard that follow each other are one, and the one that
  // is wanted twice is a second.
  server.set_script([&](const http_request&) {
    if (++asked == 5) all.set_value();
    came.wait();
    return http_fault{};
  });
  const std::vector<sample_index> samples{{0}, {20}, {1}, {10}, {30}, {0}};
  std::vector<std::byte> out(samples.size() * row_bytes);
  const std::span<std::byte> field{out};
  data->read(samples, {&field, 1});
  for (std::size_t i = 0; i < samples.size(); ++i)
    CHECK(std::ranges::equal(field.subspan(i * row_bytes, row_bytes), rows[samples[i].value]));

  SECTION("a shard that is gone is named") {
    server.remove("/2.tar");
    CHECK(contains(message_of<dataset_error>([&] { data->read(samples, {&field, 1}); }), "/2.tar"));
    try {
      data->read(samples, {&field, 1});
    } catch (const dataset_error& lost) {
      CHECK(lost.where().sample == 20);
      CHECK(lost.where().field == "x");
    }
  }
}
