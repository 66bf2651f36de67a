#include "batch_lines.hpp"

#include <sstream>
#include <stdexcept>
#include <utility>

namespace mnist {

batch_lines::batch_lines(const std::filesystem::path& path, const feedline::loader_state& begin)
    : path_{path} {
  if (path.empty()) return;
  std::ostringstream kept;
  if (begin.epoch != 0 || begin.batch != 0) {
    std::ifstream old{path};
    std::string line;
    while (std::getline(old, line)) {
      std::pair<std::uint64_t, std::uint64_t> at;
      std::istringstream{line} >> at.first >> at.second;
      if (at < std::pair{begin.epoch, begin.batch}) kept << line << '\n';
    }
  }
  file_.open(path);
  file_ << kept.str();
  flush();
}

void batch_lines::add(std::uint64_t epoch, std::uint64_t batch, const std::string& value) {
  if (wanted()) file_ << epoch << ' ' << batch << ' ' << value << '\n';
}

void batch_lines::flush() {
  if (!path_.empty() && !file_.flush())
    throw std::runtime_error{path_.string() + ": cannot be written"};
}

}  // namespace mnist
