#include "programs/convert/damage.hpp"

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <string>

namespace convert {
namespace {

/// The result reports what a loader warns of.
class silent_log {
 public:
  silent_log() {
    if (log_ == nullptr) return;
    level_ = log_->level();
    log_->set_level(spdlog::level::err);
  }
  silent_log(const silent_log&) = delete;
  silent_log& operator=(const silent_log&) = delete;
  ~silent_log() {
    if (log_ != nullptr) log_->set_level(level_);
  }

 private:
  std::shared_ptr<spdlog::logger> log_ = spdlog::get("feedline");
  spdlog::level::level_enum level_ = spdlog::level::warn;
};

}  // namespace

failures find_damage(const feedline::dataset_ptr& in, std::uint64_t batch_size, int readers,
                     const std::function<void(std::uint64_t)>& tell) {
  const silent_log silence;
  feedline::loader_options options{.batch_size = batch_size, .epochs = 1, .readers = readers};
  options.errors = {.action = feedline::error_action::skip,
                    .max_share = 1,
                    .listed = static_cast<std::size_t>(in->size())};
  feedline::loader loader{in, feedline::sequential{}, feedline::make_host_device(), options};
  std::uint64_t read = 0;
  for (const feedline::batch& batch : loader.epoch(0)) tell(read += batch.size());
  failures found = loader.failures().first;
  std::ranges::sort(found, {}, [](const auto& each) { return each.sample.value; });
  if (!found.empty() && found.size() == in->size())
    throw feedline::dataset_error{{.path = found.front().path, .field = {}},
                                  "none of the " + std::to_string(found.size()) +
                                      " samples can be read; the first: " + found.front().message};
  return found;
}

}  // namespace convert
