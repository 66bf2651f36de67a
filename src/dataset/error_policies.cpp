#include "dataset/error_policies.hpp"

#include <feedline/error.hpp>

#include "detail/known_value.hpp"

#include <spdlog/fmt/fmt.h>

#include <string>

namespace feedline::detail {
namespace {

constexpr int max_retries = 1000;
constexpr std::chrono::milliseconds longest_pause = std::chrono::hours{24};

}  // namespace

void check_errors(const error_policy& errors, std::string_view option) {
  const auto refuse = [&](std::string_view member, const std::string& value,
                          const std::string& why) {
    throw usage_error{fmt::format("{}.{} is {}: {}", option, member, value, why)};
  };
  require_known(std::string{option} + ".action", errors.action, {"fail", "skip", "substitute"});
  if (errors.retries < 0 || errors.retries > max_retries)
    refuse("retries", std::to_string(errors.retries), "say 0 to " + std::to_string(max_retries));
  if (errors.first_pause.count() < 0)
    refuse("first_pause", std::to_string(errors.first_pause.count()) + " ms", "say 0 ms or more");
  if (errors.max_pause < errors.first_pause || errors.max_pause > longest_pause)
    refuse("max_pause", std::to_string(errors.max_pause.count()) + " ms",
           "say first_pause, " + std::to_string(errors.first_pause.count()) + " ms, to " +
               std::to_string(longest_pause.count()) + " ms");
  if (!(errors.max_share >= 0 && errors.max_share <= 1))
    refuse("max_share", fmt::format("{}", errors.max_share), "say a share of the samples, 0 to 1");
}

void check_substitute(const error_policy& errors, std::string_view option, std::uint64_t samples) {
  if (errors.action != error_action::substitute || errors.substitute < samples) return;
  throw usage_error{
      fmt::format("{}.substitute is {}, and the dataset has {} samples: name one of them, from 0",
                  option, errors.substitute, samples)};
}

}  // namespace feedline::detail
