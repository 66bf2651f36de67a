#include <feedline/hdf5/dataset.hpp>

#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "hdf5/attributes/array_attributes.hpp"
#include "hdf5/attributes/dimensions.hpp"
#include "hdf5/library/conventions.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/library/library_dataset.hpp"
#include "hdf5/library/member.hpp"
#include "hdf5/library/session.hpp"
#include "hdf5/rows/encoded_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// Wrong attributes of dimensions in a file: a warning names the first one.
struct dimension_faults {
  std::string first = {};
  std::size_t count = 0;

  void add(const std::string& dataset, const std::string& fault) {
    if (fault.empty()) return;
    if (count++ == 0) first = '\'' + dataset + "', " + fault;
  }
  void warn(const std::string& path) const {
    if (count == 0) return;
    const std::string more =
        count == 1 ? "" : "; so do " + std::to_string(count - 1) + " more datasets";
    detail::log()->warn("{}: dimensions lack names that attributes should give: {}{}",
                        detail::printable(path), detail::printable(first), more);
  }
};

/// Reason why a field belongs to no others, or nothing.
std::string aside_of(const detail::hdf5_session& hdf5, const detail::hdf5_library_dataset& column) {
  if (detail::is_netcdf_dimension(hdf5, column.id())) return "a NetCDF dimension without values";
  if (column.is_single()) return "a single value";
  if (column.samples() == 0) return "no samples";
  return column.is_reference() ? "references" : "";
}

/// Adds names of dimensions and packing, which datasets have and members have not.
void describe_dimensions(const detail::hdf5_session& hdf5, detail::hdf5_dimension_finder& finder,
                         const detail::hdf5_library_dataset& column, hdf5_listing& listing,
                         dimension_faults& faults) {
  if (!listing.member.empty()) return;
  auto dimensions = finder.find(column.id());
  faults.add(listing.dataset, dimensions.fault);
  listing.dimensions = std::move(dimensions.names);
  listing.packing = detail::packing_attributes(hdf5, column.id());
}

/// A dataset's own field, or those of the members of its records. Anything else goes to `left_out`.
std::vector<hdf5_listing> list_dataset(const detail::hdf5_session& hdf5,
                                       const detail::hdf5_file& file, const std::string& path,
                                       const detail::hdf5_opened_ptr& dataset,
                                       value_conventions conventions,
                                       detail::hdf5_dimension_finder& finder,
                                       dimension_faults& faults,
                                       std::vector<hdf5_left_out>& left_out) {
  std::vector<hdf5_listing> listings;
  std::string reason;  // why the last one is not a field
  const auto list_sequences = [&](const std::string& name, const std::string& member) {
    try {
      const auto found = detail::find_sequences(hdf5, file, name, *dataset, member);
      const detail::hdf5_element& element = found.element;
      listings.push_back(
          {.dataset = name,
           .samples = found.samples,
           .spec = {detail::field_name_of({name}), element.type, element.shape},
           .access =
               detail::examine_storage(hdf5, file, name, dataset->id.get(), found.row).describe(),
           .member = member,
           .is_ragged = true});
      return true;
    } catch (const hdf5_error&) {
      return false;  // neither rows of numbers nor runs of them
    }
  };
  const auto list = [&](const std::string& name, const std::string& member) {
    try {
      const detail::hdf5_library_dataset column{hdf5, file, {name}, dataset, member};
      if (conventions == value_conventions::refuse)
        if (auto why = column.convention(hdf5); !why.empty()) {
          listings.push_back({.dataset = name,
                              .samples = column.samples(),
                              .spec = column.spec(),
                              .member = member,
                              .refusal = std::move(why)});
          describe_dimensions(hdf5, finder, column, listings.back(), faults);
          return true;
        }
      const detail::hdf5_storage_layout place = column.storage(hdf5, file);
      listings.push_back({name, column.samples(), column.spec(), place.describe(), member});
      listings.back().aside = aside_of(hdf5, column);
      listings.back().decoding = detail::decoding_of(
          place, std::vector<std::uint64_t>(column.extents().begin(), column.extents().end()));
      describe_dimensions(hdf5, finder, column, listings.back(), faults);
      return true;
    } catch (const detail::hdf5_unreadable& failure) {
      listings.push_back({.dataset = name, .member = member, .refusal = failure.message()});
      return true;
    } catch (const hdf5_error& failure) {
      reason = failure.message();
      return list_sequences(name, member);
    }
  };
  if (list(path, {})) return listings;
  const auto members = detail::member_paths(hdf5, dataset->values.type.get());
  if (members.empty()) left_out.push_back({path, reason});
  for (const auto& member : members)
    if (!list(path + '/' + member, member)) left_out.push_back({path + '/' + member, reason});
  return listings;
}

}  // namespace

std::vector<hdf5_listing> list_hdf5_fields(const std::string& file, const hdf5_options& options,
                                           std::vector<hdf5_left_out>* left_out) {
  detail::require_known(options);
  std::vector<hdf5_left_out> no_fields;
  const detail::hdf5_session hdf5;
  const detail::hdf5_file opened{hdf5, file, options.external};
  detail::hdf5_dimension_finder finder{hdf5};
  dimension_faults faults;
  std::map<std::string, std::vector<hdf5_listing>> fields;  // key: path of the dataset
  const auto links =
      opened.datasets(hdf5, [&](const std::string& path, detail::hdf5_dataset_id dataset) {
        fields[path] =
            list_dataset(hdf5, opened, path, detail::make_opened(hdf5, opened, std::move(dataset)),
                         options.conventions, finder, faults, no_fields);
      });
  faults.warn(file);
  std::vector<hdf5_listing> listings;
  for (const auto& [path, fault] : links) {
    if (!fault.empty()) listings.push_back({.dataset = path, .refusal = fault});
    auto& found = fields[path];
    std::ranges::move(found, std::back_inserter(listings));
  }
  if (left_out != nullptr) *left_out = std::move(no_fields);
  return listings;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
