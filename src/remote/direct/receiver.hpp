#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace feedline::detail {

/// The asker of a request by a direct connection: judges its answer, and has memory for it. One
/// thread.
class direct_receiver {
 public:
  direct_receiver() = default;
  direct_receiver(const direct_receiver&) = delete;
  direct_receiver& operator=(const direct_receiver&) = delete;
  virtual ~direct_receiver() = default;

  /// The part of an answer after its head.
  enum class next : std::uint8_t {
    body,   ///< so many bytes as `left` says
    fault,  ///< nothing: the request has failed
    unfit,  ///< nothing: libcurl must make the request, and others to this server
  };
  /// @param head Lines of the head, without the empty one.
  [[nodiscard]] virtual next take_head(std::string_view head) = 0;
  /// Bytes of the body that are to come.
  [[nodiscard]] virtual std::uint64_t left() const noexcept = 0;
  /// Where the next bytes go; not empty while some are left. Without memory: they are not wanted.
  struct room {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
  };
  [[nodiscard]] virtual room next_room() noexcept = 0;
  /// @param bytes So many have come, and are in the room.
  virtual void came(std::size_t bytes) noexcept = 0;
  /// The request is about to be sent.
  virtual void sends() noexcept = 0;
};

}  // namespace feedline::detail
