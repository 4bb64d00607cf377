#include "findings/sharing/KeptPieces.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "base/Bytes.hpp"
#include "base/Log.hpp"
#include "base/files/File.hpp"
#include "base/files/PendingFile.hpp"
#include "base/files/Sha256.hpp"
#include "base/process/FaultInjection.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::findings {
namespace {

constexpr std::chrono::milliseconds least_time{100};

/// What stands before the body.
std::string head_of(const std::string& digest, const std::string& body) {
  return digest + ' ' + base::to_hex(base::sha256(body)) + '\n';
}

}  // namespace

KeptPieces::KeptPieces(const parallel::Communicator& ranks, const std::filesystem::path& path, std::string digest)
    : path_(ranks.rank() == 0 ? path : ""), digest_(std::move(digest)) {
  const auto content = ranks.broadcast(std::filesystem::is_regular_file(path_) ? base::read_file(path_) : "", 0);
  auto body = content.substr(std::min(content.size(), head_of(digest_, "").size()));
  if (content != head_of(digest_, body) + body) {
    return;
  }
  base::ByteReader in(std::as_bytes(std::span(body)));
  while (!in.done()) {
    const auto place = in.number<std::uint64_t>();
    found_[place] = in.array<std::byte>();
  }
  body_ = std::move(body);
}

std::vector<std::byte> KeptPieces::next(const std::function<std::vector<std::byte>()>& compute) {
  const auto place = place_++;
  if (const auto found = found_.find(place); found != found_.end()) {
    ++num_taken_over_;
    return std::move(found->second);
  }
  const auto start = std::chrono::steady_clock::now();
  auto piece = compute();
  if (path_.empty() || std::chrono::steady_clock::now() - start < least_time) {
    return piece;
  }
  base::ByteWriter out;
  out.number(place).array<std::byte>(piece);
  body_.append(reinterpret_cast<const char*>(out.bytes().data()), out.bytes().size());
  base::write_file_atomically(path_, head_of(digest_, body_) + body_);
  base::inject_fault("kept_work");
  return piece;
}

void KeptPieces::end() {
  if (num_taken_over_ > 0 && !path_.empty()) {
    base::log(base::LogLevel::info, "taken over: " + base::counted(num_taken_over_, "statistic") +
                                        " that a stats before this one had computed");
  }
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace stereosweep::findings
