#include "remote/request/s3_identity.hpp"

#include <feedline/error.hpp>

#include "detail/printable.hpp"
#include "remote/request/credential_services.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace feedline::detail {
namespace {

using namespace std::chrono_literals;

constexpr auto look_again_after = 60s;
/// Credentials of services are renewed so long before they expire.
constexpr std::chrono::seconds renew_before = 5min;
/// Services that gave nothing are asked again after this time.
constexpr auto ask_again_after = 10min;
/// A service that has no newer credentials yet, or fails, is left alone for so long.
constexpr auto ask_for_newer_after = 10s;

bool is_true(const std::string& text) {
  return text == "1" || text == "true" || text == "TRUE" || text == "True" || text == "yes";
}

/// The text of the file that a variable names, else of one below ~/.aws; empty if there is none.
std::string aws_file(const char* name, const std::string& otherwise) {
  std::string path = variable(name);
  if (path.empty()) {
    const std::string home = variable("HOME");
    if (home.empty()) return {};
    path = home + "/.aws/" + otherwise;
  }
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();  // does not throw, not even for a folder
  return text.str();
}

std::string profile() {
  std::string name = variable("AWS_PROFILE");
  return name.empty() ? "default" : name;
}

std::string from_config(const std::string& name) {
  const std::string text = aws_file("AWS_CONFIG_FILE", "config");
  const std::string of = profile();
  const std::string value = profile_value(text, of == "default" ? of : "profile " + of, name);
  return value.empty() && of == "default" ? profile_value(text, "profile default", name) : value;
}

std::string region_of_environment() {
  for (const char* const name : {"AWS_REGION", "AWS_DEFAULT_REGION"})
    if (std::string value = variable(name); !value.empty()) return value;
  const std::string value = from_config("region");
  return value.empty() ? "us-east-1" : value;
}

s3_credentials credentials_of_environment() {
  s3_credentials found{variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"),
                       variable("AWS_SESSION_TOKEN")};
  return found.key_id.empty() || found.secret.empty() ? s3_credentials{} : found;
}

s3_credentials credentials_of_files() {
  const std::string text = aws_file("AWS_SHARED_CREDENTIALS_FILE", "credentials");
  const auto value = [&](const std::string& name) {
    std::string given = profile_value(text, profile(), name);
    return given.empty() ? from_config(name) : given;
  };
  s3_credentials found{value("aws_access_key_id"), value("aws_secret_access_key"),
                       value("aws_session_token")};
  return found.key_id.empty() || found.secret.empty() ? s3_credentials{} : found;
}

s3_credentials look_for_credentials() {
  s3_credentials found = credentials_of_environment();
  return found.is_anonymous() ? credentials_of_files() : found;
}

std::string trimmed(const std::string& text) {
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  const auto begin = std::find_if_not(text.begin(), text.end(), is_space);
  const auto end = std::find_if_not(text.rbegin(), text.rend(), is_space).base();
  return begin < end ? std::string{begin, end} : std::string{};
}

}  // namespace

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr ? std::string{} : std::string{value};
}

std::string profile_value(const std::string& text, const std::string& section,
                          const std::string& name) {
  std::istringstream lines{text};
  bool is_in = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      const std::size_t end = line.find(']');
      is_in = end != std::string::npos && trimmed(line.substr(1, end - 1)) == section;
      continue;
    }
    const std::size_t equals = line.find('=');
    // A line that is indented belongs to a nested setting, such as "s3 =".
    if (is_in && equals != std::string::npos &&
        std::isspace(static_cast<unsigned char>(line[0])) == 0 &&
        trimmed(line.substr(0, equals)) == name)
      return trimmed(line.substr(equals + 1));
  }
  return {};
}

const std::string& s3_identity::region() const {
  state& its = state_.get();
  const std::lock_guard lock{its.mutex};
  if (!its.region) its.region = given_.region.empty() ? region_of_environment() : given_.region;
  return *its.region;
}

const std::string& s3_identity::endpoint() const {
  state& its = state_.get();
  const std::lock_guard lock{its.mutex};
  if (its.endpoint) return *its.endpoint;
  std::string found = given_.endpoint;
  for (const char* const name : {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"})
    if (found.empty()) require_address(found = variable(name), name);
  return *(its.endpoint = std::move(found));
}

void s3_identity::require_address(const std::string& endpoint, const std::string& name) {
  if (!endpoint.empty() && !endpoint.starts_with("http://") && !endpoint.starts_with("https://"))
    throw usage_error{name + " is '" + printable(endpoint) +
                      "'; it begins with http:// or https://"};
}

s3_credentials s3_identity::credentials() const {
  if (given_.anonymous || is_true(variable("AWS_NO_SIGN_REQUEST"))) return {};
  state& its = state_.get();
  const std::lock_guard lock{its.mutex};
  if (!its.lent.is_anonymous()) return its.lent;
  const auto now = std::chrono::steady_clock::now();
  if (its.looked == std::chrono::steady_clock::time_point{} ||
      now > its.looked + look_again_after) {
    its.last = look_for_credentials();
    its.looked = now;
  }
  return its.last;
}

void s3_identity::keep_fresh() const {
  if (given_.anonymous || is_true(variable("AWS_NO_SIGN_REQUEST"))) return;
  if (!credentials_of_environment().is_anonymous()) return;
  state& its = state_.get();
  const auto needs = [&](std::chrono::seconds ahead) {
    const std::lock_guard lock{its.mutex};
    if (!its.lent.is_anonymous()) {
      const bool is_time = system_clock::now() + ahead >= its.until &&
                           std::chrono::steady_clock::now() >= its.no_newer_until;
      return is_time || system_clock::now() >= its.until;
    }
    return std::chrono::steady_clock::now() >= its.no_instance_until;
  };
  if (!needs(renew_before)) return;
  std::unique_lock asking{its.asking, std::try_to_lock};
  if (!asking.owns_lock()) {
    if (!needs(0s)) return;  // another thread renews them, and these are still valid
    asking.lock();
  }
  if (needs(renew_before)) ask_services(its);
}

void s3_identity::ask_services(state& its) const {
  std::string token_file = variable("AWS_WEB_IDENTITY_TOKEN_FILE");
  std::string role = variable("AWS_ROLE_ARN");
  if (token_file.empty()) {
    token_file = from_config("web_identity_token_file");
    role = from_config("role_arn");
  }
  std::optional<lent_credentials> lent;
  try {
    lent = by_web_identity(token_file, role, region());
    if (!lent && credentials_of_files().is_anonymous()) {
      lent = of_container();
      if (!lent) lent = of_instance();
    }
  } catch (const usage_error&) {
    const std::lock_guard lock{its.mutex};
    if (its.lent.is_anonymous() || system_clock::now() >= its.until) throw;
    its.no_newer_until = std::chrono::steady_clock::now() + ask_for_newer_after;
    return;  // those that there are hold on for a while
  }
  const std::lock_guard lock{its.mutex};
  if (lent) {
    if (lent->credentials.key_id == its.lent.key_id && lent->until == its.until)
      its.no_newer_until = std::chrono::steady_clock::now() + ask_for_newer_after;
    its.lent = std::move(lent->credentials);
    its.until = lent->until;
  } else {
    its.lent = {};
    its.no_instance_until = std::chrono::steady_clock::now() + ask_again_after;
  }
}

}  // namespace feedline::detail
