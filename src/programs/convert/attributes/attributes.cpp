#include "programs/convert/attributes/attributes.hpp"

#include <feedline/error.hpp>

#include "detail/printable.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace convert {
namespace {

std::string_view bare(std::string_view path) {
  return path.starts_with('/') ? path.substr(1) : path;
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_chosen(const feedline::listed_field& each, const std::vector<std::string>& names) {
  return names.empty() || std::ranges::any_of(names, [&](const std::string& name) {
           return bare(name) == bare(each.name);
         });
}

/// Whether an attribute says which values stored numbers stand for.
bool is_of_packing(std::string_view name) {
  return name == "scale_factor" || name == "add_offset" || name == "_Unsigned" ||
         name == "missing_value";
}

[[noreturn]] void refuse_packing(const field_origin& of, const std::string& other,
                                 const std::string& name) {
  const auto shown = [](const std::string& text) { return feedline::detail::printable(text); };
  throw feedline::usage_error{
      shown(other) + ": attribute '" + name + "' of '" + shown(of.object) + "' is not that of " +
      shown(of.file) +
      ", so that the same stored numbers stand for other values; convert the files one by one"};
}

bool has_same(const std::vector<attribute>& all, const attribute& wanted) {
  return std::ranges::any_of(all, [&](const attribute& each) {
    return each.name == wanted.name && each.value == wanted.value && each.is_text == wanted.is_text;
  });
}

/// Leaves the attributes that another file has, too.
/// @param is_array Those about packing must be the same.
void keep_common(attributes& own, const attributes& other, const field_origin& of,
                 const std::string& path, bool is_array) {
  if (own.missing != other.missing) refuse_packing(of, path, "_FillValue");
  const auto drop = [&](const attribute& each, const std::vector<attribute>& others) {
    if (has_same(others, each)) return false;
    if (is_array && is_of_packing(each.name)) refuse_packing(of, path, each.name);
    tell_left_out(of.file, of.object, each.name, path + " has not the same");
    return true;
  };
  for (const attribute& each : other.all)
    if (std::ranges::count(own.all, each.name, &attribute::name) == 0) (void)drop(each, {});
  std::erase_if(own.all, [&](const attribute& each) { return drop(each, other.all); });
  if (own.dimensions == other.dimensions) return;
  tell_left_out(of.file, of.object, "names of dimensions", path + " has not the same");
  own.dimensions.clear();
}

/// Attributes of the groups of an output. Those of several inputs go to one group, which has the
/// attributes that the first of them has.
class group_attributes {
 public:
  explicit group_attributes(feedline::external_files external) : external_{external} {}

  /// @param of A field below the group. @param into The group's, filled in for the first input.
  void add(const field_origin& of, const std::string& group, attributes& into) {
    if (!seen_.insert({of.file, group}).second) return;
    attributes own = read(of, of.file, group);
    const field_origin same{.file = of.file, .format = of.format, .object = group};
    for (const std::string& other : of.others)
      keep_common(own, read(of, other, group), same, other, false);
    const auto [first, is_first] = firsts_.try_emplace(group, of.file);
    if (is_first) {
      into = std::move(own);
      return;
    }
    for (const attribute& each : own.all)
      if (!has_same(into.all, each))
        tell_left_out(of.file, group, each.name,
                      "those of " + first->second + " are, which has not the same");
  }

 private:
  [[nodiscard]] attributes read(const field_origin& of, const std::string& file,
                                const std::string& group) const {
    return of.format == "zarr" ? read_zarr_attributes(file, group)
                               : read_hdf5_attributes(file, of.object, '/' + group, external_);
  }

  feedline::external_files external_;
  std::set<std::pair<std::string, std::string>> seen_ = {};  ///< file and group
  std::map<std::string, std::string> firsts_ = {};           ///< for each group, its first file
};

}  // namespace

bool is_of_storage(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 9> names{
      "CLASS",         "NAME",        "DIMENSION_LIST", "REFERENCE_LIST",   "DIMENSION_LABELS",
      "_Netcdf4Dimid", "_nc3_strict", "_NCProperties",  "_ARRAY_DIMENSIONS"};
  return std::ranges::count(names, name) != 0 || name == "_Netcdf4Coordinates";
}

void tell_left_out(const std::string& file, const std::string& object, const std::string& name,
                   const std::string& why) {
  const auto shown = [](const std::string& text) { return feedline::detail::printable(text); };
  spdlog::warn("{}: attribute '{}' of {} is not carried over: {}", shown(file), shown(name),
               object.empty() ? "the whole" : '\'' + std::string{shown(object)} + '\'', why);
}

std::vector<field_origin> origins_of(const std::string& file, const feedline::dataset& opened,
                                     const feedline::open_options& how) {
  const std::vector<feedline::field> fields = opened.fields();
  std::vector<field_origin> origins(fields.size());
  const std::string format = how.format.empty() ? feedline::detect_format(file) : how.format;
  if (format != "hdf5" && format != "zarr") return origins;
  const std::vector<feedline::listed_field> listed = feedline::list_fields(file, how);
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const std::string& name = fields[f].name;
    std::vector<const feedline::listed_field*> found;
    for (const feedline::listed_field& each : listed)
      if (!each.is_ragged && is_chosen(each, how.fields) &&
          (each.spec.name == name || bare(each.name) == name || last_part(each.name) == name))
        found.push_back(&each);
    if (found.size() > 1)
      std::erase_if(found, [&](const auto* each) { return each->samples != opened.size(); });
    if (found.size() == 1)
      origins[f] = {file, format, std::string{bare(found.front()->name)}};
    else
      spdlog::warn(
          "{}: attributes of '{}' are not carried over: {} arrays could be this field; name it "
          "by --fields",
          feedline::detail::printable(file), feedline::detail::printable(name), found.size());
  }
  return origins;
}

carried_attributes read_attributes(const std::vector<field_origin>& origins,
                                   feedline::external_files external) {
  carried_attributes carried;
  group_attributes groups{external};
  for (const field_origin& each : origins) {
    attributes& own = carried.fields.emplace_back();
    if (each.file.empty()) continue;
    const auto read = [&](const std::string& file) {
      return each.format == "zarr" ? read_zarr_attributes(file, each.object)
                                   : read_hdf5_attributes(file, each.object, {}, external);
    };
    own = read(each.file);
    for (const std::string& other : each.others) keep_common(own, read(other), each, other, true);
    if (!each.object.empty()) groups.add(each, {}, carried.whole);
    for (std::size_t at = each.object.find('/'); each.keeps_groups && at != std::string::npos;
         at = each.object.find('/', at + 1)) {
      const std::string group = each.object.substr(0, at);
      groups.add(each, group, carried.groups[group]);
    }
  }
  return carried;
}

#ifndef FEEDLINE_HAS_JSON
namespace {

attributes without_json(const std::string& file) {
  spdlog::warn(
      "{}: attributes are not carried over: this feedline-convert was built without nlohmann-json",
      feedline::detail::printable(file));
  return {};
}

}  // namespace

attributes read_zarr_attributes(const std::string& store, const std::string&) {
  return without_json(store);
}
std::string zarr_attributes_json(const attributes&, const feedline::field&, bool) {
  return "{}";
}
std::string zarr_dimensions_json(const attributes&, const feedline::field&) {
  return {};
}
std::string zarr_fill_json(const attributes&, const feedline::field&) {
  return {};
}
#endif
#if !defined(FEEDLINE_HAS_JSON) || !defined(FEEDLINE_HAS_HDF5)
attributes read_hdf5_attributes(const std::string&, const std::string&,
                                const std::optional<std::string>&, feedline::external_files) {
  return {};
}
#endif

}  // namespace convert
