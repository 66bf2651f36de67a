#include <feedline/dataset/hdf5_dataset.hpp>

#include "dataset/name_list.hpp"
#include "dataset/open_whole.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

bool are_of_the_same_records(const hdf5_listing& a, const hdf5_listing& b) {
  const auto records_of = [](const hdf5_listing& each) {
    return each.dataset.substr(0, each.dataset.size() - each.member.size());
  };
  return !a.member.empty() && !b.member.empty() && records_of(a) == records_of(b);
}

/// A member's own name, or, where records in records have several of that name, those that lead to it.
std::string name_of(const hdf5_listing& wanted, const std::vector<hdf5_listing>& all) {
  const auto namesakes = std::count_if(all.begin(), all.end(), [&](const hdf5_listing& other) {
    return other.spec.name == wanted.spec.name && are_of_the_same_records(wanted, other);
  });
  if (namesakes == 1 || wanted.member.empty()) return wanted.spec.name;
  std::string path = wanted.member;
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

/// What cannot be read might be one of the fields that the caller expects.
void require_readable(const std::filesystem::path& path, const std::vector<hdf5_listing>& listing) {
  std::vector<std::string> readable;
  std::vector<std::string> unreadable;
  std::string reason;
  for (const hdf5_listing& each : listing) {
    (each.refusal.empty() ? readable : unreadable).push_back(each.dataset);
    if (reason.empty()) reason = each.refusal;
  }
  if (unreadable.empty()) return;
  std::string message = reason;
  if (unreadable.size() > 1)
    message += "; neither can be read " + list_names({unreadable.begin() + 1, unreadable.end()});
  if (!readable.empty())
    message += "; to open the file without what cannot be read, name fields in " +
               std::string{"open_options::fields, of "} + list_names(readable);
  throw dataset_error{{.path = path.string(), .field = unreadable.front()}, message};
}

}  // namespace

dataset_ptr open_whole_hdf5(const std::filesystem::path& path, const open_options& options) {
  std::vector<hdf5_field> fields;
  for (const std::string& dataset : options.fields) fields.push_back({dataset});
  if (!fields.empty()) return open_hdf5(path, std::move(fields));

  const auto listing = list_fields(path);
  require_readable(path, listing);
  const auto advice = [](const std::string& what) {
    return what + "; name those that belong together in open_options::fields";
  };
  if (listing.empty())
    throw dataset_error{{.path = path.string(), .field = {}},
                        "an HDF5 file with no dataset that can be a field"};
  for (const hdf5_listing& each : listing) {
    if (each.samples != listing.front().samples)
      throw dataset_error{
          {.path = path.string(), .field = each.dataset},
          advice("holds " + std::to_string(each.samples) + " samples, but " +
                 listing.front().dataset + " holds " + std::to_string(listing.front().samples))};
    const std::string name = name_of(each, listing);
    const auto same_name = [&](const hdf5_field& other) { return other.name == name; };
    if (const auto other = std::find_if(fields.begin(), fields.end(), same_name);
        other != fields.end())
      throw dataset_error{{.path = path.string(), .field = each.dataset},
                          advice("has the name of " + other->dataset)};
    fields.push_back({each.dataset, name});
  }
  return open_hdf5(path, std::move(fields));
}

}  // namespace feedline::detail
