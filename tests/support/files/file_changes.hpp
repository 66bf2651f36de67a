#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace feedline::test {

/// Changes that others may make to a file while it is read.
enum class file_change {
  cut_to_nothing,
  cut_within_its_last_page,
  grown,
  overwritten,
  replaced,
  deleted
};

inline constexpr std::initializer_list<file_change> all_file_changes{
    file_change::cut_to_nothing, file_change::cut_within_its_last_page,
    file_change::grown,          file_change::overwritten,
    file_change::replaced,       file_change::deleted};

/// Makes a file's time of writing an hour old, so that any write after it shows.
inline void let_age(const std::filesystem::path& path) {
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() - std::chrono::hours{1});
}

/// Does it to a file of at least two bytes.
inline void change_file(const std::filesystem::path& path, file_change what) {
  const auto bytes = std::filesystem::file_size(path);
  switch (what) {
    case file_change::cut_to_nothing:
      return std::filesystem::resize_file(path, 0);
    case file_change::cut_within_its_last_page:  // no page is lost, so no access faults
      return std::filesystem::resize_file(path, bytes - 1);
    case file_change::grown:
      return std::filesystem::resize_file(path, bytes + 1);
    case file_change::overwritten: {
      std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
      if (!file.put('!').flush()) throw std::runtime_error{"cannot write " + path.string()};
      return;
    }
    case file_change::replaced: {
      const std::filesystem::path other = path.string() + ".new";
      std::filesystem::copy_file(path, other);
      return std::filesystem::rename(other, path);
    }
    case file_change::deleted:
      std::filesystem::remove(path);
      return;
  }
}

/// Message of the `dataset_error` for a change.
inline std::string words_for(file_change what, std::uintmax_t bytes) {
  const auto resized = [bytes](const std::string& how, std::uintmax_t to) {
    return how + " from " + std::to_string(bytes) + " to " + std::to_string(to) +
           " bytes since it was opened";
  };
  switch (what) {
    case file_change::cut_to_nothing:
      return resized("was cut", 0);
    case file_change::cut_within_its_last_page:
      return resized("was cut", bytes - 1);
    case file_change::grown:
      return resized("has grown", bytes + 1);
    case file_change::overwritten:
      return "was written to since it was opened, or only its time was set (touch): its size is "
             "the same, and only reading all of it would tell";
    case file_change::replaced:
      return "was replaced by another file since it was opened";
    case file_change::deleted:
      return "was deleted or moved since it was opened";
  }
  return {};
}

}  // namespace feedline::test
