#include "results/Seal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/Check.hpp"
#include "base/Error.hpp"
#include "base/File.hpp"
#include "base/Log.hpp"
#include "base/PendingFile.hpp"
#include "base/Sha256.hpp"

namespace stereosweep::results {

namespace {

constexpr std::string_view seal_head = "stereosweep-seal/1 sha256=";
constexpr std::string_view seal_tail = " end-of-result\n";
constexpr std::size_t seal_window = std::size_t{1} << 20;

[[noreturn]] void fail_to_read(const std::filesystem::path& file, const std::string& why) {
  throw base::InputError(base::describe("cannot read '" + file.string() + "'", why));
}

std::ifstream open(const std::filesystem::path& file) {
  std::error_code status;
  if (!std::filesystem::is_regular_file(file, status)) {
    fail_to_read(file, status ? status.message() : "it is no regular file");
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    fail_to_read(file, std::strerror(errno));
  }
  return in;
}

std::string seal_of(std::ifstream& in, std::uint64_t size, const std::filesystem::path& file) {
  base::Sha256 hash;
  std::vector<char> part(seal_window);
  for (auto left = size; left > 0;) {
    const auto length = std::min<std::uint64_t>(left, part.size());
    if (!in.read(part.data(), static_cast<std::streamsize>(length))) {
      fail_to_read(file, "reading stops before its end");
    }
    hash.update(std::string_view(part.data(), length));
    left -= length;
  }
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%016llu", static_cast<unsigned long long>(size));
  return std::string(seal_head) + base::to_hex(hash.finish()) + " bytes=" + number.data() + std::string(seal_tail);
}

}  // namespace

void append_seal(const std::filesystem::path& file) {
  auto in = open(file);
  const auto seal = seal_of(in, std::filesystem::file_size(file), file);
  STEREOSWEEP_ASSERT(seal.size() == seal_bytes, "a seal has one size");
  const int out = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  std::string_view left = seal;
  while (out >= 0 && !left.empty()) {
    const auto written = ::write(out, left.data(), left.size());
    if (written < 0 && errno != EINTR) {
      break;
    }
    left.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  const bool sealed = out >= 0 && left.empty() && ::fsync(out) == 0;
  const int reason = errno;
  if (out >= 0) {
    ::close(out);
  }
  if (!sealed) {
    const auto failure = base::explain_write_failure(file, reason);
    throw base::Error(base::describe("cannot write '" + file.string() + "'", failure.why, failure.advice));
  }
}

void commit_sealed(base::PendingFile& pending) {
  append_seal(pending.path());
  pending.commit();
}

Seal check_seal(const std::filesystem::path& file) {
  auto in = open(file);
  const auto size = std::filesystem::file_size(file);
  if (size < seal_bytes) {
    return Seal::none;
  }
  std::string found(seal_bytes, '\0');
  in.seekg(static_cast<std::streamoff>(size - seal_bytes));
  if (!in.read(found.data(), seal_bytes)) {
    fail_to_read(file, "reading stops before its end");
  }
  if (!found.starts_with(seal_head) && !found.ends_with(seal_tail)) {
    return Seal::none;
  }
  in.seekg(0);
  if (seal_of(in, size - seal_bytes, file) != found) {
    throw base::InputError(
        base::describe("'" + file.string() + "' is damaged",
                       "its bytes are not those that were written, or another program has it open to change it",
                       "write it anew with 'stereosweep export'"));
  }
  return Seal::intact;
}

void write_sealed(const std::filesystem::path& file, std::span<const std::byte> content) {
  base::PendingFile pending(file, base::PendingFile::Readers::owner);  // a corpus's sentences are nobody else's
  pending.write({reinterpret_cast<const char*>(content.data()), content.size()});
  commit_sealed(pending);
}

std::optional<std::vector<std::byte>> read_sealed(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return std::nullopt;
  }
  try {
    if (check_seal(file) == Seal::intact) {
      const auto opened = base::open_file(file);
      std::vector<std::byte> content(opened.size() - seal_bytes);
      opened.read(0, content);
      return content;
    }
    base::log(base::LogLevel::warning, "'" + file.string() + "' has no seal: it is made anew");
  } catch (const base::InputError& error) {
    base::log(base::LogLevel::warning, std::string(error.what()) + ": it is made anew");
  }
  return std::nullopt;
}

}  // namespace stereosweep::results
