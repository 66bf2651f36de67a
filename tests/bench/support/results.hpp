#pragma once

#include "bench/support/delivered.hpp"

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace feedline::bench {

/// A number, a text, or whether something is so.
struct fact {
  std::variant<bool, std::int64_t, std::uint64_t, double, std::string> value;

  fact() = default;
  fact(bool is) : value{is} {}
  fact(std::signed_integral auto number) : value{std::int64_t{number}} {}
  fact(std::unsigned_integral auto number) : value{std::uint64_t{number}} {}
  fact(double number) : value{number} {}
  fact(const char* text) : value{std::string{text}} {}
  fact(std::string text) : value{std::move(text)} {}
};
using facts = std::map<std::string, fact>;

/// Results of a program, for report.py: its name, the machine, and an object for each line of its
/// tables.
class results {
 public:
  /// @param machine Empty where the program cannot tell.
  explicit results(std::string program, facts machine = {})
      : program_{std::move(program)}, machine_{std::move(machine)} {}

  /// @param row Facts, named like those of delivery.cpp.
  void add(facts row) { rows_.push_back(std::move(row)); }
  /// Adds the median's rates and CPU time to the row, and the least and most rates.
  void add(facts row, const spread& runs);

  /// Writes all to a file. An empty path: nothing is done. @throws std::runtime_error if it cannot
  /// be written.
  void write(const std::string& path) const;

 private:
  std::string program_;
  facts machine_;
  std::vector<facts> rows_;
};

}  // namespace feedline::bench
