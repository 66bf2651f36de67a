#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace feedline::detail {

/// A small request that its caller waits for, such as for credentials. Redirects are not followed.
struct plain_request {
  std::string method = "GET";
  std::string url = {};
  std::vector<std::string> headers = {};
  std::string body = {};  ///< with POST
  std::chrono::milliseconds connect_within{1000};
  std::chrono::milliseconds answer_within{5000};
  bool past_proxies = false;  ///< for addresses of this machine or its host
};

struct plain_answer {
  long status = 0;      ///< 0: there is no answer
  std::string body;     ///< at most 64 KiB; it may hold secrets
  std::string failure;  ///< without an answer: why, without secrets
};

/// Blocks. Any thread, except those of `transfer_loop`.
[[nodiscard]] plain_answer make_request(const plain_request& wanted);

}  // namespace feedline::detail
