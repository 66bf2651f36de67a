#pragma once

#include "remote/request/own_state.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace feedline::detail {

/// The signer of requests. Empty: requests are anonymous.
struct s3_credentials {
  std::string key_id = {};
  std::string secret = {};
  std::string session_token = {};

  [[nodiscard]] bool is_anonymous() const noexcept { return key_id.empty(); }
};

/// The credentials, the region and the endpoint that options, AWS's variables and files name, as
/// AWS's own programs look for them: AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY and
/// AWS_SESSION_TOKEN; else the profile AWS_PROFILE ("default") of AWS_SHARED_CREDENTIALS_FILE
/// (~/.aws/credentials) and AWS_CONFIG_FILE (~/.aws/config). AWS_NO_SIGN_REQUEST=true: anonymous.
/// Services are asked in the order of AWS's programs: web identity before the profile's keys, then
/// a container's service, then an instance's metadata.
/// They are looked for when they are first needed. Credentials are never shown.
///
/// Threads: any.
class s3_identity {
 public:
  /// A member that is empty or false is looked for.
  struct given {
    bool anonymous = false;
    std::string region = {};
    std::string endpoint = {};
  };
  explicit s3_identity(given by_options) : given_{std::move(by_options)} {}

  /// Asks services for credentials if they are needed, and some time before they expire. Call it
  /// before a request: it may block for requests of its own, which others wait for only if there
  /// are no valid credentials.
  /// @throws usage_error if a service that the environment names gives none; it says why.
  void keep_fresh() const;

  /// The last ones that were found; never blocks for a service. The files are read again after a
  /// minute, because other programs renew credentials in them.
  [[nodiscard]] s3_credentials credentials() const;
  [[nodiscard]] const std::string& region() const;
  /// Empty: AWS's. Begins with "http://" or "https://" otherwise.
  /// @throws usage_error if a variable says something else
  [[nodiscard]] const std::string& endpoint() const;

  /// @throws usage_error if it is neither empty nor an address. @param name Names it there.
  static void require_address(const std::string& endpoint, const std::string& name);

 private:
  using system_clock = std::chrono::system_clock;
  struct state {
    std::mutex mutex;  ///< for all below except `asking`
    std::optional<std::string> region, endpoint;
    s3_credentials last;
    std::chrono::steady_clock::time_point looked = {};
    s3_credentials lent;               ///< a service's; they come before `last`
    system_clock::time_point until{};  ///< when those expire
    /// Until then services are not asked while those are valid: they had no newer ones, or failed.
    std::chrono::steady_clock::time_point no_newer_until = {};
    /// Until then the instance's metadata is not asked for again, because it was not there.
    std::chrono::steady_clock::time_point no_instance_until = {};
    std::mutex asking;  ///< one thread asks services
  };
  void ask_services(state& its) const;

  const given given_;
  mutable own_state<state> state_;
};

/// A variable of the environment; empty if it is not set.
[[nodiscard]] std::string variable(const char* name);

/// A profile's value in the text of an AWS file; empty if it has none.
/// @param section "default", or in AWS_CONFIG_FILE also "profile NAME".
[[nodiscard]] std::string profile_value(const std::string& text, const std::string& section,
                                        const std::string& name);

}  // namespace feedline::detail
