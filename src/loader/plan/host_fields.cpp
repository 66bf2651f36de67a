#include "loader/plan/host_fields.hpp"

#include <feedline/error.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace feedline::detail {
namespace {

void require_unchanged(const field& of, std::size_t place, const converted_fields& conversions) {
  const std::string name = "loader_options::keep_on_host: field '" + of.name + "' ";
  if (of.by_batch)
    throw usage_error{name +
                      "has images whose size differs from batch to batch, which only the device "
                      "gets: leave it out"};
  const auto& mixing = conversions.mixing;
  if (mixing && (mixing->image == place || mixing->label == place))
    throw usage_error{name +
                      "is mixed (loader_options::mixing), which happens on the device: leave it "
                      "out, or read it back from the device"};
  if (conversions.conversions[place].what != field_conversion::operation::copy)
    throw usage_error{name +
                      "has a transform (loader_options::transforms), which runs on the device: "
                      "leave it out, or transform it before, by feedline::map"};
}

}  // namespace

std::vector<kept_field> resolve_host_fields(const std::vector<field>& fields,
                                            const converted_fields& conversions,
                                            const loader_options& options) {
  std::vector<kept_field> kept;
  if (options.keep_on_host.empty()) return kept;
  if (options.expert.batch_transform)
    throw usage_error{
        "loader_options::keep_on_host: expert.batch_transform makes batches from whole batches on "
        "the device: leave one of them out"};
  for (const host_field& wanted : options.keep_on_host) {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const field& each) { return each.name == wanted.name; });
    if (found == fields.end()) {
      std::string known;
      for (const field& each : fields) known += (known.empty() ? "" : ", ") + each.name;
      throw usage_error{"loader_options::keep_on_host names '" + wanted.name +
                        "', but the dataset's fields are " + known};
    }
    const auto place = static_cast<std::size_t>(found - fields.begin());
    if (std::any_of(kept.begin(), kept.end(),
                    [&](const kept_field& each) { return each.place == place; }))
      throw usage_error{"loader_options::keep_on_host names '" + wanted.name +
                        "' twice: name it once"};
    require_unchanged(*found, place, conversions);
    kept.push_back({place, wanted.on_device_too});
  }
  std::sort(kept.begin(), kept.end(),
            [](const kept_field& a, const kept_field& b) { return a.place < b.place; });
  const auto only = host_only(kept, fields.size());
  if (std::count(only.begin(), only.end(), true) == static_cast<std::ptrdiff_t>(fields.size()))
    throw usage_error{
        "loader_options::keep_on_host names every field, so nothing would be on the device: leave "
        "one out, or set host_field::on_device_too for one"};
  return kept;
}

std::vector<bool> host_only(const std::vector<kept_field>& kept, std::size_t fields) {
  std::vector<bool> only;
  for (const kept_field& each : kept) {
    if (each.on_device_too) continue;
    only.resize(fields, false);
    only[each.place] = true;
  }
  return only;
}

}  // namespace feedline::detail
