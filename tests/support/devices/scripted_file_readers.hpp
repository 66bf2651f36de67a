#pragma once

#include <feedline/device/file_reader.hpp>
#include <feedline/error.hpp>

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace feedline::test {

/// Reads files into memory of a device that is the host's, or by way of it; refuses what a test
/// says.
class scripted_file_readers final : public file_readers {
 public:
  /// Puts bytes into device memory, and waits until they are there.
  using store = std::function<void(void* to, const std::byte* from, std::size_t bytes)>;

  scripted_file_readers() = default;
  explicit scripted_file_readers(store put) : put_{std::move(put)} {}

  std::string refused;                    ///< not empty: why no file is taken
  std::atomic<std::uint64_t> failing_from{///< the number of the first read that fails
                                          std::numeric_limits<std::uint64_t>::max()};
  mutable std::atomic<std::uint64_t> reads{0};  ///< so far, with those that failed
  mutable std::atomic<std::uint64_t> bytes{0};  ///< that these were asked for

  [[nodiscard]] std::unique_ptr<file_reader> make() const override {
    return std::make_unique<reader>(*this);
  }

 private:
  class reader final : public file_reader {
   public:
    explicit reader(const scripted_file_readers& script) : script_{script} {}

    [[nodiscard]] std::string refusal(int file) override {
      return ::lseek(file, 0, SEEK_CUR) < 0 ? "the file is not open" : script_.refused;
    }
    void read(int file, std::uint64_t offset, std::size_t count, void* to) override {
      const std::uint64_t number = script_.reads.fetch_add(1);
      script_.bytes.fetch_add(count);
      if (number >= script_.failing_from) throw device_error{"the drive does not answer"};
      std::vector<std::byte> by_way(script_.put_ ? count : 0);
      void* const into = script_.put_ ? by_way.data() : to;
      if (::pread(file, into, count, static_cast<off_t>(offset)) != static_cast<ssize_t>(count))
        throw device_error{"the file ends early"};
      if (script_.put_) script_.put_(to, by_way.data(), count);
    }

   private:
    const scripted_file_readers& script_;
  };

  store put_;
};

}  // namespace feedline::test
