#pragma once

#include "remote/direct/receiver.hpp"
#include "remote/direct/servers.hpp"
#include "remote/request/in_flight_limit.hpp"
#include "remote/request/transfer.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <curl/curl.h>

namespace feedline::detail {

struct curl_list_end {
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};
struct curl_easy_end {
  void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};
using curl_easy_ptr = std::unique_ptr<CURL, curl_easy_end>;

/// The file of the certificates that are trusted: SSL_CERT_FILE if it is set, as for libcurl's
/// program; else, if libcurl's own file is not there, the one of this system. Empty: libcurl's own.
/// Looks at the file system.
[[nodiscard]] std::optional<std::string> certificate_file();

/// A handle of libcurl's, which is used for one request after another: most options stay.
struct request_handle {
  curl_easy_ptr easy = nullptr;
  bool is_set = false;  ///< has the options that all requests without a signature share
  std::shared_ptr<const remote_target> target = nullptr;  ///< its address is set
};

/// One try of a transfer: a request by libcurl or by a direct connection. One thread.
class attempt final : public direct_receiver {
 public:
  using clock = std::chrono::steady_clock;
  /// A hedge is made beside a first one that lags. Its bytes go into memory of its own, so that the
  /// two never write to the same bytes.
  enum class role : bool { first, hedge };

  /// Settings that all requests of a thread have in common.
  struct surroundings {
    std::optional<std::string> authorities = certificate_file();
    curl_sockopt_callback on_open = nullptr;
    curl_closesocket_callback on_close = nullptr;
    void* sockets = nullptr;  ///< first argument of both
  };

  /// One that libcurl makes. @param handle A handle that is used for nothing else meanwhile.
  /// @param index How many requests of its thread are in flight already; kept for the caller, and
  /// so is the number of a group, or of a direct connection's socket.
  attempt(transfer_ptr of, request_handle handle, role as, std::size_t index,
          const surroundings& in);
  /// A first one, by a direct connection.
  attempt(transfer_ptr of, std::size_t index);

  /// Whether a transfer's first try may be made by a direct connection.
  [[nodiscard]] static std::optional<direct_address> direct_to(const remote_transfer& of) noexcept;
  /// The request, as it is sent there.
  [[nodiscard]] static std::string direct_head(const remote_transfer& of, const direct_address& to);

  /// Null if it is made by a direct connection.
  [[nodiscard]] CURL* easy() const noexcept { return handle_.easy.get(); }
  [[nodiscard]] const transfer_ptr& of() const noexcept { return of_; }
  [[nodiscard]] clock::time_point begun() const noexcept { return begun_; }
  [[nodiscard]] clock::time_point last_byte() const noexcept { return last_byte_; }
  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  void set_index(std::size_t index) noexcept { index_ = index; }
  [[nodiscard]] std::size_t group() const noexcept { return group_; }
  void set_group(std::size_t group) noexcept { group_ = group; }
  /// The server that answered libcurl, if a direct connection can be made to it, in numbers.
  struct reached {
    const char* ip = nullptr;
    long port = 0;
  };
  [[nodiscard]] reached reached_server() const noexcept;
  /// The answer's, so far; 0: there is none.
  [[nodiscard]] int status() const noexcept { return static_cast<int>(answer_.status); }
  /// Its times.
  [[nodiscard]] in_flight_limit::answer measured() const noexcept;

  /// How it ended. Sets the transfer's answer and count of bytes. @param code libcurl's result.
  [[nodiscard]] answer_verdict end(CURLcode code);
  /// After an end without a fault, while no other attempt of the transfer is left: its bytes are
  /// the transfer's.
  void deliver();
  [[nodiscard]] request_handle take_handle() && { return std::move(handle_); }

  [[nodiscard]] next take_head(std::string_view head) override;
  [[nodiscard]] std::uint64_t left() const noexcept override { return of_->wanted.bytes - got_; }
  [[nodiscard]] room next_room() noexcept override;
  void came(std::size_t bytes) noexcept override;
  void sends() noexcept override { sent_ = clock::now(); }

 private:
  static constexpr long max_redirects = 5;

  static std::size_t on_header(const char* line, std::size_t, std::size_t bytes, void* self);
  static std::size_t on_body(const char* data, std::size_t, std::size_t bytes, void* self);

  [[nodiscard]] static const std::string& user_agent();
  /// The header by which a server refuses another version; empty if it tells none.
  [[nodiscard]] static std::string condition_of(const object_pin& pin);
  void set_shared_options(const surroundings& in);
  void set_options();
  void set_headers(const s3_credentials& signer);
  [[nodiscard]] bool take(const char* data, std::size_t bytes);
  void judge();
  void require_memory();
  [[nodiscard]] answer_verdict judge_end();
  [[nodiscard]] answer_verdict judge_code(CURLcode code) const;

  transfer_ptr of_;
  request_handle handle_;
  std::unique_ptr<curl_slist, curl_list_end> headers_;
  http_answer answer_;
  bool is_judged_ = false;
  bool is_signed_ = false;
  answer_verdict verdict_;
  std::size_t index_;
  std::size_t group_ = 0;
  std::vector<std::byte> own_;  ///< a hedge's bytes
  landing::cursor out_;         ///< in the transfer's memory
  std::uint64_t got_ = 0;
  std::optional<running_checksum> sum_;  ///< checksum so far, if the answer tells one
  std::size_t header_bytes_ = 0;
  std::string text_;      ///< the answer to a transfer of text
  std::string error_;     ///< the body of an answer without the object's bytes, from its beginning
  bool was_cut_ = false;  ///< the rest of the body was not wanted
  const clock::time_point begun_ = clock::now();
  clock::time_point last_byte_ = begun_;
  clock::time_point sent_ = begun_;        ///< if a direct connection is used
  clock::time_point first_byte_ = begun_;  ///< the same
};

}  // namespace feedline::detail
