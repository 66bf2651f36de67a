#include "programs/convert/work/journal.hpp"

#include "programs/convert/work/durable_file.hpp"

#include <spdlog/fmt/fmt.h>

#include <fstream>
#include <sstream>

namespace convert {
namespace {

constexpr auto first_line = "feedline-convert, an unfinished output, 1";

}  // namespace

std::string to_hex(std::uint32_t value) {
  return fmt::format("{:#010x}", value);
}

void journal::write(const std::filesystem::path& path) const {
  std::string text = std::string{first_line} + '\n' + identity;
  text += "samples " + std::to_string(made.samples) + "\nchecksums";
  for (const std::uint32_t value : made.checksums) text += ' ' + to_hex(value);
  replace_file(path, text + "\nend\n");
}

std::optional<journal> journal::read(const std::filesystem::path& path) {
  std::ifstream file{path};
  std::string line;
  if (!std::getline(file, line) || line != first_line) return std::nullopt;
  journal found;
  while (std::getline(file, line) && !line.starts_with("samples ")) found.identity += line + '\n';
  std::istringstream counted{line};
  std::string word;
  if (!(counted >> word >> found.made.samples)) return std::nullopt;
  if (!std::getline(file, line) || !line.starts_with("checksums")) return std::nullopt;
  std::istringstream values{line.substr(9)};
  for (std::uint32_t value = 0; values >> std::hex >> value;) found.made.checksums.push_back(value);
  if (!std::getline(file, line) || line != "end") return std::nullopt;
  return found;
}

}  // namespace convert
