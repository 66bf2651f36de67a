#pragma once

#include <feedline/export.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Where bytes of objects are kept, so that they are not fetched in each epoch.
struct remote_cache_options {
  /// A folder of this machine, best on an NVMe disk; it is made if its parent is there.
  /// Processes of this user share it, at the same time and one after another. Empty: none.
  std::string folder = {};
  /// Bytes that the folder's blocks may take, over all processes. Not 0 with a folder.
  std::uint64_t folder_bytes = 0;
  /// Memory of this process for blocks that the folder has no room for; for all blocks without a
  /// folder. 0: none. Samples that several ranks share out are kept in a folder alone.
  std::uint64_t memory_bytes = 0;
  /// Objects are kept in blocks of this size: a power of two, 64 KiB to 64 MiB. Other sizes do not
  /// find the blocks of this one.
  std::uint64_t block_bytes = std::uint64_t{4} << 20;
};

/// How objects of other machines are read.
struct remote_options {
  /// For one request with all its tries, from the first on. After it the read is an error, and
  /// `error_policy` decides about its samples. 1 ms to 24 hours.
  std::chrono::milliseconds deadline = std::chrono::seconds{60};
  /// A request without a byte for this long is given up and made again. 1 ms to 24
  /// hours.
  std::chrono::milliseconds stall_after = std::chrono::seconds{10};
  /// Requests of the process in flight at once, at most; 1 to 16384. feedline uses as many as
  /// the rate and the latency ask for, and no more than half of the files that the process may have
  /// open (`ulimit -n`): 10 GB/s of rows of 150 KB over 50 ms are 3,400.
  /// `remote_statistics::held_back` tells whether more would be faster.
  int max_in_flight = 4096;
  /// The most memory for bytes that were fetched before they were asked for, for all files
  /// together. As much of it is used as the rate and the latency ask for, none for servers that are
  /// near. 0: nothing is fetched ahead.
  std::uint64_t read_ahead_bytes = std::uint64_t{2} << 30;
  /// Threads that receive answers, each some 2 GB/s of HTTP; 0 to 64. They start when there is work
  /// for them. 0: one for each core that the process may use, at most 8. Does not count any more
  /// once a request was made.
  int threads = 0;
  /// Whether a request that takes much longer than others of its size gets a second one beside it.
  /// The first whole answer is taken. At most one request in 32 gets one.
  bool second_requests = true;
  /// Whether bytes of servers without TLS (`http://`) are received straight to where they are
  /// needed, by connections of feedline's own, once libcurl has reached a server without a proxy
  /// or a redirect. False: libcurl makes all requests, and each byte is copied once more.
  bool direct_connections = true;
  /// Address of a store that speaks S3's protocol, such as "https://storage.googleapis.com". Empty:
  /// AWS_ENDPOINT_URL_S3, else AWS_ENDPOINT_URL, else Amazon's.
  std::string s3_endpoint = {};
  /// Empty: AWS_REGION, else AWS_DEFAULT_REGION, else the profile's, else "us-east-1".
  std::string s3_region = {};
  /// Requests to S3 are not signed, and no credentials are looked for; AWS_NO_SIGN_REQUEST=true
  /// does the same. False: signed with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
  /// AWS_SESSION_TOKEN, else with the profile AWS_PROFILE in ~/.aws; not signed if there are none.
  bool s3_anonymous = false;
  /// Without a folder and memory nothing is kept, and each epoch fetches all that it reads.
  remote_cache_options cache = {};
};

/// From now on files are also opened by addresses: "http://…", "https://…" and "s3://BUCKET/KEY".
/// Target `feedline::remote`, which is there if feedline was built with libcurl and pugixml.
/// `open`, the programs and Python call this themselves; call it before other functions open such
/// an address, or to change the options. Options are for the whole process: those of the last call
/// count for objects that are opened later, and `max_in_flight` for all.
///
///     feedline::mount_remote_files();
///     auto train = feedline::open_tar({"s3://bucket/train-*.tar"}, fields);
///
/// Objects of S3 can be listed, so patterns work, and so do folders of images; a web server's
/// cannot. Requests to S3 are signed (AWS's version 4). Credentials are never shown.
///
/// Objects are read in ranges, so the server must serve these (status 206). An object is pinned to
/// its version when it is opened, by its ETag, else by its date: a change ends a read with an
/// error that names it. Requests that fail are made again, with growing pauses, until the deadline.
/// libcurl's environment variables (`https_proxy`, `no_proxy`) count. Threads named "feedline
/// net" make all requests; they start when there are some.
/// @throws usage_error if an option is out of range, or the cache's folder cannot be used: it says
///         why.
void mount_remote_files(const remote_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
