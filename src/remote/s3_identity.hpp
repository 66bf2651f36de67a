#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

namespace feedline::detail {

/// The signer of requests. Empty: requests are anonymous.
struct s3_credentials {
  std::string key_id = {};
  std::string secret = {};
  std::string session_token = {};

  [[nodiscard]] bool is_anonymous() const noexcept { return key_id.empty(); }
};

/// The credentials and the region that AWS's variables and files name, as AWS's own programs look
/// for them: AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; else the profile
/// AWS_PROFILE ("default") of AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials) and AWS_CONFIG_FILE
/// (~/.aws/config). AWS_NO_SIGN_REQUEST=true: anonymous. Nothing is ever shown of them.
///
/// Threads: any.
class s3_identity {
 public:
  /// @param anonymous Looks for no credentials. @param region Empty: looked for.
  s3_identity(bool anonymous, std::string region);

  /// The files are read again after a minute, because other programs renew credentials in them.
  [[nodiscard]] s3_credentials credentials() const;
  [[nodiscard]] const std::string& region() const noexcept { return region_; }

 private:
  const bool anonymous_;
  const std::string region_;
  mutable std::mutex mutex_;
  mutable s3_credentials last_;
  mutable std::chrono::steady_clock::time_point looked_ = {};
};

/// A profile's value in the text of an AWS file; empty if it has none.
/// @param section "default", or in AWS_CONFIG_FILE also "profile NAME".
[[nodiscard]] std::string profile_value(const std::string& text, const std::string& section,
                                        const std::string& name);

}  // namespace feedline::detail
