#include "bench/support/results.hpp"

#include <fstream>
#include <stdexcept>
#include <utility>

namespace feedline::bench {

results::results(const std::string& program, nlohmann::json machine)
    : document_{{"program", program},
                {"machine", std::move(machine)},
                {"rows", nlohmann::json::array()}} {}

void results::add(nlohmann::json row) {
  document_["rows"].push_back(std::move(row));
}

void results::add(nlohmann::json row, const spread& runs) {
  row["runs"] = runs.runs.size();
  row["batches_per_second"] = runs.median().batches_per_second();
  row["bytes_per_second"] = runs.median().bytes_per_second();
  row["least_bytes_per_second"] = runs.least().bytes_per_second();
  row["most_bytes_per_second"] = runs.most().bytes_per_second();
  row["cpu_seconds_per_gb"] = runs.median().cpu_seconds_per_gb();
  add(std::move(row));
}

void results::write(const std::string& path) const {
  if (path.empty()) return;
  std::ofstream file{path};
  file << document_.dump(1) << '\n';
  file.close();
  if (!file) throw std::runtime_error{"cannot write the results to '" + path + "'"};
}

}  // namespace feedline::bench
