#pragma once

#include "bench/support/delivered.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace feedline::bench {

/// What a program found, for report.py: its name, the machine, and an object for each line of its
/// tables.
class results {
 public:
  /// @param machine Facts by name; empty where the program cannot tell.
  explicit results(const std::string& program, nlohmann::json machine = nlohmann::json::object());

  /// @param row An object; what it is about goes by the names that delivery.cpp uses.
  void add(nlohmann::json row);
  /// Adds the median's rates and CPU time to the row, and the least and most rates.
  void add(nlohmann::json row, const spread& runs);

  /// Writes all to a file. An empty path: nothing is done. @throws std::runtime_error if it cannot
  /// be written.
  void write(const std::string& path) const;

 private:
  nlohmann::json document_;
};

}  // namespace feedline::bench
