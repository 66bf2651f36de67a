#pragma once

#include "remote/object_files.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Files of web servers, "http://…" and "https://…". They cannot be listed.
class web_files final : public object_files {
 public:
  /// @param target Without an address.
  web_files(remote_target target, std::uint64_t max_ahead_bytes,
            std::shared_ptr<const cache_setting> cache = nullptr)
      : object_files{max_ahead_bytes, std::move(cache)}, target_{std::move(target)} {}

  [[nodiscard]] entry_kind kind_of(const std::string& path) const noexcept override;
  [[nodiscard]] std::vector<folder_entry> list(const std::string& folder) const override;

 private:
  [[nodiscard]] remote_target target_of(const std::string& path) const override;

  const remote_target target_;
};

}  // namespace feedline::detail
