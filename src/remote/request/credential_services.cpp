#include "remote/request/credential_services.hpp"

#include <feedline/error.hpp>

#include "detail/json/flat_json.hpp"
#include "detail/printable.hpp"
#include "remote/answer/judge_answer.hpp"
#include "remote/request/percent.hpp"
#include "remote/request/plain_request.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string_view>
#include <variant>

namespace feedline::detail {
namespace {

using namespace std::chrono_literals;

/// A file's text without the white space at its end.
std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  std::string read = text.str();
  read.erase(read.find_last_not_of(" \t\r\n") + 1);
  return read;
}

std::string element(const std::string& xml, const std::string& name) {
  const std::size_t begin = xml.find("<" + name + ">");
  if (begin == std::string::npos) return {};
  const std::size_t from = begin + name.size() + 2;
  const std::size_t end = xml.find("</" + name + ">", from);
  return end == std::string::npos ? std::string{} : xml.substr(from, end - from);
}

[[noreturn]] void refuse(const std::string& service, const std::string& why) {
  throw usage_error{"credentials of S3 are unavailable from " + service + ": " + printable(why)};
}

std::string words_of(const plain_answer& answer) {
  return answer.status == 0 ? answer.failure
                            : "it answers with status " + std::to_string(answer.status);
}

/// JSON as containers and instances give it. @throws usage_error naming the service
lent_credentials lent_by(const std::string& service, const plain_answer& answer) {
  if (answer.status != 200) refuse(service, words_of(answer));
  lent_credentials lent;
  std::string until;
  try {
    read_flat_json(answer.body, [&](const std::string& name, flat_json_value value) {
      auto* const text = std::get_if<std::string>(&value);
      if (text == nullptr) return;
      if (name == "AccessKeyId") lent.credentials.key_id = std::move(*text);
      if (name == "SecretAccessKey") lent.credentials.secret = std::move(*text);
      if (name == "Token") lent.credentials.session_token = std::move(*text);
      if (name == "Expiration") until = std::move(*text);
    });
  } catch (const json_error&) {  // its words may quote the answer
    refuse(service, "its answer is not the JSON that is expected");
  }
  if (lent.credentials.key_id.empty() || lent.credentials.secret.empty())
    refuse(service, "its answer has no AccessKeyId or no SecretAccessKey");
  lent.until = time_of(until).value_or(std::chrono::system_clock::now() + 1h);
  return lent;
}

/// Whether tokens may go there: by TLS, or to this machine or its host.
bool may_have_tokens(const std::string& url) {
  if (url.starts_with("https://")) return true;
  for (const std::string_view host :
       {"127.0.0.1", "localhost", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"}) {
    const std::string begin = "http://" + std::string{host};
    if (url.starts_with(begin) &&
        (url.size() == begin.size() || url[begin.size()] == ':' || url[begin.size()] == '/'))
      return true;
  }
  return false;
}

/// Seconds for each request to an instance's metadata, as AWS's programs take them.
std::optional<std::chrono::seconds> metadata_timeout() {
  const std::string text = variable("AWS_METADATA_SERVICE_TIMEOUT");
  int seconds = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool is_right = !text.empty() && read.ec == std::errc{} &&
                        read.ptr == text.data() + text.size() && seconds >= 1 && seconds <= 3600;
  return is_right ? std::optional{std::chrono::seconds{seconds}} : std::nullopt;
}

}  // namespace

std::optional<std::chrono::system_clock::time_point> time_of(const std::string& text) {
  std::tm parts{};
  const int read =
      std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d", &parts.tm_year, &parts.tm_mon,
                  &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec);
  if (read != 6 || !text.ends_with('Z')) return {};
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

std::optional<lent_credentials> by_web_identity(const std::string& token_file,
                                                const std::string& role,
                                                const std::string& region) {
  if (token_file.empty() || role.empty()) return {};
  const std::string service = "STS by web identity (AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN)";
  const std::string token = text_of(token_file);  // it is renewed at times, so read each time
  if (token.empty()) refuse(service, "the file " + token_file + " cannot be read, or is empty");
  std::string session = variable("AWS_ROLE_SESSION_NAME");
  if (session.empty()) session = "feedline";
  std::string url = variable("AWS_ENDPOINT_URL_STS");
  if (url.empty()) url = "https://sts." + region + ".amazonaws.com";
  s3_identity::require_address(url, "AWS_ENDPOINT_URL_STS");
  const plain_answer answer = make_request(
      {.method = "POST",
       .url = url + (url.ends_with('/') ? "" : "/"),
       .headers = {"Content-Type: application/x-www-form-urlencoded", "Accept: application/xml"},
       .body = "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=" +
               encoded(role, false) + "&RoleSessionName=" + encoded(session, false) +
               "&WebIdentityToken=" + encoded(token, false)});
  if (answer.status != 200) {
    const std::string said = store_words(answer.body);
    refuse(service, words_of(answer) + (said.empty() ? "" : " (" + said + ")"));
  }
  lent_credentials lent{
      {element(answer.body, "AccessKeyId"), element(answer.body, "SecretAccessKey"),
       element(answer.body, "SessionToken")},
      time_of(element(answer.body, "Expiration"))
          .value_or(std::chrono::system_clock::now() + 15min)};
  if (lent.credentials.key_id.empty() || lent.credentials.secret.empty())
    refuse(service, "its answer has no credentials");
  return lent;
}

std::optional<lent_credentials> of_container() {
  std::string url = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (const std::string path = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); !path.empty())
    url = "http://169.254.170.2" + path;
  if (url.empty()) return {};
  const std::string service =
      "the container's service (AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI)";
  if (!may_have_tokens(url))
    refuse(service, "its address is neither https nor of this machine or its host");
  std::string token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const std::string file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty())
    token = text_of(file);
  if (token.find_first_of("\r\n") != std::string::npos)
    refuse(service, "its authorization token has the end of a line in it");
  plain_request wanted{.url = url, .past_proxies = url.starts_with("http:")};
  if (!token.empty()) wanted.headers.push_back("Authorization: " + token);
  return lent_by(service, make_request(wanted));
}

std::optional<lent_credentials> of_instance() {
  if (variable("AWS_EC2_METADATA_DISABLED") == "true") return {};
  std::string url = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (url.empty()) url = "http://169.254.169.254";
  if (url.ends_with('/')) url.pop_back();
  // A machine without this service answers nothing, and must not take long.
  const auto within = metadata_timeout();
  const plain_answer token =
      make_request({.method = "PUT",
                    .url = url + "/latest/api/token",
                    .headers = {"X-aws-ec2-metadata-token-ttl-seconds: 21600"},
                    .connect_within = within ? *within : 300ms,
                    .answer_within = within ? *within : 1000ms,
                    .past_proxies = true});
  if (token.status != 200 || token.body.find_first_of("\r\n") != std::string::npos) return {};
  const auto get = [&](const std::string& path) {
    return make_request({.url = url + "/latest/meta-data/iam/security-credentials/" + path,
                         .headers = {"X-aws-ec2-metadata-token: " + token.body},
                         .answer_within = within ? *within : 5000ms,
                         .past_proxies = true});
  };
  const plain_answer roles = get("");
  if (roles.status != 200) return {};  // the instance has no role
  const std::string role = roles.body.substr(0, roles.body.find_first_of("\r\n"));
  return lent_by("the instance's metadata", get(encoded(role, false)));
}

}  // namespace feedline::detail
