#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <random>

#include "base/Bytes.hpp"
#include "base/Check.hpp"
#include "base/Error.hpp"
#include "base/FaultInjection.hpp"
#include "base/PendingFile.hpp"
#include "results/Journal.hpp"
#include "results/JournalFormat.hpp"

namespace stereosweep::results {
namespace format = journal_format;
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view action, int cause) {
  const auto failure = base::explain_write_failure(path, cause);
  throw base::Error(base::describe(
      "cannot " + std::string(action) + " the journal " + path.string(), failure.why,
      (failure.advice.empty() ? "run the same command again" : failure.advice) + ": finished blocks are kept"));
}

std::vector<std::byte> encode_header(const JournalHeader& header) {
  base::ByteWriter content;
  content.number(format::version).raw(std::as_bytes(std::span(header.job_hash)));
  content.text(header.settings).text(header.facts).text(header.attempt);
  base::ByteWriter out;
  out.raw(std::as_bytes(std::span(format::file_magic))).number(static_cast<std::uint32_t>(content.bytes().size()));
  out.raw(content.bytes());
  out.number(format::crc(out.bytes()));
  return out.take();
}

}  // namespace

std::string make_attempt_name() {
  std::array<char, 64> text{};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  auto length = std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &utc);
  std::random_device random;
  length += static_cast<std::size_t>(
      std::snprintf(text.data() + length, text.size() - length, "-%08x%08x", random(), random()));
  return {text.data(), length};
}

JournalWriter::JournalWriter(const std::filesystem::path& run_directory, const JournalHeader& header,
                             const std::string& stage)
    : run_directory_(run_directory),
      path_(journal_directory(run_directory, stage) / (header.attempt + ".log")),
      header_(encode_header(header)) {}

/// Durable with the first sync of the file itself.
void JournalWriter::create() {
  std::error_code status;
  std::filesystem::create_directories(path_.parent_path(), status);
  if (status) {
    fail(path_, "create", status.value());
  }
  const bool is_of_stage = path_.parent_path() != journal_directory(run_directory_, "");
  const mode_t mode = is_of_stage ? 0600 : 0644;  // journals of stages hold the corpus's sentences
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, mode);
  if (file_ < 0) {
    fail(path_, "create", errno);
  }
  write_fully(header_);
  base::sync_directory(path_.parent_path());
  base::sync_directory(path_.parent_path().parent_path());
  base::sync_directory(run_directory_);
}

JournalWriter::~JournalWriter() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

void JournalWriter::stage(const BlockId& id, std::span<const std::byte> payload) {
  base::ByteWriter head;
  head.raw(std::as_bytes(std::span(format::record_magic))).number(std::uint64_t{payload.size()});
  head.raw(std::as_bytes(std::span(id.key))).number(id.block_index).number(id.num_contexts);
  head.number(id.cost.queries).number(id.cost.distinct_sequences).number(id.cost.distinct_tokens);
  head.number(id.cost.head_rows);
  const auto head_crc = format::crc(head.bytes());
  head.number(head_crc);
  const auto payload_crc = format::crc(payload, head_crc);
  staged_.insert(staged_.end(), head.bytes().begin(), head.bytes().end());
  staged_.insert(staged_.end(), payload.begin(), payload.end());
  const auto tail = std::as_bytes(std::span(&payload_crc, 1));
  staged_.insert(staged_.end(), tail.begin(), tail.end());
}

void JournalWriter::commit() {
  STEREOSWEEP_ASSERT(!broken_, "a failed journal takes no more records");
  if (staged_.empty()) {
    return;
  }
  broken_ = true;  // until proven otherwise: after one failed call nothing is known about the file's end
  if (file_ < 0) {
    create();
  }
  write_fully(staged_);
  sync();
  struct stat info {};
  if (::fstat(file_, &info) == 0 && info.st_nlink == 0) {
    throw base::Error(base::describe("the journal " + path_.string() + " was deleted while the run went on",
                                     "its blocks are lost", "run the same command again"));
  }
  broken_ = false;
  staged_.clear();
}

void JournalWriter::write_fully(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const int fault = base::inject_fault("journal_write");
    if (fault > 0) {
      fail(path_, "write", fault);
    }
    const auto wanted = fault == base::short_write ? (bytes.size() + 1) / 2 : bytes.size();
    const auto written = ::write(file_, bytes.data(), wanted);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      fail(path_, "write", written < 0 ? errno : EIO);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void JournalWriter::sync() {
  const int fault = base::inject_fault("journal_sync");
  if (fault > 0 || ::fdatasync(file_) != 0) {
    fail(path_, "sync", fault > 0 ? fault : errno);  // a failed sync may have dropped pages: never try again
  }
}

}  // namespace stereosweep::results
