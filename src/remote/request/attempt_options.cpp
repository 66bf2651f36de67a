// How libcurl is to make a request.

#include <feedline/version.hpp>

#include "remote/request/attempt.hpp"

#include <system_error>

#include <cstdlib>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

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

}  // namespace feedline::detail
