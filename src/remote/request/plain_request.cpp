#include "remote/request/plain_request.hpp"

#include "remote/request/attempt.hpp"
#include "remote/request/transfer_loop.hpp"

#include <memory>
#include <new>
#include <optional>
#include <string>

#include <curl/curl.h>

namespace feedline::detail {
namespace {

constexpr std::size_t max_body = std::size_t{64} << 10;

std::size_t on_body(const char* data, std::size_t, std::size_t bytes, void* into) try {
  auto& body = *static_cast<std::string*>(into);
  if (bytes > max_body - body.size()) return 0;
  body.append(data, bytes);
  return bytes;
} catch (...) {
  return 0;
}

}  // namespace

plain_answer make_request(const plain_request& wanted) {
  (void)transfer_loop::of_this_process();  // prepares libcurl
  const curl_easy_ptr easy{curl_easy_init()};
  if (!easy) throw std::bad_alloc{};
  std::unique_ptr<curl_slist, curl_list_end> headers;
  for (const std::string& line : wanted.headers) {
    curl_slist* const longer = curl_slist_append(headers.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc{};
    (void)headers.release();
    headers.reset(longer);
  }
  plain_answer answer;
  bool is_set = true;
  const auto set = [&](CURLoption option, auto value) {
    is_set = is_set && curl_easy_setopt(easy.get(), option, value) == CURLE_OK;
  };
  set(CURLOPT_URL, wanted.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(wanted.connect_within.count()));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(wanted.answer_within.count()));
  set(CURLOPT_WRITEFUNCTION, &on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&answer.body));
  if (wanted.past_proxies) set(CURLOPT_PROXY, "");
  if (headers) set(CURLOPT_HTTPHEADER, headers.get());
  if (wanted.method == "POST") {
    set(CURLOPT_POSTFIELDSIZE, static_cast<long>(wanted.body.size()));
    set(CURLOPT_COPYPOSTFIELDS, wanted.body.c_str());
  } else if (wanted.method != "GET") {
    set(CURLOPT_CUSTOMREQUEST, wanted.method.c_str());
  }
  const std::optional<std::string> authorities = certificate_file();
  if (authorities) set(CURLOPT_CAINFO, authorities->c_str());
  (void)curl_easy_setopt(easy.get(), CURLOPT_QUICK_EXIT, 1L);  // since 7.87
  if (!is_set) {
    answer.failure = "libcurl does not take a setting";
    return answer;
  }
  if (const CURLcode code = curl_easy_perform(easy.get()); code != CURLE_OK)
    answer.failure = curl_easy_strerror(code);
  else
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &answer.status);
  return answer;
}

}  // namespace feedline::detail
