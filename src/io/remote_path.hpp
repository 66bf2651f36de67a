#pragma once

#include <feedline/error.hpp>

#include <system_error>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

namespace feedline::detail {

/// A kind of address that is not a path, and the program that copies it to one.
struct address_kind {
  std::string_view scheme;
  std::string_view name;
  std::string_view advice;
};

/// Kinds of addresses that feedline opens if it has the library for them.
inline constexpr std::string_view opened_schemes = " http https s3 ";

inline constexpr auto address_kinds = std::to_array<address_kind>({
    {"s3a", "an object of Amazon S3", "aws s3 cp --recursive"},
    {"gs", "an object of Google Cloud Storage", "gcloud storage cp --recursive"},
    {"gcs", "an object of Google Cloud Storage", "gcloud storage cp --recursive"},
    {"az", "an object of Azure's storage", "azcopy copy --recursive"},
    {"abfs", "an object of Azure's storage", "azcopy copy --recursive"},
    {"abfss", "an object of Azure's storage", "azcopy copy --recursive"},
    {"ftp", "an address of an FTP server", "curl -O"},
    {"hf", "a data set of Hugging Face", "huggingface-cli download"},
    {"hdfs", "a file of Hadoop", "hdfs dfs -get"},
});

/// Refuses an address such as "s3://bucket/train.h5", unless there is a file of that name.
/// @throws dataset_error that names the kind, and how to get a path.
inline void refuse_remote_path(const std::string& path) {
  const std::size_t end = path.find("://");
  std::error_code ignored;
  if (end == std::string::npos || std::filesystem::exists(path, ignored)) return;
  const std::string scheme = path.substr(0, end);
  if (scheme == "file")
    throw dataset_error{{.path = path, .field = {}},
                        "an address, where a path is wanted; leave 'file://' out"};
  if (opened_schemes.find(" " + scheme + " ") != std::string_view::npos) {
#ifdef FEEDLINE_HAS_REMOTE
    constexpr std::string_view remedy =
        "call feedline::mount_remote_files() first (target feedline::remote)";
#else
    constexpr std::string_view remedy =
        "this feedline was built without libcurl and pugixml; install them (apt-get install "
        "libcurl4-openssl-dev libpugixml-dev) and build it again, or copy the file to a local disk";
#endif
    throw dataset_error{{.path = path, .field = {}},
                        "an object of another machine: " + std::string{remedy}};
  }
  const auto* const kind = std::ranges::find(address_kinds, scheme, &address_kind::scheme);
  if (kind != address_kinds.end())
    throw dataset_error{{.path = path, .field = {}},
                        std::string{kind->name} +
                            ", which is not supported yet: files are read by paths; copy it to a "
                            "local disk first (" +
                            std::string{kind->advice} + "), or mount it as a file system"};
}

}  // namespace feedline::detail
