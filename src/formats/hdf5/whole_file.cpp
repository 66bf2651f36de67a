#include "formats/hdf5/whole_file.hpp"

#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

using listings = std::vector<hdf5_listing>;

bool are_of_the_same_records(const hdf5_listing& a, const hdf5_listing& b) {
  const auto records_of = [](const hdf5_listing& each) {
    return each.dataset.substr(0, each.dataset.size() - each.member.size());
  };
  return !a.member.empty() && !b.member.empty() && records_of(a) == records_of(b);
}

/// A member's own name, or, where records in records have several of that name, those that lead to
/// it.
std::string name_of(const hdf5_listing& wanted, const listings& all) {
  const auto namesakes = std::count_if(all.begin(), all.end(), [&](const hdf5_listing& other) {
    return other.spec.name == wanted.spec.name && are_of_the_same_records(wanted, other);
  });
  if (namesakes == 1 || wanted.member.empty()) return wanted.spec.name;
  std::string path = wanted.member;
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

/// An unreadable dataset might be one of the fields that the caller expects.
void require_readable(const std::string& path, const listings& listing) {
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
    message += "; to open the file without unreadable datasets, name fields in " +
               std::string{"open_options::fields, of "} + list_names(readable);
  throw dataset_error{{.path = path, .field = unreadable.front()}, message};
}

/// Two fields that would have the same name, if there are any.
std::pair<const hdf5_listing*, const hdf5_listing*> find_namesakes(const listings& fields) {
  std::map<std::string, const hdf5_listing*> by_name;
  for (const hdf5_listing& each : fields)
    if (const auto [other, is_new] = by_name.emplace(name_of(each, fields), &each); !is_new)
      return {other->second, &each};
  return {};
}

/// Lists the lengths in the order in which they first occur, each with its datasets.
std::string list_lengths(const listings& all) {
  std::vector<std::pair<std::uint64_t, std::vector<std::string>>> lengths;
  for (const hdf5_listing& each : all) {
    auto found =
        std::ranges::find(lengths, each.samples, [](const auto& one) { return one.first; });
    if (found == lengths.end()) found = lengths.insert(found, {each.samples, {}});
    found->second.push_back(each.dataset);
  }
  constexpr std::size_t max_named = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(lengths.size(), max_named); ++i)
    text += (i == 0 ? "" : "; ") + std::to_string(lengths[i].first) + ": " +
            list_names(lengths[i].second);
  if (lengths.size() > max_named)
    text += "; and " + std::to_string(lengths.size() - max_named) + " more lengths";
  return text;
}

std::string absolute(const std::string& path) {
  return (path.starts_with('/') ? "" : "/") + path;
}

/// The datasets with as many samples as a chosen one; if some of them share a name, those of its
/// group.
listings choose_like(const std::string& path, const listings& all, const std::string& like) {
  const std::string wanted = absolute(like);
  const auto chosen = std::find_if(all.begin(), all.end(), [&](const hdf5_listing& each) {
    return each.dataset == wanted ||
           (!each.member.empty() && each.dataset == wanted + '/' + each.member);
  });
  if (chosen == all.end())
    throw dataset_error{
        {.path = path, .field = like},
        "open_options::like is not a dataset that can be a field; samples: " + list_lengths(all)};
  listings fields;
  std::ranges::copy_if(all, std::back_inserter(fields),
                       [&](const hdf5_listing& each) { return each.samples == chosen->samples; });
  if (find_namesakes(fields).second == nullptr) return fields;
  const std::string group = wanted.substr(0, wanted.find_last_of('/') + 1);
  std::vector<std::string> elsewhere;
  for (const hdf5_listing& each : fields)
    if (!each.dataset.starts_with(group)) elsewhere.push_back(each.dataset);
  log()->warn("open: {}: left out, because their names are also used by datasets beside {}: {}",
              printable(path), chosen->dataset, list_names(elsewhere));
  std::erase_if(fields, [&](const hdf5_listing& each) { return !each.dataset.starts_with(group); });
  return fields;
}

void require_belong_together(const std::string& path, const listings& fields) {
  const auto advice = [&](const std::string& dataset) {
    return "; choose one of those that belong together in open_options::like, as in \"" + dataset +
           "\", or name all in open_options::fields";
  };
  const hdf5_listing& first = fields.front();
  for (const hdf5_listing& each : fields)
    if (each.samples != first.samples)
      throw dataset_error{{.path = path, .field = each.dataset},
                          "holds " + std::to_string(each.samples) + " samples, but " +
                              first.dataset + " holds " + std::to_string(first.samples) +
                              advice(first.dataset) + ". Samples: " + list_lengths(fields)};
  if (const auto [one, other] = find_namesakes(fields); other != nullptr)
    throw dataset_error{{.path = path, .field = other->dataset},
                        "has the name of " + one->dataset + advice(one->dataset)};
}

}  // namespace

dataset_ptr open_whole_hdf5(const std::string& path, const open_options& options) {
  std::vector<hdf5_field> fields;
  for (const std::string& dataset : options.fields) fields.push_back({dataset});
  const hdf5_options how{.external = options.external};
  if (!fields.empty()) return open_hdf5(path, std::move(fields), how);

  std::vector<hdf5_left_out> no_fields;
  auto all = list_hdf5_fields(path, how, &no_fields);
  std::vector<std::string> left_out;
  for (const hdf5_left_out& each : no_fields)
    left_out.push_back(each.dataset + " (" + each.reason + ')');
  for (const hdf5_listing& each : all)
    if (each.is_ragged)
      left_out.push_back(each.dataset + " (of variable length: open_hdf5_ragged reads it)");
  const auto is_aside = [&](const hdf5_listing& each) {
    return !each.aside.empty() && each.dataset != absolute(options.like);
  };
  for (const hdf5_listing& each : all)
    if (is_aside(each)) left_out.push_back(each.dataset + " (" + each.aside + ')');
  const bool has_aside = std::ranges::any_of(all, is_aside);
  std::erase_if(all, [&](const hdf5_listing& each) { return each.is_ragged || is_aside(each); });
  require_readable(path, all);
  if (all.empty())
    throw dataset_error{
        {.path = path, .field = {}},
        "an HDF5 file with no dataset that can be a field" +
            (left_out.empty() ? std::string{} : "; it holds " + list_names(left_out)) +
            (has_aside ? "; fields may be named in open_options::fields" : "")};
  if (!options.like.empty())
    all = choose_like(path, all, options.like);
  else if (!left_out.empty())
    log()->warn("open: {}: left out: {}; name fields in open_options::fields", printable(path),
                list_names(left_out));
  require_belong_together(path, all);
  for (const hdf5_listing& each : all) fields.push_back({each.dataset, name_of(each, all)});
  return open_hdf5(path, std::move(fields), how);
}

std::vector<listed_field> list_whole_hdf5(const std::string& path, const open_options& options) {
  std::vector<hdf5_left_out> no_fields;
  const auto all = list_hdf5_fields(path, {.external = options.external}, &no_fields);
  std::vector<listed_field> listed;
  for (const hdf5_listing& each : all) {
    listed.push_back({.name = each.dataset,
                      .samples = each.samples,
                      .spec = each.spec,
                      .is_ragged = each.is_ragged,
                      .refusal = each.refusal,
                      .access = each.access,
                      .decoding = each.decoding,
                      .dimensions = each.dimensions,
                      .packing = each.packing});
    if (each.refusal.empty()) listed.back().spec.name = name_of(each, all);
    listed.back().left_out = each.aside;
  }
  for (const hdf5_left_out& each : no_fields)
    listed.push_back({.name = each.dataset, .left_out = each.reason});
  return listed;
}

}  // namespace feedline::detail
