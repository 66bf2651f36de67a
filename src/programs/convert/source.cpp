#include "programs/convert/source.hpp"

#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iomanip>
#include <sstream>
#include <utility>

namespace convert {
namespace {

namespace fs = std::filesystem;

/// Datasets of equal size, side by side, under other names: a sample is a sample of each.
class side_by_side final : public feedline::dataset {
 public:
  side_by_side(std::vector<feedline::dataset_ptr> parts, std::vector<feedline::field> fields)
      : parts_{std::move(parts)}, fields_{std::move(fields)} {
    for (const auto& part : parts_) counts_.push_back(part->fields().size());
  }

  std::uint64_t size() const override { return parts_.front()->size(); }
  std::vector<feedline::field> fields() const override { return fields_; }
  feedline::chunking chunks() const override { return parts_.front()->chunks(); }

  feedline::read_concurrency concurrency() const override {
    const bool in_turns = std::any_of(parts_.begin(), parts_.end(), [](const auto& part) {
      return part->concurrency() == feedline::read_concurrency::serialized;
    });
    return in_turns ? feedline::read_concurrency::serialized : feedline::read_concurrency::parallel;
  }

  void read(std::span<const feedline::sample_index> samples,
            std::span<const std::span<std::byte>> out) const override {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      parts_[i]->read_in_turn(samples, out.first(counts_[i]));
      out = out.subspan(counts_[i]);
    }
  }

 private:
  std::vector<feedline::dataset_ptr> parts_;
  std::vector<feedline::field> fields_;
  std::vector<std::size_t> counts_;  ///< of each part's fields
};

struct input {
  std::string name;  ///< empty: as its fields are called
  fs::path path;     ///< or a pattern of several
};

input input_of(const std::string& text) {
  const auto equals = text.find('=');
  const bool named =
      equals != std::string::npos && equals != 0 && !fs::exists(text) && text.find('/') > equals;
  if (!named) return {{}, text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// "2026-03-01 17:20:05.123456789 UTC".
std::string to_string(fs::file_time_type time) {
  using namespace std::chrono;
  const auto since_1970 = fs::file_time_type::clock::to_sys(time).time_since_epoch();
  const auto whole = floor<seconds>(since_1970);
  const std::time_t count = whole.count();
  std::tm parts{};
  ::gmtime_r(&count, &parts);
  std::ostringstream text;
  text << std::put_time(&parts, "%Y-%m-%d %H:%M:%S.") << std::setw(9) << std::setfill('0')
       << nanoseconds{since_1970 - whole}.count() << " UTC";
  return text.str();
}

/// Size and time of the last change, of a file or of all files in a folder.
std::string state_of(const fs::path& path) {
  std::uintmax_t bytes = 0;
  fs::file_time_type changed = fs::last_write_time(path);
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::recursive_directory_iterator{path})
      if (entry.is_regular_file()) {
        bytes += entry.file_size();
        changed = std::max(changed, entry.last_write_time());
      }
  } else {
    bytes = fs::file_size(path);
  }
  return std::to_string(bytes) + " bytes, changed at " + to_string(changed);
}

/// What else decides what the samples are.
std::string words_of(const feedline::open_options& how) {
  std::string words = "images " + std::to_string(how.image.height) + " x " +
                      std::to_string(how.image.width) + ", shorter side " +
                      std::to_string(how.image.shorter_side) + "; " +
                      std::to_string(how.tokens_per_sample) + " tokens a sample; labels " +
                      std::string{to_string(how.label_type)} + "; fields";
  for (const std::string& name : how.fields) words += ' ' + name;
  return words + '\n';
}

}  // namespace

std::vector<fs::path> paths_of(const std::vector<std::string>& inputs) {
  std::vector<fs::path> paths;
  for (const std::string& text : inputs) {
    for (fs::path& path : feedline::expand_paths({input_of(text).path})) {
      if (!fs::exists(path))
        throw feedline::usage_error{path.string() + ": no such file or folder"};
      paths.push_back(std::move(path));
    }
  }
  return paths;
}

source open_source(const std::vector<std::string>& inputs, const feedline::open_options& how) {
  std::vector<feedline::dataset_ptr> parts;
  std::vector<feedline::field> fields;
  std::string words = words_of(how);
  for (const std::string& text : inputs) {
    const input from = input_of(text);
    const std::vector<fs::path> paths = paths_of({text});
    parts.push_back(feedline::open(paths, how));
    words += "from " + text + ", ";
    for (const fs::path& path : paths) {
      if (paths.size() > 1) words += "\n  " + path.string() + ", ";
      words += state_of(path);
    }
    words += '\n';

    auto found = parts.back()->fields();
    if (!from.name.empty()) {
      if (found.size() != 1)
        throw feedline::usage_error{from.path.string() + ": has " + std::to_string(found.size()) +
                                    " fields, so '" + from.name + "' cannot name them"};
      found.front().name = from.name;
    }
    for (feedline::field& field : found) {
      const auto same = [&](const feedline::field& other) { return other.name == field.name; };
      if (std::any_of(fields.begin(), fields.end(), same))
        throw feedline::usage_error{from.path.string() + ": there is a field '" + field.name +
                                    "' already: name this one with NAME=PATH"};
      fields.push_back(std::move(field));
    }
    if (parts.back()->size() != parts.front()->size())
      throw feedline::usage_error{
          from.path.string() + ": has " + std::to_string(parts.back()->size()) + " samples, and " +
          input_of(inputs.front()).path.string() + " has " + std::to_string(parts.front()->size())};
  }
  return {std::make_shared<const side_by_side>(std::move(parts), std::move(fields)), words};
}

}  // namespace convert
