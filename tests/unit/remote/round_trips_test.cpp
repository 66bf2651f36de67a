/// Requests that are made one after the other from opening an object to the first batch.

#include <feedline/device/host_device.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
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

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <fstream>
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

/// The fewest round trips of some tries: a busy machine may add some, and takes none away.
int fewest_round_trips(const served& what, int wanted) {
  int fewest = 1000;
  for (const auto quiet : {20ms, 80ms, 300ms, 1000ms}) {
    const mounted_remote mounted;  // forgets what was opened lately
    round_trips rounds{quiet};
    http_server server;
    for (const auto& [path, bytes] : what.objects) server.put(path, bytes);
    server.set_script([&](const http_request&) {
      rounds.hold();
      return http_fault{};
    });
    {
      loader loader{open(server.address(what.path)),
                    shuffle{},
                    make_host_device(),
                    {.batch_size = 8, .readers = 4}};
      auto epoch = loader.epoch(0);
      REQUIRE(epoch.next());
      fewest = std::min(fewest, rounds.count());
      for (const http_request& each : server.take_requests())
        UNSCOPED_INFO(each.path << ' ' << each.header("range"));
      server.set_script({});
    }
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
  CHECK(fewest_round_trips(npy(), 2) <= 2);
#ifdef FEEDLINE_TEST_JSON
  CHECK(fewest_round_trips(zarr(), 3) <= 3);  // a reader reads chunks one after the other
#endif
#ifdef FEEDLINE_TEST_HDF5
  CHECK(fewest_round_trips(hdf5({}), 2) <= 2);
  CHECK(fewest_round_trips(hdf5(chunked("", {4, row_bytes})), 3) <= 3);
#endif
  // `open` walks through the first shard twice: for its fields, and for its index.
  CHECK(fewest_round_trips(tar(), 20) <= 20);
}
