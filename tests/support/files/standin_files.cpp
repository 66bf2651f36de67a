#include "support/files/standin_files.hpp"

#include "io/local/file.hpp"

#include <string_view>

namespace feedline::test {
namespace {

std::string path_behind(const std::string& address) {
  constexpr std::string_view scheme = "standin://";
  if (!address.starts_with(scheme)) throw std::logic_error{address + " is no stand-in's"};
  return address.substr(scheme.size());
}

}  // namespace

class standin_files::file final : public detail::byte_file {
 public:
  static constexpr joining joins{.max_gap = 100, .max_bytes = 10'000};

  file(const std::string& address, std::shared_ptr<const standin_files> owner)
      : file{address, std::make_unique<const detail::local_file>(path_behind(address)),
             std::move(owner)} {}

  void require_unchanged() const override { actual_->require_unchanged(); }
  [[nodiscard]] std::string version() const override { return actual_->version(); }
  [[nodiscard]] bool is_cold() const noexcept override { return true; }

 private:
  file(const std::string& address, std::unique_ptr<const detail::local_file> actual,
       std::shared_ptr<const standin_files> owner)
      : byte_file{address, actual->size(), joins},
        actual_{std::move(actual)},
        owner_{std::move(owner)} {}

  void do_read(std::span<const detail::byte_read> parts) const override {
    call made;
    for (const detail::byte_read& part : parts) made.emplace_back(part.offset, part.out.size());
    {
      const std::lock_guard lock{owner_->mutex_};
      owner_->calls_.push_back(std::move(made));
    }
    for (const detail::byte_read& part : parts) {
      if (owner_->before_) owner_->before_(*this, part);
      actual_->read(part.offset, part.out);
    }
  }

  void do_will_need(std::span<const detail::byte_range> ranges) const noexcept override {
    const std::lock_guard lock{owner_->mutex_};
    call& made = owner_->hints_.emplace_back();
    for (const auto& [begin, end] : ranges) made.emplace_back(begin, end - begin);
  }

  std::unique_ptr<const detail::local_file> actual_;
  std::shared_ptr<const standin_files> owner_;
};

detail::byte_file_ptr standin_files::open(const std::string& path, detail::file_access) const {
  return std::make_shared<const file>(path, shared_from_this());
}

detail::entry_kind standin_files::kind_of(const std::string& path) const noexcept {
  return detail::local_files().kind_of(path_behind(path));
}

std::vector<detail::folder_entry> standin_files::list(const std::string& folder) const {
  return detail::local_files().list(path_behind(folder));
}

std::vector<standin_files::call> standin_files::take_calls() const {
  const std::lock_guard lock{mutex_};
  return std::exchange(calls_, {});
}

std::vector<standin_files::call> standin_files::take_hints() const {
  const std::lock_guard lock{mutex_};
  return std::exchange(hints_, {});
}

}  // namespace feedline::test
