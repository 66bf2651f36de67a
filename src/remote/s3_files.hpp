#pragma once

#include "remote/object_files.hpp"
#include "remote/request/s3_identity.hpp"
#include "remote/s3_listing.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// A bucket, and a key or the beginning of keys in it.
struct s3_location {
  std::string bucket;
  std::string key;
};

/// @param path "s3://BUCKET/KEY". @throws dataset_error if it names no bucket.
[[nodiscard]] s3_location s3_location_of(const std::string& path);

/// The address by which a location is asked for. A bucket of AWS is a host of its own, unless its
/// name has a dot, which certificates do not cover; other endpoints have buckets in the path.
/// @param endpoint Empty: AWS's of the region.
[[nodiscard]] std::string s3_address(const s3_location& place, const std::string& endpoint,
                                     const std::string& region);

/// Objects of S3 and stores like it, "s3://BUCKET/KEY". Keys with a common beginning up to a '/'
/// count as a folder.
class s3_files final : public object_files {
 public:
  /// @param target Without an address, and with an identity.
  s3_files(remote_target target, std::uint64_t max_ahead_bytes,
           std::shared_ptr<const cache_setting> cache = nullptr)
      : object_files{max_ahead_bytes, std::move(cache)}, target_{std::move(target)} {}

  [[nodiscard]] entry_kind kind_of(const std::string& path) const noexcept override;
  [[nodiscard]] std::vector<folder_entry> list(const std::string& folder) const override;

 private:
  [[nodiscard]] remote_target target_of(const std::string& path) const override;
  [[nodiscard]] remote_target at(const s3_location& place) const;
  [[nodiscard]] s3_page page(const std::string& folder, const s3_location& below,
                             const std::string& token, int max_keys) const;

  const remote_target target_;
};

}  // namespace feedline::detail
