#include "results/Seal.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/files/File.hpp"
#include "base/files/Sha256.hpp"
#include "base/process/Profile.hpp"

namespace stereosweep::results {

namespace {

constexpr std::string_view seal_head = "stereosweep-seal/1 sha256=";
constexpr std::string_view seal_tail = " end-of-result\n";
constexpr std::uint64_t seal_window = std::uint64_t{1} << 20;

/// Of the first `size` bytes.
std::string seal_of(const base::SharedBytes& file, std::uint64_t size) {
  base::Sha256 hash;
  std::vector<std::byte> window(std::min(seal_window, size));
  for (std::uint64_t done = 0; done < size; done += window.size()) {
    const auto part = std::span(window).first(std::min<std::uint64_t>(window.size(), size - done));
    file.read(done, part);
    hash.update(part);
  }
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%016llu", static_cast<unsigned long long>(size));
  return std::string(seal_head) + base::to_hex(hash.finish()) + " bytes=" + number.data() + std::string(seal_tail);
}

}  // namespace

void append_seal(base::PendingFile& pending) {
  const base::profile::Span span("digests");
  const auto file = base::open_file(pending.path());
  const auto seal = seal_of(file, file.size());
  STEREOSWEEP_ASSERT(seal.size() == seal_bytes, "a seal has one size");
  pending.write(seal);
}

void commit_sealed(base::PendingFile& pending) {
  append_seal(pending);
  pending.commit();
}

Seal check_seal(const std::filesystem::path& path) {
  const auto file = base::open_file(path);
  if (file.size() < seal_bytes) {
    return Seal::none;
  }
  const auto size = file.size() - seal_bytes;
  std::string found(seal_bytes, '\0');
  file.read(size, std::as_writable_bytes(std::span(found)));
  if (!found.starts_with(seal_head) && !found.ends_with(seal_tail)) {
    return Seal::none;
  }
  base::refuse_if(seal_of(file, size) != found, "'" + path.string() + "' is damaged",
                  "its bytes are not those that were written, or another program has it open to change it",
                  "write it anew with 'stereosweep export'");
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
    base::log(base::LogLevel::warning, "'" + file.string() + "' has no seal: a run makes it anew");
  } catch (const base::InputError&) {
    base::log(base::LogLevel::warning, "'" + file.string() + "' is damaged or no file: a run makes it anew");
  }
  return std::nullopt;
}

}  // namespace stereosweep::results
