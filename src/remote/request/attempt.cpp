// Over 250 lines: a request is set up, followed and judged as one.

#include "remote/request/attempt.hpp"

#include <feedline/version.hpp>

#include "remote/request/counts.hpp"

#include <system_error>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::size_t max_error_body = std::size_t{4} << 10;
constexpr std::size_t max_headers = std::size_t{256} << 10;  // those of redirects among them
constexpr long max_redirects = 5;
/// Each handle has a buffer of its own. An answer of usual rows comes in one piece while the
/// buffers of a thread stay in its core's cache, and in several once they do not.
constexpr std::size_t few_requests = 8;
constexpr long buffer_of_few = long{256} << 10;
constexpr long buffer_of_many = long{32} << 10;

/// Certificates that are trusted, where Linux systems have them. A libcurl that was built on one
/// system looks there alone.
constexpr const char* known_files[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Gentoo, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",                             // openSUSE
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // CentOS, RHEL 7 and newer
    "/etc/ssl/cert.pem",                                  // Alpine
};

bool exists(const char* path) {
  std::error_code ignored;
  return path != nullptr && std::filesystem::exists(path, ignored);
}

/// Without a setting a request might go elsewhere, or send a secret as a password.
struct option_setter {
  CURL* easy;

  template <class Value>
  void operator()(CURLoption option, Value value) const {
    const CURLcode code = curl_easy_setopt(easy, option, value);
    if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc{};
    if (code != CURLE_OK)
      throw std::runtime_error{"libcurl does not take its setting " + std::to_string(option) +
                               " (" + curl_easy_strerror(code) +
                               "); it must be 7.86 or later, with TLS and AWS's signatures"};
  }
};

}  // namespace

std::optional<std::string> certificate_file() {
  const char* const named = std::getenv("SSL_CERT_FILE");  // NOLINT(concurrency-mt-unsafe)
  if (named != nullptr && *named != '\0') return named;
  const curl_version_info_data& libcurl = *curl_version_info(CURLVERSION_NOW);
  if (exists(libcurl.cainfo) || exists(libcurl.capath)) return std::nullopt;
  for (const char* const path : known_files)
    if (exists(path)) return path;
  return std::nullopt;
}

const std::string& attempt::user_agent() {
  static const std::string name = "feedline/" + std::to_string(FEEDLINE_VERSION_MAJOR) + "." +
                                  std::to_string(FEEDLINE_VERSION_MINOR) + "." +
                                  std::to_string(FEEDLINE_VERSION_PATCH);
  return name;
}

attempt::attempt(transfer_ptr of, request_handle handle, role as, std::size_t index,
                 const surroundings& in)
    : of_{std::move(of)},
      handle_{std::move(handle)},
      index_{index},
      own_(as == role::hedge ? static_cast<std::size_t>(of_->out.bytes()) : 0),
      out_{of_->out} {
  if (!handle_.is_set) set_shared_options(in);
  set_options();
}

/// Those that stay with the handle.
void attempt::set_shared_options(const surroundings& in) {
  const option_setter set{easy()};
  handle_.target.reset();
  curl_easy_reset(easy());
  // Without it it works, too: libcurl may have no HTTP/2.
  (void)curl_easy_setopt(easy(), CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  if (in.authorities) set(CURLOPT_CAINFO, in.authorities->c_str());
  set(CURLOPT_NOSIGNAL, 1L);
  // A request that ends while its server's name is looked up does not wait for that.
  (void)curl_easy_setopt(easy(), CURLOPT_QUICK_EXIT, 1L);  // since 7.87
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_MAXREDIRS, max_redirects);
  set(CURLOPT_USERAGENT, user_agent().c_str());
  set(CURLOPT_TCP_NODELAY, 1L);
  set(CURLOPT_HEADERFUNCTION, &attempt::on_header);
  set(CURLOPT_WRITEFUNCTION, &attempt::on_body);
  set(CURLOPT_CLOSESOCKETFUNCTION, in.on_close);
  set(CURLOPT_CLOSESOCKETDATA, in.sockets);
  set(CURLOPT_SOCKOPTFUNCTION, in.on_open);
  set(CURLOPT_SOCKOPTDATA, in.sockets);
}

void attempt::set_options() {
  const option_setter set{easy()};
  const remote_target& target = *of_->target;
  handle_.is_set = false;  // until all are set
  // It may keep the buffer that it has.
  (void)curl_easy_setopt(easy(), CURLOPT_BUFFERSIZE,
                         index_ < few_requests ? buffer_of_few : buffer_of_many);
  if (handle_.target != of_->target) {
    set(CURLOPT_URL, target.url.c_str());
    set(CURLOPT_FOLLOWLOCATION, target.follows_redirects ? 1L : 0L);
    // An encrypted request stays encrypted.
    set(CURLOPT_REDIR_PROTOCOLS_STR, target.url.starts_with("https:") ? "https" : "http,https");
    handle_.target = of_->target;
  }
  set(CURLOPT_FRESH_CONNECT,
      of_->fault.fault == remote_fault::stalled ? 1L : 0L);  // it may be dead
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(CURLOPT_PRIVATE, static_cast<void*>(this));
  if (const wanted_bytes& wanted = of_->wanted; wanted.what != wanted_bytes::kind::text) {
    const std::string range =
        std::to_string(wanted.begin) + "-" + std::to_string(wanted.begin + wanted.bytes - 1);
    set(CURLOPT_RANGE, range.c_str());
  } else {
    set(CURLOPT_RANGE, static_cast<const char*>(nullptr));
  }
  s3_credentials signer;
  if (target.identity) signer = target.identity->credentials();
  is_signed_ = !signer.is_anonymous();
  // Newer versions refuse to sign a path that may have "..". Keys with ".." are refused before.
  set(CURLOPT_PATH_AS_IS, is_signed_ ? 0L : 1L);
  if (is_signed_) {
    set(CURLOPT_AWS_SIGV4, ("aws:amz:" + target.identity->region() + ":s3").c_str());
    set(CURLOPT_USERNAME, signer.key_id.c_str());
    set(CURLOPT_PASSWORD, signer.secret.c_str());
  }
  set_headers(signer);
  set(CURLOPT_HTTPHEADER, headers_.get());
  handle_.is_set = !is_signed_;  // another request must not have a signature of this one
}

/// Answers of another version are refused with 412. If-Range would not do: with it a changed object
/// comes whole, with status 200.
std::string attempt::condition_of(const object_pin& pin) {
  if (pin.has_strong_tag()) return "If-Match: " + pin.etag;
  if (pin.etag.empty() && !pin.last_modified.empty())
    return "If-Unmodified-Since: " + pin.last_modified;
  return {};
}

void attempt::set_headers(const s3_credentials& signer) {
  const auto add = [this](const std::string& line) {
    curl_slist* const longer = curl_slist_append(headers_.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc{};
    (void)headers_.release();
    headers_.reset(longer);
  };
  if (!signer.is_anonymous()) {
    add("x-amz-content-sha256: UNSIGNED-PAYLOAD");
    if (!signer.session_token.empty()) add("x-amz-security-token: " + signer.session_token);
  }
  const wanted_bytes& wanted = of_->wanted;
  const bool may_be_whole =
      wanted.what == wanted_bytes::kind::opening ||
      (wanted.what == wanted_bytes::kind::range && wanted.bytes == wanted.pin.size);
  // Only to S3: the signature of an address must have all such headers.
  if (may_be_whole && of_->target->identity) add("x-amz-checksum-mode: ENABLED");
  if (const std::string condition = condition_of(wanted.pin); !condition.empty()) add(condition);
}

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
  const std::uint64_t room =
      std::min<std::uint64_t>(of_->out.bytes(), body_bytes(answer_).value_or(0)) - got_;
  if (bytes > room) {
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
