#pragma once

#include "io/byte_file.hpp"
#include "remote/ahead_store.hpp"
#include "remote/cache/block_key.hpp"
#include "remote/cache/object_cache.hpp"
#include "remote/cache/use_table.hpp"
#include "remote/request/own_state.hpp"
#include "remote/request/transfer.hpp"
#include "remote/request/transfer_loop.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace feedline::detail {

class awaited;

/// How an object is opened and read.
struct object_access {
  std::shared_ptr<const remote_target> target;
  std::uint64_t max_ahead_bytes = 0;                     ///< room of the process's `ahead_store`
  std::shared_ptr<const cache_setting> cache = nullptr;  ///< null: nothing is kept
};

/// An object of another machine, in the version that it had when it was opened: each answer is
/// checked, so bytes of another version never come.
///
/// A read's parts are requested at the same time, and land in the caller's memory, unless they were
/// hinted and fetched ahead. Small reads that go forward, as when the members of an archive are
/// listed, fetch windows that grow: a request for each would take a round trip for each.
///
/// With a cache, a read is divided into the cache's blocks: each comes from what was fetched ahead,
/// else from the cache; else it is fetched, whole if the cache will keep it.
class object_file final : public byte_file, public cached_file {
 public:
  /// The first bytes come with the opening: formats look at them.
  static constexpr std::uint64_t head_bytes = std::uint64_t{64} << 10;

  /// Opens it by one request. @param name Its address, for errors. @param head So many bytes come.
  /// @return Null if there is none; `fault` says why. @throws dataset_error
  [[nodiscard]] static std::shared_ptr<const object_file> try_open(const std::string& name,
                                                                   object_access access,
                                                                   answer_verdict& fault,
                                                                   std::uint64_t head = head_bytes);

  /// @param is_far Whether its requests take so long that bytes should be fetched ahead.
  object_file(const std::string& name, object_access access, object_pin pin,
              std::vector<std::byte> head, bool is_far = true);
  ~object_file() override;

  /// Nothing to ask: each answer was checked.
  void require_unchanged() const override {}
  [[nodiscard]] std::string version() const override;
  [[nodiscard]] bool has_version() const noexcept override;
  [[nodiscard]] std::string stable_name() const override;
  /// The cache's.
  [[nodiscard]] std::string index_folder() const override;
  [[nodiscard]] bool is_cold() const noexcept override { return true; }
  /// A reader sleeps until the answers of a read are there: several rows share that.
  [[nodiscard]] std::size_t bytes_a_read() const noexcept override {
    return std::size_t{640} << 10;
  }
  [[nodiscard]] const object_identity* identity() const noexcept override {
    return identity_.get();
  }
  [[nodiscard]] object_identity identity_in_any_cache() const override;
  [[nodiscard]] const std::shared_ptr<const cache_setting>& cache() const noexcept override {
    return access_.cache;
  }

  /// The version that it had when it was opened.
  [[nodiscard]] const object_pin& pin() const noexcept { return pin_; }
  /// Whether its requests take so long that bytes should be fetched ahead.
  [[nodiscard]] bool is_far() const noexcept { return is_far_; }
  /// Whether a read has seen that the object changed.
  [[nodiscard]] bool was_changed() const noexcept { return was_changed_.load(); }

 private:
  /// Some consecutive bytes that are kept for small reads.
  struct window {
    std::uint64_t begin = 0;
    std::vector<std::byte> bytes = {};
    std::chrono::steady_clock::time_point made = std::chrono::steady_clock::now();

    [[nodiscard]] bool has(const byte_read& part) const noexcept {
      return begin <= part.offset && part.end() <= begin + bytes.size();
    }
    void copy(const byte_read& part) const noexcept;
  };

  /// Reads so far, as far as they may be steps of a walk through the object.
  struct walk {
    std::mutex mutex;  ///< for all below
    std::shared_ptr<const window> kept;
    std::uint64_t last_end = 0;
    int steps = 0;  ///< reads in a row that went forward
    std::uint64_t grown = head_bytes;
  };

  class begun;

  void do_read(std::span<const byte_read> parts) const override;
  [[nodiscard]] std::unique_ptr<begun_read> do_begin_read(
      std::span<const byte_read> parts) const override;
  void do_will_need(std::span<const byte_range> ranges) const noexcept override;

  /// A part that is fetched ahead. @throws dataset_error
  [[nodiscard]] bool read_ahead(const byte_read& part) const;
  /// Part by block. @param left Gets those that are to be requested.
  void read_blocks(const byte_read& part, std::vector<byte_read>& left,
                   std::vector<byte_read>& awaited) const;
  [[nodiscard]] bool read_block(const byte_read& piece) const;
  void await_block(const byte_read& piece) const;
  [[nodiscard]] object_cache::claim claim(std::uint64_t number, transfer_loop::urgency when) const;
  void block_will_need(const byte_range& range) const;

  [[nodiscard]] std::shared_ptr<const window> kept_window() const;
  void copy_kept(const window& kept, const byte_read& part) const;
  /// Reads a small part with what comes after it, if it continues a walk.
  [[nodiscard]] bool read_walking(const byte_read& part) const;
  void request(std::span<const byte_read> parts) const;
  void submit(std::span<const byte_read> parts, awaited& all) const;
  void require_come(awaited& all) const;
  [[noreturn]] void refuse(std::uint64_t offset, const answer_verdict& fault) const;

  const object_access access_;
  const object_pin pin_;
  const bool is_far_;
  const std::shared_ptr<const object_identity> identity_;  ///< null: the cache cannot keep it
  mutable std::atomic<bool> was_changed_{false};
  mutable own_state<walk> walk_;
};

}  // namespace feedline::detail
