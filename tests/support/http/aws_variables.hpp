#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedline::test {

/// Variables of AWS's while a test runs; others of them are not there.
class aws_variables {
 public:
  explicit aws_variables(const std::vector<std::pair<std::string, std::string>>& set) {
    for (const char* const name : {"AWS_ACCESS_KEY_ID",
                                   "AWS_SECRET_ACCESS_KEY",
                                   "AWS_SESSION_TOKEN",
                                   "AWS_REGION",
                                   "AWS_DEFAULT_REGION",
                                   "AWS_PROFILE",
                                   "AWS_SHARED_CREDENTIALS_FILE",
                                   "AWS_CONFIG_FILE",
                                   "AWS_ENDPOINT_URL",
                                   "AWS_ENDPOINT_URL_S3",
                                   "AWS_NO_SIGN_REQUEST",
                                   "HOME",
                                   "AWS_ENDPOINT_URL_STS",
                                   "AWS_WEB_IDENTITY_TOKEN_FILE",
                                   "AWS_ROLE_ARN",
                                   "AWS_ROLE_SESSION_NAME",
                                   "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                                   "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                   "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                                   "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
                                   "AWS_EC2_METADATA_DISABLED",
                                   "AWS_EC2_METADATA_SERVICE_ENDPOINT",
                                   "AWS_METADATA_SERVICE_TIMEOUT"}) {
      const char* const value = std::getenv(name);
      before_.emplace_back(name, value == nullptr ? std::optional<std::string>{} : value);
      ::unsetenv(name);
    }
    ::setenv("AWS_EC2_METADATA_DISABLED", "true", 1);  // no test asks the machine it runs on
    for (const auto& [name, value] : set) ::setenv(name.c_str(), value.c_str(), 1);
  }
  aws_variables(const aws_variables&) = delete;
  aws_variables& operator=(const aws_variables&) = delete;
  ~aws_variables() {
    for (const auto& [name, value] : before_)
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

}  // namespace feedline::test
