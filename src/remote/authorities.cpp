#include "remote/authorities.hpp"

#include <system_error>

#include <cstdlib>
#include <filesystem>

#include <curl/curl.h>

namespace feedline::detail {
namespace {

/// Where Linux systems have them; a libcurl that was built on one system looks there alone.
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

}  // namespace feedline::detail
