#pragma once

#include <optional>
#include <string>

namespace feedline::detail {

/// The file of the certificates that are trusted: SSL_CERT_FILE if it is set, as for libcurl's
/// program; else, if libcurl's own file is not there, the one of this system. Empty: libcurl's own.
[[nodiscard]] std::optional<std::string> certificate_file();

}  // namespace feedline::detail
