#pragma once

#include "remote/answer/judge_answer.hpp"
#include "remote/request/s3_identity.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Where requests of one object or listing go, and how patient they are. Constant.
struct remote_target {
  std::string url;  ///< with its secrets: never shown
  std::chrono::milliseconds deadline{60'000};
  std::chrono::milliseconds stall_after{10'000};
  bool follows_redirects = true;
  std::shared_ptr<const s3_identity> identity = nullptr;  ///< signs requests; null: none is signed
};

/// Where the bytes of an answer go, one piece after the other. What lies between pieces that are
/// wanted is received, too, and thrown away.
class landing {
 public:
  landing() = default;
  /// All in one piece.
  landing(std::span<std::byte> out) { add(out); }  // NOLINT(google-explicit-constructor)

  void add(std::span<std::byte> out) {
    if (!out.empty()) pieces_.push_back({out.size(), out.data()});
    bytes_ += out.size();
  }
  void skip(std::uint64_t bytes) {
    if (bytes != 0) pieces_.push_back({bytes, nullptr});
    bytes_ += bytes;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Whether some bytes are thrown away.
  [[nodiscard]] bool has_gaps() const noexcept {
    return std::ranges::any_of(pieces_, [](const piece& each) { return each.out == nullptr; });
  }
  /// Bytes that would be thrown away go here, from now on. @param all Memory for all bytes.
  void place(std::span<std::byte> all) noexcept { pieces_.front().out = all.data(); }

  /// A position in a landing, which goes forward as bytes come.
  class cursor {
   public:
    explicit cursor(const landing& of) noexcept : of_{&of} {}
    /// The rest of a piece. Without memory: it is thrown away.
    struct rest {
      std::byte* out;
      std::uint64_t bytes;
    };
    /// Where the next bytes go, while not all have come.
    [[nodiscard]] rest next() const noexcept {
      const piece& to = of_->pieces_[piece_];
      return {to.out == nullptr ? nullptr : to.out + done_, to.bytes - done_};
    }
    /// @param bytes No more than those of `next`, which were written there.
    void came(std::uint64_t bytes) noexcept {
      done_ += bytes;
      if (done_ != of_->pieces_[piece_].bytes) return;
      ++piece_;
      done_ = 0;
    }
    /// @param data No more than what is left of the landing.
    void put(std::span<const std::byte> data) noexcept {
      while (!data.empty()) {
        const rest to = next();
        const auto part =
            data.first(static_cast<std::size_t>(std::min<std::uint64_t>(data.size(), to.bytes)));
        if (to.out != nullptr) std::memcpy(to.out, part.data(), part.size());
        data = data.subspan(part.size());
        came(part.size());
      }
    }

   private:
    const landing* of_;
    std::size_t piece_ = 0;
    std::uint64_t done_ = 0;  ///< bytes of this piece
  };

 private:
  struct piece {
    std::uint64_t bytes;
    std::byte* out;  ///< null: they are thrown away
  };
  std::vector<piece> pieces_;
  std::uint64_t bytes_ = 0;
};

/// Some bytes of a target: one request, made again until it succeeds, its deadline is over, or a
/// retry is of no use. Its asker makes it and waits for `done`; meanwhile it is the loop's.
struct remote_transfer {
  static constexpr std::size_t max_text = std::size_t{64} << 20;

  std::shared_ptr<const remote_target> target;
  wanted_bytes wanted;
  landing out = {};  ///< bytes land here; `wanted.bytes` of them
  /// Called once before the first byte lands, by the loop's thread: gives `out` its memory. Bytes
  /// are on their way for long, and their memory is used for others meanwhile. Empty: it has it.
  /// @throws std::bad_alloc
  std::function<void()> give_memory = {};
  /// Called once, by the loop's thread, or by `submit` if the loop has ended. Does not throw.
  std::function<void()> done;

  /// Set by the asker, at any time: nothing waits for the bytes any more, so no request is made for
  /// them from now on. `done` is still called.
  std::atomic<bool> is_unwanted{false};

  // The result, from `done` on.
  http_answer answer = {};
  std::uint64_t got = 0;      ///< bytes in `out`
  std::string text = {};      ///< with wanted_bytes::kind::text
  answer_verdict fault = {};  ///< why there are no bytes: none, if they came; until then, why the
                              ///< last try failed

  std::chrono::nanoseconds latency = {};  ///< time of the last try until its first byte

  std::uint64_t loader = 0;  ///< the asker's, for turns

  // The queue's own.
  bool is_begun = false;
  bool is_hurried = false;

  // The own ones of the thread that makes it.
  int tries = 0;
  int running = 0;  ///< requests in flight: 2, if the first one lags
  std::chrono::steady_clock::time_point first_try = {};
  std::chrono::steady_clock::time_point due = {};  ///< time of the next try

  [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept {
    return first_try + target->deadline;
  }
};

using transfer_ptr = std::shared_ptr<remote_transfer>;

}  // namespace feedline::detail
