#include "loader/plan/made_fields.hpp"

#include <feedline/error.hpp>

#include <algorithm>
#include <cstdint>

namespace feedline::detail {
namespace {

/// Why readers make all fields; empty if the device can.
std::string obstacle_of(const dataset& dataset, const device_capabilities& device,
                        placement wanted) {
  if (device.reads_staging) return device.name + " reads staging memory, where readers write";
  if (!device.assembles) return device.name + " cannot assemble slots";
  if (!device.makes_packed_values) return device.name + " does not make fields from offsets";
  if (wanted == placement::gather) return "placement gather takes rows as they are in memory";
  if (dataset.encoded()) return "the dataset's rows are stored in blocks";
  return {};
}

/// Why readers make one field although the device could; empty if it can.
std::string obstacle_of(const std::string& name, const loader_options& options) {
  const auto has = [&](const auto& all, auto member) {
    return std::ranges::find(all, name, member) != all.end();
  };
  if (has(options.transforms, &field_transform::field)) return "it has a transform";
  if (has(options.keep_on_host, &host_field::name)) return "the host keeps it (keep_on_host)";
  if (options.mixing && (options.mixing->image == name || options.mixing->label == name))
    return "it is mixed";
  return {};
}

/// @throws usage_error if the fields cannot be what a dataset says.
void check(const made_field& made, const std::vector<field>& fields) {
  const auto refuse = [](const std::string& why) {
    throw usage_error{"the dataset's made_fields(): " + why};
  };
  if (std::max(made.place, made.offsets) >= fields.size())
    refuse("field " + std::to_string(made.place) + " from field " + std::to_string(made.offsets) +
           ", but there are " + std::to_string(fields.size()) + " fields");
  const field& offsets = fields[made.offsets];
  if (offsets.type != element_type::i32 || offsets.shape.size() != 1 || offsets.shape.front() < 2)
    refuse("'" + offsets.name + "' has offsets, so it must be i32 with one extent of at least 2");
  const field& to = fields[made.place];
  const bool is_index =
      made.values == packed_values::positions || made.values == packed_values::documents;
  if (to.type != (is_index ? element_type::i32 : element_type::u8) || to.shape.size() != 1)
    refuse("'" + to.name +
           "' must have one extent, of i32 for positions and documents, of u8 for "
           "masks");
}

}  // namespace

made_choice choose_made_fields(const dataset& dataset, const device_capabilities& device,
                               const loader_options& options) {
  const auto* const known = dynamic_cast<const has_made_fields*>(&dataset);
  if (known == nullptr) return {};
  const std::vector<made_field> all = known->made_fields();
  std::string notes = known->made_note();
  if (all.empty() && notes.empty()) return {};
  const std::vector<field> fields = dataset.fields();
  for (const made_field& each : all) check(each, fields);
  if (std::string why = obstacle_of(dataset, device, options.placement); !why.empty())
    return {.why_not = std::move(why)};
  made_choice chosen{.why_not = std::move(notes)};
  for (const made_field& each : all) {
    const std::string& name = fields[each.place].name;
    const std::string why = obstacle_of(name, options);
    if (why.empty())
      chosen.fields.push_back(each);
    else
      chosen.why_not += (chosen.why_not.empty() ? "" : "; ") + ("'" + name + "': " + why);
  }
  return chosen;
}

std::vector<bool> places_of(std::span<const made_field> made, std::size_t fields) {
  if (made.empty()) return {};
  std::vector<bool> places(fields, false);
  for (const made_field& each : made) places[each.place] = true;
  return places;
}

void convert_made(converted_fields& converted, std::span<const made_field> made) {
  for (const made_field& each : made) {
    const field& to = converted.fields[each.place];
    field_conversion& by = converted.conversions[each.place];
    by.what = field_conversion::operation::packed;
    by.from = element_type::i32;
    by.to = to.type;
    by.width = by.to_width = static_cast<std::uint32_t>(to.shape.front());
    by.offsets = static_cast<std::uint32_t>(each.offsets);
    by.values = each.values;
    converted.any = true;
  }
}

}  // namespace feedline::detail
