#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/formats/open.hpp>

#include "remote/request/percent.hpp"
#include "remote/s3_files.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/http/aws_variables.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::decoded;
using detail::encoded;
using detail::read_s3_page;

namespace {

std::string list_of(const std::string& inner) {
  return R"(<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/">)" + inner +
         "</ListBucketResult>";
}

std::string object(const std::string& key) {
  return "<Contents><Key>" + key + "</Key><Size>1</Size><Owner><ID>x</ID></Owner></Contents>";
}

std::string folder(const std::string& prefix) {
  return "<CommonPrefixes><Prefix>" + prefix + "</Prefix></CommonPrefixes>";
}

/// Answers lists from given texts, one after the other, and objects as the server does.
void answer_lists(http_server& server, std::vector<std::string> pages) {
  auto number = std::make_shared<std::atomic<std::size_t>>(0);
  server.set_script([pages = std::move(pages), number](const http_request& request) {
    return contains(request.path, "list-type=2")
               ? http_fault::status(200, {}, pages.at((*number)++))
               : http_fault{};
  });
}

}  // namespace

TEST_CASE("s3: keys are encoded as signatures want it, and lists are decoded", "[remote][host]") {
  CHECK(encoded("a/b c+d%\xc3\xa4~-._", true) == "a/b%20c%2Bd%25%C3%A4~-._");
  CHECK(encoded("a/b", false) == "a%2Fb");
  CHECK(decoded("a%2Fb%20c+d%zz%4") == "a/b c d%zz%4");
  CHECK(decoded(encoded("\n\x01%", false)) == "\n\x01%");
}

TEST_CASE("s3: buckets are hosts of Amazon's, or folders of another endpoint", "[remote][host]") {
  CHECK(detail::s3_address({"b", "x/y z"}, {}, "eu-west-1") ==
        "https://b.s3.eu-west-1.amazonaws.com/x/y%20z");
  CHECK(detail::s3_address({"b.c", "x"}, {}, "us-east-1") ==
        "https://s3.us-east-1.amazonaws.com/b.c/x");
  CHECK(detail::s3_address({"b", "x"}, {}, "cn-north-1") ==
        "https://b.s3.cn-north-1.amazonaws.com.cn/x");
  CHECK(detail::s3_address({"b", "x"}, "http://h:1", "r") == "http://h:1/b/x");
  CHECK(detail::s3_address({"b", "x"}, "http://h:1/", "r") == "http://h:1/b/x");
  CHECK(detail::s3_location_of("s3://b").bucket == "b");
  CHECK(detail::s3_location_of("s3://b//x/").key == "/x/");
  CHECK(contains(message_of<dataset_error>([] { (void)detail::s3_location_of("s3:///x"); }),
                 "names no bucket: write s3://BUCKET/KEY"));
  CHECK(contains(message_of<dataset_error>([] { (void)detail::s3_location_of("s3://k:s@b/x"); }),
                 "credentials into AWS's variables or files"));
}

TEST_CASE("s3: a page of a list is read, and another document is refused", "[remote][host]") {
  const auto page =
      read_s3_page(list_of("<Name>b</Name><Prefix>p/</Prefix><IsTruncated>true</IsTruncated>"
                           "<NextContinuationToken>t&amp;1</NextContinuationToken>" +
                           object("p/a&lt;b") + object("p/%41") + folder("p/q/")));
  CHECK(page.objects == std::vector<std::string>{"p/a<b", "p/%41"});
  CHECK(page.folders == std::vector<std::string>{"p/q/"});
  CHECK(page.is_truncated);
  CHECK(page.next == "t&1");
  CHECK(read_s3_page(list_of("<EncodingType>url</EncodingType>" + object("%41+%0A"))).objects ==
        std::vector<std::string>{"A \n"});
  for (const auto& [given, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "not well-formed"},
           {"<ListBucketResult>", "not well-formed"},
           {"<Error><Code>x</Code></Error>", "not a list of objects"},
           {"<!DOCTYPE x [<!ENTITY a \"b\">]><ListBucketResult/>", "document type"},
           {list_of("<IsTruncated>true</IsTruncated>"), "does not say how it continues"},
           {std::string(3000, '<'), "not well-formed"},
           {list_of("") + list_of(""), "something follows it"},
           {list_of(std::string(1, '\0')), "a byte of zero"},
           {list_of("<Contents><Size>1</Size></Contents>"), "an object without a key"},
           {list_of(std::string(std::size_t{8} << 20, ' ')), "too long"}}) {
    CAPTURE(given);
    const std::string xml = given;  // a lambda of C++20 takes no structured binding in clang 14
    CHECK(contains(message_of<std::runtime_error>([&] { (void)read_s3_page(xml); }), words));
  }
}

TEST_CASE("s3: a hostile list costs neither the stack nor much memory", "[remote][host]") {
  constexpr int levels = 1'000'000;  // with a frame for each level, no stack would do
  std::string deep;
  for (int i = 0; i < levels; ++i) deep += "<a>";
  CHECK(contains(message_of<std::runtime_error>([&] { (void)read_s3_page(deep); }),
                 "not well-formed"));
  for (int i = 0; i < levels; ++i) deep += "</a>";
  CHECK(contains(message_of<std::runtime_error>([&] { (void)read_s3_page(deep); }),
                 "not a list of objects"));
  // Entities that would grow are not defined, and a name of one stays as it is.
  CHECK(read_s3_page(list_of(object("p/&grow;"))).objects == std::vector<std::string>{"p/&grow;"});
  // An object's name can be a space, and come in several parts.
  CHECK(read_s3_page(list_of(object(" ") + object("a<![CDATA[<b]]>c"))).objects ==
        std::vector<std::string>{" ", "a<bc"});
}

TEST_CASE("s3: credentials and regions come from variables, else from the profile",
          "[remote][host]") {
  const temporary_directory home;
  std::filesystem::create_directory(home.path() / ".aws");
  std::ofstream{home.path() / ".aws" / "credentials"}
      << "# a comment\n[default]\naws_access_key_id = D\naws_secret_access_key=DS\n"
         "[ other ]\r\naws_access_key_id = O\r\naws_secret_access_key = OS=\r\n"
         "aws_session_token = OT\r\n[half]\naws_access_key_id = H\n";
  std::ofstream{home.path() / ".aws" / "config"}
      << "[default]\nregion = eu-1\ns3 =\n  region = no\n[profile other]\nregion = eu-2\n";
  const auto found = [&](std::vector<std::pair<std::string, std::string>> set,
                         bool anonymous = false) {
    set.emplace_back("HOME", home.path().string());
    const aws_variables variables{set};
    const detail::s3_identity identity{{.anonymous = anonymous}};
    const auto it = identity.credentials();
    return it.key_id + " " + it.secret + " " + it.session_token + " " + identity.region();
  };
  CHECK(found({}) == "D DS  eu-1");
  CHECK(found({{"AWS_PROFILE", "other"}}) == "O OS= OT eu-2");
  CHECK(found({{"AWS_PROFILE", "half"}}) == "   us-east-1");
  CHECK(found({{"AWS_ACCESS_KEY_ID", "E"},
               {"AWS_SECRET_ACCESS_KEY", "ES"},
               {"AWS_SESSION_TOKEN", "ET"},
               {"AWS_REGION", "r"}}) == "E ES ET r");
  CHECK(found({{"AWS_NO_SIGN_REQUEST", "true"}, {"AWS_DEFAULT_REGION", "s"}}) == "   s");
  CHECK(found({}, true) == "   eu-1");
  CHECK(found({{"AWS_SHARED_CREDENTIALS_FILE", "/nowhere"}}) == "   eu-1");
}

TEST_CASE("s3: requests are signed, and no secret is in an error or goes to another server",
          "[remote][host]") {
  const aws_variables variables{{{"AWS_ACCESS_KEY_ID", "AKIDNAME"},
                                 {"AWS_SECRET_ACCESS_KEY", "hush/hush"},
                                 {"AWS_SESSION_TOKEN", "tokentoken"},
                                 {"AWS_REGION", "eu-3"}}};
  http_server server;
  auto options = patient_remote();
  options.s3_endpoint = server.address("");
  const mounted_remote mounted{options};
  server.put("/b/x%20y", numbered(1'000'000));
  const auto file = detail::open_file("s3://b/x y");
  CHECK(file->name() == "s3://b/x y");
  std::vector<std::byte> out(1000);
  file->read(500'000, out);
  for (const http_request& request : server.take_requests()) {
    const std::string by = request.header("authorization");
    CHECK(contains(by, "AWS4-HMAC-SHA256 Credential=AKIDNAME/"));
    CHECK(contains(by, "/eu-3/s3/aws4_request, SignedHeaders="));
    CHECK(contains(by, "x-amz-security-token"));
    CHECK(request.header("x-amz-content-sha256") == "UNSIGNED-PAYLOAD");
    CHECK(request.header("x-amz-security-token") == "tokentoken");
    CHECK_FALSE(contains(by, "hush"));
  }

  http_server other;
  const auto shown = [&](const http_fault& fault) {
    server.set_script([fault](const auto&) { return fault; });
    return message_of<dataset_error>([&] { file->read(900'000, out); });
  };
  const std::string body =
      "<Error><Code>SignatureDoesNotMatch</Code><Message>No.</Message><AWSAccessKeyId>AKIDNAME"
      "</AWSAccessKeyId><Token>tokentoken</Token></Error>";
  const std::string refused = shown(http_fault::status(403, {}, body));
  CHECK(contains(refused, "s3://b/x y: byte 900000: cannot be read: the server answers 403"));
  CHECK(contains(refused, "(SignatureDoesNotMatch: No.)"));
  const std::string sent_away = shown(http_fault::status(
      301, "Location: " + other.address("/x") + "\r\nx-amz-bucket-region: eu-9\r\n"));
  CHECK(contains(sent_away, "the bucket is in region eu-9: set AWS_REGION to that"));
  CHECK(other.take_requests().empty());
  for (const std::string& words : {refused, sent_away})
    for (const char* const secret : {"AKIDNAME", "hush", "tokentoken"})
      CHECK_FALSE(contains(words, secret));
}

TEST_CASE("s3: without a signature no credentials are sent, not even as a password",
          "[remote][host]") {
  const aws_variables variables{{{"AWS_ACCESS_KEY_ID", "a"}, {"AWS_SECRET_ACCESS_KEY", "b"}}};
  http_server server;
  auto options = patient_remote();
  options.s3_endpoint = server.address("");
  options.s3_region = std::string(8'000'001, 'r');  // more than libcurl takes
  const mounted_remote mounted{options};
  server.put("/b/x", numbered(10));
  CHECK(contains(message_of<dataset_error>([] { (void)detail::open_file("s3://b/x"); }),
                 "s3://b/x: cannot be opened: libcurl does not take its setting "));
  CHECK(server.take_requests().empty());
}

TEST_CASE("s3: a folder instead of a file of credentials is ignored", "[remote][host]") {
  const temporary_directory home;
  const std::string folder = home.path().string();
  const aws_variables variables{
      {{"AWS_SHARED_CREDENTIALS_FILE", folder}, {"AWS_CONFIG_FILE", folder}}};
  http_server server;
  auto options = patient_remote();
  options.s3_endpoint = server.address("");
  server.put("/b/x", numbered(10));
  for (const char* const region : {"", "r"}) {  // with a region, the requests' thread looks first
    options.s3_region = region;
    const mounted_remote mounted{options};
    CHECK(detail::open_file("s3://b/x")->size() == 10);
  }
}

TEST_CASE("s3: anonymous requests are not signed, and a refusal says so", "[remote][host]") {
  const aws_variables variables{{{"AWS_ACCESS_KEY_ID", "a"}, {"AWS_SECRET_ACCESS_KEY", "b"}}};
  http_server server;
  auto options = patient_remote();
  options.s3_endpoint = server.address("");
  options.s3_anonymous = true;
  const mounted_remote mounted{options};
  server.put("/b/x", numbered(10));
  CHECK(detail::open_file("s3://b/x")->size() == 10);
  for (const http_request& request : server.take_requests())
    CHECK(request.header("authorization").empty());
  server.set_script([](const auto&) { return http_fault::status(403); });
  CHECK(contains(message_of<dataset_error>([] { (void)detail::open_file("s3://b/y"); }),
                 "s3://b/y: cannot be opened: the server answers 403 Scripted: it gives no access; "
                 "check the address, the credentials, and whether these have expired; the request "
                 "was not signed: no credentials were found"));
}

TEST_CASE("s3: a key with a part of dots alone is refused, because it would be shortened",
          "[remote][host]") {
  const aws_variables variables{{{"AWS_ACCESS_KEY_ID", "a"}, {"AWS_SECRET_ACCESS_KEY", "b"}}};
  http_server server;
  auto options = patient_remote();
  options.s3_endpoint = server.address("");
  const mounted_remote mounted{options};
  server.put("/b/x", numbered(10));
  for (const char* const path : {"s3://b/a/../x", "s3://b/./x", "s3://b/../b/x", "s3://b/a/.."})
    CHECK(contains(message_of<dataset_error>([&] { (void)detail::open_file(path); }),
                   "would shorten the '.' or '..' in its key"));
  CHECK(server.take_requests().empty());
  server.put("/b/.a/b..c/...", numbered(20));
  CHECK(detail::open_file("s3://b/.a/b..c/...")->size() == 20);
}

TEST_CASE("s3: patterns and folders are listed page by page", "[remote][host]") {
  const aws_variables variables{{}};
  http_server server;
  auto options = patient_remote();
  options.s3_endpoint = server.address("");
  const mounted_remote mounted{options};
  const std::string more =
      "<IsTruncated>true</IsTruncated><NextContinuationToken>a/+=</NextContinuationToken>";
  const std::string some = list_of(object("d/x-0.npy"));
  answer_lists(server, {list_of(""), list_of(""), some,
                        list_of(object("d/") + object("d/x-1.npy") + folder("d/old/") + more),
                        list_of(object("d/x-0.npy") + object("d/y.txt"))});
  CHECK(expand_paths({"s3://b/d/x-*.npy"}) ==
        std::vector<std::string>{"s3://b/d/x-0.npy", "s3://b/d/x-1.npy"});
  const auto made = server.take_requests();
  REQUIRE(made.size() == 7);  // first whether there is an object or folder of that very name
  CHECK(made[0].path == "/b/d/x-%2A.npy");
  CHECK(made[4].path == "/b/?delimiter=%2F&encoding-type=url&list-type=2&max-keys=1&prefix=d%2F");
  CHECK(made[6].path ==
        "/b/?continuation-token=a%2F%2B%3D&delimiter=%2F&encoding-type=url&list-type=2&max-keys="
        "1000&prefix=d%2F");

  answer_lists(server, {list_of(more), list_of(more)});
  const auto list = [] {
    return message_of<dataset_error>(
        [] { (void)detail::file_system_of("s3://b/d")->list("s3://b/d"); });
  };
  CHECK(contains(list(), "s3://b/d: cannot be listed: the list comes to the same page again"));
  const auto token = [](const std::string& name) {
    return "<IsTruncated>true</IsTruncated><NextContinuationToken>" + name +
           "</NextContinuationToken>";
  };
  const std::string one = list_of(object("d/x") + token("1"));
  const std::string two = list_of(object("d/y") + token("2"));
  answer_lists(server, {one, two, one, two, one});
  CHECK(contains(list(), "s3://b/d: cannot be listed: the list comes to the same page again"));
  server.set_script([&, number = std::make_shared<std::atomic<int>>(0)](const auto&) {
    return http_fault::status(200, {}, list_of(token(std::to_string(++*number))));
  });
  CHECK(contains(list(), "more than 1000 pages in a row are empty"));
  answer_lists(server, {list_of(object("d/x") + folder("d//") + folder("d/e/"))});
  const auto entries = detail::file_system_of("s3://b/d")->list("s3://b/d");
  REQUIRE(entries.size() == 2);  // without the folder of no name
  CHECK(entries[1].name == "e");
  answer_lists(server, {list_of(object("e/x"))});
  CHECK(contains(list(), "the list names 'e/x', which is not in the folder"));
  answer_lists(server, {list_of("<IsTruncated>true</IsTruncated>")});
  CHECK(contains(list(), "the list is truncated, and does not say how it continues"));
  server.set_script([](const auto&) {
    return http_fault::status(404, {}, "<Code>NoSuchBucket</Code><Message>None.</Message>");
  });
  CHECK(contains(list(), "there is no such bucket; check its name, and the region"));
  CHECK(contains(message_of<dataset_error>([] { (void)detail::open_file("s3://b"); }),
                 "s3://b: is a folder; name an object in it"));
}

TEST_CASE("s3: an endpoint that is no address is refused, and does not disturb local files",
          "[remote][host]") {
  const aws_variables variables{{{"AWS_ENDPOINT_URL", "minio:9000"}}};
  const std::string words = " is 'minio:9000'; it begins with http:// or https://";
  const mounted_remote mounted;
  CHECK(message_of<usage_error>([] { (void)detail::open_file("s3://b/x"); }) ==
        "AWS_ENDPOINT_URL" + words);
  CHECK(message_of<usage_error>([] { mount_remote_files({.s3_endpoint = "minio:9000"}); }) ==
        "mount_remote_files: remote_options::s3_endpoint" + words);
  const temporary_directory folder;
  const auto path = folder.write("a.npy", npy_bytes(npy_dictionary("|u1", "(3, 2)"), numbered(6)));
  CHECK(open(path.string())->size() == 3);
}
