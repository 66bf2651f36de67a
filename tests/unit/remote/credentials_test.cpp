/// Credentials from services: they sign requests, are renewed, and are never shown.

#include <feedline/error.hpp>

#include "io/file_system.hpp"
#include "remote/request/credential_services.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/http/aws_variables.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <span>
#include <string>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

namespace {

std::string at(std::chrono::system_clock::duration from_now) {
  const std::time_t time =
      std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() + from_now);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];  // NOLINT(modernize-avoid-c-arrays)
  (void)std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string json(const std::string& key, const std::string& until) {
  return R"({"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": ")" + key +
         R"(", "SecretAccessKey": "hidden-secret", "Token": "hidden-token", "Expiration": ")" +
         until + "\"}";
}

http_fault sts_answer(const std::string& key) {
  return http_fault::status(
      200, {},
      "<AssumeRoleWithWebIdentityResponse><Credentials><AccessKeyId>" + key +
          "</AccessKeyId><SecretAccessKey>hidden-secret</SecretAccessKey><SessionToken>" +
          std::string(1000, 't') + "</SessionToken><Expiration>" + at(1h) +
          "</Expiration></Credentials></AssumeRoleWithWebIdentityResponse>");
}

/// Reads an object of a store. @return The requests for it.
std::vector<http_request> read_object(http_server& store) {
  store.put("/b/x", numbered(1000));
  const mounted_remote mounted;
  (void)detail::open_file("s3://b/x");
  return store.take_requests();
}

bool is_signed_by(const http_request& request, const std::string& key) {
  return contains(request.header("authorization"), "Credential=" + key + "/");
}

}  // namespace

TEST_CASE("credentials: a web identity becomes a role's credentials, by a POST to STS",
          "[remote][host]") {
  const temporary_directory folder;
  const std::string token = "web+token\n";
  const std::string file = folder.write("token", std::as_bytes(std::span{token})).string();
  http_server sts;
  http_server store;
  const aws_variables variables{{{"AWS_WEB_IDENTITY_TOKEN_FILE", file},
                                 {"AWS_ROLE_ARN", "arn:aws:iam::1:role/r"},
                                 {"AWS_ENDPOINT_URL_STS", sts.address("")},
                                 {"AWS_ENDPOINT_URL", store.address("")}}};
  sts.set_script([](const auto&) { return sts_answer("FROMSTS"); });
  const auto made = read_object(store);
  REQUIRE(made.size() == 1);
  CHECK(is_signed_by(made[0], "FROMSTS"));
  CHECK(made[0].header("x-amz-security-token") == std::string(1000, 't'));
  const auto asked = sts.take_requests();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].method == "POST");
  CHECK(asked[0].body ==
        "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole"
        "%2Fr&RoleSessionName=feedline&WebIdentityToken=web%2Btoken");

  sts.set_script([](const auto&) {
    return http_fault::status(
        400, {}, "<Error><Code>ExpiredToken</Code><Message>Renew it.</Message></Error>");
  });
  const std::string refused = message_of<usage_error>([&] { (void)read_object(store); });
  CHECK(contains(refused, "credentials of S3 are unavailable from STS by web identity"));
  CHECK(contains(refused, "status 400 (ExpiredToken: Renew it.)"));
  CHECK_FALSE(contains(refused, "web+token"));
}

TEST_CASE("credentials: those of a container sign, with its token, and are asked for once",
          "[remote][host]") {
  http_server service;
  http_server store;
  const aws_variables variables{{{"AWS_CONTAINER_CREDENTIALS_FULL_URI", service.address("/creds")},
                                 {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "hidden-authorization"},
                                 {"AWS_ENDPOINT_URL", store.address("")}}};
  service.set_script([](const auto&) { return http_fault::status(200, {}, json("BOX", at(1h))); });
  store.put("/b/x", numbered(std::size_t{1} << 20));
  const mounted_remote mounted;
  const auto file = detail::open_file("s3://b/x");
  std::vector<std::byte> out(1000);
  for (const std::uint64_t place : {200'000U, 400'000U, 600'000U}) file->read(place, out);
  for (const auto& each : store.take_requests()) CHECK(is_signed_by(each, "BOX"));
  const auto asked = service.take_requests();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].header("authorization") == "hidden-authorization");
}

TEST_CASE("credentials: those that expire soon are renewed before the next request",
          "[remote][host]") {
  std::atomic<int> number = 0;  // outlives the server
  http_server service;
  http_server store;
  const aws_variables variables{{{"AWS_CONTAINER_CREDENTIALS_FULL_URI", service.address("/creds")},
                                 {"AWS_ENDPOINT_URL", store.address("")}}};
  service.set_script([&](const auto&) {
    return http_fault::status(200, {}, json("KEY" + std::to_string(++number), at(2min)));
  });
  store.put("/b/x", numbered(std::size_t{1} << 20));
  const mounted_remote mounted;
  const auto file = detail::open_file("s3://b/x");
  std::vector<std::byte> out(1000);
  file->read(500'000, out);
  const auto made = store.take_requests();
  REQUIRE(made.size() == 2);
  CHECK(is_signed_by(made[0], "KEY1"));
  CHECK(is_signed_by(made[1], "KEY2"));
  service.set_script([](const auto&) { return http_fault::status(500); });
  file->read(700'000, out);  // these hold on for two minutes
  CHECK(is_signed_by(store.take_requests().at(0), "KEY2"));
}

TEST_CASE("credentials: a service without newer ones, or that fails, is not asked for each read",
          "[remote][host]") {
  const bool fails = GENERATE(false, true);
  std::atomic<int> number = 0;  // outlives the server
  http_server service;
  http_server store;
  const aws_variables variables{{{"AWS_CONTAINER_CREDENTIALS_FULL_URI", service.address("/creds")},
                                 {"AWS_ENDPOINT_URL", store.address("")}}};
  const std::string until = at(2min);
  service.set_script([&, fails](const auto&) {
    return fails && ++number > 1 ? http_fault::status(500)
                                 : http_fault::status(200, {}, json("ONLY", until));
  });
  store.put("/b/x", numbered(std::size_t{4} << 20));
  const mounted_remote mounted;
  const auto file = detail::open_file("s3://b/x");
  std::vector<std::byte> out(1000);
  for (const std::uint64_t place : {30U, 20U, 10U, 35U, 25U, 15U}) file->read(place * 100'000, out);
  const auto made = store.take_requests();
  REQUIRE(made.size() == 7);
  for (const auto& each : made) CHECK(is_signed_by(each, "ONLY"));
  CHECK(service.take_requests().size() == 2);
}

TEST_CASE("credentials: an instance's metadata is asked by version 2, after a token",
          "[remote][host]") {
  http_server service;
  http_server store;
  const aws_variables variables{{{"AWS_EC2_METADATA_DISABLED", "false"},
                                 {"AWS_EC2_METADATA_SERVICE_ENDPOINT", service.address("")},
                                 {"AWS_METADATA_SERVICE_TIMEOUT", "60"},  // the machine may be busy
                                 {"AWS_ENDPOINT_URL", store.address("")}}};
  const std::string roles = "/latest/meta-data/iam/security-credentials/";
  service.set_script([&](const http_request& request) {
    if (request.path == "/latest/api/token" && request.method == "PUT")
      return http_fault::status(200, {}, "session");
    if (request.header("x-aws-ec2-metadata-token") != "session") return http_fault::status(401);
    if (request.path == roles) return http_fault::status(200, {}, "role");
    return http_fault::status(200, {}, json("INSTANCE", at(1h)));
  });
  const auto made = read_object(store);
  REQUIRE(made.size() == 1);
  CHECK(is_signed_by(made[0], "INSTANCE"));
  CHECK(service.take_requests().back().path == roles + "role");
  service.set_script([](const auto&) { return http_fault::status(404); });
  CHECK(read_object(store).at(0).header("authorization").empty());  // there is no such service
}

TEST_CASE("credentials: an answer that has none is refused without being quoted",
          "[remote][host]") {
  http_server service;
  std::string uri = service.address("/creds");
  const auto refusal = [&](const std::string& body) {
    service.set_script([&](const auto&) { return http_fault::status(200, {}, body); });
    const aws_variables variables{{{"AWS_CONTAINER_CREDENTIALS_FULL_URI", uri}}};
    return message_of<usage_error>([] { (void)detail::of_container(); });
  };
  CHECK(contains(refusal("{\"AccessKeyId\": \"hidden"), "its answer is not the JSON"));
  CHECK(contains(refusal("{\"AccessKeyId\": \"hidden\"}"), "no SecretAccessKey"));
  CHECK_FALSE(contains(refusal("{\"AccessKeyId\": \"hidden"), "hidden"));
  uri = "http://169.254.170.2.example.invalid/";
  CHECK(contains(refusal(""), "neither https nor of this machine"));
  CHECK(detail::time_of("2026-11-29T21:00:00Z").has_value());
  CHECK_FALSE(detail::time_of("soon").has_value());
}
