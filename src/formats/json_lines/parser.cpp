#ifdef FEEDLINE_HAS_JSON

#include "formats/json_lines/parser.hpp"

#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "formats/json_lines/events.hpp"
#include "rows/scratch_pool.hpp"

#include <atomic>
#include <memory>

namespace feedline::detail {
namespace {

void parse_line(std::span<const std::byte> stored, json_events& events) {
  const auto* const text = reinterpret_cast<const char*>(stored.data());
  (void)nlohmann::json::sax_parse(text, text + stored.size(), &events);
}

class json_survey_parser final : public table_parser {
 public:
  explicit json_survey_parser(json_keys& keys) : events_{keys, true} {}

  void parse(std::span<const std::byte> stored, const std::vector<bool>& wanted,
             const sink& use) const override {
    events_.begin(wanted, use);
    parse_line(stored, events_);
  }

 private:
  mutable json_events events_;
};

class json_parser final : public table_parser {
 public:
  explicit json_parser(json_keys keys) : keys_{std::move(keys)} {}

  void parse(std::span<const std::byte> stored, const std::vector<bool>& wanted,
             const sink& use) const override {
    const auto events = events_.take();
    events->begin(wanted, use);
    parse_line(stored, *events);
    if (!events->ignored().empty() && !has_warned_.exchange(true))
      log()->warn(
          "open_json_lines: the key '{}' is ignored, and others may be: no record that was looked "
          "at has it; raise table_options::looked_at if it is to be a field",
          printable(events->ignored()));
  }

 private:
  mutable json_keys keys_;  // not changed
  mutable std::atomic<bool> has_warned_{false};
  mutable scratch_pool<json_events> events_{
      [this] { return std::make_unique<json_events>(keys_, false); }};
};

}  // namespace

table_parser_ptr make_json_survey_parser(json_keys& keys) {
  return std::make_shared<const json_survey_parser>(keys);
}

table_parser_ptr make_json_parser(json_keys keys) {
  return std::make_shared<const json_parser>(std::move(keys));
}

}  // namespace feedline::detail

#endif
