#include "remote/request/attempt.hpp"

#include "remote/request/counts.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::size_t max_error_body = std::size_t{4} << 10;
constexpr std::size_t max_headers = std::size_t{256} << 10;  // those of redirects among them

}  // namespace

std::size_t attempt::on_header(const char* line, std::size_t, std::size_t bytes, void* self) try {
  auto& its = *static_cast<attempt*>(self);
  its.last_byte_ = clock::now();
  its.header_bytes_ += bytes;
  if (its.header_bytes_ > max_headers) {
    its.is_judged_ = its.was_cut_ = true;
    its.verdict_ = {remote_fault::garbage, "the server's headers do not end"};
    return 0;
  }
  if (!its.is_judged_) its.answer_.add({line, bytes});  // else it is a trailer
  return bytes;
} catch (...) {
  return 0;  // short of memory: libcurl ends the request
}

std::size_t attempt::on_body(const char* data, std::size_t, std::size_t bytes, void* self) try {
  return static_cast<attempt*>(self)->take(data, bytes) ? bytes : 0;
} catch (...) {
  return 0;
}

bool attempt::take(const char* data, std::size_t bytes) {
  last_byte_ = clock::now();
  if (!is_judged_) judge();
  if (verdict_.fault != remote_fault::none || answer_.status == 416) {
    // A short body is taken to its end, so that the connection can be used again; but not after
    // garbage, whose rest would be taken for the beginning of the next answer.
    const std::size_t kept = std::min(bytes, max_error_body - error_.size());
    error_.append(data, kept);
    was_cut_ = kept < bytes || verdict_.is_likely_lasting();
    return !was_cut_;
  }
  if (of_->wanted.what == wanted_bytes::kind::text) {
    was_cut_ = bytes > remote_transfer::max_text - text_.size();
    if (!was_cut_) text_.append(data, bytes);
    return !was_cut_;
  }
  const std::uint64_t missing =
      std::min<std::uint64_t>(of_->out.bytes(), body_bytes(answer_).value_or(0)) - got_;
  if (bytes > missing) {
    verdict_ = {remote_fault::wrong_length, "the server sends more bytes than it says"};
    was_cut_ = true;
    return false;
  }
  if (own_.empty()) {
    require_memory();
    out_.put(std::as_bytes(std::span{data, bytes}));
  } else {
    std::memcpy(own_.data() + got_, data, bytes);
  }
  if (sum_) sum_->add(std::as_bytes(std::span{data, bytes}));
  got_ += bytes;
  counters().bytes.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

void attempt::judge() {
  is_judged_ = true;
  verdict_ = judge_answer(of_->wanted, answer_);
  // With a range, what a store tells may be of the part or of the whole.
  const bool is_object = of_->wanted.what != wanted_bytes::kind::text;
  if (is_object && verdict_.fault == remote_fault::none && has_whole_object(answer_))
    sum_ = running_checksum::of(answer_.checksum);
}

void attempt::require_memory() {
  if (!of_->give_memory) return;
  of_->give_memory();
  of_->give_memory = {};
}

void attempt::deliver() {
  if (own_.empty()) return;
  require_memory();
  out_.put(std::span{own_}.first(static_cast<std::size_t>(got_)));
  counters().hedges_won.fetch_add(1, std::memory_order_relaxed);
}

attempt::reached attempt::reached_server() const noexcept {
  reached found;
  long redirects = 0;
  if (direct_servers::least_bytes() == direct_servers::never ||
      !direct_address::of(of_->target->url))
    return {};
  if (curl_easy_getinfo(easy(), CURLINFO_REDIRECT_COUNT, &redirects) != CURLE_OK ||
      redirects != 0 || curl_easy_getinfo(easy(), CURLINFO_PRIMARY_PORT, &found.port) != CURLE_OK)
    return {};
  char* ip = nullptr;
  if (curl_easy_getinfo(easy(), CURLINFO_PRIMARY_IP, &ip) == CURLE_OK) found.ip = ip;
  return found;
}

in_flight_limit::answer attempt::measured() const noexcept {
  const std::string_view url = of_->target->url;
  const std::string_view server = url.substr(0, url.find('/', url.find("://") + 3));
  if (easy() == nullptr)
    return {.server = server,
            .latency = first_byte_ - sent_,
            .body = last_byte_ - first_byte_,
            .bytes = got_};
  const auto time = [this](CURLINFO which) {
    curl_off_t microseconds = 0;
    curl_easy_getinfo(easy(), which, &microseconds);
    return in_flight_limit::seconds{std::chrono::microseconds{microseconds}};
  };
  const auto first_byte = time(CURLINFO_STARTTRANSFER_TIME_T);
  // Before the request is sent: curl's own time of that is late if the thread is not running then,
  // and one far server that seems near stays so.
  const auto connected = std::max(time(CURLINFO_CONNECT_TIME_T), time(CURLINFO_APPCONNECT_TIME_T));
  return {.server = server,
          .latency = first_byte - connected,
          .body = time(CURLINFO_TOTAL_TIME_T) - first_byte,
          .bytes = got_};
}

answer_verdict attempt::end(CURLcode code) {
  const bool is_told = code == CURLE_OK || was_cut_;
  answer_verdict verdict = is_told ? judge_end() : judge_code(code);
  of_->answer = std::move(answer_);
  of_->got = got_;
  of_->latency = std::chrono::duration_cast<std::chrono::nanoseconds>(measured().latency);
  of_->text = std::move(text_);
  return verdict;
}

answer_verdict attempt::judge_end() {
  if (!is_judged_) judge();
  const bool is_opening = of_->wanted.what == wanted_bytes::kind::opening;
  if (is_opening && answer_.status == 416 && says_empty(error_)) return {};
  if (verdict_.fault != remote_fault::none) {
    if (const std::string words = store_words(error_); !words.empty())
      verdict_.words += " (" + words + ")";
    const bool has_no_access = answer_.status == 401 || answer_.status == 403;
    if (has_no_access && of_->target->identity && !is_signed_)
      verdict_.words +=
          "; the request was not signed: no credentials were found (AWS_ACCESS_KEY_ID and "
          "AWS_SECRET_ACCESS_KEY, or a profile in ~/.aws), or none were wanted";
    return verdict_;
  }
  if (of_->wanted.what == wanted_bytes::kind::text) {
    if (was_cut_)
      return {remote_fault::refused,
              "the answer has more than " + std::to_string(remote_transfer::max_text) + " bytes"};
    return {};
  }
  const std::uint64_t told = body_bytes(answer_).value_or(0);
  if (got_ == told && sum_) return sum_->judge(answer_.checksum);
  if (got_ == told) return {};
  return {remote_fault::wrong_length,
          "the server sends " + std::to_string(got_) + " of " + std::to_string(told) + " bytes"};
}

answer_verdict attempt::judge_code(CURLcode code) const {
  // Not libcurl's message of this request, which may quote the address with its secrets.
  const std::string words = curl_easy_strerror(code);
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
      return {remote_fault::unreachable, "the server cannot be reached: " + words};
    case CURLE_PARTIAL_FILE:
      return {remote_fault::wrong_length,
              "the server sends " + std::to_string(got_) + " bytes, and fewer than it says"};
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_OUT_OF_MEMORY:
    case CURLE_WRITE_ERROR:  // memory for a header or text
      return {remote_fault::reset, "the connection broke: " + words};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return {remote_fault::refused, "the server's certificate is not trusted: " + words +
                                         "; install its authority's certificate (ca-certificates), "
                                         "or name it by SSL_CERT_FILE"};
    case CURLE_TOO_MANY_REDIRECTS:
      return {remote_fault::refused,
              "the server redirects more than " + std::to_string(max_redirects) + " times"};
    case CURLE_URL_MALFORMAT:
      return {remote_fault::refused, "the address is not valid"};
    case CURLE_UNSUPPORTED_PROTOCOL:
      if (answer_.status >= 300 && answer_.status < 400)
        return {remote_fault::refused,
                "the server redirects to an address that is not followed: neither http nor https, "
                "or http where https was asked for"};
      [[fallthrough]];
    default:
      return {remote_fault::garbage, "the server's answer makes no sense: " + words};
  }
}

}  // namespace feedline::detail
