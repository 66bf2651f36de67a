#include "remote/answer/answer.hpp"

#include "remote/answer/judge_answer.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"

#include <string>
#include <vector>

using namespace feedline;
using detail::http_answer;
using detail::remote_fault;
using kind = detail::wanted_bytes::kind;

namespace {

http_answer answer(const std::vector<std::string>& lines) {
  http_answer read;
  for (const std::string& line : lines) read.add(line + "\r\n");
  return read;
}

const detail::object_pin pin{1000, "\"a\"", {}};
const detail::wanted_bytes opening{kind::opening, 0, 64, {}};
const detail::wanted_bytes range{kind::range, 100, 50, pin};

}  // namespace

TEST_CASE("remote answers: headers are understood in any case, and the last answer counts",
          "[remote][host]") {
  const http_answer read =
      answer({"HTTP/1.1 302 Found", "Location: /x", "ETag: \"old\"", "HTTP/2 206 ",
              "CONTENT-length: 50", "content-Range:bytes 100-149/1000", "etag: \"a\"",
              "Retry-After: 7", "x-amz-bucket-region: eu-west-1", "Content-Encoding: identity"});
  CHECK(read.status == 206);
  CHECK(read.location.empty());
  CHECK(read.length == 50);
  REQUIRE(read.range);
  CHECK(read.range->begin == 100);
  CHECK(read.range->end == 150);
  CHECK(read.range->total == 1000);
  CHECK(read.etag == "\"a\"");
  CHECK(read.retry_after == std::chrono::seconds{7});
  CHECK(read.region == "eu-west-1");
  CHECK(read.encoding.empty());
  CHECK(read.garbled.empty());
}

TEST_CASE("remote answers: headers that make no sense are named, not guessed", "[remote][host]") {
  for (const std::string value : {"", "-1", "5 0", "50x", "99999999999999999999999", "+5", "0x10"})
    CHECK(answer({"HTTP/1.1 206 OK", "Content-Length: " + value}).garbled == "Content-Length");
  CHECK(answer({"HTTP/1.1 206 OK", "Content-Length: 5", "Content-Length: 6"}).garbled ==
        "Content-Length");
  for (const std::string value :
       {"", "bytes", "bytes 0-9", "bytes 9-0/10", "bytes 0-10/10", "lines 0-1/2", "bytes -1/2",
        "bytes 0-18446744073709551615/*", "bytes */x", "bytes 1/2-3"})
    CHECK(answer({"HTTP/1.1 206 OK", "Content-Range: " + value}).garbled == "Content-Range");
  CHECK(answer({"HTTP/1.1 206 OK", "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT"}).retry_after ==
        std::nullopt);
}

TEST_CASE("remote answers: each is taken, tried again or refused, as its status and headers say",
          "[remote][host]") {
  struct answered {
    detail::wanted_bytes wanted;
    std::vector<std::string> lines;
    remote_fault fault;
    std::string words;
  };
  const std::string ok = "HTTP/1.1 206 Partial Content";
  const std::string tag = "ETag: \"a\"";
  const std::vector<answered> cases{
      {range,
       {ok, tag, "Content-Range: bytes 100-149/1000", "Content-Length: 50"},
       remote_fault::none,
       ""},
      {range, {ok, tag, "Content-Range: bytes 100-149/*"}, remote_fault::none, ""},
      {range, {ok, tag}, remote_fault::garbage, "no Content-Range"},
      {range, {ok, tag, "Content-Range: bytes */1000"}, remote_fault::garbage, "no Content-Range"},
      {range,
       {ok, tag, "Content-Range: bytes 99-148/1000"},
       remote_fault::garbage,
       "sends bytes 99 to 149 where 100 to 150"},
      {range, {ok, tag, "Content-Range: bytes 100-150/1000"}, remote_fault::garbage, "151"},
      {range,
       {ok, tag, "Content-Range: bytes 100-149/1000", "Content-Length: 49"},
       remote_fault::garbage,
       "Content-Length is 49"},
      {range,
       {ok, tag, "Content-Range: bytes 100-149/1001"},
       remote_fault::changed,
       "has 1001 bytes now, and had 1000"},
      {range,
       {ok, "ETag: \"b\"", "Content-Range: bytes 100-149/1000"},
       remote_fault::changed,
       "has the ETag \"b\" now, and had \"a\""},
      {range, {ok, "Content-Range: bytes 100-149/1000"}, remote_fault::changed, "has no ETag now"},
      {range,
       {ok, tag, "Content-Range: bytes 100-149/1000", "Content-Encoding: gzip"},
       remote_fault::refused,
       "Content-Encoding: gzip"},
      {range,
       {"HTTP/1.1 200 OK", tag, "Content-Length: 1000"},
       remote_fault::ignored_range,
       "sends the whole object (status 200)"},
      {range, {"HTTP/1.1 404 Not Found"}, remote_fault::changed, "was deleted"},
      {range, {"HTTP/1.1 412 No"}, remote_fault::changed, "was written again"},
      {range, {"HTTP/1.1 416 No"}, remote_fault::changed, "fewer bytes"},
      {range, {"HTTP/1.1 503 Slow Down"}, remote_fault::throttled, "503 Slow Down"},
      {range, {"HTTP/1.1 429"}, remote_fault::throttled, "429"},
      {range, {"HTTP/1.1 500 x"}, remote_fault::server_error, "500"},
      {range, {"HTTP/1.1 403 Forbidden"}, remote_fault::refused, "gives no access"},
      {range,
       {"HTTP/1.1 301 x", "x-amz-bucket-region: us-west-2"},
       remote_fault::refused,
       "set AWS_REGION"},
      {range, {"HTTP/1.1 418 x"}, remote_fault::refused, "418"},
      {range, {"HTTP/1.1 abc"}, remote_fault::garbage, "no HTTP"},
      {opening, {"HTTP/1.1 404 x"}, remote_fault::missing, "no such object"},
      {opening, {ok, "Content-Range: bytes 0-63/1000"}, remote_fault::none, ""},
      {opening, {ok, "Content-Range: bytes 0-9/10"}, remote_fault::none, ""},
      {opening, {ok, "Content-Range: bytes 0-9/1000"}, remote_fault::garbage, "0 to 64"},
      {opening, {ok, "Content-Range: bytes 0-63/*"}, remote_fault::refused, "size"},
      {opening, {"HTTP/1.1 200 OK", "Content-Length: 64"}, remote_fault::none, ""},
      {opening, {"HTTP/1.1 200 OK", "Content-Length: 65"}, remote_fault::ignored_range, "200"},
      {opening, {"HTTP/1.1 200 OK"}, remote_fault::ignored_range, "200"},
      {opening, {"HTTP/1.1 416 x", "Content-Range: bytes */0"}, remote_fault::none, ""},
      {opening, {"HTTP/1.1 416 x", "Content-Range: bytes */5"}, remote_fault::refused, "416"},
  };
  for (const answered& each : cases) {
    CAPTURE(each.lines);
    const auto verdict = detail::judge_answer(each.wanted, answer(each.lines));
    CHECK(verdict.fault == each.fault);
    CHECK(test::contains(verdict.words, each.words));
    CHECK(verdict.words.empty() == (each.fault == remote_fault::none));
  }
}

TEST_CASE("remote answers: without a strong tag the date pins an object", "[remote][host]") {
  detail::wanted_bytes dated{kind::range, 100, 50, {1000, {}, "Mon"}};
  const std::string part = "Content-Range: bytes 100-149/1000";
  CHECK(detail::judge_answer(dated, answer({"HTTP/1.1 206 x", part, "Last-Modified: Mon"})).fault ==
        remote_fault::none);
  CHECK(detail::judge_answer(dated, answer({"HTTP/1.1 206 x", part, "Last-Modified: Tue"})).fault ==
        remote_fault::changed);
  detail::wanted_bytes weak{kind::range, 100, 50, {1000, "W/\"a\"", "Mon"}};
  for (const auto& [date, fault] : {std::pair{"Last-Modified: Mon", remote_fault::none},
                                    std::pair{"X: none", remote_fault::none},
                                    std::pair{"Last-Modified: Tue", remote_fault::changed}})
    CHECK(
        detail::judge_answer(weak, answer({"HTTP/1.1 206 x", part, "ETag: W/\"a\"", date})).fault ==
        fault);
  CHECK(detail::pin_of(
            answer({"HTTP/1.1 200 x", "Content-Length: 5", "Content-Range: bytes 0-4/1000"}))
            .size == 5);
  CHECK(detail::object_pin{1, "\"a\"", {}}.has_strong_tag());
  CHECK_FALSE(detail::object_pin{1, "W/\"a\"", {}}.has_strong_tag());
}

TEST_CASE("remote answers: only code and message of a store's error are shown", "[remote][host]") {
  CHECK(detail::store_words("<Error><Code>SlowDown</Code><Message>Reduce\n it</Message>"
                            "<AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>") ==
        "SlowDown: Reduce\\n it");
  CHECK(detail::store_words("<html>AKIA</html>").empty());
  CHECK(detail::store_words("<Code>").empty());
}
