#include "support/command_line.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>

namespace feedline::test {
namespace {

template <typename T>
constexpr bool is_list = false;
template <typename T>
constexpr bool is_list<std::vector<T>> = true;

}  // namespace

command_line::option& command_line::option::positive() {
  in_->check(CLI::PositiveNumber);
  return *this;
}

template <typename T>
command_line::option& command_line::option::between(T least, T most) {
  in_->check(CLI::Range(least, most));
  return *this;
}

command_line::option& command_line::option::one_of(const std::vector<std::string>& words) {
  in_->check(CLI::IsMember(words));
  return *this;
}

command_line::option& command_line::option::from_environment(const std::string& variable) {
  in_->envname(variable);
  return *this;
}

command_line::command_line(const std::string& description)
    : app_{std::make_unique<CLI::App>(description)} {}

command_line::~command_line() = default;

template <typename T>
command_line::option command_line::add_option(const std::string& name, T& value,
                                              const std::string& description) {
  CLI::Option* const added = app_->add_option(name, value, description);
  bool has_default = true;
  if constexpr (is_list<T>) {
    added->delimiter(',');
    has_default = !value.empty();
  }
  if (has_default) added->capture_default_str();
  return option{*added};
}

void command_line::add_flag(const std::string& name, bool& value, const std::string& description) {
  app_->add_flag(name, value, description);
}

void command_line::require_one(const std::string& group, const std::vector<std::string>& names) {
  CLI::Option_group* const options = app_->add_option_group(group);
  for (const std::string& name : names) options->add_option(app_->get_option(name));
  options->require_option(1);
}

std::optional<int> command_line::parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app_->exit(error);
  }
  return std::nullopt;
}

template command_line::option& command_line::option::between(int, int);
template command_line::option& command_line::option::between(std::uint32_t, std::uint32_t);
template command_line::option& command_line::option::between(std::uint64_t, std::uint64_t);
template command_line::option& command_line::option::between(double, double);

// The types of values.
#define FEEDLINE_VALUES(type)                                                       \
  template command_line::option command_line::add_option(const std::string&, type&, \
                                                         const std::string&)
FEEDLINE_VALUES(int);
FEEDLINE_VALUES(std::uint32_t);
FEEDLINE_VALUES(std::uint64_t);
FEEDLINE_VALUES(double);
FEEDLINE_VALUES(std::string);
FEEDLINE_VALUES(std::filesystem::path);
FEEDLINE_VALUES(std::vector<int>);
FEEDLINE_VALUES(std::vector<std::uint32_t>);
FEEDLINE_VALUES(std::vector<std::uint64_t>);
FEEDLINE_VALUES(std::vector<std::string>);
#undef FEEDLINE_VALUES

}  // namespace feedline::test
