#pragma once

#include <feedline/device/host_device.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/remote/mount.hpp>
#include <feedline/remote/statistics.hpp>

#include "remote/cache/cache_folder.hpp"
#include "remote/cache/object_cache.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace feedline::test {

/// Bytes that a server is asked for while this lives.
class asked_bytes {
 public:
  explicit asked_bytes(http_server& server) : server_{server} { (void)server.take_requests(); }

  [[nodiscard]] std::uint64_t count() {
    std::uint64_t sum = 0;
    for (const http_request& each : server_.take_requests())
      if (const auto range = each.range()) sum += range->second - range->first + 1;
    return sum;
  }

 private:
  http_server& server_;
};

/// Rows of an object of a server, for tests of the cache.
struct cached_rows {
  std::uint64_t rows = 512;
  std::uint64_t row_bytes = 16384;
  std::uint64_t block_bytes = 262144;
  static constexpr std::uint64_t tail = 8192;

  [[nodiscard]] std::uint64_t bytes() const { return rows * row_bytes; }
  [[nodiscard]] std::uint64_t blocks() const { return bytes() / block_bytes; }
  /// Room of the folder for a number of blocks, and the object's last bytes.
  [[nodiscard]] std::uint64_t room(std::uint64_t of_blocks) const {
    return of_blocks * detail::cache_folder::counted(block_bytes) + tail;
  }
  [[nodiscard]] remote_options with_folder(const temporary_directory& folder,
                                           std::uint64_t of_blocks) const {
    remote_options options;           // with the usual times: the server may have much to do
    options.second_requests = false;  // requests are counted
    options.cache = {.folder = folder.path() / "cache",
                     .folder_bytes = room(of_blocks),
                     .block_bytes = block_bytes};
    return options;
  }
  [[nodiscard]] remote_options with_memory(std::uint64_t of_blocks) const {
    remote_options options;           // with the usual times: the server may have much to do
    options.second_requests = false;  // requests are counted
    options.cache = {.memory_bytes = of_blocks * block_bytes + tail, .block_bytes = block_bytes};
    return options;
  }

  [[nodiscard]] std::vector<std::byte> content() const { return numbered(bytes()); }
  void put(http_server& server, const std::string& path) const {
    server.put(path,
               npy_bytes(npy_dictionary("|u1", "(" + std::to_string(rows) + ", " +
                                                   std::to_string(row_bytes) + ")"),
                         content()),
               "\"one\"");
  }

  /// Whether all samples of an epoch are right. The object is "/a.npy".
  [[nodiscard]] bool read_epoch(loader& loader, std::uint64_t epoch,
                                const std::vector<std::byte>& expected) const {
    bool right = true;
    for (batch& each : loader.epoch(epoch))
      for (std::size_t i = 0; i < each.size(); ++i)
        right = right &&
                std::memcmp(each["a"].bytes().data() + i * row_bytes,
                            expected.data() + each.samples()[i].value * row_bytes, row_bytes) == 0;
    return right;
  }
  /// Parts of the data set that the server was asked for in each of some epochs.
  [[nodiscard]] std::vector<double> parts_of_epochs(loader& loader, http_server& server,
                                                    std::uint64_t epochs) const {
    const auto expected = content();
    std::vector<double> parts;
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
      detail::object_cache::settle_all();
      asked_bytes asked{server};
      CHECK(read_epoch(loader, epoch, expected));
      parts.push_back(static_cast<double>(asked.count()) / static_cast<double>(bytes()));
    }
    return parts;
  }
};

}  // namespace feedline::test
