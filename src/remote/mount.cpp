#include <feedline/error.hpp>
#include <feedline/remote/mount.hpp>

#include "remote/cache/object_cache.hpp"
#include "remote/direct/servers.hpp"
#include "remote/mount_once.hpp"
#include "remote/request/per_process.hpp"
#include "remote/request/transfer_loop.hpp"
#include "remote/s3_files.hpp"
#include "remote/web_files.hpp"

#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace feedline::detail {
namespace {

constinit std::atomic<bool> is_mounted{false};

void require(bool holds, const std::string& what) {
  if (!holds) throw usage_error{"mount_remote_files: remote_options::" + what};
}

void require_time(const std::string& name, std::chrono::milliseconds time) {
  require(time >= std::chrono::milliseconds{1} && time <= std::chrono::hours{24},
          name + " is " + std::to_string(time.count()) + " ms; it is 1 ms to 24 hours");
}

/// The folders that a process has mounted: one each, as `cache_folder` wants it.
class mounted_folders {
 public:
  [[nodiscard]] std::shared_ptr<cache_folder> find(const std::string& path, std::uint64_t bytes) {
    const std::lock_guard lock{mutex_};
    for (const mounted& each : all_)
      if (each.path == path && each.bytes == bytes) return each.folder;
    all_.push_back({path, bytes, cache_folder::open(path, bytes)});
    return all_.back().folder;
  }

 private:
  struct mounted {
    std::string path;
    std::uint64_t bytes;
    std::shared_ptr<cache_folder> folder;
  };
  std::mutex mutex_;
  std::vector<mounted> all_;
};

std::shared_ptr<cache_folder> folder_of(const remote_cache_options& options) {
  return per_process<mounted_folders>::get([] { return new mounted_folders; })
      .find(options.folder, options.folder_bytes);
}

/// Null: no cache is wanted.
std::shared_ptr<const cache_setting> setting_of(const remote_cache_options& options) {
  constexpr std::uint64_t least = std::uint64_t{64} << 10;
  constexpr std::uint64_t most = std::uint64_t{64} << 20;
  require(std::has_single_bit(options.block_bytes) && options.block_bytes >= least &&
              options.block_bytes <= most,
          "cache.block_bytes is " + std::to_string(options.block_bytes) +
              "; it is a power of two, 64 KiB to 64 MiB");
  require(options.folder.empty() == (options.folder_bytes == 0),
          "cache.folder_bytes is " + std::to_string(options.folder_bytes) +
              (options.folder.empty() ? ", and there is no cache.folder"
                                      : "; give the bytes that the folder may take"));
  const auto require_block = [&](const char* name, std::uint64_t bytes, std::uint64_t needed) {
    require(bytes == 0 || bytes >= needed,
            std::string{"cache."} + name + " is " + std::to_string(bytes) +
                ", and less than a block needs (" + std::to_string(needed) +
                "); give more, or a smaller cache.block_bytes");
  };
  require_block("memory_bytes", options.memory_bytes, options.block_bytes);
  require_block("folder_bytes", options.folder_bytes, cache_folder::counted(options.block_bytes));
  if (options.folder.empty() && options.memory_bytes == 0) return nullptr;
  return std::make_shared<const cache_setting>(
      cache_setting{.folder = options.folder.empty() ? nullptr : folder_of(options),
                    .memory_bytes = options.memory_bytes,
                    .block_bytes = options.block_bytes});
}

}  // namespace

void mount_remote_files_once() {
  if (!is_mounted.load()) mount_remote_files();
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

void mount_remote_files(const remote_options& options) {
  constexpr int most = 16'384;
  constexpr int max_threads = 64;
  detail::require_time("deadline", options.deadline);
  detail::require_time("stall_after", options.stall_after);
  detail::require(options.max_in_flight >= 1 && options.max_in_flight <= most,
                  "max_in_flight is " + std::to_string(options.max_in_flight) + "; it is 1 to " +
                      std::to_string(most));
  detail::require(options.threads >= 0 && options.threads <= max_threads,
                  "threads is " + std::to_string(options.threads) + "; it is 0 to " +
                      std::to_string(max_threads));
  const auto cache = detail::setting_of(options.cache);
  detail::object_cache::listen(cache);
  detail::transfer_loop::set_threads(options.threads);
  detail::transfer_queue::set_max_in_flight(options.max_in_flight);
  detail::transfer_queue::set_max_ahead(options.read_ahead_bytes);
  detail::transfer_queue::set_second_requests(options.second_requests);
  detail::direct_servers::set_least_bytes(options.direct_connections
                                              ? detail::direct_servers::usual_least
                                              : detail::direct_servers::never);
  const auto web = std::make_shared<const detail::web_files>(
      detail::remote_target{
          .url = {}, .deadline = options.deadline, .stall_after = options.stall_after},
      options.read_ahead_bytes, cache);
  detail::s3_identity::require_address(options.s3_endpoint,
                                       "mount_remote_files: remote_options::s3_endpoint");
  const auto identity = std::make_shared<const detail::s3_identity>(
      detail::s3_identity::given{options.s3_anonymous, options.s3_region, options.s3_endpoint});
  const auto s3 = std::make_shared<const detail::s3_files>(
      detail::remote_target{.url = {},
                            .deadline = options.deadline,
                            .stall_after = options.stall_after,
                            .follows_redirects = false,
                            .identity = identity},
      options.read_ahead_bytes, cache);
  detail::mount_files("s3", s3);
  detail::mount_files("http", web);
  detail::mount_files("https", web);
  detail::is_mounted.store(true);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
