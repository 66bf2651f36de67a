#include "remote/cache/block_key.hpp"

#include <feedline/detail/splitmix64.hpp>

#include <algorithm>
#include <array>

namespace feedline::detail {
namespace {

/// A byte a step, each step mixed. It need not withstand forgers: files carry their text.
std::uint64_t hash_of(std::string_view text, std::uint64_t state = golden_gamma) noexcept {
  for (const char c : text) state = mix(state + static_cast<unsigned char>(c) + golden_gamma);
  return mix(state + text.size());
}

/// Parameters of signed addresses of Amazon, Google and Azure: they change while the object stays.
bool is_signature(std::string_view parameter) {
  static constexpr auto names = std::to_array<std::string_view>({"awsaccesskeyid",
                                                                 "expires",
                                                                 "googleaccessid",
                                                                 "key-pair-id",
                                                                 "policy",
                                                                 "signature",
                                                                 "se",
                                                                 "sig",
                                                                 "sip",
                                                                 "ske",
                                                                 "skoid",
                                                                 "sks",
                                                                 "skt",
                                                                 "sktid",
                                                                 "skv",
                                                                 "sp",
                                                                 "spr",
                                                                 "sr",
                                                                 "st",
                                                                 "sv"});
  std::string name{parameter.substr(0, parameter.find('='))};
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (name.starts_with("x-amz-") || name.starts_with("x-goog-")) return true;
  return std::ranges::find(names, name) != names.end();
}

std::string without_signature(std::string_view query) {
  std::string kept;
  while (!query.empty()) {
    const std::string_view parameter = query.substr(0, query.find('&'));
    if (!is_signature(parameter)) kept += std::string{parameter} + "&";
    query.remove_prefix(std::min(query.size(), parameter.size() + 1));
  }
  return kept;
}

}  // namespace

object_identity identify(std::string_view url, const std::string& version, std::uint64_t size,
                         std::uint64_t block_bytes) {
  url = url.substr(0, url.find('#'));
  const std::size_t question = url.find('?');
  const std::string query =
      question == std::string_view::npos ? "" : without_signature(url.substr(question + 1));
  std::string address{url.substr(0, question)};
  if (const std::size_t begin = address.find("://"); begin != std::string::npos) {
    const std::size_t host = begin + 3;
    const std::size_t at = address.substr(0, address.find('/', host)).rfind('@');
    if (at != std::string::npos && at >= host) address.erase(host, at + 1 - host);
  }
  object_identity made{.text = address + "\n" + version + "\n" + std::to_string(block_bytes),
                       .hash = 0,
                       .block_bytes = block_bytes,
                       .size = size};
  made.hash = hash_of(made.text, hash_of(query));
  made.text += "\n" + std::to_string(made.hash);
  return made;
}

std::uint64_t block_id::key() const noexcept {
  return mix(object ^ mix(number + golden_gamma));
}

}  // namespace feedline::detail
