#include "hdf5/library/external_rule.hpp"

#include <system_error>

#include <algorithm>

namespace feedline::detail {
namespace {

namespace fs = std::filesystem;

/// Follows links as far as the path exists; the missing rest keeps its name.
fs::path end_of(const fs::path& path) {
  std::error_code failure;
  fs::path end = fs::weakly_canonical(fs::absolute(path, failure), failure);
  return failure ? fs::path{} : end;
}

bool lies_within(const fs::path& path, const fs::path& folder) {
  if (path.empty() || folder.empty()) return false;
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

}  // namespace

hdf5_external_rule::hdf5_external_rule(const fs::path& file, external_files allowed)
    : allowed_{allowed} {
  std::error_code failure;
  folder_ = end_of(fs::absolute(file, failure).parent_path());
  actual_folder_ = end_of(file).parent_path();
}

std::string hdf5_external_rule::refusal_of(const fs::path& other) const {
  if (allowed_ == external_files::allow) return {};
  if (allowed_ == external_files::refuse)
    return "is not the file that was opened, and no other may be read "
           "(hdf5_options::external is external_files::refuse); if you trust the HDF5 file, allow "
           "it by external_files::same_folder or ::allow (programs: --external same-folder or "
           "allow)";
  const fs::path end = end_of(other);
  if (lies_within(end, folder_) || lies_within(end, actual_folder_)) return {};
  std::string text = "lies outside the folder of the HDF5 file";
  if (end != other.lexically_normal()) text += " (it leads to " + end.string() + ')';
  return text +
         ", so it is not read for it; if you trust the HDF5 file, allow it by "
         "hdf5_options::external = external_files::allow (programs: --external allow)";
}

}  // namespace feedline::detail
