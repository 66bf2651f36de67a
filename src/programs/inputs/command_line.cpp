#include "programs/inputs/command_line.hpp"

#include <feedline/version.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

namespace programs {
namespace {

const std::map<std::string, feedline::external_files> external_rules{
    {"refuse", feedline::external_files::refuse},
    {"same-folder", feedline::external_files::same_folder},
    {"allow", feedline::external_files::allow}};

const std::map<std::string, feedline::interpolation> interpolations{
    {"bilinear", feedline::interpolation::bilinear},
    {"bicubic", feedline::interpolation::bicubic},
    {"nearest", feedline::interpolation::nearest}};

}  // namespace

void add_open_options(CLI::App& app, feedline::open_options& how) {
  app.add_option("--fields", how.fields,
                 "Fields of each input, in the order wanted: HDF5 datasets by path, members, "
                 "fields; default: all")
      ->type_name("NAME");
  app.add_option("--shorter-side", how.image.shorter_side,
                 "Shorter side of images before their middle is cut out; 0: they are stretched");
  app.add_option_function<std::string>(
         "--interpolation",
         [&how](const std::string& name) { how.image.interpolation = interpolations.at(name); },
         "How images are resized: bilinear (the default), bicubic, nearest")
      ->type_name("NAME")
      ->check(CLI::IsMember(interpolations));
  app.add_flag("--follow-orientation", how.image.follow_orientation,
               "Images are turned as their EXIF orientation says");
  app.add_option("--tokens-per-sample", how.tokens_per_sample, "Length of samples of token shards");
  app.add_option_function<std::string>(
         "--external", [&how](const std::string& rule) { how.external = external_rules.at(rule); },
         "HDF5: which other files an input may name as raw data, links or virtual sources: refuse "
         "(the default): none; same-folder: those in its folder or below; allow: any that you may "
         "read")
      ->type_name("RULE")
      ->check(CLI::IsMember(external_rules));
}

std::string name_of(feedline::interpolation of) {
  const auto is_it = [of](const auto& each) { return each.second == of; };
  return std::ranges::find_if(interpolations, is_it)->first;
}

std::string version() {
  return std::to_string(FEEDLINE_VERSION_MAJOR) + '.' + std::to_string(FEEDLINE_VERSION_MINOR) +
         '.' + std::to_string(FEEDLINE_VERSION_PATCH);
}

}  // namespace programs
