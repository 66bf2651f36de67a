#pragma once

#include "remote/request/s3_identity.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace feedline::detail {

/// Credentials that a service gave for a while.
struct lent_credentials {
  s3_credentials credentials;
  std::chrono::system_clock::time_point until;
};

// Each of these blocks for its requests. Nothing: the environment does not name the service, or for
// metadata it is not there.

/// Exchanges a token in a file, as in Kubernetes: AssumeRoleWithWebIdentity of AWS's STS, or of the
/// server that AWS_ENDPOINT_URL_STS names.
/// @param token_file,role AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN, or a profile's.
/// @throws usage_error if it does not give any; it says why, without secrets.
[[nodiscard]] std::optional<lent_credentials> by_web_identity(const std::string& token_file,
                                                              const std::string& role,
                                                              const std::string& region);
/// Asks AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI, as in ECS and EKS. @throws usage_error
[[nodiscard]] std::optional<lent_credentials> of_container();
/// Asks the metadata of an instance of EC2, version 2, unless AWS_EC2_METADATA_DISABLED is "true".
/// AWS_EC2_METADATA_SERVICE_ENDPOINT names another server.
[[nodiscard]] std::optional<lent_credentials> of_instance();

/// "2026-11-29T21:00:00Z". Nothing if it is not a time.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> time_of(const std::string& text);

}  // namespace feedline::detail
