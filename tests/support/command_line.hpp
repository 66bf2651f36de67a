#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace feedline::test {

/// The options of a stress program or a benchmark, and its --help, which shows what each is if it
/// is not given:
///
///     int runs = 5;
///     test::command_line line{"How fast it goes"};
///     line.add_option("--runs", runs, "of which the median counts").positive();
///     if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
///
/// This is CLI11. Only command_line.cpp includes its header, which is slow to compile.
class command_line {
 public:
  /// An option that was added, to say which values it takes. Each value of a list is checked.
  class option {
   public:
    explicit option(CLI::Option& in) : in_{&in} {}

    option& positive();
    /// @tparam T int, std::uint32_t, std::uint64_t or double.
    template <typename T>
    option& between(T least, T most);
    option& one_of(const std::vector<std::string>& words);
    /// Where the option is not given, the value of this environment variable is taken.
    option& from_environment(const std::string& variable);

   private:
    CLI::Option* in_;
  };

  /// @param description First line of --help.
  explicit command_line(const std::string& description);
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;
  ~command_line();

  /// @param value Must live until `parse`, which sets it if the option is given.
  /// @tparam T One of the types at the end of command_line.cpp. Values of a std::vector are
  ///           separated by commas.
  template <typename T>
  option add_option(const std::string& name, T& value, const std::string& description);
  void add_flag(const std::string& name, bool& value, const std::string& description);

  /// Exactly one of these options, which were added before, must be given.
  void require_one(const std::string& group, const std::vector<std::string>& names);

  /// @return If the program is to end now, with what: there was an error, or --help, and `parse`
  ///         has printed it.
  [[nodiscard]] std::optional<int> parse(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace feedline::test
