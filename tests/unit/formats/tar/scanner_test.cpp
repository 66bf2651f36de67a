#include "formats/tar/scanner.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/tar_bytes.hpp"

#include <cstring>
#include <string>

using namespace feedline;
using byte_vector = std::vector<std::byte>;

namespace {

std::vector<detail::tar_member> scan(const byte_vector& archive,
                                     detail::tar_rules rules = detail::tar_rules::strict) {
  detail::tar_scanner members{archive.size(), "a.tar",
                              [&](std::uint64_t offset, std::span<std::byte> out) {
                                REQUIRE(offset + out.size() <= archive.size());
                                std::memcpy(out.data(), archive.data() + offset, out.size());
                              },
                              rules};
  std::vector<detail::tar_member> found;
  while (auto member = members.next()) found.push_back(std::move(*member));
  return found;
}

std::string refusal(const byte_vector& archive,
                    detail::tar_rules rules = detail::tar_rules::strict) {
  return test::message_of<dataset_error>([&] { (void)scan(archive, rules); });
}

std::string content(const byte_vector& archive, const detail::tar_member& member) {
  return {reinterpret_cast<const char*>(archive.data()) + member.offset,
          static_cast<std::size_t>(member.size)};
}

const std::string at = "a.tar: byte ";

}  // namespace

TEST_CASE("tar: members are found with their names and their bytes", "[dataset][host]") {
  const auto archive = test::tar_bytes{}
                           .add("one.txt", "1")
                           .add("empty.txt", "")
                           .add("./folder/two.txt", std::string(512, '2'))
                           .add("three.txt", std::string(513, '3'))
                           .ended();
  const auto members = scan(archive);
  REQUIRE(members.size() == 4);
  CHECK(members[0].name == "one.txt");
  CHECK(members[0].header == 0);
  CHECK(members[0].offset == 512);
  CHECK(content(archive, members[0]) == "1");
  CHECK(members[1].size == 0);
  CHECK(members[2].name == "folder/two.txt");
  CHECK(content(archive, members[2]) == std::string(512, '2'));
  CHECK(content(archive, members[3]) == std::string(513, '3'));
}

TEST_CASE("tar: long names come from POSIX's prefix, GNU's headers, or pax headers",
          "[dataset][host]") {
  const std::string longer(300, 'x');
  const auto content = std::as_bytes(std::span{"yz", 1});
  const auto archive = test::tar_bytes{}
                           .add("b.txt", content, {.prefix = "some/where"})
                           .add("g.txt", content, {.prefix = "not a prefix", .is_gnu = true})
                           .add("o.txt", content, {.is_old = true})
                           .add_long_name(longer + ".gnu")
                           .add("cut off", content, {.is_gnu = true})
                           .add_pax({"mtime=12.5", "path=" + longer + ".pax"})
                           .add("cut off", "yz")
                           .add_pax({"comment=for all"}, 'g')
                           .add("plain.txt", "yz")
                           .ended();
  const auto members = scan(archive);
  REQUIRE(members.size() == 6);
  CHECK(members[0].name == "some/where/b.txt");
  CHECK(members[1].name == "g.txt");
  CHECK(members[2].name == "o.txt");
  CHECK(members[3].name == longer + ".gnu");
  CHECK(members[4].name == longer + ".pax");
  CHECK(members[5].name == "plain.txt");
}

TEST_CASE("tar: sizes are octal digits, base 256, or a pax header's", "[dataset][host]") {
  const std::string text = "seven b";
  const auto bytes = std::as_bytes(std::span{text});
  const std::string blanks = "          7 ";
  const std::string base256{"\x80\0\0\0\0\0\0\0\0\0\0\7", 12};
  for (const std::string& size : {blanks, base256, std::string{"7"}}) {
    const auto archive =
        test::tar_bytes{}.add("a.txt", bytes, {.size = size}).add("b", "x").ended();
    const auto members = scan(archive);
    REQUIRE(members.size() == 2);
    CHECK(members[0].size == 7);
  }
  const auto archive = test::tar_bytes{}
                           .add_pax({"size=7"})
                           .add("a.txt", bytes, {.size = "00000000000"})
                           .add("b", "x")
                           .ended();
  CHECK(scan(archive)[0].size == 7);
}

TEST_CASE("tar: folders are skipped, and links and devices are named as such", "[dataset][host]") {
  const auto archive =
      test::tar_bytes{}
          .add_header("folder/", 0, {.type = '5'})
          .add_header("old folder/", 0, {.type = '\0', .is_old = true})
          .add_header("label", 0, {.type = 'V', .is_gnu = true})
          .add_header("hard", 77, {.type = '1', .link = "a.jpg"})  // no bytes follow
          .add_long_name("far/away", 'K')
          .add_header("soft", 0, {.type = '2', .link = "cut off", .is_gnu = true})
          .add_header("device", 0, {.type = '3'})
          .add_header("pipe", 0, {.type = '6'})
          .add("odd", std::as_bytes(std::span{"abc", 3}), {.type = 'Z'})
          .add("file", "x")
          .ended();
  const auto members = scan(archive);
  REQUIRE(members.size() == 6);
  CHECK(members[0].instead == "a hard link to 'a.jpg'");
  CHECK(members[1].instead == "a symbolic link to 'far/away'");
  CHECK(members[2].instead == "a device or a pipe");
  CHECK(members[3].instead == "a device or a pipe");
  CHECK(members[4].instead == "of the unknown type 'Z'");
  CHECK(members[5].name == "file");
  CHECK(members[5].instead.empty());
}

TEST_CASE("tar: an archive ends with two blocks of zeros, or with one that is the last",
          "[dataset][host]") {
  const auto archive = test::tar_bytes{}.add("a.txt", "x");
  auto bytes = archive.unended();
  CHECK(refusal(bytes) ==
        at + "1024: cut short: the archive ends here without the two blocks of zeros that end one; "
             "get it again, or, if the program that wrote it left them out, open it with "
             "tar_options::lenient");
  bytes.resize(1024 + 512);
  CHECK(scan(bytes).size() == 1);
  bytes.resize(10240 + 7);  // a tape's block, and a part of one
  CHECK(scan(bytes).size() == 1);

  auto joined = archive.ended();
  const auto second = archive.ended();
  joined.insert(joined.end(), second.begin(), second.end());
  CHECK(refusal(joined) ==
        at + "2048: the archive ended at byte 1024, but something follows: give "
             "archives that were joined with cat as shards of their own, or open them "
             "with tar_options::lenient");
}

TEST_CASE("tar: lenient rules accept archives without an end, joined by cat, and absolute names",
          "[dataset][host]") {
  const auto lenient = detail::tar_rules::lenient;
  const auto first = test::tar_bytes{}.add_pax({"linkpath=of the first"}, 'g').add("/a.txt", "x");
  const auto second = test::tar_bytes{}.add("///b/c.txt", "yz");
  CHECK(scan(first.unended(), lenient).size() == 1);
  CHECK(scan(first.ended(), lenient).size() == 1);

  for (const byte_vector& front : {first.ended(), first.unended()}) {
    auto joined = front;
    const auto behind = second.ended();
    joined.insert(joined.end(), behind.begin(), behind.end());
    const auto members = scan(joined, lenient);
    REQUIRE(members.size() == 2);
    CHECK(members[0].name == "a.txt");
    CHECK(members[1].name == "b/c.txt");
    CHECK(content(joined, members[1]) == "yz");
  }
}

TEST_CASE(
    "tar: lenient rules still refuse archives that are cut within a member or damaged, and paths "
    "that lead out",
    "[dataset][host]") {
  const auto lenient = detail::tar_rules::lenient;
  auto whole = test::tar_bytes{}.add("a.txt", "x").add("b.txt", std::string(600, 'b')).unended();
  auto cut = whole;
  cut.resize(1024 + 512 + 599);
  CHECK(refusal(cut, lenient).find("claims 600 bytes, but the file ends 599") != std::string::npos);
  cut.resize(1024 + 511);
  CHECK(refusal(cut, lenient).find("cut short") != std::string::npos);
  auto damaged = test::tar_bytes{}.add("a.txt", "x").ended();
  damaged[2048 - 1] = std::byte{1};
  CHECK(refusal(damaged, lenient).find("its checksum is wrong") != std::string::npos);
  CHECK(refusal(test::tar_bytes{}.add("/../b.txt", "x").ended(), lenient)
            .find("leads out of the archive") != std::string::npos);
  CHECK(refusal(test::tar_bytes{}.add("//", "x").ended(), lenient).find("has no name") !=
        std::string::npos);
}

TEST_CASE("tar: one cut short anywhere is refused, telling where", "[dataset][host]") {
  const auto whole = test::tar_bytes{}
                         .add_long_name(std::string(200, 'n'))
                         .add("cut off", std::string(700, 'a'))
                         .add_pax({"path=other"})
                         .add("b.txt", "b")
                         .unended();
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const byte_vector part{whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)};
    const std::string message = refusal(part);
    INFO(size << " bytes: " << message);
    CHECK(message.substr(0, at.size()) == at);
  }
  const byte_vector in_content{whole.begin(), whole.begin() + 1536 + 100};
  CHECK(refusal(in_content) ==
        at + "1024: member '" + std::string(200, 'n') +
            "' claims 700 bytes, but the file ends 100 bytes after its header: cut short, or "
            "damaged; get the archive again");
}

TEST_CASE("tar: sizes that lie are refused", "[dataset][host]") {
  const auto content = std::as_bytes(std::span{"abc", 3});
  const auto with_size = [&](const std::string& size) {
    return refusal(test::tar_bytes{}.add("a.txt", content, {.size = size}).ended());
  };
  CHECK(with_size("77777777777") ==
        at + "0: member 'a.txt' claims 8589934591 bytes, but the file ends 1536 bytes after its "
             "header: cut short, or damaged; get the archive again");
  CHECK(with_size(std::string{"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12}) ==
        at + "0: member 'a.txt' claims 9223372036854775807 bytes, but the file ends 1536 bytes "
             "after its header: cut short, or damaged; get the archive again");
  const std::string no_number =
      at + "124: the header's size is not a number of bytes; the archive is damaged, get it again";
  CHECK(with_size(std::string(12, '\xff')) == no_number);  // minus one
  CHECK(with_size("12x") == no_number);
  CHECK(with_size("00000000009") == no_number);
  // A header that ends in the middle of its content, so that the next header is not one.
  const std::string longer(600, 'x');
  CHECK(refusal(test::tar_bytes{}
                    .add("a.txt", std::as_bytes(std::span{longer}), {.size = "0000003"})
                    .ended()) ==
        at + "1024: a member's header should stand here, but its checksum is wrong: the archive is "
             "damaged, or the member before it lies about its size; get it again");
}

TEST_CASE("tar: files that are no archives are refused, compressed ones with advice",
          "[dataset][host]") {
  const auto starting = [](std::string_view text) {
    byte_vector file(2048, std::byte{'x'});
    std::memcpy(file.data(), text.data(), text.size());
    return refusal(file);
  };
  CHECK(starting("hello") ==
        at + "0: not a tar archive: its first 512 bytes are not a header with a "
             "right checksum; check that this is the right file");
  const auto advice = [](const std::string& kind, const std::string& program) {
    return at + "0: compressed by " + kind +
           ", so that samples cannot be read in any order; decompress it once with " + program;
  };
  CHECK(starting("\x1f\x8b") == advice("gzip", "gunzip"));
  CHECK(starting("\x28\xb5\x2f\xfd") == advice("zstd", "unzstd"));
  CHECK(starting("BZh") == advice("bzip2", "bunzip2"));
  CHECK(starting({"\xfd"
                  "7zXZ\0",
                  6}) == advice("xz", "unxz"));
  CHECK(refusal({}) == at + "0: not a tar archive: it is shorter than a header");
  CHECK(refusal(byte_vector(1024)) == at + "0: not a tar archive: it begins with zeros");
  // A first member may be named like a magic number.
  CHECK(scan(test::tar_bytes{}.add("BZh.txt", "x").ended()).size() == 1);
}

TEST_CASE(
    "tar: a dot and slashes in front of a name are no part of it, and make it no absolute one",
    "[dataset][host]") {
  for (const std::string name : {"./a/1.jpg", ".//a/1.jpg", "././/./a/1.jpg", ".///./a/1.jpg"}) {
    const auto members = scan(test::tar_bytes{}.add(name, "x").ended());
    REQUIRE(members.size() == 1);
    CHECK(members[0].name == "a/1.jpg");
  }
}

TEST_CASE("tar: names that lead out of the archive are refused", "[dataset][host]") {
  const auto named = [](const std::string& name) {
    return refusal(test::tar_bytes{}.add(name, "x").ended());
  };
  CHECK(named("/etc/passwd") ==
        at + "0: member '/etc/passwd' has an absolute name; make the archive "
             "with relative ones, or open it with tar_options::lenient");
  for (const std::string name : {"../a.txt", "a/../../b.txt", "./..", "a/.."})
    CHECK(named(name) == at + "0: member '" + name +
                             "' has a name that leads out of the archive; make it without '..'");
  CHECK(scan(test::tar_bytes{}.add("a../..b/c..txt", "x").ended()).size() == 1);
  CHECK(named("./") == at + "0: member './' has no name; the archive is damaged, get it again");
  CHECK(named(".//") == at + "0: member './/' has no name; the archive is damaged, get it again");
  CHECK(named(".//../a") ==
        at + "0: member './/../a' has a name that leads out of the archive; make "
             "it without '..'");
  using namespace std::string_literals;
  CHECK(
      refusal(test::tar_bytes{}.add_pax({"path=a\0b"s}).add("a", "x").ended()).find("zero byte") !=
      std::string::npos);
}

TEST_CASE("tar: sparse members and other volumes are refused", "[dataset][host]") {
  CHECK(refusal(test::tar_bytes{}.add_header("s", 0, {.type = 'S', .is_gnu = true}).ended()) ==
        at + "0: member 's' is sparse, which feedline does not read; make the archive without "
             "tar's --sparse");
  CHECK(refusal(test::tar_bytes{}.add_pax({"GNU.sparse.major=1"}).add("s", "x").ended()) ==
        at + "0: a sparse member, which feedline does not read; make the archive without tar's "
             "--sparse");
  CHECK(refusal(test::tar_bytes{}.add_header("m", 0, {.type = 'M', .is_gnu = true}).ended()) ==
        at + "0: member 'm' continues from another volume; make the archive in one piece");
}

TEST_CASE("tar: damaged headers of names are refused", "[dataset][host]") {
  const std::string damaged = at + "0: the pax header here is damaged; get the archive again";
  for (const std::string records :
       {"nonsense", "5", "99 path=a\n", "0 path=a\n", "9 path=ab", "7 pathx\n", "3 \n", " x=y\n",
        "18446744073709551615 a=b\n", "18446744073709551616 a=b\n", "-3 a=b\n"}) {
    INFO(records);
    CHECK(refusal(test::tar_bytes{}
                      .add("p", std::as_bytes(std::span{records}), {.type = 'x'})
                      .add("a", "x")
                      .ended()) == damaged);
  }
  CHECK(refusal(test::tar_bytes{}.add_pax({"size=1x"}).add("a", "x").ended()) ==
        at + "0: the pax header's size is not a number; the archive is damaged, get it again");
  CHECK(
      refusal(test::tar_bytes{}.add_long_name("n").ended()) ==
      at + "1024: the archive ends after a header of names, with no member after it; get it again");
  CHECK(refusal(test::tar_bytes{}.add_header("n", 5000000, {.type = 'L'}).ended()) ==
        at + "0: a header of names claims 5000000 bytes; the archive is damaged, get it again");
}

TEST_CASE("tar: a header with any byte changed is refused", "[dataset][host]") {
  const auto whole = test::tar_bytes{}.add("a.txt", "x").add("b.txt", "y").ended();
  for (std::size_t i = 1024; i < 1024 + 512; ++i) {
    auto changed = whole;
    changed[i] ^= std::byte{0x01};
    if (i >= 148 + 1024 && i < 156 + 1024) continue;  // the checksum, whose last bytes say nothing
    CHECK(refusal(changed).find("its checksum is wrong") != std::string::npos);
  }
}
