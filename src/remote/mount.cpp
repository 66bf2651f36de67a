#include <feedline/error.hpp>
#include <feedline/remote/mount.hpp>

#include "remote/mount_once.hpp"
#include "remote/request/transfer_loop.hpp"
#include "remote/s3_files.hpp"
#include "remote/web_files.hpp"

#include <atomic>
#include <memory>

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

}  // namespace

void mount_remote_files_once() {
  if (!is_mounted.load()) mount_remote_files();
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

void mount_remote_files(const remote_options& options) {
  constexpr int most = 4096;
  constexpr int max_threads = 64;
  detail::require_time("deadline", options.deadline);
  detail::require_time("stall_after", options.stall_after);
  detail::require(options.max_in_flight >= 1 && options.max_in_flight <= most,
                  "max_in_flight is " + std::to_string(options.max_in_flight) + "; it is 1 to " +
                      std::to_string(most));
  detail::require(options.threads >= 0 && options.threads <= max_threads,
                  "threads is " + std::to_string(options.threads) + "; it is 0 to " +
                      std::to_string(max_threads));
  detail::transfer_loop::set_threads(options.threads);
  detail::transfer_queue::set_max_in_flight(options.max_in_flight);
  detail::transfer_queue::set_max_ahead(options.read_ahead_bytes);
  const auto web = std::make_shared<const detail::web_files>(
      detail::remote_target{
          .url = {}, .deadline = options.deadline, .stall_after = options.stall_after},
      options.read_ahead_bytes);
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
      options.read_ahead_bytes);
  detail::mount_files("s3", s3);
  detail::mount_files("http", web);
  detail::mount_files("https", web);
  detail::is_mounted.store(true);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
