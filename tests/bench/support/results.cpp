#include "bench/support/results.hpp"

#include <fstream>
#include <stdexcept>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

namespace feedline::bench {
namespace {

nlohmann::json object_of(const facts& all) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [name, each] : all)
    std::visit([&, key = name](const auto& value) { object[key] = value; }, each.value);
  return object;
}

}  // namespace

void results::add(facts row, const spread& runs) {
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
  nlohmann::json rows = nlohmann::json::array();
  for (const facts& row : rows_) rows.push_back(object_of(row));
  const nlohmann::json document{
      {"program", program_}, {"machine", object_of(machine_)}, {"rows", std::move(rows)}};
  std::ofstream file{path};
  file << document.dump(1) << '\n';
  file.close();
  if (!file) throw std::runtime_error{"cannot write the results to '" + path + "'"};
}

}  // namespace feedline::bench
